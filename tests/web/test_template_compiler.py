"""Our code generator gives the same text as Jinja's own for every form of expression, and fails as loudly."""

from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import jinja2
import pytest
from django.utils.functional import lazystr
from django.utils.safestring import mark_safe
from jinja2 import DictLoader, Environment, StrictUndefined
from jinja2.compiler import CodeGenerator
from markupsafe import Markup

from intents_ui.display.formatting.short_forms import Whole
from intents_ui.template_compiler import PlainCodeGenerator

HOSTILE = "<script>alert(\"x\" & 'y')</script>"


class Drawn:
    """An object with HTML of its own."""

    def __html__(self) -> str:
        return "<hr>"


class Named:
    """An object with hostile text."""

    def __str__(self) -> str:
        return HOSTILE


VALUES = {
    "hostile text": HOSTILE,
    "plain text": "plain",
    "no text": "",
    "markup": Markup("<b>bold</b>"),
    "Django's safe text": mark_safe("<b>bold</b>"),
    "a subclass of text": Whole(HOSTILE),
    "lazy text": lazystr(HOSTILE),
    "an object with HTML": Drawn(),
    "an object with text": Named(),
    "a number": 17,
    "a decimal": Decimal("0.10"),
    "nothing": None,
    "a list": [HOSTILE, Markup("<b>")],
}
FORMS = {
    "output": "{{ value }}",
    "output in an attribute": '<a title="{{ value }}">',
    "attribute": "{{ it.value }} {{ it.it.value }}",
    "attribute of a constant": '{{ "<i>".upper() }} {{ (5).real }} {{ ("<i>" if yes else "b").upper() }}',
    "item": '{{ items["value"] }} {{ items[key] }} {{ many[0] }} {{ ({"<k>": value})["<k>"] }}',
    "slice": "{{ words[1:4] }} {{ words[:2] }} {{ words[::2] }}",
    "constant": '{{ "<i>" }} {{ 5 }} {{ 5.5 }} {{ none }} {{ true }} {{ ("<i>", 1) }} {{ ["<i>"] }}',
    "concatenation": '{{ value ~ "<i>" ~ safe }} {{ value ~ 1 }} {{ safe ~ value }} {{ "<i>" ~ words }}',
    "addition": '{{ words + "<i>" }} {{ safe + words }} {{ words + safe }} {{ safe * 2 }}',
    "percent": '{{ safe % () }} {{ "%s <i>" % (words,) }} {{ markup % (words,) }}',
    "ternary": '{{ value if yes else "<i>" }} {{ "<i>" if no else value }} {{ safe if yes else value }}',
    "ternary without else": '{{ value if yes }}{{ value if no }}{{ "<i>" ~ (value if no) }}{{ (words if no)|length }}',
    "boolean": '{{ value or "<i>" }} {{ value and "<i>" }} {{ not value }} {{ value == words }} {{ 1 < 2 < 3 }}',
    "filter": "{{ words|upper }} {{ words|replace('<', '>') }} {{ safe|replace('b', words) }} {{ value|string }}",
    "filter of a filter": "{{ words|upper|lower|capitalize }} {{ value|string|length }} {{ words|urlencode }}",
    "filter with escaping": "{{ words|e }} {{ words|e|upper }} {{ value|forceescape }} {{ safe|striptags }}",
    "join": '{{ [words, safe, value]|join(", ") }} {{ [words]|join("<i>") }} {{ [words, 1]|join(safe) }}',
    "join of attributes": '{{ [it, it]|map(attribute="value")|join("<i>") }} {{ [it]|join("|", attribute="value") }}',
    "format": '{{ "%s <i> %s"|format(words, value) }} {{ markup|format(value) }} {{ "{} <i>".format(value) }}',
    "attributes": '<a{{ {"title": words, "lang": safe, "dir": none}|xmlattr }}>',
    "method": '{{ words.upper() }} {{ safe.join([words]) }} {{ words.replace("<", old="&", new="") if no }}',
    "call": "{{ given(value) }} {{ given(value, words, last=safe) }} {{ given(*many) }} {{ given(1, **named) }}",
    "call of markup": "{{ bold(value) }} {{ bold(bold(value)) }}",
    "macro": "{% macro m(v) %}<i>{{ v }}</i>{% endmacro %}{{ m(value) }} {{ m(v=value) }} {{ m(m(value)) }}",
    "macro with defaults": '{% macro m(v, w="<i>", x=none, y=v) %}{{ v }}{{ w }}{{ x }}{{ y }}{% endmacro %}'
    "{{ m(value) }} {{ m(value, words) }} {{ m(value, x=safe) }} {{ m(1, y=2, w=value) }} {{ m(*[value]) }}",
    "macro with a default of this moment": "{% macro m(v, w=[]) %}{{ w.append(v) }}{{ w }}{% endmacro %}"
    "{{ m(1) }}{{ m(2) }}",
    "macro in a macro": "{% macro a(v) %}{{ v }}{% endmacro %}"
    "{% macro b(v) %}<i>{{ a(v) }}{{ a(a(v)) }}</i>{% endmacro %}{{ b(value) }} {{ b(v=safe) }}",
    "macro as a value": "{% macro a(v) %}{{ v }}{% endmacro %}{% macro b(f, v) %}{{ f(v) }}{% endmacro %}"
    "{{ b(a, value) }} {{ a(value)|upper }} {{ a(value) ~ words }} {{ [a(value), words]|join }}",
    "recursive macro": "{% macro m(n) %}{{ n }}{% if n %}{{ value }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}",
    "macro with variables": "{% macro m(v) %}{% set w = v %}"
    "{% for v in [1] %}{{ v }}{{ w }}{% endfor %}{{ v }}{% endmacro %}{{ m(value) }}",
    "empty macro": "{% macro m() %}{% endmacro %}{{ m() }}{{ m() == '' }}",
    "call block": "{% macro m(v) %}<i>{{ caller() }}{{ v }}</i>{% endmacro %}"
    "{% call m(value) %}<u>{{ value }}</u>{% endcall %}",
    "call block with an argument": "{% macro m() %}{{ caller(value) }}{{ caller(v=words) }}{% endmacro %}"
    "{% call(v) m() %}<u>{{ v }}</u>{% endcall %}",
    "call block in a call block": "{% macro m(v) %}<i>{{ caller() }}</i>{% endmacro %}"
    "{% call m(1) %}{% call m(2) %}{{ value }}{% endcall %}{{ value }}{% endcall %}",
    "call block in a loop": "{% macro m(v, w='') %}{{ v }}{{ caller() }}{{ w }}{% endmacro %}"
    "{% for each in many %}{% call m(each, w=loop.index) %}{{ each }}{% endcall %}{% endfor %}",
    "set": "{% set v = value %}{{ v }}{% set v, w = words, safe %}{{ v }}{{ w }}",
    "set block": "{% set v %}<i>{{ value }}</i>{% endset %}{{ v }}{{ v|upper }}{{ v ~ words }}",
    "set block with a filter": "{% set v | upper %}<i>{{ value }}</i>{% endset %}{{ v }}",
    "filter block": "{% filter upper %}<i>{{ value }}</i>{% endfilter %}",
    "loop": "{% for each in many %}{{ each }}{{ loop.index }}{{ ', ' if not loop.last }}{% else %}none{% endfor %}",
    "loop over nothing": "{% for each in [] %}{{ each }}{% else %}<i>{{ value }}</i>{% endfor %}",
    "loop with a condition": "{% for each in many if each != 1 %}{{ each }}{% endfor %}",
    "loop over pairs": "{% for name, each in items.items() %}{{ name }}={{ each }}{% endfor %}",
    "recursive loop": "{% for each in tree recursive %}<i>{{ each[0] }}{{ loop(each[1]) }}</i>{% endfor %}",
    "condition": "{% if value %}{{ value }}{% elif yes %}<i>{% else %}{{ words }}{% endif %}",
    "test": "{{ value is none }} {{ value is string }} {{ value is defined }} {{ nowhere is defined }} {{ 2 is even }}",
    "default": "{{ nowhere|default(value) }} {{ value|default('<i>') }}",
    "with": "{% with v = value, w = words %}{{ v }}{{ w }}{% endwith %}",
    "namespace": "{% set ns = namespace(v=0) %}{% for each in many %}{% set ns.v = each %}{% endfor %}{{ ns.v }}",
    "include": '{% set v = value %}{% include "part" %}{% for v in many %}{% include "part" %}{% endfor %}',
    "import": '{% from "macros" import shown, both as two %}{% import "macros" as all %}'
    "{{ shown(value) }}{{ two(value, words) }}{{ all.shown(v=value) }}{{ two(value) }}",
    "inheritance": '{% extends "frame" %}{% set v = value %}'
    "{% block body %}<i>{{ value }}</i>{{ super() }}{% endblock %}",
    "raw": "{% raw %}{{ value }}{% endraw %}<i>{# {{ value }} #}",
}
PARTS = {
    "part": "<u>{{ v }}{{ value }}</u>",
    "macros": "{% macro shown(v) %}<i>{{ v }}</i>{% endmacro %}"
    "{% macro both(v, w='<w>') %}{{ shown(v) }}{{ w }}{% endmacro %}",
    "frame": "<p>{{ value }}{% block title %}{{ words }}{% endblock %}{% set body %}{% block body %}<b>{{ value }}</b>"
    "{% endblock %}{% endset %}{{ body }}</p>",
}


def given(value: object, *more: object, last: object = "<last>") -> str:
    return f"<given>{value} {more} {last}"


def bold(value: object) -> Markup:
    return Markup("<b>{}</b>").format(value)


def context(value: object) -> dict[str, Any]:
    return {
        "value": value,
        "words": HOSTILE,
        "safe": Markup("<b>bold</b>"),
        "markup": Markup("<b>%s</b>"),
        "it": SimpleNamespace(value=value, it=SimpleNamespace(value=value)),
        "items": {"value": value, HOSTILE: 1},
        "key": HOSTILE,
        "many": [value, HOSTILE, Markup("<b>"), 1],
        "named": {"last": value},
        "tree": [(value, [(HOSTILE, [])]), (1, [])],
        "yes": True,
        "no": False,
        "given": given,
        "bold": bold,
    }


def environment(generator: type[CodeGenerator], *, autoescape: Any = True) -> Environment:
    env = Environment(loader=DictLoader(PARTS), autoescape=autoescape, undefined=StrictUndefined)  # noqa: S701 - turned off to test that it is refused
    env.code_generator_class = generator
    return env


OURS, STOCK = environment(PlainCodeGenerator), environment(CodeGenerator)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_text_is_the_same_as_with_jinjas_own_generator(text: str, value: object) -> None:
    assert OURS.from_string(text).render(context(value)) == STOCK.from_string(text).render(context(value))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_hostile_text_is_escaped_in_every_form(text: str) -> None:
    shown = OURS.from_string(text).render(context(HOSTILE))
    assert "<script" not in shown.lower()


def test_text_is_escaped_once() -> None:
    text = "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(m(m(value)) ~ '&') }}"
    assert OURS.from_string(text).render(value="<") == "&lt;&amp;"


def test_macros_return_markup() -> None:
    made = OURS.from_string("{% macro m(v) %}{{ v }}{% endmacro %}").module.m("<")  # type: ignore[attr-defined]
    assert type(made) is Markup
    assert made == "&lt;"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{{ nowhere }}", jinja2.UndefinedError),
        ("{{ nowhere.value }}", jinja2.UndefinedError),
        ("{{ nowhere() }}", jinja2.UndefinedError),
        ("{% if nowhere %}{% endif %}", jinja2.UndefinedError),
        ("{% for each in nowhere %}{% endfor %}", jinja2.UndefinedError),
        ("{{ nowhere ~ 'x' }}", jinja2.UndefinedError),
        ("{{ it.nowhere }}", AttributeError),
        ("{% if it.nowhere %}{% endif %}", AttributeError),
        ("{{ it.nowhere is defined }}", AttributeError),
        ("{{ items.value }}", AttributeError),
        ("{{ items['nowhere'] }}", KeyError),
        ("{{ it['value'] }}", TypeError),
        ("{{ many[9] }}", IndexError),
        ("{% from 'macros' import nowhere %}{{ nowhere(1) }}", jinja2.UndefinedError),
        ("{% macro m(v) %}{% endmacro %}{{ m() }}", TypeError),
        ("{% macro m(v) %}{% endmacro %}{{ m(1, 2) }}", TypeError),
        ("{% macro m(v) %}{% endmacro %}{{ m(1, w=2) }}", TypeError),
        ("{% macro m(v) %}{% endmacro %}{{ m(1, v=2) }}", TypeError),
        ("{% macro m() %}{{ caller() }}{% endmacro %}{{ m() }}", TypeError),
        ("{% macro m() %}{% endmacro %}{% call m() %}{% endcall %}", TypeError),
    ],
)
def test_what_is_missing_fails(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        OURS.from_string(text).render(context(1))


@pytest.mark.parametrize(
    "text",
    [
        "{% autoescape false %}{{ value }}{% endautoescape %}",
        "{% autoescape value %}{{ value }}{% endautoescape %}",
        "{% macro m(context) %}{% endmacro %}",
        "{% macro m(v, escape=1) %}{% endmacro %}",
        "{% macro m() %}{{ varargs }}{% endmacro %}",
        "{% macro m() %}{{ kwargs }}{% endmacro %}",
    ],
)
def test_a_template_that_cannot_be_compiled_is_refused(text: str) -> None:
    with pytest.raises(jinja2.TemplateAssertionError):
        OURS.from_string(text)


@pytest.mark.parametrize("autoescape", [False, lambda name: True])
def test_an_environment_that_may_not_escape_is_refused(autoescape: bool | Callable[[str | None], bool]) -> None:
    with pytest.raises(ValueError, match="always autoescaped"):
        environment(PlainCodeGenerator, autoescape=autoescape).from_string("{{ value }}")
