"""QuoteIntent, CommitIntent and ExecuteIntent. The intents that callers create are in memory."""

import re
from dataclasses import replace
from typing import Any, Final

from intents_ui.emulator import names
from intents_ui.emulator.catalog import NATIVE, PRICE_SCALE, Catalogue, Token, wraps
from intents_ui.emulator.documents import MICROSECONDS, Document, stamp
from intents_ui.emulator.errors import Ask, Refusal
from intents_ui.emulator.intents import Entry
from intents_ui.emulator.population import Ledger
from intents_ui.emulator.scenario_engine import EXECUTED, PLACEHOLDER, Deal, Step, play, scenario_named
from intents_ui.emulator.transfers import PROJECTS, Course, Terms, Transfer

EXECUTE_WITHIN: Final = 600 * MICROSECONDS
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}")
_HASH: Final = re.compile(r"0x[0-9a-fA-F]{64}")
_DATA: Final = re.compile(r"0x([0-9a-fA-F]{2})*")
_NOTHING: Final = (None, None, None, None)
_BEFORE_EXECUTION: Final = ("QUOTED", "COMMITTED")
# Fields of a committed intent that its sender may omit, or that the service itself changes.
_MAY_BE_ABSENT: Final = {
    "id", "projectId", "status", "updatedAt", "destinationGas", "destinationCalls", "destinationPrecondition",
    "destinationMetaTxn",
}  # fmt: skip
_MAX_SPEED: Final = 100
_LARGEST_LOSS: Final = 0.3
_MEMO_LIMIT: Final = 10_000


class Trading:
    """Operations that write. The catalogue has the tokens that can be quoted."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue) -> None:
        self.ledger = ledger
        self.catalogue = catalogue

    def quote_intent(self, ask: Ask) -> Document:
        """Create a quote.

        An extra field `memo` in the request is copied to the summary, which has no other source for it.
        """
        number, born = self.ledger.next_number(ask.now)
        transfer = self._transfer(ask.body, number, born)
        terms = Terms(transfer)
        if terms.to_amount <= 0:
            raise Refusal(
                "QueryFailed",
                "GetIntentsQuote failed: insufficient origin amount: estimated provider + service + gas fees exceed the"
                f" provided amount (origin={terms.from_amount}, fees={terms.total.amount})",
            )
        if terms.from_usd and terms.loss_usd > _LARGEST_LOSS * terms.from_usd:
            raise Refusal("HighPriceImpact", f"price impact {100 * terms.loss_usd / terms.from_usd:.2f}%")
        course = Course(transfer, play((Step(0.0, "QUOTED", _NOTHING),)))
        self.ledger.keep(course)
        return {
            "intent": Entry(transfer, course.scenes[0]).intent(),
            "gasFeeOptions": _gas_fee_options(transfer, terms),
        }

    def commit_intent(self, ask: Ask) -> Document:
        given = ask.body["intent"]
        entry = self.ledger.requested(given["intentId"], ask.now)
        transfer = entry.transfer
        _check(entry, ask.now, "QUOTED")
        if modified := _modified(given, entry.intent()):
            raise Refusal("InvalidArgument", f"intent was modified: {modified[0]}")
        script = (Step(0.0, "QUOTED", _NOTHING), Step(transfer.age(ask.now), "COMMITTED", _NOTHING))
        self.ledger.keep(Course(transfer, play(script)))
        return {"intentId": transfer.intent_id}

    def execute_intent(self, ask: Ask) -> Document:
        """Execute an intent. By default it succeeds quickly.

        The extra fields `scenario` (slug or number) and `variant` select a scenario, and `speed` makes it run 1 to 100
        times faster.
        """
        entry = self.ledger.requested(ask.body["intentId"], ask.now)
        deposit_hash, signature = ask.body.get("depositTransactionHash"), ask.body.get("depositSignature")
        if deposit_hash and signature:
            raise Refusal("InvalidArgument", "depositTransactionHash and depositSignature exclude each other")
        if deposit_hash and not _HASH.fullmatch(deposit_hash):
            raise Refusal("InvalidArgument", "depositTransactionHash must be 0x and 64 hex digits")
        _check(entry, ask.now, *_BEFORE_EXECUTION)
        course = self.ledger.course(entry.transfer.number)
        deposit = "wallet" if deposit_hash else "gasless" if signature else "watched"
        transfer = replace(entry.transfer, deal=replace(entry.transfer.deal, deposit=deposit))
        script = self._script(ask.body, transfer)
        speed = ask.body.get("speed", 1)
        if not 1 <= speed <= _MAX_SPEED:
            raise Refusal("InvalidArgument", f"speed must be 1 to {_MAX_SPEED}")
        executed = transfer.age(ask.now)
        before = [Step(scene.at, scene.status, _NOTHING) for scene in course.scenes if scene.at < executed]
        speed *= transfer.stretch  # of a copy, whose course is slower
        after = [replace(step, at=executed + (step.at - script[0].at) / speed) for step in script]
        if deposit != "gasless":
            made = {"deposit.txnHash": deposit_hash.lower() if deposit_hash else PLACEHOLDER}
            after[0] = replace(after[0], sets={**after[0].sets, **made})
        self.ledger.keep(replace(course, transfer=transfer, scenes=play((*before, *after))), deposit_hash)
        return {"intentId": transfer.intent_id, "intentStatus": "EXECUTING"}

    def _transfer(self, body: Document, number: int, born: int) -> Transfer:
        owner = _address(body, "ownerAddress")
        origin, destination = self._token(body, "origin"), self._token(body, "destination")
        recipient = _address(body, "destinationToAddress") if "destinationToAddress" in body else owner
        call_data = body.get("destinationCallData", "0x")
        if not _DATA.fullmatch(call_data):
            raise Refusal("InvalidArgument", "destinationCallData must be hex")
        exact_output = body.get("tradeType") != "EXACT_INPUT"
        field = "destinationTokenAmount" if exact_output else "originTokenAmount"
        units = body.get(field, 0)
        if units <= 0:
            raise Refusal("InvalidArgument", f"{field} must be greater than zero")
        if (origin.chain_id, origin.address) == (destination.chain_id, destination.address):
            if recipient == owner and call_data == "0x":
                raise Refusal("IntentsSkipped", "origin and destination are the same token on the same chain")
        elif not self.catalogue.connected(origin, destination):
            raise Refusal("QueryFailed", "no available quotes")
        deal = Deal(
            (origin.chain_id, origin.address),
            (destination.chain_id, destination.address),
            self._providers(origin, destination),
            exact_output=exact_output,
            fund_method=body.get("fundMethod", "WALLET"),
            calls=call_data != "0x",
            memo=body.get("memo", "")[:_MEMO_LIMIT] or None,
        )
        return Transfer(
            number=number,
            born=born,
            owner=owner,
            deal=deal,
            origin=origin,
            destination=destination,
            project=PROJECTS[0],
            from_amount=None if exact_output else units,
            to_amount=units if exact_output else None,
            slippage=_slippage(body.get("options", {})),
            recipient=recipient,
            call_data=call_data,
            call_value=body.get("destinationCallValue", 0),
        )

    def _providers(self, origin: Token, destination: Token) -> tuple[str, ...]:
        if origin.chain_id == destination.chain_id:
            return ("WETH",) if wraps(origin, destination) else ("SUSHI",)
        return ("RELAY",) if origin.symbol == destination.symbol else ("ZEROX", "RELAY")

    def _token(self, body: Document, side: str) -> Token:
        token = self.catalogue.requested_token(body, side)
        if token is None:
            address = body[f"{side}TokenAddress"]
            raise Refusal("QueryFailed", f"failed to get quote from any provider: unknown {side} token {address[:60]}")
        return token

    def _script(self, body: Document, transfer: Transfer) -> tuple[Step, ...]:
        which = body.get("scenario")
        if which is None:
            return EXECUTED["sameChain" if transfer.same_chain else "crossChain"]
        try:
            script = scenario_named(which if isinstance(which, int) else str(which)).script_of(str(body.get("variant")))
        except KeyError:
            raise Refusal("InvalidArgument", f"scenario {str(which)[:60]!r} is not a scenario") from None
        started = tuple(step for step in script if step.status not in _BEFORE_EXECUTION)
        if not started:
            raise Refusal("InvalidArgument", f"scenario {str(which)[:60]!r} ends before the execution")
        if not transfer.same_chain:
            return started
        return tuple(replace(step, legs=(*step.legs[:2], None, step.legs[3])) for step in started)


def _check(entry: Entry, now: int, *statuses: str) -> None:
    """Refuse an intent with another status, or whose time is over."""
    transfer = entry.transfer
    if entry.scene.status not in statuses:
        raise Refusal("IntentStatus", f"intent {transfer.intent_id} status={entry.scene.status}")
    if entry.scene.status == "QUOTED" and now > transfer.expires:
        raise Refusal("QuoteExpired", f"intent {transfer.intent_id} expired at {stamp(transfer.expires)}")
    if entry.scene.status == "COMMITTED" and now > transfer.moment(entry.scene.updated) + EXECUTE_WITHIN:
        raise Refusal("QuoteExpired", f"intent {transfer.intent_id} was committed more than 10 minutes ago")


def _modified(given: Document, ours: Document) -> list[str]:
    """Return the fields of an object that aren't as quoted.

    Clients may send amounts as numbers, addresses in capitals, and no nulls.
    """
    fields = {*given, *ours} - (_MAY_BE_ABSENT - given.keys())
    return sorted(field for field in fields if not _is_same(given.get(field), ours.get(field)))


def _is_same(given: Any, ours: Any) -> bool:
    if isinstance(given, dict) and isinstance(ours, dict):
        return not _modified(given, ours)
    if isinstance(given, list) and isinstance(ours, list):
        return len(given) == len(ours) and all(map(_is_same, given, ours))
    return str(given).lower() == str(ours).lower()


def _address(body: Document, field: str) -> str:
    if not _ADDRESS.fullmatch(body[field]):
        raise Refusal("InvalidArgument", f"{field} must be an address")
    return str(body[field]).lower()


def _slippage(options: Document) -> float:
    value = options.get("slippageTolerance", 0.005)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise Refusal("InvalidArgument", "options.slippageTolerance must be a fraction from 0 to 1")
    return float(value)


def _gas_fee_options(transfer: Transfer, terms: Terms) -> Document:
    gas, token = terms.origin_gas, transfer.origin
    collector = names.stranger("fee collector")
    # The amount, by address, symbol and decimals of the token to pay with.
    amounts = {
        (NATIVE, gas.native_symbol, 18): gas.cost,
        **({} if token.native else {(token.address, token.symbol, token.decimals or 0): gas.fee.amount}),
    }
    options = [
        {
            "tokenAddress": address,
            "tokenSymbol": symbol,
            "tokenDecimals": decimals,
            "amount": str(units),
            "amountUsd": gas.fee.usd,
            "feeCollectorAddress": collector,
            "is2612": symbol in ("USDC", "DAI"),
        }
        for (address, symbol, decimals), units in amounts.items()
    ]
    return {
        "gasEstimate": {
            "totalGas": str(gas.limit),
            "gasPrice": str(gas.price),
            "nativeCost": str(gas.cost),
            "nativeCostUsd": round(gas.cost * gas.native_price / PRICE_SCALE / 10**18, 6),
        },
        "feeOptions": options,
        "expiresAt": stamp(transfer.expires),
        "feeCollectorAddress": collector,
    }
