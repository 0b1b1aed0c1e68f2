"""The emulator as an ASGI application, with an API for tests and the demo page."""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from intents_ui.emulator import faults as known
from intents_ui.emulator.catalog import Catalogue
from intents_ui.emulator.documents import MICROSECONDS, Document
from intents_ui.emulator.errors import Ask, Refusal, checked
from intents_ui.emulator.faults import Answer, Faults
from intents_ui.emulator.lookups import Lookups
from intents_ui.emulator.population import Ledger, world_of
from intents_ui.emulator.scenario_engine import MAIN, SCENARIOS, Moment, Scenario, scenario_named
from intents_ui.emulator.trading import Trading

type Scope = MutableMapping[str, Any]
type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

HOLD_SECONDS: Final = 28.0
HELD_COPY_LIFETIME: Final = 600 * MICROSECONDS
BODY_LIMIT: Final = 1024 * 1024
WEBRPC: Final = b"webrpc@v0.38.0;gen-golang@v0.29.0;service-api@v1"
_log = logging.getLogger(__name__)


class DemoScenario(NamedTuple):
    """A scenario of the demo page, with Intent IDs: a live copy, one held at its worst moment, and a finished one."""

    scenario: Scenario
    fresh: str
    worst: str
    finished: str


class Emulator:
    """Emulator of the service. Thread-safe, also across event loops.

    - `now`: clock that returns Unix time in seconds
    - `size`: number of intents in the lists, 10 to 100,000 (scenarios are included from 1,000 on)
    - `tokens`: minimum number of tokens in the lists, filled up with synthetic ones
    - `hold`: duration of a long poll in seconds
    - `access_key`: required key, None for no authentication
    - `service_name`: path segment after /rpc/
    - `faults`: pairs of operation (or `*`) and fault name
    - `started`: Unix time at which a demo starts. It has traffic like that of a service, with outages around that time,
      instead of copies of each scenario every few minutes.

    `catalogue.change_chain` and `catalogue.change_token` change the lists while it runs.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        size: int = 3000,
        tokens: int = 0,
        hold: float = HOLD_SECONDS,
        access_key: str | None = None,
        service_name: str = "Service",
        faults: Iterable[tuple[str, str]] = (),
        started: float | None = None,
    ) -> None:
        self.now = now
        self.access_key = access_key
        self.prefix = f"/rpc/{service_name}/"
        self.catalogue = catalogue = Catalogue(tokens)
        start = None if started is None else round(started * MICROSECONDS)
        self.world = world_of(size, start)
        self.ledger = Ledger(self.world)
        self._made: dict[tuple[int, bool], int] = {}  # copies of scenarios, by whether they are held
        self._lookups = lookups = Lookups(self.ledger, self._micros, hold)
        trading = Trading(self.ledger, self.catalogue)
        self._operations: dict[str, Callable[[Ask], Document]] = {
            "SearchIntents": lookups.search_intents,
            "GetIntent": lookups.get_intent,
            "GetIntentReceipt": lookups.get_intent_receipt,
            "GetIntentHistory": lookups.get_intent_history,
            "CommitIntent": trading.commit_intent,
            "GetTokenList": catalogue.get_token_list,
            "GetChains": catalogue.get_chains,
            "GetExactInputRoutes": catalogue.get_exact_input_routes,
            "GetExactOutputRoutes": catalogue.get_exact_output_routes,
            "QuoteIntent": trading.quote_intent,
            "ExecuteIntent": trading.execute_intent,
            "GetTokenPrices": catalogue.get_token_prices,
        }
        self.operations = frozenset([*self._operations, "WaitIntentReceipt"])
        self.faults = Faults(self.operations)
        self.inject, self.reset = self.faults.inject, self.faults.reset
        for operation, name in faults:
            self.inject(operation, name)

    def scenarios(self) -> list[DemoScenario]:
        """Return the thirty scenarios with their current copies, or none in a world too small for them.

        The live copies and the ones held at their worst moment exist only in memory.
        """
        return [
            DemoScenario(
                scenario,
                self._copy(scenario, held=False)["intentId"],
                self._copy(scenario, held=True)["intentId"],
                self.finished(scenario.number)["intentId"],
            )
            for scenario in (SCENARIOS if SCENARIOS[0].number in self.world.streams else ())
        ]

    def newest(self, which: int | str, *, variant: str = MAIN) -> Document:
        """Return the Intent document of a scenario's newest copy. Raises KeyError for an unknown scenario."""
        return self._document(next(self.world.copies(scenario_named(which), self._micros(), variant)))

    def finished(self, which: int | str, *, variant: str = MAIN) -> Document:
        """Return the Intent document of a scenario's newest copy that won't change anymore."""
        scenario, now = scenario_named(which), self._micros()
        over = scenario.scenes[variant][-1].at * MICROSECONDS
        copies = self.world.copies(scenario, now, variant)
        return self._document(
            next(number for number in copies if self.world.course(number).transfer.born + over <= now)
        )

    def worst(self, which: int | str) -> Document:
        """Return the Intent document of a scenario's copy held at its worst moment, at most 10 minutes old."""
        return self._copy(scenario_named(which), held=True)

    def _copy(self, scenario: Scenario, *, held: bool) -> Document:
        """Return a copy made for viewers: one held at its worst moment, or a live one.

        A held copy's quote time puts its worst moment at its creation, and its course is that one scene. So its record,
        timestamps and balance never change. What a page derives from the clock does: after 15 minutes without an update
        it reports a stall. So an older copy is replaced, which leaves its viewers five minutes. The old one isn't
        deleted, because open pages link to it. A live one is replaced when it is over.
        """
        now, moment = self._micros(), scenario.worst if held else Moment(0.0)
        lifetime = HELD_COPY_LIFETIME if held else scenario.script[-1].at * MICROSECONDS
        key = scenario.number, held
        entry = self.ledger.entry(self._made.get(key, -1), now)
        if entry is None or not 0 <= now - entry.transfer.moment(moment.at) <= lifetime:
            self._made[key] = self.ledger.play(scenario, moment.variant, now, moment.at, held=held, listed=False)
        return self._document(self._made[key])

    def play(self, which: int | str, *, variant: str = MAIN, age: float = 0.0, owner: int | None = None) -> Document:
        """Create a copy of a scenario, quoted `age` seconds ago, and return its Intent document.

        `owner` is the number of its owner, by default one of the history's. From OWNERS on, owners have no history.
        """
        return self._document(self.ledger.play(scenario_named(which), variant, self._micros(), age, owner=owner))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:
            return
        # Starts at once, so only an answer that waits for something costs a turn of the loop.
        answering = asyncio.Task(self._answer(scope, body), loop=asyncio.get_running_loop(), eager_start=True)
        tasks: list[asyncio.Task[Any]] = [answering]
        try:
            if not answering.done():
                tasks.append(asyncio.ensure_future(_disconnect(receive)))
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                await self._send(answering.result(), send)
        finally:
            for task in tasks:
                task.cancel()

    async def _answer(self, scope: Scope, body: bytes) -> Answer:
        operation = scope["path"].removeprefix(self.prefix)
        is_ours = scope["path"].startswith(self.prefix) and operation in self.operations
        on = self.faults.for_request(operation if is_ours else "")
        try:
            headers = {name.lower(): value for name, value in scope["headers"]}
            self._check_request(scope, headers, body, is_ours=is_ours)
            if wait := sum(known.seconds_of(name) or 0.0 for name in on):
                await asyncio.sleep(wait)
            now = self.now() + known.skew(on)
            if faulty := known.fault(on, now):
                return faulty
            ask = Ask(checked(_parsed(body), operation), round(now * MICROSECONDS), on)
            if operation == "WaitIntentReceipt":
                return known.answered(await self._lookups.wait_intent_receipt(ask), on)
            return known.answered(self._operations[operation](ask), on)
        except Refusal as refusal:
            return known.refused(refusal, on)
        except Exception as error:
            # The real service returns an error object for internal errors, too.
            _log.exception("%s failed", operation)
            return known.refused(Refusal("WebrpcServerPanic", type(error).__name__), on)

    def _check_request(self, scope: Scope, headers: dict[bytes, bytes], body: bytes, *, is_ours: bool) -> None:
        """Raise the errors that the real server returns before a request reaches an operation, in the same order."""
        if self.access_key is not None:
            key = headers.get(b"x-access-key", b"").decode("latin-1")
            if not key:
                raise Refusal("Unauthorized", "no access key")
            if key != self.access_key:
                raise Refusal("AccessKeyNotFound")
        if not is_ours:
            raise Refusal("WebrpcBadRoute", f"no webrpc method defined for path {scope['path'][:200]}")
        if scope["method"] != "POST":
            raise Refusal("WebrpcBadMethod", f"unsupported method {scope['method']} (only POST is allowed)")
        content_type = headers.get(b"content-type", b"").decode("latin-1")
        if content_type.partition(";")[0].strip().lower() != "application/json":
            raise Refusal(
                "WebrpcBadRequest", f"unsupported Content-Type {content_type[:80]!r} (only application/json is allowed)"
            )
        if len(body) > BODY_LIMIT:
            raise Refusal("WebrpcBadRequest", f"request body larger than {BODY_LIMIT} bytes")

    async def _send(self, answer: Answer, send: Send) -> None:
        headers = [
            (b"content-type", answer.content_type),
            (b"content-length", str(len(answer.body)).encode()),
            (b"date", formatdate(self.now() + answer.skew, usegmt=True).encode()),
            (b"webrpc", WEBRPC),
            *answer.headers,
        ]
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append((b"allow", b"POST"))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.cut:
            await send({"type": "http.response.body", "body": answer.body[: len(answer.body) // 2], "more_body": True})
            # The server notices that Content-Length wasn't reached, and drops the connection.
            raise ConnectionAbortedError("cut-body")
        await send({"type": "http.response.body", "body": answer.body})

    def _document(self, number: int) -> Document:
        entry = self.ledger.entry(number, self._micros())
        assert entry is not None  # noqa: S101 - its number was just looked up
        return entry.intent()

    def _micros(self) -> int:
        return round(self.now() * MICROSECONDS)


async def _body(receive: Receive) -> bytes | None:
    """Return a request's body, of one that is too long the beginning, or None if the caller disconnects."""
    received = bytearray()
    while (message := await receive())["type"] != "http.disconnect":
        received += message.get("body", b"")
        if not message.get("more_body", False) or len(received) > BODY_LIMIT:
            return bytes(received)
    return None


async def _disconnect(receive: Receive) -> None:
    """Return when the caller has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _parsed(body: bytes) -> Document:
    def refuse_constant(word: str) -> None:
        raise ValueError(f"invalid character {word[:1]!r}")

    try:
        parsed = json.loads(body, parse_constant=refuse_constant)
        json.dumps(parsed, ensure_ascii=False).encode()  # rejects lone surrogates, which no response could echo
    except (ValueError, RecursionError) as error:
        raise Refusal("WebrpcBadRequest", f"failed to unmarshal request data: {str(error)[:120]}") from None
    if parsed is not None and not isinstance(parsed, dict):
        raise Refusal("WebrpcBadRequest", "failed to unmarshal request data: the body is not an object")
    return parsed or {}
