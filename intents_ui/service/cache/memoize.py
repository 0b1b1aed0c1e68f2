"""Memoization of rendered results across requests, preserving staleness markers."""

import functools
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from cachetools import cached
from cachetools.keys import hashkey

from intents_ui.service.context import request_context
from intents_ui.service.errors import StaleResponse


class Shared[**P, T]:
    """Function with results memoized in `cache`. Thread-safe."""

    def __init__(self, make: Callable[P, T], cache: MutableMapping[Any, Any], key: Callable[..., Any]) -> None:
        functools.update_wrapper(self, make)
        self._memoized = cached(cache, key=key, lock=Lock())(_with_age(make))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        result, old = self._memoized(*args, **kwargs)
        for each in old:
            request_context.add_stale(each)
        return result

    def cache_clear(self) -> None:
        self._memoized.cache_clear()


def shared[**P, T](
    cache: MutableMapping[Any, Any], *, key: Callable[..., Any] = hashkey
) -> Callable[[Callable[P, T]], Shared[P, T]]:
    return lambda make: Shared(make, cache, key)


def as_of() -> datetime:
    """Return when the oldest response on the page arrived: now, unless one is stale."""
    return min((each.learned_at for each in request_context.stale_responses()), default=datetime.now(UTC))


def _with_age[**P, T](make: Callable[P, T]) -> Callable[P, tuple[T, tuple[StaleResponse, ...]]]:
    def made(*args: P.args, **kwargs: P.kwargs) -> tuple[T, tuple[StaleResponse, ...]]:
        with request_context.collecting_stale() as old:
            return make(*args, **kwargs), tuple(old)

    return made
