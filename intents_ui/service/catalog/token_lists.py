"""Token lists of several chains, for the tokens page and its search.

The featured tokens of all chains take one request. Longer lists take one per chain: other pages cache the same lists,
one can fail without the others, and the number of cache entries doesn't grow with the combinations of chains.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from intents_ui.service.catalog.catalog import Catalog, Listed
from intents_ui.service.client import BlockingOperations
from intents_ui.service.errors import ServiceError
from intents_ui.service.models import TokenInfo


@dataclass(frozen=True)
class TokenMatches:
    """Unordered tokens.

    `failed` are the chains whose list is unavailable, and `age` is the oldest list's.
    """

    tokens: Sequence[TokenInfo]
    unreadable: int = 0
    age: timedelta = timedelta()
    failed: Mapping[int, ServiceError] = field(default_factory=dict)


class TokenLists:
    """Token lists. Thread-safe. Methods raise ServiceError if no list is available at all."""

    def __init__(self, service: BlockingOperations, catalog: Catalog) -> None:
        self._service = service
        self._catalog = catalog

    def featured(self, chain_ids: Iterable[int]) -> TokenMatches:
        """Return the featured tokens of these chains, with one request for all known chains."""
        wanted = set(chain_ids)
        known = [chain.id for chain in self._catalog.chains()]
        listed = self._catalog.listed_featured(known if wanted.issubset(known) else sorted(wanted))
        tokens = [token for token in listed.entries if token.chain_id in wanted]
        return TokenMatches(tokens, listed.unreadable, listed.age)

    def listed(self, chain_ids: Sequence[int]) -> TokenMatches:
        return self._by_chain(chain_ids, self._catalog.listed_tokens)

    def external(self, chain_ids: Sequence[int]) -> TokenMatches:
        """Return the listed tokens and those of external lists."""
        return self._by_chain(chain_ids, self._external)

    def search(
        self,
        chain_ids: Sequence[int],
        *,
        words: str | None = None,
        address: str | None = None,
        limit: int,
        without: Sequence[str] = (),
    ) -> TokenMatches:
        """Return at most `limit` tokens per chain, from all lists.

        They match a part of a name or symbol, or one address.
        """
        answer = self._service.get_token_list(
            chain_ids,
            search_query=None if address else words,
            token_address=address,
            limit=limit,
            exclude_tokens=without,
        )
        return TokenMatches(answer.tokens, answer.unreadable_entries)

    def _external(self, chain_id: int) -> Listed[TokenInfo]:
        answer = self._service.get_token_list([chain_id], include_all_listed=True, include_external=True)
        return Listed(answer.tokens, answer.unreadable_entries)

    def _by_chain(self, chain_ids: Sequence[int], ask: Callable[[int], Listed[TokenInfo]]) -> TokenMatches:
        calls = (partial(ask, each) for each in chain_ids)
        answers = dict(zip(chain_ids, self._service.threads.together(*calls), strict=True))
        failed = {chain_id: answer for chain_id, answer in answers.items() if isinstance(answer, ServiceError)}
        lists = [answer for answer in answers.values() if isinstance(answer, Listed)]
        if failed and not lists:
            raise next(iter(failed.values()))
        return TokenMatches(
            tokens=[token for each in lists for token in each.entries],
            unreadable=sum(each.unreadable for each in lists),
            age=max((each.age for each in lists), default=timedelta()),
            failed=failed,
        )
