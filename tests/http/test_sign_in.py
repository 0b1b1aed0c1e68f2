"""Sign-in by the proxy: who is believed. `tests/mirror/test_access.py`: what each role may do."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from intents_ui.http import client_ip
from intents_ui.http.client_ip import ANONYMOUS, Role, User
from intents_ui.settings import ENV, Environment
from tests.signed_in import GROUPS, NAME, PROXY, trust_proxy

STRANGER = "203.0.113.7"
type Headers = Sequence[tuple[bytes, bytes]]


@pytest.fixture(autouse=True)
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    trust_proxy(monkeypatch)


def user(*headers: tuple[bytes, bytes], peer: str | None = PROXY) -> User:
    return client_ip.user_of({"client": (peer, 1234) if peer else None, "headers": headers})


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (None, Role.VIEWER),
        (b"", Role.VIEWER),
        (b"sales", Role.VIEWER),
        (b"support", Role.SUPPORT),
        (b"sales, Support", Role.SUPPORT),
        (b"support,ops", Role.OPERATOR),
        (b"opsy, s-ops, ops/eu", Role.VIEWER),
        (b"ops\xff", Role.VIEWER),
    ],
)
def test_groups_are_roles(groups: bytes | None, role: Role) -> None:
    headers = [(b"x-forwarded-user", b"ann")]
    headers += [] if groups is None else [(b"x-forwarded-groups", groups)]
    assert user(*headers) == User("ann", role)


def test_without_a_header_of_groups_everyone_who_is_signed_in_is_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ENV, "intents_groups_header", None)
    assert user((b"x-forwarded-user", "Anné".encode())) == User("Anné", Role.SUPPORT)


GOOD = (b"x-forwarded-user", b"ann")
OPERATOR = (b"x-forwarded-groups", b"ops")
STRANGERS = (
    STRANGER, None, "", "127.0.0.1", "::1", "11.0.0.1", "9.255.255.255", "2001:db8::1", "unix:", "10.1",
)  # fmt: skip
# No plain text, or another header.
NOT_NAMES: Headers = [
    *(
        (b"x-forwarded-user", value)
        for value in (
            b"", b" ", b"\t", b"ann\r\n eve", b"ann\n", b"ann\0", b"\x1b[31mann", b"ann\x7f", b"ann\xff",
            "ann\u202eeve".encode(), "ann\u2028eve".encode(), "\u200b".encode(), b"a" * 1001,
        )
    ),
    *((name, b"ann") for name in (b"x_forwarded_user", b"x-forwarded-user ", b"x-forwarded-users", b"x-forwarded-use")),
    (b"remote-user", b"ann"),
    (b"authorization", b"Basic YW5uOg=="),
    (b"cookie", b"x-forwarded-user=ann"),
]  # fmt: skip
FORGED: Sequence[tuple[str | None, Headers]] = [
    *((peer, [GOOD, OPERATOR, *more]) for peer in STRANGERS for more in ([], [(b"x-forwarded-for", PROXY.encode())])),
    *((PROXY, [header, OPERATOR]) for header in NOT_NAMES),
    (PROXY, [OPERATOR]),
    *((PROXY, [GOOD, (name, b"eve"), OPERATOR]) for name in (b"x-forwarded-user", b"X-Forwarded-User")),
    (PROXY, [GOOD, GOOD, OPERATOR]),
    (PROXY, [GOOD, (b"x-forwarded-user", b""), OPERATOR]),
]


@pytest.mark.parametrize(("peer", "headers"), FORGED)
def test_a_forged_header_is_never_a_user(peer: str | None, headers: Headers) -> None:
    assert user(*headers, peer=peer) == ANONYMOUS


def test_doubled_groups_are_no_groups() -> None:
    assert user(GOOD, OPERATOR, OPERATOR) == User("ann", Role.VIEWER)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"intents_user_header": NAME}, "requires TRUSTED_PROXIES"),
        ({"intents_user_header": NAME, "trusted_proxies": "0.0.0.0/0"}, "so wide"),
        ({"intents_user_header": "X Forwarded", "trusted_proxies": "10.0.0.1"}, "pattern"),
        ({"intents_groups_header": GROUPS}, "requires INTENTS_USER_HEADER"),
        ({"intents_support_groups": "support"}, "require INTENTS_GROUPS_HEADER"),
    ],
)
def test_settings_that_could_sign_anyone_in_are_refused(given: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Environment(**given)
