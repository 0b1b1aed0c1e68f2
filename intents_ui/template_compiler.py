"""Compiles Jinja templates to plain Python: a call is a call, a dot is an attribute, a macro is a function.

Jinja's own compiler looks up each call and each dot at runtime, because it also serves templates that it knows nothing
about. This one relies on what all templates here have in common. They are always autoescaped. No function takes
Jinja's context, only filters do. A dot never means an item of a dictionary, which is written `known["name"]`. Each of
these fails if a template does it anyway: at compile time where possible, otherwise with Python's own error.
"""

from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NoReturn

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, MacroRef, find_undeclared
from jinja2.runtime import exported
from markupsafe import Markup

# The C function behind `escape`, which wraps its result in Markup.
from markupsafe import _escape_inner as escape_text  # type: ignore[attr-defined]

__all__ = ["COMPILER", "PlainCodeGenerator", "as_markup", "code_generator", "escape_text"]

# Markup's constructor without its check for `__html__`.
as_markup: Final = partial(str.__new__, Markup)
# Names that Jinja declares in a macro that uses them.
IMPLICIT: Final = ("caller", "kwargs", "varargs")
# Names that the generated code of a macro uses, so that no parameter may have them.
RESERVED: Final = frozenset(exported) | {
    *("as_markup", "concat", "cond_expr_undefined", "context", "environment", "escape_text", "gen"),
    *("included_template", "out", "resolve", "template", "undefined"),
}
# Compiled templates of another one are out of date.
COMPILER: Final = version("jinja2") + Path(__file__).read_text()


def code_generator(jinja: str = version("jinja2")) -> type[CodeGenerator]:
    """Return this module's code generator, or Jinja's own for a release that it wasn't written for."""
    return PlainCodeGenerator if jinja.startswith("3.1.") else CodeGenerator


class PlainCodeGenerator(CodeGenerator):
    """Code generator for `Environment.code_generator_class`."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        if self.environment.autoescape is not True:
            raise ValueError("Templates are always autoescaped.")
        self.writeline(f"from {__name__} import as_markup, escape_text")
        super().visit_Template(node, frame)

    def visit_EvalContextModifier(self, node: nodes.EvalContextModifier, frame: Frame) -> NoReturn:
        self.fail("Templates are always autoescaped.", node.lineno)

    visit_ScopedEvalContextModifier = visit_EvalContextModifier

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:
        self.write("(")
        self.visit(node.node, frame)
        self.write(f").{node.attr}")

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        self.visit(node.node, frame)
        self.write("(")
        for argument in (*node.args, *node.kwargs):
            self.visit(argument, frame)
            self.write(", ")
        for stars, many in (("*", node.dyn_args), ("**", node.dyn_kwargs)):
            if many is not None:
                self.write(stars)
                self.visit(many, frame)
                self.write(", ")
        self.write("caller=caller)" if forward_caller else ")")

    def macro_body(self, node: nodes.Macro | nodes.CallBlock, frame: Frame) -> tuple[Frame, MacroRef]:
        """Write a macro as a function with the macro's parameters, which returns Markup."""
        frame = frame.inner()
        frame.symbols.analyze_node(node)
        names, implicit = [argument.name for argument in node.args], find_undeclared(node.body, IMPLICIT)
        if refused := (implicit - {"caller"}) | RESERVED.intersection(names):
            self.fail(f"A macro can't have parameters named {', '.join(sorted(refused))}.", node.lineno)
        required = len(names) - len(node.defaults)
        parameters = [name if place < required else f"{name}=missing" for place, name in enumerate(names)]
        if "caller" in implicit:
            frame.symbols.declare_parameter("caller")
            names, parameters = [*names, "caller"], [*parameters, "*", "caller"]
            frame.symbols.analyze_node(node)
        frame.require_output_check = False
        self.writeline(f"def macro({', '.join(parameters)}):", node)
        self.indent()
        self.buffer(frame)
        self.enter_frame(frame)
        for name in names:
            self.writeline(f"{frame.symbols.ref(name)} = {name}")
        for name, default in zip(names[required:], node.defaults, strict=False):
            self.writeline(f"if {name} is missing: {frame.symbols.ref(name)} = ")
            self.visit(default, frame)
        self.blockvisit(node.body, frame)
        self.return_buffer_contents(frame)
        self.leave_frame(frame, with_python_scope=True)
        self.outdent()
        return frame, MacroRef(node)

    def macro_def(self, macro_ref: MacroRef, frame: Frame) -> None:
        self.write("macro")

    def return_buffer_contents(self, frame: Frame, force_unescaped: bool = False) -> None:
        self.writeline(f"return as_markup(concat({frame.buffer}))")

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("(out if type(out := ")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(") is Markup else escape_text(out) if type(out) is str else escape(out))")
