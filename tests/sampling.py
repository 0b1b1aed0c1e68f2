"""Sampling of tests. `make test` runs a sample, `make deep` all tests.

A sample excludes tests marked `deep`, all but N cases of those marked `sampled(N)`, all but N items of a corpus that a
test reads with the fixture `draw`, and with `--rotate` most tests of the folders below, except those marked `finding`
(regression tests of reported weaknesses).

The sample depends on a seed, different in each run and printed at its start. `--seed` repeats a run. `--deep --after`
completes the run of a seed, so that `.ci/run` runs no test twice.
"""

import random
import secrets
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import batched

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROTATING = {
    "tests/browser/test_every_page": (1, 1),
    "tests/browser/": (2, 3),
    "tests/cli/": (1, 2),
    "tests/display/": (1, 4),
    "tests/emulator/": (1, 4),
    "tests/faults/": (2, 3),
    "tests/live/": (1, 2),
    "tests/mirror/": (2, 4),
    "tests/pages/": (2, 4),
    "tests/service/": (1, 4),
    "tests/test_cost": (1, 1),
    "tests/test_": (2, 4),
    "tests/web/": (1, 3),
}
"""By prefix of a file's path: `--rotate` runs one of this many files, one of this many tests, and all marked `finding`.

Most files start programs of their own, which takes longer than a few tests do.
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
    group.addoption("--rotate", action="store_true", help="run only some tests of each file")
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.deep:
        left_out = set(_ran_whole(items, config.option.after)) if config.option.after is not None else set()
    else:
        left_out = set(_left_out(items, config.option.seed))
        if config.option.rotate:
            left_out |= set(_not_this_time(items, config.option.seed))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    kept = [item for item in items if item not in left_out]
    items[:] = sorted(kept, key=lambda item: LONGEST.index(_file(item)) if _file(item) in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def draw(pytestconfig: pytest.Config) -> Callable[[Sequence, int], list]:
    """Return a function that draws a number of items of a corpus, in order, or all of them in a deep run."""

    def drawn(corpus: Sequence, size: int) -> list:
        if pytestconfig.option.deep or size >= len(corpus):
            return list(corpus)
        chosen = random.Random(pytestconfig.option.seed).sample(range(len(corpus)), size)  # noqa: S311 - not a secret
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
        drawn = random.Random(f"{seed} {test}").sample(cases, min(size, len(cases)))  # noqa: S311 - not a secret
        yield from (case for case in cases if case not in drawn)


def _ran_whole(items: list[pytest.Item], seed: int) -> Iterator[pytest.Item]:
    """Yield the tests of a sample with rotation that are the same in a deep run: without a corpus or examples."""
    left_out = {*_left_out(items, seed), *_not_this_time(items, seed)}
    for item in items:
        draws = "draw" in getattr(item, "fixturenames", ()) or is_hypothesis_test(getattr(item, "obj", None))
        if item not in left_out and not draws:
            yield item


def _file(item: pytest.Item) -> str:
    """Return the path of a test's file, which `item.location` finds in a longer way."""
    return item.nodeid.partition("::")[0]


def _not_this_time(items: list[pytest.Item], seed: int) -> Iterator[pytest.Item]:
    files: defaultdict[str, defaultdict[str, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        if not item.get_closest_marker("finding"):
            files[_file(item)][item.nodeid.partition("[")[0]].append(item)
    for prefix, (of_files, of_tests) in ROTATING.items():
        paths = [path for path in files if prefix == next((each for each in ROTATING if path.startswith(each)), "")]
        some = _drawn(paths, of_files, key=lambda path: len(files[path]), seed=f"{seed} {prefix}")
        for path in paths:
            tests = files[path]
            kept = _drawn(tests, of_tests, key=lambda test: len(tests[test]), seed=f"{seed} {path}")
            for test, cases in tests.items():
                if path not in some or test not in kept:
                    yield from cases


def _drawn(names: Collection[str], share: int, *, key: Callable[[str], int], seed: str) -> set[str]:
    """Return one of each group of names with about the same size, so that all seeds run about as long."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    return {chance.choice(group) for group in batched(sorted(names, key=key, reverse=True), share, strict=False)}
