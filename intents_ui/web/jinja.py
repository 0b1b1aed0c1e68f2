"""Jinja environment: filters and globals, one line each."""

import re
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from django.apps import apps
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from jinja2 import Environment, FileSystemBytecodeCache, StrictUndefined, Template
from jinja2.bccache import Bucket

from intents_ui import app, tables
from intents_ui.formatting import amounts, failures, hashes, text, times
from intents_ui.formatting.hashes import FullValue, ShortForms
from intents_ui.installation import version
from intents_ui.search import empty_results, identifiers
from intents_ui.settings import COMPILED_TEMPLATES, ENV
from intents_ui.template_compiler import COMPILER, code_generator
from intents_ui.tokens import names
from intents_ui.transfers import balances, comparison, deposits, rules, statuses, summary, timeline
from intents_ui.web import assets, links


@dataclass(frozen=True)
class Word:
    """`word` as in a sentence, and its `anchor` in the help page."""

    word: str
    meaning: str

    @property
    def anchor(self) -> str:
        return self.word.replace(" ", "-")

    @property
    def heading(self) -> str:
        return self.word[:1].upper() + self.word[1:]


GLOSSARY: Mapping[str, Word] = MappingProxyType(
    {word: Word(word, meaning) for word, meaning in tables.read(__package__, "glossary.json").items()}
)
_USED = re.compile(r'interestfor="term-([a-z-]+)"')


def used_in(page: str) -> tuple[Word, ...]:
    """Return the glossary terms that a rendered page has tooltips for, each once."""
    anchors = set(_USED.findall(page))
    return tuple(each for each in GLOSSARY.values() if each.anchor in anchors)


PLAIN = re.compile(r"[0-9A-Za-z_-]{1,200}", re.ASCII)
# Excludes userinfo, port, fragment, blanks and non-ASCII characters.
LOGO = re.compile(r"https://([A-Za-z0-9.-]{1,253})(/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]{0,1000})", re.ASCII)
SOME_IDENTIFIER = "a-_" * 13 + "a"  # with all marks that need no quoting
DRAWN_ONCE = 1024
# Files of `templates/parts/` whose macros every template calls without an import. Each uses only those before it.
MACROS = ("icon", "time", "hash", "token", "amount", "provider", "term", "list", "table")


class Page(Template):
    """Template of a page, or only of its block that the context names.

    It prevents two shortened values from looking alike, and renders a second time if needed.
    """

    def render(self, *args: Any, **kwargs: Any) -> str:
        context = dict(*args, **kwargs)
        name = context.get("block")
        if not name:
            return ShortForms().draw(lambda: super(Page, self).render(context))
        block = self.blocks[name]
        return ShortForms().draw(lambda: "".join(block(self.new_context(context))))


class CompiledTemplates(FileSystemBytecodeCache):
    """Files with compiled templates. Each is replaced when its template, the compiler, Jinja or Python changes.

    A folder that can't be read or written costs only time. Write access to it allows code execution.
    """

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(COMPILER + source)

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(Exception):  # an incomplete file may raise any
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


class Templates(Environment):
    """Environment whose templates share one dictionary of globals. Jinja looks each up in a chain of two."""

    template_class = Page
    code_generator_class = code_generator()

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        """Drop indents, which are a fiftieth of a page."""
        return re.sub(r"(?m)^ +", "", super().preprocess(source, name, filename))

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return super().make_globals(d) if d else self.globals


def now() -> datetime:
    return datetime.now(UTC)


def cached_fragment(of: Any, *key: Hashable, caller: Callable[[], str]) -> str:
    """Return what the body of a `{% call %}` block draws, or drew before of the same object and key.

    The object has `fragments`: a dictionary of what pages drew from it. The body may use the object, what is derived
    from it, and the values of the key, which starts with a name.
    """
    forms = hashes.short_forms.get()
    return forms.reuse(of.fragments, key, caller) if forms else caller()


def clock_ahead() -> timedelta:
    """Return how far the service's clock is ahead of ours."""
    return app.current().service.health.clock_ahead()


def logo_url(uri: str | None) -> str | None:
    """Return the URL of a listed logo, if it is a plain one on a host that pages may load images from."""
    plain = LOGO.fullmatch(uri or "")
    return plain[0] if plain and plain[1].lower() in ENV.intents_logo_hosts else None


def at_present(function: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda value: function(value, now=now())


# By the names of the functions.
FILTERS: tuple[Callable[..., Any], ...] = (
    amounts.usd, amounts.usd_full, balances.holdings, balances.total, empty_results.likely_causes,
    empty_results.looks_like, empty_results.question, identifiers.account, hashes.checksum, hashes.is_placeholder,
    logo_url, summary.card, summary.waiting_on, text.bare, text.capitalized, text.indented, text.visible,
    timeline.stops, times.duration, times.iso,
)  # fmt: skip
FILTERS_OF_NOW: tuple[Callable[..., Any], ...] = (failures.old, times.ago, times.utc, times.utc_minute)


def environment(**options: Any) -> Environment:
    """Return the environment. Undefined names raise an error. Django's backend enables autoescaping."""
    env = Templates(**{**options, "undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True})
    env.bytecode_cache = CompiledTemplates(str(COMPILED_TEMPLATES))
    env.globals.update(static=cache(static), url=url, bundled=cache(assets.bundled), once=once)
    env.globals.update(installed=lambda name: apps.is_installed(f"intents_ui.{name}"))
    env.globals.update(cached_fragment=cached_fragment, block="")
    env.globals.update(glossary=GLOSSARY, words_used_in=used_in)
    env.globals.update(statuses=statuses.INTENTS)
    env.globals.update(clock_ahead=clock_ahead, made_at=now, version=version())
    env.globals.update(second_deposit=rules.SECOND_DEPOSIT, scam_warning=rules.SCAM_WARNING)
    env.filters.update((each.__name__, each) for each in FILTERS)
    env.filters.update((each.__name__, at_present(each)) for each in FILTERS_OF_NOW)
    env.filters.update(
        comparison=comparison.of,
        deposit_check=deposits.DepositCheck,
        fees=comparison.Fees,
        summary=summary.of,
        timeline=timeline.of,
        failed_calls=lambda failed: list(failures.failed_calls(failed)),
        failure_title=lambda error: failures.words(error).title,
        until=at_present(lambda failed, *, now: failures.until(*failed, now=now)),
        left=lambda at, now: max(at - now - clock_ahead(), timedelta()),
        interval=lambda share: amounts.shares_between(share.low, share.high),
        parts=text.parts_of,
        percent=lambda share: amounts.share(share.part, share.whole),
        reason=lambda written: text.reason(written).shown,
        short_address=partial(hashes.shortened, whole=hashes.checksum, shorten=hashes.short_address),
        short_hash=partial(hashes.shortened, whole=text.visible, shorten=hashes.short_hash),
        short_id=partial(hashes.shortened, whole=text.visible, shorten=hashes.short_id),
        token_url=links.token_path,
        transaction_link=lambda txn_hash, chain_id, using: identifiers.transaction_link(
            txn_hash, chain_id=chain_id, info=using.chain(chain_id)
        ),
        address_link=lambda address, chain_id, using: identifiers.address_link(
            address, chain_id=chain_id, info=using.chain(chain_id)
        ),
        unlisted_chain=lambda chain_id: names.chain(chain_id, info=None),
        transaction_status=lambda status, is_open: statuses.transaction(status, is_open=is_open),
        visible_lines=lambda written: text.visible(written, lines=True),
    )
    env.tests["lookalike"] = lambda shown: isinstance(shown, FullValue)
    env.tests["address"] = lambda part: isinstance(part, text.Address)
    env.tests["figure"] = lambda part: isinstance(part, text.Figure) and part.whole != part
    env.tests["time"] = lambda part: isinstance(part, times.Time)
    for name in MACROS:
        env.globals.update(macros(env, f"parts/{name}.html"))
    env.globals.update(column=column_maker(env))
    return env


class Column(NamedTuple):
    """A column of a table (`parts/table.html`): its heading's tag, the macro of its cells, and the tag of each."""

    heading: str
    cell: Callable[..., str] | None
    begin: str


def column_maker(env: Environment) -> Callable[..., Column]:
    """Return what makes a column. `optional`: drawn if the user has chosen it. `sort`: its `aria-sort`. `head`: its
    cells name their rows. `plain`: they explain themselves on a card. `mark`: they have tags. `span`: how many columns
    they take.
    """
    heading, begin = (once(cast(Callable[..., str], env.globals[name])) for name in ("column_heading", "cell_begin"))

    def column(
        *,
        title: str,
        cell: Callable[..., str] | None = None,
        optional: bool = False,
        sort: str = "",
        head: bool = False,
        plain: bool = False,
        mark: bool = False,
        span: int = 0,
    ) -> Column:
        return Column(heading(title, optional, sort, mark), cell, begin(title, optional, head, plain, mark, span))

    return column


def macros(env: Environment, template: str) -> dict[str, Callable[..., str]]:
    """Return the macros of a file by their names. While templates are edited, a call reads the file again."""

    def reloaded(name: str) -> Callable[..., str]:
        return lambda *given, **named: getattr(env.get_template(template).module, name)(*given, **named)

    found = {name: macro for name, macro in vars(env.get_template(template).module).items() if name[0] != "_"}
    return {name: reloaded(name) for name in found} if env.auto_reload else found


def once(macro: Callable[..., str], most: int = DRAWN_ONCE) -> Callable[..., str]:
    """Memoize a macro whose text depends only on its arguments, for the `most` recent arguments."""
    return lru_cache(most)(macro)


_bare_url = cache(reverse)


def url(name: str, *args: Any) -> str:
    if not args:
        return _bare_url(name)
    identifier = args[0]
    is_plain = len(args) == 1 and isinstance(identifier, str) and PLAIN.fullmatch(identifier)
    around = _url_parts(name) if is_plain else None
    return around[0] + identifier + around[1] if around else reverse(name, args=args)


@cache
def _url_parts(name: str) -> tuple[str, str] | None:
    """Return a URL's text before and after its one identifier, for identifiers that need no quoting.

    Django's `reverse` searches all URL patterns each time, which takes a tenth of a list page's time.
    """
    try:
        before, _, after = reverse(name, args=[SOME_IDENTIFIER]).partition(SOME_IDENTIFIER)
    except NoReverseMatch:
        return None
    return before, after
