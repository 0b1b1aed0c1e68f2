"""Fair shares of what is limited: at most an eighth for one client."""

from intents_ui.service.executor import Lack, Shares

HERE, ELSEWHERE = "203.0.113.7", "198.51.100.7"


def taken(shares: Shares, client: str | None, tries: int) -> list[Lack | None]:
    return [shares.take(client) for _ in range(tries)]


def test_each_client_gets_an_eighth_of_its_own() -> None:
    shares = Shares(16)
    assert taken(shares, HERE, 3) == [None, None, Lack.SHARE]
    assert taken(shares, ELSEWHERE, 3) == [None, None, Lack.SHARE]
    shares.give_back(HERE)
    assert taken(shares, HERE, 2) == [None, Lack.SHARE]


def test_of_very_little_a_client_gets_one() -> None:
    assert taken(Shares(4), HERE, 2) == [None, Lack.SHARE]


def test_nothing_is_granted_when_all_capacity_is_taken() -> None:
    shares = Shares(4)
    assert taken(shares, None, 5) == [None] * 4 + [Lack.FULL]
    assert shares.take(HERE) is Lack.FULL
    shares.give_back(None)
    assert shares.take(HERE) is None


def test_a_request_may_take_several_units() -> None:
    shares = Shares(200)
    assert shares.take(HERE, 20) is None
    assert shares.take(HERE, 6) is Lack.SHARE
    assert shares.take(HERE, 5) is None
    shares.give_back(HERE, 25)
    assert shares.held == 0
    assert shares.take(HERE, 25) is None
