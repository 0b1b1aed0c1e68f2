"""The places that the money passes, from the owner to the recipient, and which of them it is at."""

from dataclasses import dataclass
from enum import StrEnum

from intents_ui.display import names, providers
from intents_ui.display.facts import Facts
from intents_ui.display.legs import Leg
from intents_ui.display.names import NO_NAMES, Names
from intents_ui.display.story import Place, Story
from intents_ui.service.wire import Intent, IntentReceipt


class Reached(StrEnum):
    PASSED = "passed"
    HERE = "here"
    AHEAD = "ahead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Stop:
    """`note` stands below the title: the chain, or that the money is here. A provider has no address."""

    place: Place
    title: str
    reached: Reached
    note: str
    chain_id: int | None = None
    address: str | None = None


ONE_CHAIN = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.RECIPIENT)
ONE_CHAIN_AND_DELIVERY = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
TWO_CHAINS = (Place.OWNER, Place.DEPOSIT_ADDRESS, Place.PROVIDER, Place.DELIVERY_ADDRESS, Place.RECIPIENT)
HERE = "the money is here"


def route(
    intent: Intent | None, receipt: IntentReceipt | None, *, story: Story, using: Names = NO_NAMES
) -> tuple[Stop, ...]:
    """Where the money is comes from the story, so that the drawing and the words cannot differ."""
    facts = Facts.of(intent, receipt)
    places = _places(facts)
    return tuple(_stop(place, _reached(place, places, facts, story), facts, story, using) for place in places)


def _places(facts: Facts) -> tuple[Place, ...]:
    if not facts.is_same_chain:
        return TWO_CHAINS
    return ONE_CHAIN_AND_DELIVERY if facts.destination else ONE_CHAIN


def _reached(place: Place, places: tuple[Place, ...], facts: Facts, story: Story) -> Reached:
    if story.place is Place.RETURNED and place is Place.OWNER:
        return Reached.HERE
    if story.place in places:
        return _compared(places.index(place), places.index(story.place))
    if _was_passed(place, facts):
        return Reached.PASSED
    return Reached.UNKNOWN if story.place is Place.UNKNOWN else Reached.AHEAD


def _compared(place: int, here: int) -> Reached:
    if place == here:
        return Reached.HERE
    return Reached.PASSED if place < here else Reached.AHEAD


def _was_passed(place: Place, facts: Facts) -> bool:
    deposit, origin, destination = facts.legs
    proofs = {
        Place.OWNER: (deposit, origin, destination),
        Place.DEPOSIT_ADDRESS: (origin, destination),
        Place.PROVIDER: (destination,),
        Place.DELIVERY_ADDRESS: (destination,),
    }
    return Leg.DONE in proofs.get(place, ())


def _stop(place: Place, reached: Reached, facts: Facts, story: Story, using: Names) -> Stop:
    on_origin = place in (Place.OWNER, Place.DEPOSIT_ADDRESS)
    chain_id = facts.origin_chain_id if on_origin else facts.destination_chain_id
    if place is Place.PROVIDER:
        chain_id = None
    if place is Place.OWNER and story.place is Place.RETURNED and facts.refund:
        chain_id = facts.refund.chain_id
    return Stop(
        place,
        _title(place, facts),
        reached,
        HERE if reached is Reached.HERE else _chain(place, chain_id, using),
        chain_id,
        _address(place, facts),
    )


def _title(place: Place, facts: Facts) -> str:
    if place is Place.PROVIDER:
        return ", ".join(providers.labels(facts.providers)) or "Route provider"
    return place.value.replace("-", " ").capitalize()


def _chain(place: Place, chain_id: int | None, using: Names) -> str:
    return "" if place is Place.PROVIDER else names.chain(chain_id, info=using.chain(chain_id))


def _address(place: Place, facts: Facts) -> str | None:
    addresses = {
        Place.OWNER: facts.owner,
        Place.DEPOSIT_ADDRESS: facts.deposit_address,
        Place.DELIVERY_ADDRESS: facts.delivery_address or (facts.deposit_address if facts.is_same_chain else None),
        Place.RECIPIENT: facts.recipient or facts.owner,
    }
    return addresses.get(place)
