"""Find hashes, addresses and intent IDs in pasted text, in order of appearance, and link them to block explorers.

Nothing is fetched or guessed: a malformed hash or address gets a message that says what's wrong.
Those broken across lines in emails, quotes and terminals are joined if together they have exactly the right length.
A single pass of one regular expression without backtracking over text of limited length, so no input is slow.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from intents_ui import tables
from intents_ui.formatting import hashes, text
from intents_ui.formatting.hashes import ADDRESS_DIGITS, BESIDE, FULL_WIDTH, GREEK_AND_CYRILLIC, HASH_DIGITS, HIDDEN
from intents_ui.search import input_errors
from intents_ui.service.models import ChainInfo
from intents_ui.tokens import names

LONGEST = 10_000
LONGEST_WORDS = 100
SHORTEST_WORDS = 3


class Kind(StrEnum):
    HASH = "hash"  # 64 hex characters without context: an intent ID or a transaction hash
    INTENT = "intent"
    TRANSACTION = "transaction"
    ADDRESS = "address"
    SOLANA_ADDRESS = "solana-address"
    SOLANA_SIGNATURE = "solana-signature"
    OTHER_ADDRESS = "other-address"  # of `chain`
    OTHER_HASH = "other-hash"
    WORDS = "words"
    SHORTENED = "shortened"  # `head` and `tail` of a value without its middle
    NEAR_MISS = "near-miss"  # can't be looked up: `problem` says why


@dataclass(frozen=True)
class Finding:
    """An identifier in the text. `value` is canonical (`0x` and lowercase for hex), `host` that of its link, `chain`
    the name of the only chain with such values.

    `head` and `tail` are the known hex characters of a shortened value, without `0x`. One of them may be empty."""

    kind: Kind
    value: str
    host: str = ""
    chain: str = ""
    chain_id: int | None = None
    warning: str = ""
    problem: str = ""
    head: str = ""
    tail: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.problem and self.kind is not Kind.SHORTENED


@dataclass(frozen=True)
class ParsedText:
    """All identifiers of a text. `problem` is set when none can be looked up. Empty text has neither."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def lookups(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.is_whole)

    @property
    def shortened(self) -> tuple[Finding, ...]:
        """Return the shortened values, to compare with full ones: the service can't search by part of a value."""
        return tuple(finding for finding in self.findings if finding.kind is Kind.SHORTENED)

    @property
    def refusal(self) -> str:
        """Return why this isn't a full value: `problem`, or that it's shortened."""
        return input_errors.SHORTENED if self.shortened and not self.lookups else self.problem

    @property
    def most_specific(self) -> tuple[Finding, ...]:
        """Return intent IDs (first), hashes and text: each usually leads to one transfer."""
        return tuple(each for kind in ALWAYS_SHOWN for each in self.lookups if each.kind is kind)

    @property
    def addresses(self) -> tuple[Finding, ...]:
        """Return addresses: each may lead to many transfers."""
        return tuple(finding for finding in self.lookups if finding.kind in ADDRESSES)

    @property
    def unclear(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.problem)


ALWAYS_SHOWN = (Kind.INTENT, Kind.TRANSACTION, Kind.SOLANA_SIGNATURE, Kind.OTHER_HASH, Kind.HASH, Kind.WORDS)
ADDRESSES = (Kind.ADDRESS, Kind.SOLANA_ADDRESS, Kind.OTHER_ADDRESS)
HASHES = (Kind.HASH, Kind.TRANSACTION, Kind.SOLANA_SIGNATURE, Kind.OTHER_HASH)
OF_64_DIGITS = frozenset({Kind.HASH, Kind.INTENT, Kind.TRANSACTION})


WORDS: dict[str, Any] = tables.read(__package__, "words.toml")
# The usual names of chains, which also stand before an address: `arb1:0x…`.
USUAL_NAMES: dict[str, list[str]] = WORDS["chains"]
SHORT_NAMES = {name.replace(" ", "-"): int(chain_id) for chain_id, called in USUAL_NAMES.items() for name in called}

QUOTES = " \t\r\n\"'`“”‘’«»„()[]{}<>.,;:!?"  # noqa: RUF001 - curly quotes are what chat programs make of straight ones
HIDDEN_AT_AN_EDGE = re.compile(rf"(?<!\w)[{HIDDEN}]+|[{HIDDEN}]++(?!\w)")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
HEX_WITH_BLANKS = re.compile(r"(?:0[xX])?[0-9a-fA-F\s]{20,}")
# Without `0x`, accept lengths this close to those of addresses and hashes. Other IDs have 24 or 32 characters.
FAR_OFF = 3
FEWEST_IN_GROUPS = 37
# Known characters of a shortened value. Fewer match too many values.
MIN_KNOWN = 4
MIN_HEAD = 4
MIN_TAIL = 3
# Chinese writes an ellipsis as two characters.
# Others mask the middle: `0x7c1f***9e2b`.
DOTS = r"(?:[…⋯]++|\.{2,}+|[*•·]{2,}+)++"
CUT = re.compile(DOTS)
TAIL_ALONE = re.compile(rf"{DOTS}(?P<tail>[0-9a-f]{{1,36}}+)", re.IGNORECASE)
# Without the dot, which is part of a shortened value.
AROUND_A_TAIL = QUOTES.replace(".", "")
ENCODED = re.compile(r"://|%(?:25)*(?:2f|3a|3d)", re.IGNORECASE)
MAX_ENCODINGS = 4
# What stands before a value: `/tx/`, `?tx=`, `/intent/`, `arb1:`, `eip155:42161:`, and the workchain of TON.
LONGEST_CONTEXT = 24
CONTEXT = re.compile(
    r"(?:(?:\A|/)(?P<intent>intents?|i)/|(?P<transaction>(?:\A|/)(?:txs?|transactions?)/|[?&]tx=)"
    r"|(?<!\w)(?P<workchain>0|-1):|\beip155:(?P<number>[0-9]{1,15}):|(?<![\w-])(?P<name>[a-z][a-z0-9-]{1,15}):)\Z",
    re.ASCII,
)
HOST = re.compile(hashes.HOST, re.ASCII)

# The suffixes of names that resolve to an address: ENS, Solana Name Service, Lens and others.
NAMES = "eth|sol|lens|bnb|arb|crypto|nft|wallet|near|ton|stark|apt|sui"
LABEL = r"[^\s./@:\"'`<>()\[\]{},;!?=&#|]"
SCAN = re.compile(
    r"(?P<blank>\s+)"
    r"|https?://(?P<host>[^\s/?#<>\"'`]{1,300}+)"
    r"|(?<![\w.@/-])(?P<bare_host>[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){1,6}+)(?=/)"
    rf"|(?<!{BESIDE})(?P<cut>0x(?P<head>[0-9a-f]{{0,64}}+){DOTS}(?P<tail>[0-9a-f]{{1,64}}+(?!{BESIDE}))?)"
    rf"|(?<!{BESIDE})(?<![.…⋯])(?<![*•·]{{2}})(?P<end>{DOTS}(?P<digits>[0-9a-f]{{4,36}}+)(?!{BESIDE}))"
    rf"|(?P<prefixed>(?:(?<!{BESIDE})0|\\)x[0-9a-z]{{16,}}+)(?!{BESIDE})"
    rf"|(?<!{BESIDE})(?P<bare>[0-9a-f]{{37,67}}+)(?!{BESIDE})"
    rf"|(?<!{BESIDE})(?<![0-9a-z]_)(?P<named>intent_(?=[a-z_-]{{0,60}}+[0-9])[a-z0-9_-]{{1,120}}+)(?!{BESIDE})"
    rf"|(?<![\w.@-])(?P<name>(?:{LABEL}{{1,63}}+\.){{1,4}}?(?:{NAMES}))(?!{BESIDE}|[./-]\w)"
    rf"|(?<!{BESIDE})(?P<pieces>(?:0x)?[0-9a-f]{{4,36}}+(?:[ \t]{{1,4}}+[0-9a-f]{{4,36}}+(?!{BESIDE})){{1,15}}+)"
    rf"|(?<!{BESIDE})(?P<word>[EUk0][Qf][0-9a-z_-]{{46}}|[0-9a-z]{{25,110}}+)(?!{BESIDE})"
    r"|(?<=/)(?:intents?|i)/(?P<id>[a-z0-9][a-z0-9_~-]{0,127}+)(?![a-z0-9_~-])",
    re.IGNORECASE,
)


def read(received: str, *, longest: int = LONGEST) -> ParsedText:
    """Return the identifiers in a text of up to `longest` characters, once each, in order of appearance."""
    if len(received) > longest:
        return ParsedText(problem=f"Too long: {len(received):,} characters. The limit is {longest:,}.")
    if control := CONTROL.search(received):
        return ParsedText(problem=f"Unprintable character ({text.visible(control[0])}). Copy the value again.")
    cleaned = HIDDEN_AT_AN_EDGE.sub("", received)
    if not "".join(cleaned.split()).strip(QUOTES):
        return ParsedText()
    seen = cleaned if cleaned.isascii() else WORD.sub(_without_unseen, cleaned)
    plain = POSSIBLE.sub(_without_lookalikes, seen)
    # Only the end of a value. Within other text, most matches would be words or numbers.
    alone = TAIL_ALONE.fullmatch(plain.strip(AROUND_A_TAIL))
    tail = [_of_parts("", alone["tail"])] if alone else []
    # Quoted-printable encodes `=` as `=3D`.
    prefixed = ENCODED_BREAK_IN_PREFIX.sub("0", plain.replace("=3D0x", "=0x"))
    decoded = _decoded(TORN.sub(lambda torn: re.sub(r"[^0-9A-Za-z]+", "", torn[0]), prefixed))
    single = DOUBLED.sub("0x", decoded)
    found = _broken_by_blanks(plain) or tail or _scanned(AFTER_A_VALUE.sub(r"\1 ", BEFORE_A_VALUE.sub(" ", single)))
    warnings = {
        input_errors.DOUBLED: single != decoded,
        input_errors.LOOKALIKES_READ: plain != seen,
        input_errors.INVISIBLE: seen != received,
    }
    warning = next((each for each, applies in warnings.items() if applies), "")
    findings = [replace(each, warning=each.warning or warning) for each in _without_short_forms(_once_each(found))] or [
        _words(cleaned)
    ]
    is_any_good = any(not finding.problem for finding in findings)
    return ParsedText(tuple(findings), "" if is_any_good else findings[0].problem)


def _broken_by_blanks(received: str) -> list[Finding]:
    """Return whether the text is one hash, without `0x` or with whitespace in it."""
    stripped = received.strip(QUOTES)
    if not HEX_WITH_BLANKS.fullmatch(stripped):
        return []
    pieces = stripped.split()
    whole = "".join(pieces)
    digits = _without_prefix(whole)
    complete = any(len(_without_prefix(piece)) in COMPLETE for piece in pieces)
    if len(pieces) > 1 and (complete or digits.isdigit()):
        return []
    if digits == whole and not _is_nearly(len(digits)):
        return []
    found = _of_hex(digits)
    is_torn = len(pieces) == 2 and "\n" not in stripped and not found.problem
    return [replace(found, warning=found.warning or input_errors.SPACE) if is_torn else found]


def _is_nearly(length: int) -> bool:
    return any(abs(length - right) <= FAR_OFF for right in COMPLETE)


def _without_prefix(word: str) -> str:
    return word[2:] if word[:2] in ("0x", "0X") else word


def _scanned(received: str) -> Iterator[Finding]:
    host = ""
    for match in SCAN.finditer(received):
        if match.lastgroup in ("blank", "host", "bare_host"):
            # Only a hint at the chain, which is never fetched.
            found = match[0].strip().lower()
            found = (found.partition("://")[2] or found).rpartition("@")[2].partition(":")[0]
            host = found if HOST.fullmatch(found) else ""
        elif finding := _finding(match, received):
            yield replace(finding, host=host)


def _decoded(received: str) -> str:
    """Decode links inside links (redirects of mail clients), which are often encoded more than once."""
    for _ in range(MAX_ENCODINGS):
        decoded = unquote(received, errors="replace") if ENCODED.search(received) else received
        if decoded == received:
            break
        received = decoded
    return received


def _finding(match: re.Match[str], received: str) -> Finding | None:
    before = received[max(0, match.start() - LONGEST_CONTEXT) : match.start()].lower()
    match match.lastgroup:
        case "prefixed":
            return _placed(_of_hex(match[0][2:]), before)
        case "bare":  # Without `0x`, decimal digits are an amount, and other lengths aren't identifiers.
            is_other = match[0].isdigit() or not _is_nearly(len(match[0]))
            return None if is_other else _placed(_of_hex(match[0]), before)
        case "named":
            return Finding(Kind.INTENT, match[0].rstrip("_-"))
        case "id":
            if hashes.canonical_hash(match["id"]):
                return replace(_of_hex(_without_prefix(match["id"])), kind=Kind.INTENT)
            has_prefix = match["id"][:2].lower() == "0x"
            return _of_hex(match["id"][2:]) if has_prefix else Finding(Kind.INTENT, match["id"])
        case "word":
            return _of_other_chain(match[0])
        case "pieces":
            return _of_pieces(match[0])
        case "cut" if len(match["head"]) in COMPLETE:  # After a complete hash, the dots end a sentence.
            return _placed(_of_hex(match["head"]), before)
        case "cut":
            is_short = not match["tail"] and len(match["head"]) < MIN_HEAD
            return None if is_short else _of_parts(match["head"], match["tail"] or "")
        case "end":  # not words (“...added”) and years (“...2026”)
            digits = match["digits"]
            return None if digits.isdigit() or digits.isalpha() else _of_parts("", digits)
        case _:
            end = match[0].rpartition(".")[2].lower()
            problem = input_errors.NAME.format(what="ENS" if end == "eth" else f".{end}")
            return Finding(Kind.NEAR_MISS, match[0], problem=problem)


def _of_other_chain(word: str) -> Finding | None:
    if hashes.is_solana_address(word):
        return Finding(Kind.SOLANA_ADDRESS, word)
    if hashes.is_solana_signature(word):
        return Finding(Kind.SOLANA_SIGNATURE, word)
    shape = shape_of(word)
    return Finding(Kind.OTHER_HASH if shape.is_hash else Kind.OTHER_ADDRESS, word, chain=shape.chain) if shape else None


def _of_parts(head: str, tail: str) -> Finding:
    head, tail = head.lower(), tail.lower()
    value = f"0x{head}…{tail}" if head else f"…{tail}"
    enough = len(head) >= MIN_HEAD or len(tail) >= MIN_TAIL
    if not enough or len(head) + len(tail) < MIN_KNOWN:
        return Finding(Kind.NEAR_MISS, value, problem=input_errors.TOO_SHORT)
    return Finding(Kind.SHORTENED, value, head=head, tail=tail)


def _of_pieces(groups: str) -> Finding | None:
    """Join groups only after `0x`: two IDs side by side look the same."""
    whole = "".join(groups.split())
    digits = _without_prefix(whole)
    if digits != whole and len(digits) >= FEWEST_IN_GROUPS and len(digits) not in COMPLETE:
        return _of_hex(digits)
    if digits.isdigit() or len(digits) not in COMPLETE:
        return None
    return Finding(Kind.NEAR_MISS, groups, problem=input_errors.IN_PIECES)


def _of_hex(digits: str) -> Finding:
    if known := hashes.canonical_hash("0x" + digits):
        warning = input_errors.PLACEHOLDER if hashes.is_placeholder(known) else ""
        return Finding(Kind.HASH, known, warning=warning)
    if known := hashes.canonical_address("0x" + digits):
        mistyped = input_errors.CHECKSUM if hashes.has_wrong_checksum("0x" + digits) else ""
        return Finding(Kind.ADDRESS, known, warning=input_errors.NATIVE if hashes.is_native(known) else mistyped)
    problem = input_errors.of_hex(digits)
    if shape := shape_of("0x" + digits.lower()):
        return Finding(Kind.OTHER_HASH, "0x" + digits.lower(), chain=shape.chain, warning=problem)
    return Finding(Kind.NEAR_MISS, hashes.short_id("0x" + digits), problem=problem)


def _placed(finding: Finding, before: str) -> Finding:
    context = CONTEXT.search(before)
    if context is None:
        return finding
    if context["number"] or context["name"]:
        chain_id = int(context["number"]) if context["number"] else SHORT_NAMES.get(context["name"])
        return replace(finding, chain_id=chain_id)
    if finding.kind is not Kind.HASH:
        return finding
    if context["workchain"]:
        return Finding(Kind.OTHER_ADDRESS, f"{context['workchain']}:{finding.value[2:]}", chain="TON")
    return replace(finding, kind=Kind.INTENT if context["intent"] else Kind.TRANSACTION)


def _words(received: str) -> Finding:
    words = unicodedata.normalize("NFC", " ".join(received.split()))
    problem = input_errors.of_words(words, shortest=SHORTEST_WORDS, longest=LONGEST_WORDS)
    shown = text.capped(words, cap=LONGEST_WORDS).shown if problem else words
    return Finding(Kind.WORDS, shown, problem=problem)


def _once_each(findings: Iterable[Finding]) -> list[Finding]:
    """Merge repeated values and their hints. Contradicting kinds (transaction link, intent ID) become `HASH`."""
    kept: dict[str, Finding] = {}
    for finding in findings:
        first = kept.setdefault(finding.value, finding)
        if first.kind is not finding.kind and {first.kind, finding.kind} <= OF_64_DIGITS:
            chain_id = finding.chain_id if first.chain_id is None else first.chain_id
            merged = replace(first, kind=Kind.HASH, host=first.host or finding.host, chain_id=chain_id)
            kept[finding.value] = merged
    return list(kept.values())


def _without_short_forms(findings: Sequence[Finding]) -> list[Finding]:
    """Drop shortened forms of full values in the same text, such as the label of an explorer link."""
    wholes = [each for each in findings if each.is_whole]
    linked = [each for each in wholes if each.host or each.kind in (Kind.INTENT, Kind.TRANSACTION)]

    def is_short_form(finding: Finding) -> bool:
        head, *tail = CUT.split(finding.value.lower(), maxsplit=1)
        others = linked if finding.kind is Kind.SHORTENED else wholes
        return bool(tail) and any(each.value.startswith(head) and each.value.endswith(tail[0]) for each in others)

    return [each for each in findings if each.is_whole or not is_short_form(each)]


COMPLETE = frozenset({ADDRESS_DIGITS, HASH_DIGITS})
WORD = re.compile(rf"[0-9A-Za-z_{HIDDEN}]++")
UNSEEN = re.compile(rf"[{HIDDEN}]+")
# Words to normalize. All others stay unchanged.
IDENTIFIER = re.compile(
    r"_*(?:0x[0-9a-z]{16,}|[0-9a-f]{37,67}|[1-9a-z]{32,88}|intent_[0-9a-z_]+)_*", re.IGNORECASE | re.ASCII
)
WHOLE = re.compile(rf"(?:0x)?(?:[0-9a-f]{{{ADDRESS_DIGITS}}}|[0-9a-f]{{{HASH_DIGITS}}})", re.IGNORECASE)
# A word of letters that look like digits, in OCR and in forgeries.
POSSIBLE = re.compile(rf"[0-9A-Za-z{FULL_WIDTH}{GREEK_AND_CYRILLIC}]{{40,}}+")
# Latin, Cyrillic and Greek letters.
LOOKALIKES = {ord(letter): digit for digit, letters in WORDS["lookalikes"].items() for letter in letters}
MAX_LOOKALIKES = 4
DOUBLED = re.compile(r"0x(?:\s?0x){1,3}+(?=[0-9a-f]{38})", re.IGNORECASE)
# Texts copied from a table: `Hash0x12…`, `0x12…Success`, `0x12…0x34…`.
VALUE = rf"(?:[0-9a-fA-F]{{{HASH_DIGITS}}}|[0-9a-fA-F]{{{ADDRESS_DIGITS}}})"
WORD_BEHIND = r"[A-Fa-f]*+[g-zG-Z][A-Za-z]*+(?![0-9])"
BEFORE_A_VALUE = re.compile(rf"(?<=[0-9A-Za-z_])(?=0[xX]{VALUE}(?:(?![0-9a-fA-F])|0[xX]|{WORD_BEHIND}))")
AFTER_A_VALUE = re.compile(rf"(?<=[xX])({VALUE})(?={WORD_BEHIND})")
HEX_DIGIT = "[0-9a-f]"
BLANK = r"\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# `=` ends a soft-wrapped line in quoted-printable, so a piece of any length may follow.
ENCODED_BREAK = r"=[ \t]{0,40}+\r?\n[>| \t]{0,40}+"
ENCODED_BREAK_IN_PREFIX = re.compile(rf"(?<!{BESIDE})0{ENCODED_BREAK}(?=x[0-9a-f])", re.IGNORECASE)
# A complete value is no piece of another one.
WHOLE_PIECE = rf"{HEX_DIGIT}{{40}}(?:{HEX_DIGIT}{{24}})?+(?!{HEX_DIGIT}|{ENCODED_BREAK})"
# "fee", "bad" and "add" are hex too: pieces on two lines have at least six digits, and no group after `0x` is a word.
LINE_BREAK = (
    rf"(?<={HEX_DIGIT}{{6}})(?:-?[ \t{BLANK}]{{0,40}}+(?:\r\n?|[\n\u2028\u2029])[>| \t{BLANK}]{{0,40}}+|[{BLANK}]++)"
    rf"(?={HEX_DIGIT}{{6}})(?!{WHOLE_PIECE})"
)
SPACE = (
    rf"(?:[ \t]{{1,40}}+(?:\r?\n[>| \t]{{0,40}}+)?+|\r?\n[>| \t]{{0,40}}+)"
    rf"(?!{WHOLE_PIECE}|[a-f]{{1,3}}(?!{HEX_DIGIT}))"
)


def _torn(digits: int, *between: str) -> str:
    """Return the pattern of a value with so many digits that these may separate."""
    return rf"{HEX_DIGIT}(?:(?:{'|'.join(between)})?+{HEX_DIGIT}){{{digits - 1}}}(?!{BESIDE})"


# A further group after 40 digits means an incomplete hash, not an address.
TORN = re.compile(
    rf"(?<!{BESIDE})(?:0x(?!{WHOLE_PIECE})(?:{_torn(HASH_DIGITS, ENCODED_BREAK, LINE_BREAK, SPACE)}"
    rf"|{_torn(ADDRESS_DIGITS, ENCODED_BREAK, LINE_BREAK, SPACE)}(?!{SPACE}{HEX_DIGIT}++(?!{BESIDE})))"
    rf"|(?!{WHOLE_PIECE})(?:{_torn(HASH_DIGITS, ENCODED_BREAK, LINE_BREAK)}"
    rf"|{_torn(ADDRESS_DIGITS, ENCODED_BREAK, LINE_BREAK)}))",
    re.IGNORECASE,
)


def _without_unseen(word: re.Match[str]) -> str:
    pieces = [piece for piece in UNSEEN.split(word[0]) if piece]
    if len(pieces) > 1 and all(_is_whole_piece(piece) for piece in pieces):
        return " ".join(pieces)
    if IDENTIFIER.fullmatch("".join(pieces)):
        return "".join(pieces)
    return " ".join(pieces) if any(_is_whole_piece(piece) for piece in pieces) else word[0]


def _is_whole_piece(piece: str) -> bool:
    return WHOLE.fullmatch(piece) is not None or hashes.is_solana_address(piece)


def _without_lookalikes(word: re.Match[str]) -> str:
    narrow = unicodedata.normalize("NFKC", word[0])  # from full width
    read = narrow.translate(LOOKALIKES)
    changed = sum(one != other for one, other in zip(narrow, read, strict=False))
    return read if changed <= MAX_LOOKALIKES and WHOLE.fullmatch(read) else word[0]


def only(written: str, kinds: Sequence[Kind]) -> str | None:
    """Return the only identifier of these kinds in the text of a field, whatever stands around it."""
    found = [each.value for each in read(written).lookups if each.kind in kinds]
    return found[0] if len(found) == 1 else None


# Links at block explorers: of chains that the service lists, and of well-known others


class Explorer(NamedTuple):
    chain: str
    link: str


def account(address: str | None) -> str | None:
    """Return the canonical form of an account's address; None for anything else."""
    if address is None or hashes.is_native(address):
        return None
    return hashes.any_address(address) or (address if shape_of(address) else None)


def explorers_of(finding: Finding, *, chains: Sequence[ChainInfo]) -> tuple[Explorer, ...]:
    """Return an explorer for each chain that it may be on: the named one, or all of its kind. Well-known chains that
    the service doesn't list count if it is named or no listed chain has values of this kind.
    """
    link = address_link if finding.kind in ADDRESSES else transaction_link if finding.kind in HASHES else None
    if link is None:
        return ()
    if shape := shape_of(finding.value):
        return (Explorer(shape.chain, f"{shape.explorer}{finding.value}"),) if shape.explorer else ()
    listed = {chain.id: chain for chain in chains}

    def on(chain_ids: Iterable[int]) -> tuple[Explorer, ...]:
        infos = [(each, listed.get(each)) for each in chain_ids if finding.chain_id in (None, each)]
        links = [(names.chain(each, info=info), link(finding.value, chain_id=each, info=info)) for each, info in infos]
        return tuple(dict.fromkeys(Explorer(chain, url) for chain, url in links if url))

    return on(listed) or on(names.WELL_KNOWN)


def other_explorer(host: str, *, chain_id: int | None, chains: Sequence[ChainInfo]) -> str:
    """Return a sentence if a link led to the explorer of another chain than that of the transaction."""
    by_host = {urlsplit(each.explorer_url or "").hostname: each for each in reversed(chains)}
    linked, own = by_host.get(host), next((each for each in chains if each.id == chain_id), None)
    if not host or not linked or not own or host == urlsplit(own.explorer_url or "").hostname:
        return ""
    explorer = text.name(linked.explorer_name or host).shown
    return f"This hash is on {names.chain(own.id, info=own)}. The link was to {explorer}."


def transaction_link(txn_hash: str | None, *, chain_id: int | None, info: ChainInfo | None) -> str | None:
    """Return the link at the listed explorer, or at a well-known chain's own. Solana signatures need no chain."""
    return None if hashes.is_placeholder(txn_hash) else _explorer_link("transaction", txn_hash, chain_id, info)


def address_link(address: str | None, *, chain_id: int | None, info: ChainInfo | None) -> str | None:
    """Return the link at the listed explorer, or at a well-known chain's own. Solana addresses need no chain."""
    return _explorer_link("address", address, chain_id, info)


def _explorer_link(what: str, value: str | None, chain_id: int | None, info: ChainInfo | None) -> str | None:
    chain = "Solana" if chain_id is None else names.WELL_KNOWN.get(chain_id, "")
    known, form = _as_written(value or "", what, chain), EXPLORERS[chain]
    root = (info and hashes.explorer_root(info.explorer_url)) or form["home"]
    return f"{root}{form[what]}{known}" if root and known else None


def _as_written(value: str, what: str, chain: str) -> str | None:
    """Return the value as the chain writes it, or None if it is none of the chain's. "" is any EVM chain."""
    known = hashes.canonical_hash(value)
    match chain, what:
        case "", "address":
            return account(hashes.canonical_address(value))
        case ("", "transaction") | ("Sui", "address"):
            return known
        case (("Solana" | "Eclipse"), "transaction"):
            return value if hashes.is_solana_signature(value) else None
        case (("Solana" | "Eclipse" | "Sui"), _):
            return value if hashes.is_solana_address(value) else None
        case _, "transaction":
            return known and known[2:]
        case _:
            return value if (shape := shape_of(value)) and shape.chain == chain else None


# Addresses and transaction hashes of other chains, by shape and checksum, which no word has

BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
BECH32_CHECKSUMS = (1, 0x2BC830A3)  # Bech32 and Bech32m
PAYLOAD_BYTES, CHECKSUM_BYTES = 21, 4


@dataclass(frozen=True)
class Shape:
    """A form of addresses, or of transaction hashes, of another chain (addresses.toml)."""

    chain: str
    pattern: str
    explorer: str
    base58: Sequence[int] = ()
    bech32: bool = False
    is_hash: bool = False

    def fits(self, word: str) -> bool:
        if not re.fullmatch(self.pattern, word, re.ASCII):
            return False
        return (not self.base58 or _has_base58_checksum(word, self.base58)) and (not self.bech32 or _bech32(word))


_TABLE = tables.read(__package__, "addresses.toml")
SHAPES = tuple(Shape(**form) for form in _TABLE["forms"])
EXPLORERS: dict[str, dict[str, str]] = _TABLE["explorers"]


def shape_of(word: str) -> Shape | None:
    return next((each for each in SHAPES if each.fits(word)), None)


def _has_base58_checksum(word: str, versions: Sequence[int]) -> bool:
    payload, checksum = hashes.base58(word)[:-CHECKSUM_BYTES], hashes.base58(word)[-CHECKSUM_BYTES:]
    hashed = sha256(sha256(payload).digest()).digest()
    return len(payload) == PAYLOAD_BYTES and payload[0] in versions and hashed.startswith(checksum)


def _bech32(word: str) -> bool:
    prefix, _, data = word.lower().rpartition("1")
    if word not in (word.lower(), word.upper()) or not prefix or any(each not in BECH32 for each in data):
        return False
    values = [*(ord(each) >> 5 for each in prefix), 0, *(ord(each) & 31 for each in prefix), *map(BECH32.index, data)]
    checksum = 1
    for value in values:
        top, checksum = checksum >> 25, (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(GENERATOR):
            checksum ^= generator if top >> bit & 1 else 0
    return checksum in BECH32_CHECKSUMS
