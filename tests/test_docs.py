"""Documentation: every command runs in a copy of the checkout, every link works, and every name exists.

What a fence is, its word says, and a comment in the line before it:

    ```sh                       run, after what stands before it in the same document
    <!-- serves: URL [405] -->  … until the document ends; goes on when URL answers, with 200 or the code that is named
    <!-- not run: reason -->    … not at all
    ```text, ```json            right after one that ran: what it prints; `…` stands for anything
    <!-- file: path -->         what the file holds; a `diff` changes it
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx
import pytest

from intents_ui.settings import Environment
from tests.serving import ROOT, free_port, needs, wait_for
from tests.waiting import PATIENCE, until

DOCUMENTS: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FENCE: Final = re.compile(
    r"^(?:<!-- (?P<role>[^:\n]+): (?P<what>[^\n]+?) -->\n)?"
    r"(?P<ticks>```+)(?P<word>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$",
    re.MULTILINE | re.DOTALL,
)
PRINTED: Final = ("text", "json")
# Neither a command nor output.
SHOWN: Final = ("nginx", "yaml", "ini")
PORT: Final = re.compile(r"(?<=127\.0\.0\.1:)\d+|(?<=localhost:)\d+|(?<=--port )\d+|(?<=\bPORT=)\d+")
# Not available on every machine.
PROGRAMS: Final = ("curl", "git", "nginx", "openssl", "redis-server")
SETTINGS: Final = {each.upper() for each in Environment.model_fields}
TARGETS: Final = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
INLINE: Final = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Fence:
    line: int
    word: str
    text: str
    role: str
    what: str
    is_next: bool  # directly after the previous fence


@dataclass
class Copy:
    """A copy of the checkout, with the packages of the test environment."""

    folder: Path
    servers: ExitStack
    ports: dict[str, str] = field(default_factory=dict)

    def run(self, text: str) -> str:
        done = subprocess.run(
            shell(self.ported(text)), cwd=self.folder, env=self.env(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    def serve(self, text: str, what: str) -> None:
        url, _, status = self.ported(what).partition(" ")
        env = self.env() | {"PORT": str(httpx.URL(url).port)}
        self.servers.enter_context(served(shell(self.ported(text)), self.folder, env, url, int(status or 200)))

    def put(self, path: str, fence: Fence) -> None:
        file = self.folder / path
        if fence.word == "diff":
            before, after = ("".join(lines_of(fence.text, signs)) for signs in (" -", " +"))
            assert file.read_text().count(before) == 1, f"{path} has changed, and the document has not"
            file.write_text(file.read_text().replace(before, after))
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(fence.text)

    def ported(self, text: str) -> str:
        """Replace the ports of the documents, which may be in use."""
        return PORT.sub(lambda found: self.ports.setdefault(found[0], str(free_port())), text)

    def env(self) -> dict[str, str]:
        """Return the environment of commands."""
        return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-euc", text]


def lines_of(diff: str, signs: str) -> Iterator[str]:
    return (line[1:] for line in diff.splitlines(keepends=True) if line[0] in signs)


@contextmanager
def served(command: list[str], folder: Path, env: dict[str, str], url: str, status: int) -> Iterator[None]:
    """Run a command that keeps running, with its child processes, until the block ends."""
    process = subprocess.Popen(command, cwd=folder, env=env, start_new_session=True)
    try:
        assert wait_for(url, process).status_code == status
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)
        until(lambda: not is_running(process.pid))


def is_running(group: int) -> bool:
    """Return whether a server is running. A stopping one still needs its files, an ended one may wait to be reaped."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if its_group == str(group) and state != "Z":
                return True
    return False


def fences(document: Path) -> list[Fence]:
    text, found, end = document.read_text(), [], 0
    for each in FENCE.finditer(text):
        line = text.count("\n", 0, each.start("ticks")) + 1
        role, what = each["role"] or "", each["what"] or ""
        is_next = bool(found) and not text[end : each.start()].strip()
        found.append(Fence(line, each["word"].strip(), each["text"], role, what, is_next))
        end = each.end()
    return found


def name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    folder = tmp_path / "intents-ui"
    git = needs("git", "apt-get install git")
    listed = subprocess.check_output(
        [git, "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True
    )
    for path in filter(Path.is_file, map(ROOT.joinpath, listed.splitlines())):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    (folder / ".venv").symlink_to(sys.prefix)
    for requirements in folder.glob("requirements*.txt"):
        os.utime(requirements, (0, 0))  # older than `.venv/installed`: they are installed
    with ExitStack() as servers:
        yield Copy(folder, servers)
    shutil.rmtree(folder)


QUICK: Final = ("tutorial.md", "CONTRIBUTING.md")  # each run of the tests follows what changes with the code
WITH_FENCES: Final = [
    pytest.param(each, marks=() if each.name in QUICK else pytest.mark.programs, id=name(each))
    for each in DOCUMENTS
    if fences(each)
]


@pytest.mark.parametrize("document", WITH_FENCES)
def test_every_command_does_what_the_document_says(document: Path, copy: Copy) -> None:
    for program in PROGRAMS:
        if any(is_run(program, fence) for fence in fences(document)):
            needs(program, f"apt-get install {program}")
    printed: str | None = None
    for fence in fences(document):
        match fence.word, fence.role:
            case "sh", "serves":
                printed = None
                copy.serve(fence.text, fence.what)
            case "sh", "":
                printed = copy.run(fence.text)
            case "sh", "not run":
                printed = None
            case word, "file" if word != "sh":
                copy.put(fence.what, fence)
            case word, "" if word in PRINTED and fence.is_next and printed is not None:
                shown = copy.ported(fence.text)
                assert is_shown(printed, shown), f"{name(document)}:{fence.line}: it prints\n{printed}"
            case word, "":
                assert word in (*PRINTED, *SHOWN), f"{name(document)}:{fence.line}: is this a command? ({word!r})"
            case word, role:
                pytest.fail(f"{name(document)}:{fence.line}: {word!r} cannot be {role!r}")


def is_run(program: str, fence: Fence) -> bool:
    called = re.search(rf"(?:^|[|&(]|\bexec) *{program} ", fence.text, re.MULTILINE)
    return called is not None and fence.word == "sh" and fence.role != "not run"


def is_shown(printed: str, shown: str) -> bool:
    """Return whether a document has the text, regardless of line breaks."""
    pieces = ["".join(piece.split()) for piece in shown.split("…")]
    return re.fullmatch(".*".join(map(re.escape, pieces)), "".join(printed.split()), re.DOTALL) is not None


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of headings."""
    text = FENCE.sub("", document.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_path_target_and_setting_exists(document: Path) -> None:
    """Names in fences are covered by running them."""
    text = FENCE.sub("", document.read_text())
    assert [target for target in LINK.findall(text) if not leads_somewhere(document, target)] == []
    made = {each.what for each in fences(document) if each.role == "file"}
    assert [word for word in INLINE.findall(text) if word not in made and not exists(word)] == []


def leads_somewhere(document: Path, target: str) -> bool:
    if target.startswith(("http://", "https://", "mailto:")):
        return True
    path, _, anchor = target.partition("#")
    there = (document.parent / path).resolve() if path else document
    return there.exists() and (not anchor or anchor in anchors(there))


def exists(word: str) -> bool:
    """Return whether a word in backticks exists, if it is a path, a module, a make target or a setting."""
    if re.fullmatch(r"(?:intents_ui|tests|docs|bench|templates|static|deploy|\.ci)/[\w./-]*", word):
        return (ROOT / word).exists()
    if found := re.search(r"\bmake ([a-z]+)", word):
        return found[1] in TARGETS
    if found := re.search(r"-m ((?:bench|intents_ui|tests)[\w.]*)", word):
        module = ROOT / found[1].replace(".", "/")
        return module.with_suffix(".py").exists() or (module / "__main__.py").exists()
    if found := re.match(r"(INTENTS_[A-Z_]+)\b(?!…)", word):
        return found[1] in SETTINGS or found[1].endswith("_")
    return True


def test_the_architecture_names_every_folder_with_views_or_wording() -> None:
    layers = (ROOT / "docs/architecture.md").read_text()
    drawn = set(re.findall(r"\b([a-z]+)/", (ROOT / "docs/architecture.svg").read_text().partition("</defs>")[2]))
    folders = {each.parent.name for each in (ROOT / "intents_ui").glob("*/__init__.py")}
    assert drawn <= folders
    assert folders - {"doctor", "management"} <= set(re.findall(r"`([a-z]+)`", layers))


def test_the_changelog_starts_with_the_current_version_and_each_release_with_its_upgrade_notes() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    releases = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert re.match(r"(\S+?),? ", releases[0])[1] == version
    assert all(re.search("^### (.*)$", each, re.MULTILINE)[1] == "Upgrade notes" for each in releases)
