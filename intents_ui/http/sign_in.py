"""Who is signed in, as the proxy in front says (INTENTS_USER_HEADER), and in which role.

Only the proxies in TRUSTED_PROXIES are trusted. A repeated header, or one that isn't plain text, is ignored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from django.http import HttpRequest

from intents_ui.http import client_ip
from intents_ui.settings import ENV

LONGEST: Final = 1000  # characters of a header


class Role(IntEnum):
    """What someone may do. Each may do all that those before it may."""

    ANYONE = 0
    VIEWER = 1  # is signed in, and sees what anyone sees
    SUPPORT = 2  # sees what the mirror knows with INTENTS_INSIGHT=staff, and reads in the console
    OPERATOR = 3  # writes in the console, and accepts quotes


@dataclass(frozen=True, slots=True)
class User:
    name: str
    role: Role


ANONYMOUS: Final = User("", Role.ANYONE)


def user_of(scope: Mapping[str, Any]) -> User:
    """Return the user of an ASGI request, or ANONYMOUS."""
    if not ENV.intents_user_header or not client_ip.is_by_our_proxy(scope):
        return ANONYMOUS
    name = _header(scope, ENV.intents_user_header)
    if not name:
        return ANONYMOUS
    if not ENV.intents_groups_header:
        return User(name, Role.SUPPORT)
    groups = {each.strip().lower() for each in _header(scope, ENV.intents_groups_header).split(",")}
    return User(name, _role(groups))


def of(request: HttpRequest) -> User:
    """Return `user_of` for a Django request. One that no ASGI server made is ANONYMOUS."""
    return user_of(getattr(request, "scope", {"client": None}))


def _role(groups: Iterable[str]) -> Role:
    if not set(ENV.intents_operator_groups).isdisjoint(groups):
        return Role.OPERATOR
    return Role.VIEWER if set(ENV.intents_support_groups).isdisjoint(groups) else Role.SUPPORT


def _header(scope: Mapping[str, Any], name: str) -> str:
    """Return the text of a header. It is empty if the header is missing or repeated, or isn't plain text."""
    wanted = name.lower().encode()
    sent = [value for key, value in scope["headers"] if key.lower() == wanted]
    if len(sent) != 1:
        return ""
    try:
        text = bytes(sent[0]).decode().strip(" ")
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() and len(text) <= LONGEST else ""
