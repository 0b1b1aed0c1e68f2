"""What the service and the catalog know of an address: its roles, its transfers, and tokens with this address."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from django.http import Http404

from intents_ui import app
from intents_ui.lists import address_summary as about
from intents_ui.lists.address_summary import Role
from intents_ui.search import empty_results, filters, identifiers, input_errors
from intents_ui.search.filters import Filters
from intents_ui.search.identifiers import ADDRESSES, Finding, Kind
from intents_ui.service import lookup, results
from intents_ui.service.errors import ServiceError
from intents_ui.service.lookup import ListPage
from intents_ui.service.models import EARLIEST, End, Intent, IntentHistory, SearchAnswer, TokenInfo
from intents_ui.service.results import DELIVERY_ADDRESS, DEPOSIT_ADDRESS, OWNER
from intents_ui.transfers import balances
from intents_ui.transfers.balances import Worklist
from intents_ui.transfers.transfer import Transfer
from intents_ui.web import reading


def read(written: str) -> Finding:
    """Return the address in a part of the URL. Raises Http404 for anything else, before any request."""
    read = identifiers.read(written)
    match read.lookups:
        case (Finding() as found,) if found.kind in ADDRESSES:
            return found
        case (Finding(kind=kind) as found,) if kind is not Kind.WORDS:
            raise Http404(f"This isn't an address. It looks like this type: {empty_results.looks_like(found)}.")
    raise Http404(read.refusal or input_errors.of_address(written))


class AddressPart[T]:
    """One request of the page with its result or error. Parts fail independently."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self.ask = ask
        self.found: T | None = None
        self.error: ServiceError | None = None


class AddressLookup:
    """All requests about an address, sent concurrently. `listed`: which of its transfers the history shows.

    Raises the first error if every request failed.
    """

    def __init__(self, finding: Finding, *, listed: Filters) -> None:
        value, owner = finding.value, Filters(owner=finding.value)
        self.questions = {
            question: AddressPart(question.ask)
            for question in lookup.as_any(app.current().service, results.ADDRESS, value)
        }
        self.recoverable = AddressPart(lambda: reading.list_page(owner.with_(recoverable=True)))
        self.open_list = AddressPart(lambda: reading.list_page(owner.with_(status=filters.IN_FLIGHT)))
        self.listed = AddressPart(lambda: reading.list_page(listed))
        self.tokens = AddressPart(lambda: tokens_at(value))
        ask(*self.questions.values(), *self.lists, self.tokens)
        errors = [error for error in self.errors if error]
        if len(errors) == len(self.errors):
            raise errors[0]

    @cached_property
    def owner(self) -> Role:
        """The role as owner. Its number of transfers is None if that lookup failed."""
        return self._role(OWNER, listed=self.entries)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """All roles, the owner first."""
        return self.owner, self._role(DEPOSIT_ADDRESS), self._role(DELIVERY_ADDRESS)

    @cached_property
    def open_transfers(self) -> list[Transfer]:
        """The owner's open transfers. An expired quote keeps its status but isn't open."""
        return [each for each in reading.of_entries(entries(self.open_list)) if not each.is_expired]

    @cached_property
    def work(self) -> Worklist:
        """The owner's transfers with recoverable balances."""
        return balances.worklist(reading.of_entries(entries(self.recoverable)))

    @property
    def lists(self) -> tuple[AddressPart[ListPage], ...]:
        return self.recoverable, self.open_list, self.listed

    @property
    def entries(self) -> list[IntentHistory]:
        """The owner's entries from all lists."""
        return [entry for part in self.lists for entry in entries(part)]

    def searched(self, *keys: str) -> Sequence[Intent] | None:
        """Return the unique results of the searches by these keys, newest first; None if all failed."""
        found = self._found(*keys)
        given = (intent for answer in found for intent in answer.intents)
        newest = sorted(given, key=lambda intent: intent.created_at or EARLIEST, reverse=True)
        return list({intent.intent_id.lower(): intent for intent in newest}.values()) if found else None

    def _found(self, *keys: str) -> list[SearchAnswer]:
        return [part.found for question, part in self.questions.items() if question.key in keys and part.found]

    def _role(self, key: str, *, listed: Sequence[IntentHistory] = ()) -> Role:
        beyond = max((answer.beyond for answer in self._found(key)), default=0)
        return about.role(key, self.searched(key), beyond=beyond, listed=listed)

    @property
    def errors(self) -> list[ServiceError | None]:
        return [*(part.error for part in self.questions.values()), *(part.error for part in self.lists)]

    @property
    def is_nothing(self) -> bool:
        return not (self.entries or self.searched(*about.ROLES) or self.tokens.found or self.break_off)

    @property
    def break_off(self) -> bool:
        """Return whether a list has an empty page although the service reports more."""
        return any(part.found is not None and part.found.end is End.EMPTY_PAGE for part in self.lists)


def entries(part: AddressPart[ListPage]) -> Sequence[IntentHistory]:
    return part.found.entries if part.found else ()


def tokens_at(value: str) -> tuple[TokenInfo, ...]:
    return lookup.tokens_at(app.current().service, [chain.id for chain in app.current().catalog.chains()], value)


def ask(*parts: AddressPart[Any]) -> None:
    for part, answer in zip(parts, app.current().service.threads.together(*(part.ask for part in parts)), strict=True):
        if isinstance(answer, ServiceError):
            part.error = answer
        else:
            part.found = answer


def failed_calls(parts: AddressLookup, *lists: AddressPart[ListPage]) -> results.LookupResult:
    """Return the failed requests as a search without hits. The lists count as the lookup by owner, the first key."""
    failed = {question: part.error for question, part in parts.questions.items() if part.error}
    if error := next((part.error for part in lists if part.error), None):
        failed.setdefault(next(iter(parts.questions)), error)
    answered = tuple(question for question in parts.questions if question not in failed)
    unreadable = sum(part.found.unreadable_entries for part in parts.questions.values() if part.found)
    return results.LookupResult((), answered, tuple(failed.items()), may_be_capped=False, unreadable=unreadable)
