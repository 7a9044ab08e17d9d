"""The commands of the README and of each page are run, in order, in a scratch folder."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.cli.output import Failure
from memtui.cli.parsing import parse_command_line
from memtui.cli.verbs import VERBS
from tests.docs.scratch import NOT_RUN, DocumentedCommand, list_commands, prepare_home
from tests.readme import DOCS, README, ROOT

PAGES = {"README": README, **{page.stem: page for page in sorted(DOCS.glob("*.md"))}}
_SHELL = frozenset("|<>;&$`'*")
_INSIDE_CI = ("tests.", "pytest", "screenshots")


def _list_page_commands(name: str) -> list[DocumentedCommand]:
    return list_commands(PAGES[name].read_text(encoding="utf-8"))


def _is_run(command: DocumentedCommand) -> bool:
    return command.not_run is None and not any(word in command.line for word in _INSIDE_CI)


WITH_COMMANDS = [name for name in PAGES if any(map(_is_run, _list_page_commands(name)))]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory with `memories` in it, and `memtui` among the programs."""
    for name in [name for name in os.environ if name.startswith(("MEMTUI_", "XDG_", "NO_COLOR", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    program = tmp_path / "bin" / "memtui"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m memtui "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    app = prepare_home(tmp_path)
    monkeypatch.chdir(app)
    return app


def _run(line: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Run a line, in this process where it needs no shell; never an audit, which gives up rights."""
    if _SHELL.isdisjoint(line) and line.startswith("memtui ") and not line.startswith("memtui audit"):
        code = main([os.path.expanduser(word) for word in shlex.split(line)[1:]])
        return code, "".join(capfd.readouterr())
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_every_command_of_the_page_does_what_the_page_says(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    for command in filter(_is_run, _list_page_commands(name)):
        code, printed = _run(command.line, capfd)
        assert code == command.code, f"{command.line}\n{printed}"


@pytest.mark.parametrize("name", PAGES)
def test_a_command_that_is_not_run_has_a_reason_and_can_be_parsed(name: str) -> None:
    for command in _list_page_commands(name):
        if command.not_run is None:
            continue
        assert command.not_run in NOT_RUN, command.line
        words = shlex.split(command.line)
        if words[0] == "memtui" and words[1] in VERBS:
            try:
                parsed = parse_command_line(words[1:], VERBS, "1")
            except Failure as failure:
                pytest.fail(f"{command.line}: {failure}")
            assert parsed.verb is not None


def test_a_page_that_says_something_wrong_is_found() -> None:
    text = "```sh\nmemtui ls  # exit 3\nmemtui log \\\n  --json\n```\n\n```sh key\nmemtui chat\n```\n"
    assert list_commands(text) == [
        DocumentedCommand("memtui ls", 3, None),
        DocumentedCommand("memtui log --json", 0, None),
        DocumentedCommand("memtui chat", 0, "key"),
    ]


def test_most_commands_are_run() -> None:
    commands = [command for name in PAGES for command in _list_page_commands(name)]
    assert len(commands) > 100
    assert sum(map(_is_run, commands)) > len(commands) / 2


@pytest.mark.parametrize("name", PAGES)
def test_what_is_said_beside_a_command_fits_in_a_narrow_terminal(name: str) -> None:
    text = PAGES[name].read_text(encoding="utf-8")
    blocks = re.findall(r"(?m)^```sh\b.*\n((?:.*\n)*?)```$", text)
    assert [line for block in blocks for line in block.splitlines() if " # " in line and len(line) > 77] == []
