"""The places that the money passes, from the owner to the recipient, and which of them it is at."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display import names, providers
from intents_ui.display.facts import Facts
from intents_ui.display.legs import UNDER_WAY, Leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.places import Place, address_of, chain_of
from intents_ui.display.story import Story
from intents_ui.service.wire import Intent, IntentReceipt


class Reached(StrEnum):
    PASSED = "passed"
    HERE = "here"
    AHEAD = "ahead"
    NEVER = "never"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Stop:
    """`note` stands below the title: the chain, that the money is here, or that it did not come so far.

    Where a transfer ended half-way the money was last seen: it may have left since without a trace."""

    place: Place
    title: str
    reached: Reached
    note: str
    chain_id: int | None = None
    address: str | None = None


ONE_CHAIN = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.RECIPIENT)
ONE_CHAIN_AND_DELIVERY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
TWO_CHAINS = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
HALF_WAY = (Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS)
BACK = (Place.RETURNING, Place.RETURNED)
HERE = "the money is here"
LAST_SEEN = "the money was last seen here"
ON_ITS_WAY = "on its way back"
NOT_REACHED = "not reached"


def route(
    intent: Intent | None,
    receipt: IntentReceipt | None,
    *,
    story: Story,
    unread: bool = False,
    using: Names = NO_NAMES,
) -> tuple[Stop, ...]:
    """Where the money is comes from the story, so that the drawing and the words cannot differ.

    Money that goes back goes to one more place, after all others."""
    facts = Facts.of(intent, receipt, unread=unread)
    places = _places(facts)
    reached = {place: _reached(place, places, facts, story) for place in places}
    if story.place in BACK:
        reached[story.place] = Reached.HERE
    return tuple(_stop(place, how, facts, story, using) for place, how in reached.items())


def _places(facts: Facts) -> tuple[Place, ...]:
    if not facts.is_same_chain:
        return TWO_CHAINS
    return ONE_CHAIN_AND_DELIVERY if facts.destination else ONE_CHAIN


def _reached(place: Place, places: tuple[Place, ...], facts: Facts, story: Story) -> Reached:
    if place == story.place:
        return Reached.HERE
    before = story.place in places and places.index(place) < places.index(story.place)
    if before or _was_passed(place, facts, story):
        return Reached.PASSED
    if facts.is_unread or story.place is Place.UNKNOWN:
        return Reached.UNKNOWN
    return Reached.NEVER if story.is_over else Reached.AHEAD


def _was_passed(place: Place, facts: Facts, story: Story) -> bool:
    """The money has been there, and what is known says that it is there no more."""
    _, origin, destination = facts.legs
    crossed = destination in UNDER_WAY | {Leg.DONE, Leg.REJECTED}
    is_back = story.place in BACK
    came_back_from_afar = is_back and _is_from_afar(facts)
    match place:
        case Place.OWNER:
            return facts.has_arrived
        case Place.DEPOSIT_ADDRESS:
            return is_back or crossed or origin is Leg.DONE
        case Place.PROVIDER:
            return crossed or came_back_from_afar or (is_back and origin is Leg.DONE)
        case Place.DELIVERY_ADDRESS:
            return destination is Leg.DONE or came_back_from_afar or (is_back and destination is Leg.REJECTED)
        case _:
            return False


def _is_from_afar(facts: Facts) -> bool:
    """The return began on the destination chain."""
    chain_id = chain_of(Place.RETURNED, facts)
    return not facts.is_same_chain and chain_id is not None and chain_id == facts.destination_chain_id


def _stop(place: Place, reached: Reached, facts: Facts, story: Story, using: Names) -> Stop:
    chain_id = chain_of(place, facts)
    note = _note(place, reached, story) or _chain(place, chain_id, using)
    return Stop(place, _title(place, facts), reached, note, chain_id, address_of(place, facts))


def _note(place: Place, reached: Reached, story: Story) -> str:
    if reached is Reached.NEVER:
        return NOT_REACHED
    if reached is not Reached.HERE:
        return ""
    if place is Place.RETURNING:
        return ON_ITS_WAY
    return LAST_SEEN if story.is_over and place in HALF_WAY else HERE


def _title(place: Place, facts: Facts) -> str:
    if place is Place.PROVIDER:
        return ", ".join(providers.labels(facts.providers)) or "Route provider"
    if place in BACK:
        return "Back to the owner" if _returns_to_the_owner(facts) else "Back to another address"
    return place.value.replace("-", " ").capitalize()


def _returns_to_the_owner(facts: Facts) -> bool:
    to = address_of(Place.RETURNED, facts)
    return to is None or facts.owner is None or to.lower() == facts.owner.lower()


def _chain(place: Place, chain_id: int | None, using: Names) -> str:
    return "" if place is Place.PROVIDER else names.chain(chain_id, info=using.chain(chain_id))
