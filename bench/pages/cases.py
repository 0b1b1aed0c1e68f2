"""What is measured: pages in their states."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

import httpx

from bench.pages.measuring import Case
from bench.peer.server import Peer
from bench.processes import Dashboard, StubService
from bench.stub_service import AGAIN, ALL, owner

EMPTY = "/saved"  # the page frame with little text and no service call
LIST = {"pageSize": 20}
HISTORY_PAGES = 61
KNOWN_PAGES = 12  # whose rows fit into the response cache
NEXT = re.compile(r'href="([^"]+)"[^>]*rel="next"')
LONG_SEARCH = "search 1,000"
NEW_ROWS = (2, 10)  # of 20


@dataclass(frozen=True)
class Paths:
    """Paths to request, different pages of the same kind in each round. `history` is without its first page."""

    history: list[str]
    transfer: list[str]
    tokens: list[str]
    search: list[str]
    long_search: list[str]

    @classmethod
    def found(cls, of: Dashboard, service: StubService) -> "Paths":
        with httpx.Client(base_url=of.url, trust_env=False, timeout=60) as http:
            _, *history = walk(http)
        listed = service.call("GetIntentHistory", page=LIST, byStatuses=["SUCCEEDED"])["intents"]
        return cls(
            history=history,
            transfer=[f"/intent/{entry['intentId']}" for entry in listed],
            tokens=[f"/tokens?q=u&limit={limit}" for limit in range(20, 60)],
            search=[f"/search?owner={owner(20, number)}" for number in range(20)],
            long_search=[f"/search?owner={owner(1000, number)}" for number in range(17)],
        )

    @property
    def kinds(self) -> dict[str, list[str]]:
        return {
            "history": self.history,
            "transfer": self.transfer,
            "search 20": self.search,
            LONG_SEARCH: self.long_search,
        }


def walk(http: httpx.Client) -> Iterator[str]:
    """Yield the paths of the history's pages, newest first."""
    path: str | None = "/history"
    for _ in range(HISTORY_PAGES):
        if path is None:
            return
        yield path
        found = NEXT.search(http.get(path).raise_for_status().text)
        path = html.unescape(found[1]) if found else None


@dataclass(frozen=True)
class Servers:
    """The dashboard with default settings, the one that calls the service each time, and the Next.js page."""

    cached: Dashboard
    renewing: Dashboard
    peer: Peer | None


def renewed(servers: Servers, page: str, paths: Sequence[str], rows: int = 0) -> Case:
    state = f"{rows} rows new" if rows else "renewed"
    if page == "history":
        paths = paths[:KNOWN_PAGES]
    return Case(page, state, servers.renewing, paths, rows, warm=warm(page, paths))


def unseen(servers: Servers, page: str, paths: Sequence[str]) -> Case:
    if not page.startswith("history"):
        # A transfer or an owner of whom nothing is known, not even from an outage.
        paths = [f"{path[:-16]}{{fresh}}" for path in paths]
    return Case(page, "unseen", servers.renewing, paths, rows=ALL, warm=paths[:1] if page == LONG_SEARCH else None)


def warm(page: str, paths: Sequence[str]) -> Sequence[str]:
    """Return the paths after which the rows of a page are known.

    Later pages of the history are not cached. Their rows are known from other lists. The dashboard doesn't remember the
    rows of a long search.
    """
    if page == "history":
        return [f"/history?from={AGAIN + number}" for number in range(KNOWN_PAGES + 1)]
    return paths[:1] if page == LONG_SEARCH else paths


def at_once(
    service: StubService, servers: Servers, page: str, paths: Sequence[str], connections: int
) -> Iterator[Case]:
    """Yield what is measured of a page while the service answers at once."""
    # Two of each, so that they stay cached during the run: a list is fresh for seconds only.
    states = [renewed(servers, page, paths), unseen(servers, page, paths)]
    states.append(Case(page, "cached", servers.cached, paths[:2]))
    yield from states
    if page == "history":
        yield from (renewed(servers, page, paths, rows) for rows in NEW_ROWS)
    if page == "transfer":
        yield Case("empty", "", servers.cached, [EMPTY])
    if page in ("history", "transfer") and connections == 1:
        yield from (replace(case, encoding="gzip") for case in states)
    if page == "history" and servers.peer:
        lists = [body for _, body in service.counters["distinct"]]
        yield Case(page, "Next.js", servers.peer, [f"/?request={quote(body)}" for body in lists])
