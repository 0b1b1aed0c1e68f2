"""Route diagram: the locations from the owner to the recipient, and where the funds are."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.service.outcome import TRACES, StepStatus
from intents_ui.tokens import providers
from intents_ui.transfers import summary
from intents_ui.transfers.locations import Place
from intents_ui.transfers.rules import Certainty
from intents_ui.transfers.summary import Summary
from intents_ui.transfers.transfer import Transfer, derived


class Reached(StrEnum):
    PASSED = "passed"
    HERE = "here"
    EXPECTED = "expected"
    AHEAD = "ahead"
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class RouteStop:
    """A location. `note` below the title is the chain, that the funds are here, or that they never got here.

    If a transfer stopped on the way, it is the last known location, which the funds may have left since.
    """

    place: Place
    title: str
    reached: Reached
    note: str


ONE_CHAIN = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.RECIPIENT)
ONE_CHAIN_AND_DELIVERY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
TWO_CHAINS = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
INTENT_ADDRESSES = (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)
REFUND_PLACES = (Place.RETURNING, Place.RETURNED)
HERE = "Funds are here"
EXPECTED = "Should be here"
LAST_SEEN = "Last known location"
ON_ITS_WAY = "Refunding"
NOT_REACHED = "Not reached"


@derived
def of(transfer: Transfer) -> tuple[RouteStop, ...]:
    """Return the stops. The location comes from the summary, so the diagram and the text can't differ.

    A refund adds a last stop.
    """
    told = summary.of(transfer)
    one_chain = ONE_CHAIN_AND_DELIVERY if transfer.destination else ONE_CHAIN
    places = one_chain if transfer.is_same_chain else TWO_CHAINS
    reached = {place: _reached(place, places, told) for place in places}
    if told.place in REFUND_PLACES:
        reached[told.place] = _here(told)
    return tuple(
        RouteStop(place, _title(place, transfer), how, _note(place, how, transfer)) for place, how in reached.items()
    )


def _reached(place: Place, places: tuple[Place, ...], told: Summary) -> Reached:
    if place == told.place:
        return _here(told)
    before = told.place in places and places.index(place) < places.index(told.place)
    if before or _was_passed(place, told):
        return Reached.PASSED
    if told.transfer.is_unread or told.place is Place.UNKNOWN:
        return Reached.UNKNOWN
    return Reached.NEVER if told.transfer.is_over else Reached.AHEAD


def _here(told: Summary) -> Reached:
    """Return the mark. Only a confirmed location is shown as `here`."""
    if told.is_pending:
        return Reached.UNKNOWN
    return Reached.HERE if told.certainty is Certainty.CONFIRMED else Reached.EXPECTED


def _was_passed(place: Place, told: Summary) -> bool:
    """Return whether the funds were there and are known to have left."""
    transfer, is_back = told.transfer, told.place in REFUND_PLACES
    _, origin, destination = transfer.legs
    crossed = destination in TRACES
    began_on = transfer.chain_of(Place.RETURNED)
    is_from_afar = not transfer.is_same_chain and began_on is not None and began_on == transfer.destination_chain_id
    came_back_from_afar = is_back and is_from_afar
    match place:
        case Place.OWNER:
            return transfer.has_arrived
        case Place.DEPOSIT_ADDRESS:
            return is_back or crossed or origin is StepStatus.DONE
        case Place.PROVIDER:
            return crossed or came_back_from_afar or (is_back and origin is StepStatus.DONE)
        case Place.DELIVERY_ADDRESS:
            return (
                destination is StepStatus.DONE
                or came_back_from_afar
                or (is_back and destination is StepStatus.REJECTED)
            )
        case _:
            return False


def _note(place: Place, reached: Reached, transfer: Transfer) -> str:
    match reached:
        case Reached.NEVER:
            return NOT_REACHED
        case Reached.HERE | Reached.EXPECTED if place is Place.RETURNING:
            return ON_ITS_WAY
        case Reached.HERE:
            return HERE
        case Reached.EXPECTED:
            return LAST_SEEN if place in INTENT_ADDRESSES else EXPECTED
        case _:
            return "" if place is Place.PROVIDER else transfer.chain_name(transfer.chain_of(place))


def _title(place: Place, transfer: Transfer) -> str:
    if place is Place.PROVIDER:
        return ", ".join(providers.labels(transfer.providers)) or "Route provider"
    if place in REFUND_PLACES:
        to = transfer.address_of(Place.RETURNED)
        is_to_owner = to is None or transfer.owner is None or to.lower() == transfer.owner.lower()
        return "Refund to owner" if is_to_owner else "Refund to another address"
    if place is Place.DELIVERY_ADDRESS:
        return "Destination intent address"
    return place.value.replace("-", " ").capitalize()
