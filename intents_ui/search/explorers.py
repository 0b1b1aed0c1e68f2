"""Block explorer links: of chains that the service lists, and of well-known others."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from intents_ui.formatting import hashes, text
from intents_ui.search.identifiers import ADDRESSES, HASHES, Finding
from intents_ui.service.models import ChainInfo
from intents_ui.tokens import names

type Reader = Callable[[str], str | None]


class Explorer(NamedTuple):
    chain: str
    link: str


class Form(NamedTuple):
    """How the explorers of a chain write links. The readers return a value as the chain writes it, or None if it is
    none of the chain's. `home`: the explorer if the service lists none.
    """

    transaction: str
    address: str
    read_hash: Reader
    read_address: Reader
    home: str = ""


def _address_on(chain: str) -> Reader:
    return lambda value: value if (shape := hashes.shape_of(value)) and shape.chain == chain else None


def _bare_hash(value: str) -> str | None:
    return (hashes.canonical_hash(value) or "").removeprefix("0x") or None


def _base58_of_32_bytes(value: str) -> str | None:
    return value if hashes.is_solana_address(value) else None


def _signature(value: str) -> str | None:
    return value if hashes.is_solana_signature(value) else None


def _account(value: str) -> str | None:
    return None if hashes.is_native(value) else hashes.canonical_address(value)


EVM = Form("/tx/", "/address/", hashes.canonical_hash, _account)
SOLANA = Form("/tx/", "/account/", _signature, _base58_of_32_bytes, "https://solscan.io")
BITCOIN = Form("/tx/", "/address/", _bare_hash, _address_on("Bitcoin"), "https://mempool.space")
TRON = Form("/#/transaction/", "/#/address/", _bare_hash, _address_on("Tron"), "https://tronscan.org")
FORMS = {
    **dict.fromkeys(names.SOLANA, SOLANA),
    names.ECLIPSE: SOLANA._replace(home=""),
    **dict.fromkeys(names.BITCOIN, BITCOIN),
    **dict.fromkeys(names.TRON, TRON),
    names.SUI: Form("/tx/", "/account/", _base58_of_32_bytes, hashes.canonical_hash),
    names.TON: Form("/transaction/", "/", _bare_hash, _address_on("TON")),
}


def explorers_of(finding: Finding, *, chains: Sequence[ChainInfo]) -> tuple[Explorer, ...]:
    """Return an explorer for each chain that it may be on: the named one, or all of its kind. Well-known chains that
    the service doesn't list count if it is named or no listed chain has values of this kind.
    """
    link = address_link if finding.kind in ADDRESSES else transaction_link if finding.kind in HASHES else None
    if link is None:
        return ()
    if shape := hashes.shape_of(finding.value):
        return (Explorer(shape.chain, f"{shape.explorer}{finding.value}"),) if shape.explorer else ()
    listed = {chain.id: chain for chain in chains}

    def on(chain_ids: Iterable[int]) -> tuple[Explorer, ...]:
        infos = [(each, listed.get(each)) for each in chain_ids if finding.chain_id in (None, each)]
        links = [(names.chain(each, info=info), link(finding.value, chain_id=each, info=info)) for each, info in infos]
        return tuple(dict.fromkeys(Explorer(chain, url) for chain, url in links if url))

    return on(listed) or on(FORMS)


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
    form = _form(chain_id)
    known = None if hashes.is_placeholder(txn_hash) else form.read_hash(txn_hash or "")
    return _link(form, form.transaction, known, info)


def address_link(address: str | None, *, chain_id: int | None, info: ChainInfo | None) -> str | None:
    """Return the link at the listed explorer, or at a well-known chain's own. Solana addresses need no chain."""
    form = _form(chain_id)
    return _link(form, form.address, form.read_address(address or ""), info)


def _form(chain_id: int | None) -> Form:
    return SOLANA if chain_id is None else FORMS.get(chain_id, EVM)


def _link(form: Form, path: str, value: str | None, info: ChainInfo | None) -> str | None:
    root = (info and hashes.explorer_root(info.explorer_url)) or form.home
    return f"{root}{path}{value}" if root and value else None
