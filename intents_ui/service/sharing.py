"""What was made of the service's answers for one reader, given to the next ones too; what is old in it stays told."""

import functools
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from cachetools import cached
from cachetools.keys import hashkey

from intents_ui.service import freshness


class Shared[**P, T]:
    """A function whose results are kept in `cache`. Safe for threads."""

    def __init__(self, make: Callable[P, T], cache: MutableMapping[Any, Any], key: Callable[..., Any]) -> None:
        functools.update_wrapper(self, make)
        self._kept = cached(cache, key=key, lock=Lock())(_with_age(make))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        result, old = self._kept(*args, **kwargs)
        for each in old:
            freshness.tell(each)
        return result

    def cache_clear(self) -> None:
        self._kept.cache_clear()


def shared[**P, T](
    cache: MutableMapping[Any, Any], *, key: Callable[..., Any] = hashkey
) -> Callable[[Callable[P, T]], Shared[P, T]]:
    return lambda make: Shared(make, cache, key)


def as_of() -> datetime:
    """When the oldest of the answers was given that are being shown: now, unless one of them is told to be old."""
    return min((each.learned_at for each in freshness.told()), default=datetime.now(UTC))


def _with_age[**P, T](make: Callable[P, T]) -> Callable[P, tuple[T, tuple[freshness.OldAnswer, ...]]]:
    def made(*args: P.args, **kwargs: P.kwargs) -> tuple[T, tuple[freshness.OldAnswer, ...]]:
        with freshness.collecting() as old:
            return make(*args, **kwargs), tuple(old)

    return made
