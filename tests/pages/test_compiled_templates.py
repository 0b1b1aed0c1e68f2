"""Pages have the same text as with Jinja's own code generator."""

import pytest
from django.template import engines
from django.template.backends import utils
from jinja2.compiler import CodeGenerator

from intents_ui.template_compiler import PlainCodeGenerator
from intents_ui.web import frame, jinja
from intents_ui.web.jinja import Page

A_FEW = ("/intent/{}", "/history?status=FAILED")
OTHERS = ("/intent/{}/proof", "/intent/{}/reply", "/intent/{}/share", "/embed/intent/{}", "/", "/attention", "/chains")
OTHERS += ("/tokens?chain=1", "/routes?from=1&token=AAVE", "/search?q=0x12", "/help", "/console/QuoteIntent", "/status")


@pytest.mark.parametrize(
    "paths", [pytest.param(A_FEW, id="a few"), pytest.param(OTHERS, id="others", marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("still")
def test_a_page_is_the_same(site, emulator, monkeypatch, paths):
    ours = engines["jinja2"].env  # type: ignore[attr-defined]
    assert ours.code_generator_class is PlainCodeGenerator
    with monkeypatch.context() as patch:
        patch.setattr(jinja.Templates, "code_generator_class", CodeGenerator)
        patch.setattr(jinja, "CompiledTemplates", lambda folder: None)
        stock = jinja.environment(loader=ours.loader, autoescape=True)
        assert stock.code_generator_class is CodeGenerator
    monkeypatch.setattr(utils, "get_token", lambda request: "the same token each time")
    monkeypatch.setattr(frame, "new_export_run", lambda: "the same run each time")
    compared, render = set[str](), Page.render

    def both(page: Page, *args: object, **kwargs: object) -> str:
        shown = render(page, *args, **kwargs)
        if page.environment is ours and page.name:
            compared.add(page.name)
            assert shown == stock.get_template(page.name).render(*args, **kwargs)
        return shown

    monkeypatch.setattr(Page, "render", both)
    for path in paths:
        site.get(path.format(emulator.finished(8)["intentId"]), follow=True)
    assert len(compared) >= len(paths)
