"""Call data: every known function round-trips exactly, and any other data is harmless."""

from string import Formatter

import pytest
from eth_abi import encode
from eth_abi.tools import get_abi_strategy
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.fields import abi
from intents_ui.fields.abi import Decoded, Unread
from intents_ui.service.models import Call
from tests.transfers.builders import named

HERE = "0x" + "ab" * 20
THERE = "0x" + "cd" * 20
TRANSFER = bytes.fromhex("a9059cbb")
FUNCTIONS = list(abi.functions().values())
WORDS = {"caller", "contract", "token", "value"}


def word(value: int) -> bytes:
    return value.to_bytes(32)


def call_of(called, *values):
    """Encode a call of the only function with this signature, name, or name and number of parameters: `permit/7`."""
    [function] = [
        each for each in FUNCTIONS if called in (each.signature, each.name, f"{each.name}/{len(each.parameters)}")
    ]
    return function.selector + encode([each.type for each in function.parameters], values)


def leaves(parameters):
    return [argument.name for parameter in parameters for argument in parameter.arguments]


def test_every_sentence_uses_existing_arguments():
    for function in FUNCTIONS:
        names = leaves(function.parameters)
        assert len(names) == len(set(names)), function.signature
        said = [(name, choice) for _, name, choice, _ in Formatter().parse(function.sentence) if name]
        assert {name for name, _ in said} <= {*names} | WORDS, function.signature
        tokens = {name: each.token for name, each in function.arguments.items() if each.token}
        known = {*names, "contract", "contract?", "native", "unnamed"}
        assert {each.partition(" on ")[0].partition(".")[0] for each in tokens.values()} <= known, function.signature
        assert {name for name, choice in said if choice == "allowance"} <= {*tokens}, function.signature


@given(st.data())
def test_encoded_calls_are_decoded_again(data):
    function = data.draw(st.sampled_from(FUNCTIONS))
    types = [each.type for each in function.parameters]
    values = data.draw(get_abi_strategy(f"({','.join(types)})")) if types else ()
    read = abi.decoded(function.selector + encode(types, values))
    assert isinstance(read, Decoded)
    assert [*read.values] == leaves(function.parameters)
    assert plain(read.values.values()) == plain(flat(function.parameters, values))
    assert read.left_over == 0


def flat(parameters, values):
    for parameter, value in zip(parameters, values, strict=True):
        yield from flat(parameter.parts, value) if parameter.parts and not parameter.is_list else [value]


def plain(value):
    """Return arguments with tuples as lists and addresses in lowercase."""
    if isinstance(value, str):
        return value.lower()
    return value if isinstance(value, bytes | int) else [plain(each) for each in value]


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_rejected(data):
    assert isinstance(abi.decoded(data), Decoded | Unread)
    abi.packed(data)
    abi.plainly_packed(data)
    abi.plainly_packed(data, operations=True)


def one_long_entry_many_times(selector, *, entries, size):
    """Return a list whose pointers all lead to the same bytes."""
    pointers = word(32 * entries) * entries
    return bytes.fromhex(selector) + word(32) + word(entries) + pointers + word(size) + b"\xff" * size


BOMBS = named(
    ("the same bytes a lot", one_long_entry_many_times("ac9650d8", entries=1000, size=30_000)),
    ("an endless list", bytes.fromhex("ac9650d8") + word(32) + word(2**255)),
    ("a pointer to nowhere", bytes.fromhex("ac9650d8") + word(2**255)),
    ("one argument missing", TRANSFER + word(1)),
)


@pytest.mark.parametrize("data", BOMBS)
def test_undecodable_arguments_are_reported(data):
    assert abi.decoded(data) is Unread.BROKEN


ODD_PADDING = named(
    ("an argument", call_of("execute(address,uint256,bytes)", HERE, 3, b"one")),
    ("in a list", call_of("multicall/1", [b"one"])),
    ("in a struct of a list", call_of("aggregate3", [(HERE, True, b"one")])),
)


@pytest.mark.parametrize("data", ODD_PADDING)
def test_padding_may_be_anything_or_missing_but_no_byte_of_the_value(data):
    usual = abi.decoded(data)
    assert isinstance(usual, Decoded)
    assert abi.decoded(data[:-1] + b"\x01") == abi.decoded(data[:-29]) == usual
    assert abi.decoded(data[:-30]) is Unread.BROKEN


def test_hex():
    assert [abi.raw(text) for text in (None, "", "0x")] == [b""] * 3
    assert [abi.raw(text) for text in ("0xAb01", "0Xab01")] == [b"\xab\x01"] * 2
    assert [abi.raw(text) for text in ("0xabc", "ab01", "0xzz", "0x\u0661\u0661", "0xab\n")] == [None] * 5


def test_the_wallets_compact_encoding_is_decoded():
    """Flags for the whole, the nonce, the number of calls, then flags for each call and the parts that they
    announce.
    """
    to = bytes.fromhex(HERE[2:])
    first = bytes([0x02 | 0x04 | 0x40]) + to + word(7) + (3).to_bytes(3) + b"abc"
    second = bytes([0x01 | 0x08 | 0x10 | 0x20 | 0x80]) + word(90_000)
    found = abi.packed(bytes([0x01 | 1 << 1, 5, 2]) + first + second)
    flags = {"delegate_call": True, "only_fallback": True, "behavior_on_error": 2}
    plain_flags = {"delegate_call": False, "only_fallback": False, "behavior_on_error": 0}
    assert found == (
        Call(to=HERE, data="0x616263", value=7, **{**plain_flags, "behavior_on_error": 1}),
        Call(data="0x", value=0, gas_limit=90_000, **flags),
    )
    for whole in (bytes([0x10 | 0x01, 0x01]), bytes([0x20 | 0x01, 0, 1, 0x01]), bytes(21) + bytes([1, 1])):
        assert abi.packed(whole) == (Call(data="0x", value=0, **plain_flags),)


def test_a_compact_list_with_extra_or_missing_bytes_is_rejected():
    whole = bytes([0x10 | 0x01, 0x01])
    assert abi.packed(whole + b"\0") is None
    assert abi.packed(whole[:-1]) is None
    assert abi.packed(b"") is None
    assert abi.packed(bytes([0x20 | 0x01]) + (abi.MAX_CALLS + 1).to_bytes(2) + b"\1" * (abi.MAX_CALLS + 1)) is None
    assert abi.plainly_packed(b"") is None


PACKED = bytes.fromhex(HERE[2:]) + word(5) + word(3) + b"one"
CALLS = named(
    ("listed, with a value", call_of("aggregate3Value", [(HERE, True, 5, b"one")]), {"to": HERE, "value": 5}),
    ("one", call_of("execute(address,uint256,bytes)", HERE, 3, b"one"), {"to": HERE, "value": 3}),
    ("one, for a target", call_of("exec", HERE, HERE, 1, THERE, b"one"), {"to": THERE, "value": 0}),
    ("batch", call_of("multiSend", b"\1" + PACKED), {"to": HERE, "value": 5, "delegate_call": True}),
    ("packed", call_of("execute(bytes,bytes)", PACKED, b""), {"to": HERE, "value": 5}),
    ("for the contract itself", call_of("multicall/1", [b"one"]), {"value": 0}),
)


@pytest.mark.parametrize(("data", "expected"), CALLS)
def test_nested_calls_are_decoded(data, expected):
    assert abi.nested(abi.decoded(data)) == (Call(data="0x6f6e65", **expected),)
