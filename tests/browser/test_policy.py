"""A hostile fragment can do nothing in a page, neither through htmx's swaps nor through the stream."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from tests.browser import kinds
from tests.browser.conftest import Visit, visiting
from tests.tables import toml
from tests.waiting import until

pytestmark = pytest.mark.browser

ELSEWHERE: Final = "http://elsewhere.test"
OWN_SCRIPT: Final = "/static/js/not-ours.js"
HOSTILE: Final = toml(__file__, "hostile_fragments")
NOT_POWERS: Final = {each for group in HOSTILE["not_powers"].values() for each in group}
WATCH: Final = """
window.pwn = (name) => (window.top.PWN ??= []).push(name);
addEventListener("securitypolicyviolation", (event) => (window.told ??= []).push(event.effectiveDirective));
"""
# Requests that were to be sent before have been sent when this response is there.
SETTLED: Final = "async () => { await fetch('/help'); await new Promise(requestAnimationFrame); }"


def fragment(name: str, markup: str) -> str:
    for placeholder, meant in {"ran": f"pwn('{name}')", "elsewhere": ELSEWHERE, "own_script": OWN_SCRIPT}.items():
        markup = markup.replace(f"{{{placeholder}}}", meant)
    return f'<div data-hostile="{name}">{markup}</div>'


# Rejected fragments come first, one by one, then all others at once.
FRAGMENTS: Final = [
    *(fragment(*each) for each in HOSTILE["scripts"].items()),
    "<h1>Taken over</h1>" + "".join(fragment(*each) for each in HOSTILE["others"].items()),
]


class Watched:
    """A page whose requests to other hosts are answered and recorded."""

    def __init__(self, visit: Visit) -> None:
        self.page = visit.page
        self.left: list[str] = []
        ran = "pwn('a script of our origin')"
        self.page.context.route(f"{ELSEWHERE}/**", self._answer)
        self.page.route(f"**{OWN_SCRIPT}", lambda route: route.fulfill(body=ran, content_type="text/javascript"))
        visit.page.add_init_script(WATCH)

    def press_all(self) -> None:
        """Press every control, the form last, because it may navigate away."""
        for each in self.page.locator(".act").all():
            each.click(no_wait_after=True)
        with suppress(Error):  # a weaker policy lets the form navigate away
            self.page.evaluate(SETTLED)

    def wait_until(self, is_reached: Callable[[], bool]) -> None:
        def reached() -> bool:
            with suppress(Error):  # a weaker policy lets the form navigate away
                self.page.evaluate("true")  # Playwright handles events during its own calls
            return is_reached()

        until(reached)

    @property
    def ran(self) -> list[str]:
        return list(self.page.evaluate("window.PWN ?? []"))

    @property
    def shown(self) -> set[str]:
        return set(self.page.locator("[data-hostile]").evaluate_all("all => all.map(each => each.dataset.hostile)"))

    @property
    def violated(self) -> set[str]:
        return set(self.page.evaluate("window.told ?? []"))

    def _answer(self, route: Route) -> None:
        self.left.append(route.request.url)
        route.fulfill(body="")


@contextmanager
def watching(browser: Browser, root: str) -> Iterator[Watched]:
    with visiting(browser, root, theme="light", width=1280) as visit:
        watched = Watched(visit)
        try:
            yield watched
        finally:
            visit.page.context.unroute_all()
            visit.faults.clear()  # the browser's message about a blocked fragment


def swap(page: Page, body: str) -> None:
    """Swap the fragment in, as a link or form with htmx would if it were the response."""
    page.route("**/fragment", lambda route: route.fulfill(body=body, content_type="text/html"), times=1)
    page.evaluate("htmx.ajax('GET', '/fragment', {target: '#page', swap: 'innerHTML'}).catch(() => {})")
    page.evaluate(SETTLED)


def test_a_hostile_fragment_does_nothing_when_it_is_swapped_in(browser: Browser, server: str) -> None:
    with watching(browser, server) as watched:
        watched.page.goto(f"{server}/help")
        *refused, shown = FRAGMENTS
        for each in refused:
            swap(watched.page, each)
        expect(watched.page.get_by_role("heading", level=1)).not_to_have_text("Taken over")
        assert watched.shown == set()
        swap(watched.page, shown)
        expect(watched.page.get_by_role("heading", level=1)).to_have_text("Taken over")
        watched.press_all()
        assert (watched.ran, watched.left) == ([], [])
        assert watched.shown == set(HOSTILE["others"])
        assert watched.page.url == f"{server}/help"
        result = {"require-trusted-types-for", "script-src-attr", "img-src", "base-uri", "form-action"}
        watched.wait_until(lambda: watched.violated >= result)
        assert watched.violated >= result


@pytest.mark.slow
def test_a_hostile_fragment_from_the_stream_does_nothing(browser: Browser, server: str) -> None:
    with watching(browser, server) as watched:
        *waiting, shown = FRAGMENTS
        held: list[Route] = []

        def send(route: Route, markup: str) -> None:
            route.fulfill(body=f"data: {markup}\n\n", content_type="text/event-stream")

        def tell(route: Route) -> None:
            """Send one fragment per connection. htmx reconnects for the next."""
            if waiting:
                send(route, waiting.pop(0))
            else:
                held.append(route)

        watched.page.route("**/live/**", tell)
        # Periodic updates of the page would replace the fragment.
        watched.page.route("**/receipt*", lambda route: route.fulfill(status=204))
        path = kinds.transfer(server, commit=True, execute=True)
        watched.page.goto(server + path)
        heading = watched.page.locator("main h1").text_content()
        assert heading
        watched.wait_until(lambda: bool(held))  # the page has processed all rejected fragments
        expect(watched.page.locator("main h1")).to_have_text(heading)
        assert watched.shown == set()
        send(held[0], shown)
        expect(watched.page.get_by_text("Taken over")).to_be_visible()
        watched.press_all()
        assert (watched.ran, watched.left) == ([], [])
        assert watched.shown == set(HOSTILE["others"])
        assert watched.page.url == server + path


def test_the_policy_permits_only_what_pages_need(browser: Browser, server: str) -> None:
    """Covers what Chromium could permit, besides request metadata."""
    with watching(browser, server) as watched:
        watched.page.goto(f"{server}/help")
        allowed = watched.page.evaluate("document.featurePolicy.allowedFeatures()")
        others = {each for each in allowed if not each.startswith("ch-")}
        assert others <= {"clipboard-write", *NOT_POWERS}, sorted(others)
        assert watched.page.evaluate("window.crossOriginIsolated")
