"""Sign-in by the proxy: who is believed. `tests/mirror/test_roles.py`: what each role may do."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from intents_ui.http import operator_auth
from intents_ui.http.operator_auth import ANONYMOUS, Role, User
from intents_ui.settings import ENV, Environment
from tests.signed_in import GROUPS, NAME, PROXY, trust_proxy

STRANGER = "203.0.113.7"
type Headers = Sequence[tuple[bytes, bytes]]


@pytest.fixture(autouse=True)
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    trust_proxy(monkeypatch)


def user(*headers: tuple[bytes, bytes], peer: str | None = PROXY) -> User:
    return operator_auth.user_of({"client": (peer, 1234) if peer else None, "headers": headers})


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
FORGED: Sequence[tuple[str | None, Headers]] = [
    # Of others than the proxy.
    *(
        (peer, [GOOD, OPERATOR, *more])
        for peer in (
            STRANGER,
            None,
            "",
            "127.0.0.1",
            "::1",
            "11.0.0.1",
            "9.255.255.255",
            "2001:db8::1",
            "unix:",
            "10.1",
        )
        for more in ([], [(b"x-forwarded-for", PROXY.encode())])
    ),
    # Not one name of plain text.
    *(
        (PROXY, [*headers, OPERATOR])
        for headers in (
            [],
            [GOOD, GOOD],
            [GOOD, (b"X-Forwarded-User", b"eve")],
            [GOOD, (b"x-forwarded-user", b"")],
            [(b"x-forwarded-user", b"")],
            [(b"x-forwarded-user", b" ")],
            [(b"x-forwarded-user", b"\t")],
            [(b"x-forwarded-user", b"ann\r\n eve")],
            [(b"x-forwarded-user", b"ann\n")],
            [(b"x-forwarded-user", b"ann\0")],
            [(b"x-forwarded-user", b"\x1b[31mann")],
            [(b"x-forwarded-user", b"ann\x7f")],
            [(b"x-forwarded-user", b"ann\xff")],
            [(b"x-forwarded-user", "ann\u202eeve".encode())],
            [(b"x-forwarded-user", "ann\u2028eve".encode())],
            [(b"x-forwarded-user", "\u200b".encode())],
            [(b"x-forwarded-user", b"a" * 1001)],
            [(b"x_forwarded_user", b"ann")],
            [(b"x-forwarded-user ", b"ann")],
            [(b"x-forwarded-users", b"ann")],
            [(b"x-forwarded-use", b"ann")],
            [(b"remote-user", b"ann")],
            [(b"authorization", b"Basic YW5uOg==")],
            [(b"cookie", b"x-forwarded-user=ann")],
        )
    ),
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
