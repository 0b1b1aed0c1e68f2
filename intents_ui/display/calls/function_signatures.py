"""Well-known contract functions: argument names, and a sentence on what each does, from function_signatures.json.

A selector tells what the sender intends, not what the contract does. In a sentence, `{name}` is an argument, and
`{caller}`, `{contract}`, `{token}` and `{value}` are the caller, the called contract, the token it represents, and
the native tokens sent. `{flag:yes|no}` chooses by a flag, and `{name:token}` is the token at an address. `group` names
the standard or contract, for readers of the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property

from eth_utils.abi import function_signature_to_4byte_selector

from intents_ui import tables

CONTRACT = "contract"  # the called contract is the token
PERHAPS = "contract?"  # the contract may be the token, or hold it
NATIVE = "native"
UNNAMED = "unnamed"  # not in the call


class Carries(StrEnum):
    """How nested calls are encoded in a call."""

    NONE = ""
    OWN = "own"  # a list of data, all for the same contract
    LISTED = "listed"  # a list of (contract, data) or (contract, value, data)
    ONE = "one"  # one contract and the data for it
    PACKED = "packed"  # the smart wallet's compact list, as bytes
    BATCH = "batch"  # operation, contract, value and data, one after the other, as bytes


@dataclass(frozen=True)
class Parameter:
    """A parameter. `type` is spelled as in a signature. `parts` are the fields of a struct, or of each struct in a
    list.
    """

    name: str
    type: str
    parts: tuple["Parameter", ...] = ()

    @property
    def is_list(self) -> bool:
        return self.type.endswith("]")


@dataclass(frozen=True)
class Function:
    """A function. `of` maps amounts to their token: CONTRACT, PERHAPS, NATIVE, UNNAMED, an argument's name, or an
    end of a path.

    `allowance` names the amount whose maximum means "without limit".
    """

    declaration: str
    sentence: str
    of: Mapping[str, str] = field(default_factory=dict)
    allowance: str = ""
    carries: Carries = Carries.NONE

    @cached_property
    def selector(self) -> bytes:
        return function_signature_to_4byte_selector(self.signature)

    @property
    def name(self) -> str:
        return self.declaration.partition("(")[0]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(map(_parameter, _split(self.declaration.partition("(")[2].removesuffix(")"))))

    @cached_property
    def signature(self) -> str:
        return f"{self.name}({','.join(each.type for each in self.parameters)})"


def _parameter(text: str) -> Parameter:
    """Parse `uint256 amount` or `(address target, bytes callData)[] calls`."""
    kind, _, name = text.rpartition(" ")
    if not kind.startswith("("):
        return Parameter(name, kind)
    members, _, suffix = kind.removeprefix("(").rpartition(")")
    parts = tuple(map(_parameter, _split(members)))
    return Parameter(name, f"({','.join(part.type for part in parts)}){suffix}", parts)


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside of parentheses."""
    depth, piece = 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            yield piece.strip()
            piece = ""
        else:
            piece += character
    if piece.strip():
        yield piece.strip()


FUNCTIONS = tuple(
    Function(
        row["declaration"],
        row["sentence"],
        of=row.get("of", {}),
        allowance=row.get("allowance", ""),
        carries=Carries(row.get("carries", "")),
    )
    for row in tables.read(__package__, "function_signatures.json")
)


@cache
def known() -> Mapping[bytes, Function]:
    """Return the functions by selector."""
    return {function.selector: function for function in FUNCTIONS}
