"""Same bytes, same object: what came before, and is still in use, isn't parsed again.

Most requests repeat: lists are refreshed, and a transfer is polled until it is final. Their responses contain objects
whose text is already known. JSON text determines where an object ends, so where a text starts with that of a known
object, it contains this object.
"""

from typing import Any
from weakref import WeakValueDictionary

from intents_ui.service import decode
from intents_ui.service.decode import BRAND_OF_INTERFACE, Brand
from intents_ui.service.wire.lenient_models import Kept

PREFIX = 120  # characters by which an object is found. They have its ID and status in the usual order of fields
LONGEST_TEXT = 2**20  # characters. Longer ones are searches, of which pages show a part. To remember all costs too much
OUTER_LEVELS = 2  # levels around an entry of a list, the deepest place of an object


class EntryCache:
    """Objects of the service's responses by their JSON text. Thread-safe.

    It holds them weakly: they live as long as a cached response or a page uses them. `names` are the field names of
    the service.
    """

    def __init__(self, names: Brand = BRAND_OF_INTERFACE) -> None:
        self._names = names
        self._known: WeakValueDictionary[tuple[type[Kept], str], Kept] = WeakValueDictionary()

    def read(self, text: str, field: str, model: type[Kept]) -> Any:
        """Parse a response like `decode.read`, with objects of the model in a field, which has one or a list.

        An object that the model rejects stays a dictionary, and so does each one of a very long text. Raises ValueError
        if the text is invalid.
        """
        try:
            return self._document(text, field, model)
        except (ValueError, IndexError, RecursionError):
            return decode.read(text)  # not what is expected. Whether it is JSON is decided there

    def _document(self, text: str, field: str, model: type[Kept]) -> dict[str, Any]:
        document: dict[str, Any] = {}
        at = _after(text, decode.skip_blank(text, 0), "{")
        while True:
            name, at = decode.read_part(text, at, depth=1)
            at = _after(text, decode.skip_blank(text, at), ":")
            if type(name) is not str or name in document:
                raise ValueError("not an object, or with a duplicate key")
            document[name], at = self._field(text, at, model) if name == field else decode.read_part(text, at, depth=1)
            at = decode.skip_blank(text, at)
            if text[at] == "}":
                break
            at = _after(text, at, ",")
        if decode.skip_blank(text, at + 1) != len(text):
            raise ValueError("more than one document")
        return document

    def _field(self, text: str, at: int, model: type[Kept]) -> tuple[Any, int]:
        if text[at] != "[":
            return self._object(text, at, model)
        entries: list[Any] = []
        at = decode.skip_blank(text, at + 1)
        if text[at] == "]":
            return entries, at + 1
        while True:
            entry, at = self._object(text, at, model)
            entries.append(entry)
            at = decode.skip_blank(text, at)
            if text[at] == "]":
                return entries, at + 1
            at = _after(text, at, ",")

    def _object(self, text: str, at: int, model: type[Kept]) -> tuple[Any, int]:
        if len(text) > LONGEST_TEXT:
            return decode.read_part(text, at, depth=OUTER_LEVELS)
        key = model, text[at : at + PREFIX]
        known = self._known.get(key)
        if known is not None and text.startswith(received := known.received, at):
            return known, at + len(received)
        value, end = decode.read_part(text, at, depth=OUTER_LEVELS)
        try:
            new = model.model_validate(self._names.read(value)).keeping(text[at:end])
        except ValueError:
            return value, end  # not an object, or without an ID
        self._known[key] = new
        return new, end


def _after(text: str, at: int, sign: str) -> int:
    """Return the position after a sign and the blanks that follow it. Raises ValueError if it isn't there."""
    if text[at] != sign:
        raise ValueError(f"{sign} is missing")
    return decode.skip_blank(text, at + 1)
