"""Fair threads, in which pages are made and call the service.

One client runs in at most an eighth of the threads, of which one computes at a time while the others wait for the
service or for each other (`resting`). Its other jobs wait, and clients take turns. A thread is free again
when its work ends, whether or not anyone still waits for the result. At most three quarters of the threads wait for the
service, so that pages are made from cached responses while it doesn't respond.

The calls that a job makes at the same time run in its own thread, and in others of its client that are free. So no job
waits for one that hasn't begun, however they are nested.
"""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from enum import Enum
from functools import lru_cache, partial
from typing import Any, Final

from intents_ui.service import request_context
from intents_ui.service.errors import OutOfTime, Overloaded, ServiceError

SHARE: Final = 8  # one client gets at most one part of as many
SHUTDOWN: Final = "the dashboard is shutting down"
PLACE_TIMEOUT: Final = 0.2  # seconds
TURN_TIMEOUT: Final = 1.0  # seconds after which a thread computes anyway, so that turns delay a page but never block it

type Job = tuple[Future[Any], Context, Callable[[], Any]]


class LimitReason(Enum):
    """Why something isn't available: it is used up, or the client's share of it is."""

    FULL = "full"
    SHARE = "share"


class Shares:
    """Counter of `most` units (threads, requests, bytes) and who holds them. Thread-safe."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0
        self._by_client: Counter[str | None] = Counter()
        self._lock = threading.Lock()

    def take(self, client: str | None, units: int = 1) -> LimitReason | None:
        """Take units. Return None on success, or why they aren't available."""
        with self._lock:
            if client is not None and self._by_client[client] + units > max(1, self.most // SHARE):
                return LimitReason.SHARE
            if self.held + units > self.most:
                return LimitReason.FULL
            self.held += units
            self._by_client[client] += units
            return None

    def give_back(self, client: str | None, units: int = 1) -> None:
        with self._lock:
            self.held -= units
            self._by_client[client] -= units
            if not self._by_client[client]:
                del self._by_client[client]


class FairExecutor:
    """Threads with fair shares. Half of them at most do background work."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="page")
        self._running = Shares(threads)
        self._in_background = Shares(max(1, threads // 2))
        self._places = threading.BoundedSemaphore(max(1, threads * 3 // 4))
        self._waiting: dict[str | None, deque[Job]] = {}  # by client, in the order of their turns
        self._is_closed = False
        self._lock = threading.Lock()

    async def run[T](self, do: Callable[[], T]) -> T:
        """Run a job in its client's turn. If the caller is canceled, it doesn't begin, or runs to its end."""
        return await asyncio.wrap_future(self.submit(do))

    def submit[T](self, do: Callable[[], T]) -> "Future[T]":
        """Queue a job for its client's turn. It has no deadline. Raises Overloaded after `shutdown`."""
        job: Job = (Future(), request_context.background_context(), do)
        with self._lock:
            if self._is_closed:
                raise Overloaded(SHUTDOWN)
            self._waiting.setdefault(request_context.client(), deque()).append(job)
            self._start_waiting()
        return job[0]

    def together[T](self, *calls: Callable[[], T]) -> list[T | ServiceError]:
        """Return each call's result, or its ServiceError, in order. They have the deadline of the caller."""
        todo, found = enumerate(calls), dict[int, T | ServiceError]()

        def work() -> None:
            for place, call in todo:  # one iterator for all threads: each takes the next call
                found[place] = _result(call)

        client = request_context.client()
        helpers = [self._start(work, copy_context(), client=client) for _ in calls[1:]]
        work()
        with resting():
            for helper in filter(None, helpers):
                try:
                    helper.result(request_context.seconds_left())
                except TimeoutError:
                    break
        return [found[place] if place in found else OutOfTime() for place in range(len(calls))]

    def submit_background[T](self, do: Callable[[], T], *, is_shared: bool = False) -> "Future[T]":
        """Run work that outlives its request in the background, without its deadline.

        It uses the client's share, unless all clients share its result. Raises Overloaded if no thread is free.
        """
        client = None if is_shared else request_context.client()
        if self._in_background.take(client) is None:
            if started := self._start(do, request_context.background_context(), client=client):
                started.add_done_callback(lambda _: self._in_background.give_back(client))
                return started
            self._in_background.give_back(client)
        raise Overloaded("no thread is free for background work")

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for the service in the block. Raises Overloaded if as many clients' threads do as may."""
        if request_context.client() is None:
            yield
            return
        with resting():
            if not self._places.acquire(timeout=PLACE_TIMEOUT):
                raise Overloaded("as many threads wait for the service as may")
            try:
                yield
            finally:
                self._places.release()

    @property
    def running(self) -> int:
        return self._running.held

    def shutdown(self) -> None:
        """Cancel waiting jobs, and let running ones finish."""
        with self._lock:
            self._is_closed = True
            waiting, self._waiting = self._waiting, {}
        for future, *_ in (job for jobs in waiting.values() for job in jobs):
            future.cancel()
        self._pool.shutdown(wait=False)

    def _start_waiting(self) -> None:
        """Start a job of each client that may run another one, and put those clients at the end of the queue."""
        for client, jobs in list(self._waiting.items()):
            limit_reason = self._running.take(client)
            if limit_reason is LimitReason.FULL:
                return
            if limit_reason is None:
                del self._waiting[client]
                self._pool.submit(self._run, client, jobs.popleft())
                if jobs:
                    self._waiting[client] = jobs

    def _start(self, do: Callable[[], Any], context: Context, *, client: str | None) -> "Future[Any] | None":
        """Start a job at once if a thread is free for this client."""
        job: Job = (Future(), context, do)
        with self._lock:
            if self._is_closed or self._running.take(client):
                return None
            self._pool.submit(self._run, client, job)
        return job[0]

    def _run(self, client: str | None, job: Job) -> None:
        future, context, do = job
        settle: Callable[[], None] | None = None
        if future.set_running_or_notify_cancel():
            _take(None if client is None else _turn_of(client))
            try:
                settle = partial(future.set_result, context.run(do))
            except BaseException as error:
                settle = partial(future.set_exception, error)
            _release()
        self._running.give_back(client)
        with self._lock:
            self._start_waiting()
        if settle:
            settle()  # last, because it wakes up another thread


class _Thread(threading.local):
    turn: threading.Lock | None = None  # to compute, that this thread holds for its client


_thread: Final = _Thread()


@lru_cache(10_000)
def _turn_of(client: str) -> threading.Lock:
    return threading.Lock()


def _take(turn: threading.Lock | None) -> None:
    _thread.turn = turn if turn and turn.acquire(timeout=TURN_TIMEOUT) else None


def _release() -> threading.Lock | None:
    turn, _thread.turn = _thread.turn, None
    if turn:
        turn.release()
    return turn


@contextmanager
def resting() -> Iterator[None]:
    """Let the client's other threads compute, while this one waits in the block."""
    turn = _release()
    try:
        yield
    finally:
        _take(turn)


def _result[T](call: Callable[[], T]) -> T | ServiceError:
    try:
        return call()
    except ServiceError as error:
        return error.with_traceback(None)  # drops the traceback, which references every frame that it passed
