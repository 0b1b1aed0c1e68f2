"""Compiled templates escape every value once, give the same text as Jinja's own, and fail on what is missing."""

from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import DictLoader, Environment, StrictUndefined
from jinja2.compiler import CodeGenerator
from markupsafe import Markup

from intents_ui.template_compiler import PlainCodeGenerator, code_generator
from intents_ui.web import jinja
from intents_ui.web.jinja import CompiledTemplates
from tests.tables import toml

HOSTILE = "<script>alert(\"x\" & 'y')</script>"
VALUES = {"hostile text": HOSTILE, "markup": Markup("<b>bold</b>"), "a number": 17, "a list": [HOSTILE, Markup("<b>")]}
TEMPLATES = toml(__file__, "forms")
FORMS = TEMPLATES["forms"]


def environment(generator: type[CodeGenerator]) -> Environment:
    env = Environment(loader=DictLoader(TEMPLATES["parts"]), autoescape=True, undefined=StrictUndefined)
    env.code_generator_class = generator
    return env


OURS, STOCK = environment(PlainCodeGenerator), environment(CodeGenerator)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_the_text_is_that_of_jinja_and_escaped_once(text: str) -> None:
    for value in VALUES.values():
        context: dict[str, Any] = {"value": value, "items": {"value": value}, "yes": True, "no": False}
        shown = OURS.from_string(text).render(context)
        assert shown == STOCK.from_string(text).render(context)
        assert "<script" not in shown.lower()


def test_another_minor_release_of_jinja_compiles_templates_itself() -> None:
    assert (code_generator("3.1.6"), code_generator("3.2.0")) == (PlainCodeGenerator, CodeGenerator)
    assert code_generator() is PlainCodeGenerator


@pytest.mark.parametrize("text", ["{{ nowhere }}", "{{ nowhere.value }}", "{% if nowhere %}{% endif %}"])
def test_an_undefined_name_fails(text: str) -> None:
    with pytest.raises(jinja2.UndefinedError):
        OURS.from_string(text).render()


def test_escaping_cannot_be_turned_off() -> None:
    with pytest.raises(jinja2.TemplateAssertionError):
        OURS.from_string("{% autoescape false %}{{ value }}{% endautoescape %}")
    with pytest.raises(ValueError, match="always autoescaped"):
        OURS.overlay(autoescape=False).from_string("{{ value }}")


def start(folder: Path, text: str) -> tuple[str, bool]:
    """Return the page of a process that starts now, and whether it had to compile the template."""
    compiled = []

    class Generator(PlainCodeGenerator):
        def visit_Template(self, *args: Any, **kwargs: Any) -> None:
            compiled.append(True)
            super().visit_Template(*args, **kwargs)

    env = Environment(loader=DictLoader({"page": text}), autoescape=True, bytecode_cache=CompiledTemplates(str(folder)))
    env.code_generator_class = Generator
    return env.get_template("page").render(value="<"), bool(compiled)


def test_a_template_is_compiled_again_when_it_or_the_compiler_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "compiled"
    assert start(folder, "{{ value }}") == ("&lt;", True)
    assert start(folder, "{{ value }}") == ("&lt;", False)
    assert start(folder, "{{ value }}.") == ("&lt;.", True)
    monkeypatch.setattr(jinja, "COMPILER", "another version")
    assert start(folder, "{{ value }}.") == ("&lt;.", True)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("length", [0, 12, 30, -1])
def test_an_incomplete_file_is_replaced(tmp_path: Path, length: int) -> None:
    start(tmp_path, "{{ value }}")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:length])
    assert start(tmp_path, "{{ value }}") == ("&lt;", True)
    assert start(tmp_path, "{{ value }}") == ("&lt;", False)


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        assert start(tmp_path / "file", "{{ value }}") == ("&lt;", True)
