"""Sampling of tests. `make test` runs a sample, `make deep` all tests.

A sample excludes tests marked `deep`, all but N cases of those marked `sampled(N)`, all but N items of a corpus that a
test reads with the fixture `draw`, and with `--rotate` most files of the folders below. Tests marked `finding`
(regression tests of reported weaknesses) of those files still run.

The sample depends on a seed, different in each run and printed at its start. `--seed` repeats a run. `--deep --after`
completes the run of a seed, so that `.ci/run` runs no test twice.
"""

import random
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import batched
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROTATING = {
    "tests/browser/test_every_page": 1,
    "tests/browser/": 6,
    "tests/cli/": 2,
    "tests/display/": 4,
    "tests/emulator/": 4,
    "tests/faults/": 5,
    "tests/live/": 2,
    "tests/mirror/": 6,
    "tests/pages/": 6,
    "tests/service/": 4,
    "tests/test_cost": 1,
    "tests/test_": 6,
    "tests/web/": 3,
}
"""By prefix of a file's path: `--rotate` runs one of this many files.

Whole files, because most start programs of their own, which takes longer than a few tests do. Files that are left out
aren't even imported.
"""
LONGEST = (
    "tests/faults/test_soak.py",
    "tests/pages/test_reuse.py",
    "tests/pages/test_compiled_templates.py",
    "tests/pages/test_one_answer.py",
    "tests/browser/test_every_page.py",
    "tests/browser/test_one_answer.py",
)
"""Files that take minutes, the first to run: a worker that has one of them at the end would run alone."""
DEEP, SAMPLED = "deep", "sampled"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sampling")
    group.addoption("--deep", action="store_true", help="run every test with every case")
    group.addoption("--rotate", action="store_true", help="run only some files of each folder")
    group.addoption("--seed", type=int, help="draw the same cases as the run that printed this seed")
    group.addoption("--after", type=int, help="with --deep, leave out what a run with --rotate and this seed ran whole")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.seed is None:
        config.option.seed = getattr(config, "workerinput", {}).get("seed") or secrets.randbelow(10**6)
    for profile in (SAMPLED, DEEP):
        settings.register_profile(profile, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile(DEEP if config.option.deep else SAMPLED)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Pass the seed to a worker of pytest-xdist. All workers must draw the same cases."""
    node.workerinput["seed"] = node.config.option.seed


def pytest_report_header(config: pytest.Config) -> str:
    return "every case" if config.option.deep else f"cases sampled with --seed={config.option.seed}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that a rotating sample runs no test of."""
    if not config.option.rotate or config.option.deep or not collection_path.match("test_*.py"):
        return None
    path = collection_path.relative_to(config.rootpath).as_posix()
    is_drawn = path not in _files_left_out(config.rootpath, config.option.seed)
    return None if is_drawn or "mark.finding" in collection_path.read_text() else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    root, option = config.rootpath, config.option
    if option.deep:
        left_out = set(_ran_whole(items, root, option.after)) if option.after is not None else set()
    else:
        left_out = set(_left_out(items, option.seed))
        if option.rotate:
            left_out |= set(_not_this_time(items, root, option.seed))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    kept = [item for item in items if item not in left_out]
    items[:] = sorted(kept, key=lambda item: LONGEST.index(_file(item)) if _file(item) in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def draw(pytestconfig: pytest.Config) -> Callable[[Sequence, int], list]:
    """Return a function that draws a number of items of a corpus, in order, or all of them in a deep run."""

    def drawn(corpus: Sequence, size: int) -> list:
        if pytestconfig.option.deep or size >= len(corpus):
            return list(corpus)
        chosen = _chance(pytestconfig.option.seed).sample(range(len(corpus)), size)
        return [corpus[index] for index in sorted(chosen)]

    return drawn


def examples(size: int) -> int:
    """Return the number of examples for Hypothesis: `size`, or ten times as many in a deep run."""
    return size * 10 if settings.get_current_profile_name() == DEEP else size


def _left_out(items: list[pytest.Item], seed: int) -> Iterator[pytest.Item]:
    samples: defaultdict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("deep"):
            yield item
        elif mark := item.get_closest_marker("sampled"):
            samples[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    for (test, size), cases in samples.items():
        drawn = _chance(seed, test).sample(cases, min(size, len(cases)))
        yield from (case for case in cases if case not in drawn)


def _ran_whole(items: list[pytest.Item], root: Path, seed: int) -> Iterator[pytest.Item]:
    """Yield the tests of a sample with rotation that are the same in a deep run: without a corpus or examples."""
    left_out = {*_left_out(items, seed), *_not_this_time(items, root, seed)}
    for item in items:
        draws = "draw" in getattr(item, "fixturenames", ()) or is_hypothesis_test(getattr(item, "obj", None))
        if item not in left_out and not draws:
            yield item


def _not_this_time(items: list[pytest.Item], root: Path, seed: int) -> Iterator[pytest.Item]:
    left_out = _files_left_out(root, seed)
    return (item for item in items if _file(item) in left_out and not item.get_closest_marker("finding"))


@cache
def _files_left_out(root: Path, seed: int) -> frozenset[str]:
    """Return the files that a rotating sample leaves out. It draws one of each group of files of about the same size.

    So all seeds run about as long.
    """
    sizes = {path.relative_to(root).as_posix(): path.stat().st_size for path in root.glob("tests/**/test_*.py")}
    left_out: set[str] = set()
    for prefix, share in ROTATING.items():
        chance = _chance(seed, prefix)
        files = [file for file in sizes if prefix == next((each for each in ROTATING if file.startswith(each)), "")]
        for group in batched(sorted(files, key=lambda file: (sizes[file], file)), share, strict=False):
            left_out |= {*group} - {chance.choice(group)}
    return frozenset(left_out)


def _chance(*seeds: int | str) -> random.Random:
    return random.Random(" ".join(map(str, seeds)))  # noqa: S311 - a sample is no secret, and can be drawn again


def _file(item: pytest.Item) -> str:
    """Return the path of a test's file, which `item.location` finds in a longer way."""
    return item.nodeid.partition("::")[0]
