"""What the service lists of routes (interface.md 4.8, 4.9), kept for a moment (faults.md 8.6).

Apart from the catalogues: what readers ask for is endless, and would drive those out.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping

from cachetools import TLRUCache

from intents_ui.service import json_text
from intents_ui.service.answers import TokensAnswer
from intents_ui.service.client import BlockingOperations
from intents_ui.service.listings import plain
from intents_ui.service.operations import Call
from intents_ui.service.wire import TokenInfo

FRESH_SECONDS = 60.0
EMPTY_FRESH_SECONDS = 30.0  # so that a "no" does not stick
TOKENS_HELD = 20_000  # of all kept answers together
COUNTS_HELD = 512

type Question = tuple[str, bytes]


class Routes:
    """Safe for threads. Errors are never kept."""

    def __init__(self, service: BlockingOperations, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._lock = threading.Lock()
        self._answers: TLRUCache[Question, TokensAnswer] = TLRUCache(
            TOKENS_HELD, _end_of_answer, timer=clock, getsizeof=_size
        )
        self._counts: TLRUCache[Question, Mapping[int, int]] = TLRUCache(COUNTS_HELD, _end_of_counts, timer=clock)

    def ask(self, call: Call[TokensAnswer]) -> TokensAnswer:
        question = _question(call)
        with self._lock:
            kept = self._answers.get(question)
        if kept is not None:
            return kept
        answer = self._service.ask(call)
        with self._lock:
            if _size(answer) <= TOKENS_HELD:
                self._answers[question] = answer
        return answer

    def count(self, call: Call[TokensAnswer]) -> Mapping[int, int]:
        """By chain, how many tokens the answer names; the tokens themselves are not kept."""
        question = _question(call)
        with self._lock:
            kept = self._counts.get(question)
        if kept is not None:
            return kept
        counts = Counter(chain_id for chain_id, _ in {_token(each) for each in self._service.ask(call).tokens})
        with self._lock:
            self._counts[question] = counts
        return counts


def _question(call: Call[TokensAnswer]) -> Question:
    return call.operation, json_text.write(call.request)


def _token(named: TokenInfo) -> tuple[int, str]:
    """The native token has two addresses."""
    return named.chain_id, plain(named.address)


def _size(answer: TokensAnswer) -> int:
    return len(answer.tokens) + 1


def _end_of_answer(question: Question, answer: TokensAnswer, now: float) -> float:
    return now + (FRESH_SECONDS if answer.tokens else EMPTY_FRESH_SECONDS)


def _end_of_counts(question: Question, counts: Mapping[int, int], now: float) -> float:
    return now + (FRESH_SECONDS if counts else EMPTY_FRESH_SECONDS)
