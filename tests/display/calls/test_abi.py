"""Call data: every known function round-trips exactly, and any other data is harmless."""

from string import Formatter

import pytest
from eth_abi import encode
from eth_abi.tools import get_abi_strategy
from hypothesis import given
from hypothesis import strategies as st

from intents_ui.display.calls import abi
from intents_ui.display.calls.abi import Decoded, Inner, Unread
from intents_ui.display.calls.function_signatures import CONTRACT, FUNCTIONS, NATIVE, PERHAPS, UNNAMED, Carries, known
from intents_ui.display.calls.values import CHAINS, TIMES

HERE = "0x" + "ab" * 20
THERE = "0x" + "cd" * 20
TRANSFER = bytes.fromhex("a9059cbb")
WORDS = {"caller", "contract", "token", "value"}


def word(value: int) -> bytes:
    return value.to_bytes(32)


def named(signature):
    return next(function for function in FUNCTIONS if function.signature == signature)


def call_of(signature, *values):
    function = named(signature)
    return function.selector + encode([each.type for each in function.parameters], values)


def leaves(parameters):
    for parameter in parameters:
        yield from leaves(parameter.parts) if parameter.parts and not parameter.is_list else [parameter.name]


def nothing_in(function):
    """Return a call with empty arguments."""
    read = abi.decoded(call_of(function.signature, *(nothing(each) for each in function.parameters)))
    assert isinstance(read, Decoded)
    return read


def nothing(parameter):
    if parameter.is_list:
        return []
    if parameter.parts:
        return tuple(map(nothing, parameter.parts))
    usual = bytes(32) if parameter.type.startswith("bytes") else 0
    return {"address": HERE, "bool": False, "bytes": b""}.get(parameter.type, usual)


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("a9059cbb", "transfer"),
        ("095ea7b3", "approve"),
        ("23b872dd", "transferFrom"),
        ("d0e30db0", "deposit"),
        ("38ed1739", "swapExactTokensForTokens"),
        ("5ae401dc", "multicall"),
        ("358a8f48", "depositToIntentWithPermit"),
    ],
)
def test_a_function_is_known_by_its_selector(selector: str, name: str) -> None:
    assert known()[bytes.fromhex(selector)].name == name


def test_selectors_are_unique():
    assert len(known()) == len(FUNCTIONS)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.signature)
def test_every_sentence_uses_existing_arguments(function):
    names = list(leaves(function.parameters))
    assert len(names) == len(set(names))
    spoken = {name for _, name, _, _ in Formatter().parse(function.sentence) if name}
    assert spoken <= {*names} | WORDS
    tokens = {token.partition(" on ")[0].partition(".")[0] for name, token in function.of.items() if name in names}
    assert tokens <= {*names} | {CONTRACT, PERHAPS, NATIVE, UNNAMED}
    assert function.allowance in (*names, "")


def test_every_amount_in_a_sentence_has_a_token():
    kinds = {
        (name, each.parameter.type)
        for function in FUNCTIONS
        for each in nothing_in(function).arguments
        if (name := each.parameter.name) not in function.of and f"{{{name}}}" in function.sentence
    }
    numbers = {name for name, kind in kinds if kind.startswith("uint")}
    assert numbers - TIMES - {*CHAINS} == {"tokenId", "id", "count"}
    assert {name for function in FUNCTIONS for name in function.of} <= {
        name for function in FUNCTIONS for name in leaves(function.parameters)
    }


@given(st.data())
def test_encoded_calls_are_decoded_again(data):
    function = data.draw(st.sampled_from(FUNCTIONS))
    types = [each.type for each in function.parameters]
    values = data.draw(get_abi_strategy(f"({','.join(types)})")) if types else ()
    read = abi.decoded(function.selector + encode(types, values))
    assert isinstance(read, Decoded)
    assert [each.parameter.name for each in read.arguments] == list(leaves(function.parameters))
    assert plain([each.value for each in read.arguments]) == plain(flat(function.parameters, values))
    assert read.left_over == 0


def flat(parameters, values):
    for parameter, value in zip(parameters, values, strict=True):
        yield from flat(parameter.parts, value) if parameter.parts and not parameter.is_list else [value]


def plain(value):
    """Return arguments with tuples as lists and addresses in lowercase."""
    if isinstance(value, str):
        return value.lower()
    return value if isinstance(value, bytes | int) else [plain(each) for each in value]


SELECTORS = st.sampled_from([function.selector for function in FUNCTIONS])
LIKE_ARGUMENTS = st.lists(
    st.one_of(st.integers(0, 300), st.sampled_from([2**255, 2**256 - 1]), st.integers(0, 2**256 - 1)).map(word)
).map(b"".join)


@given(SELECTORS, st.one_of(st.binary(max_size=2000), LIKE_ARGUMENTS))
def test_any_bytes_after_a_selector_are_decoded_or_rejected(selector, rest):
    read = abi.decoded(selector + rest)
    if isinstance(read, Decoded):
        found = abi.inner(read)
        assert found is None or all(isinstance(each.data, bytes) for each in found)
    else:
        assert read is Unread.BROKEN


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


BOMBS = [
    pytest.param(one_long_entry_many_times("ac9650d8", entries=1000, size=30_000), id="the same bytes a lot"),
    pytest.param(bytes.fromhex("ac9650d8") + word(32) + word(2**255), id="an endless list"),
    pytest.param(bytes.fromhex("ac9650d8") + word(32) + word(1) + word(32) + word(2**255), id="endless bytes"),
    pytest.param(bytes.fromhex("ac9650d8") + word(2**255), id="a pointer to nowhere"),
    pytest.param(bytes.fromhex("ac9650d8") + word(0), id="a pointer to itself"),
    pytest.param(TRANSFER + word(2**256 - 1) + word(1), id="an address of 32 bytes"),
    pytest.param(TRANSFER + word(1), id="one argument missing"),
]


@pytest.mark.parametrize("data", BOMBS)
def test_undecodable_arguments_are_reported(data):
    assert abi.decoded(data) is Unread.BROKEN


def test_the_decoder_reads_only_a_few_times_the_data(monkeypatch):
    held = []
    read = abi._Stream.read
    monkeypatch.setattr(abi._Stream, "read", lambda self, size=-1: held.append(read(self, size)) or held[-1])
    data = one_long_entry_many_times("252dba42", entries=1000, size=30_000)
    assert abi.decoded(data) is Unread.BROKEN
    assert sum(map(len, held)) < 10 * len(data)


def test_a_long_valid_list_is_decoded():
    values = [bytes([number % 256]) * 100 for number in range(200)]
    read = abi.decoded(call_of("multicall(bytes[])", values))
    assert isinstance(read, Decoded)
    assert [each.data for each in abi.inner(read) or ()] == values


def test_undecodable_data_says_why():
    assert abi.decoded(TRANSFER + bytes(abi.MOST_BYTES)) is Unread.TOO_LONG
    assert abi.decoded(b"\xa9\x05") is Unread.SHORT
    assert abi.decoded(bytes.fromhex("deadbeef") + word(1)) is Unread.UNKNOWN


def test_bytes_after_the_arguments_are_counted():
    read = abi.decoded(TRANSFER + word(1) + word(2) + b"referrer")
    assert isinstance(read, Decoded)
    assert (read.value("amount"), read.left_over) == (2, 8)


def test_bytes_may_end_without_zeros_but_not_too_early():
    whole = call_of("forward(bytes)", b"abc")
    read = abi.decoded(whole[:-29])
    assert isinstance(read, Decoded)
    assert read.value("data") == b"abc"
    assert abi.decoded(whole[:-30]) is Unread.BROKEN


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (None, b""),
        ("", b""),
        ("0x", b""),
        ("0xAb01", b"\xab\x01"),
        ("0Xab01", b"\xab\x01"),
        ("0xabc", None),
        ("ab01", None),
        ("0xzz", None),
        ("0x\u0661\u0661", None),
        ("0xab\n", None),
    ],
)
def test_hex(text, data):
    assert abi.raw(text) == data


def test_the_wallets_compact_encoding_is_decoded():
    """Flags for the whole, the nonce, the number of calls, then flags for each call and the parts that they
    announce.
    """
    to = bytes.fromhex(HERE[2:])
    first = bytes([0x02 | 0x04 | 0x40]) + to + word(7) + (3).to_bytes(3) + b"abc"
    second = bytes([0x01 | 0x08 | 0x10 | 0x20 | 0x80]) + word(90_000)
    found = abi.packed(bytes([0x01 | 1 << 1, 5, 2]) + first + second)
    assert found == (
        Inner(HERE, b"abc", 7, None, False, False, 1),
        Inner(None, b"", 0, 90_000, True, True, 2),
    )
    assert abi.packed(bytes([0x10 | 0x01, 0x01])) == (Inner(None, b"", 0, None, False, False, 0),)
    assert abi.packed(bytes([0x20 | 0x01, 0, 1, 0x01])) == (Inner(None, b"", 0, None, False, False, 0),)
    assert abi.packed(bytes(21) + bytes([1, 1])) == (Inner(None, b"", 0, None, False, False, 0),)


def test_a_compact_list_with_extra_or_missing_bytes_is_rejected():
    whole = bytes([0x10 | 0x01, 0x01])
    assert abi.packed(whole + b"\0") is None
    assert abi.packed(whole[:-1]) is None
    assert abi.packed(b"") is None
    assert abi.plainly_packed(b"") is None


CALLS = [
    pytest.param(call_of("multicall(bytes[])", [b"one", b"two"]), [Inner(None, b"one"), Inner(None, b"two")], id="own"),
    pytest.param(
        call_of("aggregate3Value((address,bool,uint256,bytes)[])", [(HERE, True, 5, b"one")]),
        [Inner(HERE, b"one", 5)],
        id="listed, with a value",
    ),
    pytest.param(
        call_of("tryAggregate(bool,(address,bytes)[])", False, [(HERE, b"one"), (THERE, b"two")]),
        [Inner(HERE, b"one"), Inner(THERE, b"two")],
        id="listed",
    ),
    pytest.param(call_of("execute(address,uint256,bytes)", HERE, 3, b"one"), [Inner(HERE, b"one", 3)], id="one"),
    pytest.param(
        call_of("exec(address,address,uint256,address,bytes)", HERE, HERE, 1, THERE, b"one"),
        [Inner(THERE, b"one")],
        id="one, for a target",
    ),
    pytest.param(
        call_of("multiSend(bytes)", b"\1" + bytes.fromhex(HERE[2:]) + word(5) + word(3) + b"one"),
        [Inner(HERE, b"one", 5, delegate_call=True)],
        id="batch",
    ),
    pytest.param(
        call_of("execute(bytes,bytes)", bytes.fromhex(HERE[2:]) + word(5) + word(3) + b"one", b""),
        [Inner(HERE, b"one", 5)],
        id="packed",
    ),
    pytest.param(call_of("execute(bytes,bytes)", b"what is this?", b""), None, id="packed as nobody knows"),
]


@pytest.mark.parametrize(("data", "expected"), CALLS)
def test_nested_calls_are_decoded(data, expected):
    read = abi.decoded(data)
    assert isinstance(read, Decoded)
    found = abi.inner(read)
    assert (None if found is None else [*found]) == expected


def test_each_encoding_of_nested_calls_finds_its_arguments():
    """Without nested calls, so that a misspelled argument name isn't hidden by an undecodable value."""
    for function in FUNCTIONS:
        found = abi.inner(nothing_in(function))
        assert (found is None) == (function.carries in (Carries.NONE, Carries.PACKED, Carries.BATCH))
