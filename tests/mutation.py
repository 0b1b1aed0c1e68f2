"""Mutation tests of the modules that decide what users see (`make mutation`).

The mutations are those of cosmic-ray. Each mutant runs in a fork that imports the changed source instead of the file.
The working tree doesn't change. Mutations that only change annotations are skipped, and so are those of the `*` in a
signature, which cosmic-ray takes for a multiplication. A mutant that can't be imported counts as broken, because every
test would detect it.
"""

import argparse
import ast
import importlib.machinery
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import django.test  # noqa: F401  (imported once, before the forks)
import httpx  # noqa: F401
import hypothesis  # noqa: F401
import pydantic  # noqa: F401
import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

TESTS = {
    "intents_ui.display.transfers.statuses": ["tests/display/transfers/test_statuses.py"],
    "intents_ui.display.formatting.amounts": ["tests/display/formatting/test_amounts.py"],
    "intents_ui.display.formatting.times": [
        "tests/display/formatting/test_times.py",
        "tests/display/formatting/test_moment.py",
    ],
    "intents_ui.display.lists.balances": ["tests/display/lists/test_balances.py"],
    "intents_ui.display.summary.summary": ["tests/display/summary/test_summary.py", "tests/display/test_scenes.py"],
    "intents_ui.service.models": [
        "tests/service/test_models.py",
        "tests/service/test_paging.py",  # where a list ends and how it goes on
    ],
    "intents_ui.service.fields": ["tests/service/test_fields.py", "tests/service/test_models.py"],
    "intents_ui.service.paging": ["tests/service/test_paging.py"],
    "intents_ui.web.cursors": ["tests/web/test_cursors.py"],
}
NEED_ARGUMENTS = ("core/VariableReplacer", "core/VariableInserter")
# pytest warns that Hypothesis is imported before the forks, and our settings would make that an error.
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
VERDICTS: dict[int, str] = {pytest.ExitCode.OK: "survived", pytest.ExitCode.TESTS_FAILED: "killed"}
SECONDS = 60
"""A mutant that takes longer counts as killed, because it most likely loops."""


def positions(source: str) -> list[tuple[str, int]]:
    """Return each operator with the number of each place where it applies."""
    nodes = list(ast_nodes(get_ast(source)))
    operators = {name: get_operator(name)() for name in sorted(set(operator_names()) - set(NEED_ARGUMENTS))}
    return [
        (name, number)
        for name, operator in operators.items()
        for number in range(sum(len(list(operator.mutation_positions(node))) for node in nodes))
    ]


def mutants(source: str, places: list[tuple[str, int]]) -> Iterator[str]:
    """Yield the source with one mutation each."""
    seen = {_meaning(source), None}
    for name, number in places:
        changed = mutate_code(source, get_operator(name)(), number)
        meaning = _meaning(changed) if changed else None
        if changed and meaning not in seen:
            seen.add(meaning)
            yield changed


def _meaning(source: str) -> str | None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.arguments):
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults += [default for default in node.kw_defaults if default]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
    return ast.dump(tree)


def start(module: str, source: str | None, tests: list[str]) -> int:
    """Return the process ID of a fork that runs the tests with `source` instead of the module's file."""
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(SECONDS)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        if source is not None:
            code = compile(source, module, "exec")
            read = importlib.machinery.SourceFileLoader.get_code
            importlib.machinery.SourceFileLoader.get_code = lambda self, name: (
                code if name == module else read(self, name)
            )
        os._exit(pytest.main([*OPTIONS, *tests]))
    finally:
        os._exit(pytest.ExitCode.USAGE_ERROR)


def verdict(status: int) -> str:
    if os.WIFSIGNALED(status):
        return "killed"
    return VERDICTS.get(os.WEXITSTATUS(status), "broken")


def run(module: str, tests: list[str], *, size: int, seed: int, workers: int) -> Counter[str]:
    path = Path(*module.split(".")).with_suffix(".py")
    if verdict(os.waitpid(start(module, None, tests), 0)[1]) != "survived":
        sys.exit(f"{', '.join(tests)} must pass before anything is changed")
    source = path.read_text()
    places = positions(source)
    random.Random(f"{seed} {module}").shuffle(places)
    counts: Counter[str] = Counter()
    waiting, running = list(islice(mutants(source, places), size)), {}
    while waiting or running:
        while waiting and len(running) < workers:
            mutant = waiting.pop()
            running[start(module, mutant, tests)] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        counts[verdict(status)] += 1
        if verdict(status) == "survived":
            changes = unified_diff(source.splitlines(), mutant.splitlines(), n=0, lineterm="")
            print("\n".join(line for line in changes if not line.startswith(("---", "+++"))))
    print(row(module, counts), flush=True)
    return counts


def row(name: str, counts: Counter[str]) -> str:
    tried = counts["killed"] + counts["survived"]
    score = f"{counts['killed'] / tried:.0%}" if tried else "-"
    return f"| {name} | {counts['broken']} | {counts['killed']} | {counts['survived']} | {score} |"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("modules", nargs="*", default=list(TESTS), help="some of the modules alone")
    arguments.add_argument("--size", type=int, default=30, help="mutants of each module, drawn by the seed")
    arguments.add_argument("--seed", type=int, default=16)
    arguments.add_argument("--workers", type=int, default=2)
    options = arguments.parse_args()
    print("| module | broken | killed | survived | score |")
    print("|---|---|---|---|---|")
    total: Counter[str] = Counter()
    for module in options.modules:
        total += run(module, TESTS[module], size=options.size, seed=options.seed, workers=options.workers)
    print(row("total", total))


if __name__ == "__main__":
    main()
