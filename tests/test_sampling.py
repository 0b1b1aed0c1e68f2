"""The cases that `make test` draws from those of `make deep`."""

from collections.abc import Callable
from math import ceil

import pytest

from tests.sampling import ROTATING
from tests.serving import ROOT

pytest_plugins = ["pytester"]

CASES = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(40))
def test_sampled(number):
    pass

@pytest.mark.deep
def test_deep():
    pass

def test_plain():
    pass
"""

INI = """
[pytest]
markers =
  deep
  sampled(size)
addopts = -p tests.sampling -p no:django -p no:asyncio -p no:cacheprovider
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(CASES)
    pytester.makeini(INI)
    return pytester


@pytest.fixture
def collected(project: pytest.Pytester) -> Callable[..., list[str]]:
    def collect(*options: str) -> list[str]:
        result = project.runpytest("--collect-only", "-q", *options)
        return [line.rpartition("::")[2] for line in result.outlines if "::" in line]

    return collect


def test_a_run_draws_the_configured_number_of_cases_and_skips_deep_tests(collected) -> None:
    drawn = collected("--seed=1")
    assert len(drawn) == 4
    assert drawn[-1] == "test_plain"


def test_a_seed_repeats_a_run_and_another_seed_draws_other_cases(collected) -> None:
    assert collected("--seed=1") == collected("--seed=1")
    assert collected("--seed=1") != collected("--seed=2")


def test_a_deep_run_includes_everything(collected) -> None:
    assert len(collected("--deep")) == 42


def test_a_rotating_run_draws_some_files_and_all_regression_tests(project: pytest.Pytester) -> None:
    share = ROTATING["tests/pages/"]
    project.path.joinpath("tests", "pages").mkdir(parents=True)
    source = "".join(f"def test_{number}(): pass\n" for number in range(9))
    found = "import pytest\n@pytest.mark.finding('S1')\ndef test_found(): pass\n"
    for number in range(share + 1):
        project.path.joinpath("tests", "pages", f"test_fixed_{number}.py").write_text(source + found)
        project.path.joinpath("tests", "pages", f"test_other_{number}.py").write_text(source)
    drawn, everything = ceil(2 * (share + 1) / share), 2 * (share + 1)
    for options, files in (
        ((), everything),
        (("--rotate", "--seed=1"), drawn),
        (("--rotate", "--deep"), everything),
    ):
        result = project.runpytest("tests", "--import-mode=importlib", "-v", *options)
        assert str(result.stdout).count("::test_found PASSED") == share + 1
        assert result.parseoutcomes()["passed"] == files * 9 + share + 1


def test_a_file_that_is_left_out_is_not_imported(project: pytest.Pytester) -> None:
    project.path.joinpath("tests", "pages").mkdir(parents=True)
    for number in range(ROTATING["tests/pages/"]):
        project.path.joinpath("tests", "pages", f"test_{number}.py").write_text("raise ValueError")
    assert project.runpytest("tests", "--rotate", "--import-mode=importlib").parseoutcomes() == {"errors": 1}


def test_the_seed_is_printed(project: pytest.Pytester) -> None:
    project.runpytest("--seed=77").stdout.fnmatch_lines(["*--seed=77*"])


@pytest.mark.parametrize("seed", [[], ["--seed=77"]], ids=["a fresh seed", "a given seed"])
def test_all_worker_processes_draw_the_same_cases(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, seed: list[str]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    result = project.runpytest_subprocess("-p", "xdist", "-n", "2", *seed)
    result.assert_outcomes(passed=4)


OTHER_CASES = """
from hypothesis import given, strategies

def test_of_a_corpus(draw):
    pass

@given(strategies.integers())
def test_of_examples(number):
    pass
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_deep_run_after_a_sample_runs_what_the_sample_did_not_run_whole(
    collected, project: pytest.Pytester, seed: int
) -> None:
    pages = project.mkdir("tests")
    pages.joinpath("test_some.py").write_text(CASES + OTHER_CASES)
    sample = collected(f"--seed={seed}", "--rotate", "tests")
    rest = collected("--deep", f"--after={seed}", "tests")
    whole = collected("--deep", "tests")
    assert len(sample) < len(whole)
    assert {*sample} | {*rest} == {*whole}
    assert {*sample} & {*rest} <= {"test_of_a_corpus", "test_of_examples"} <= {*rest}
