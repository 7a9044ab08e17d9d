"""How a process ends: codes, closed pipes, full disks, bugs, and what was loaded meanwhile."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main

HEAVY = (
    "textual",
    "rich",
    "anthropic",
    "watchfiles",
    "markdown_it",
    "rapidfuzz",
    "pygments",
    "platformdirs",
    "asyncio",
    "mcp",
    "pydantic",
    "yaml",
)

Run = Callable[..., Any]


@pytest.mark.parametrize(
    "words",
    [
        ["ls"],
        ["show", "prefs.md"],
        ["log"],
        ["log", "--head"],
        ["run", "c"],
        ["doctor"],
        ["completion", "bash"],
        ["-h"],
    ],
    ids=" ".join,
)
def test_plain_verbs_load_nothing_heavy(words: list[str], folder: Path) -> None:
    (folder.parent / "c").write_text('{"command": "view", "path": "/memories"}')
    code = (
        "import sys, json, memtui.cli\n"
        f"code = memtui.cli.main({words!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, cwd=folder.parent, check=True)
    loaded = {name.split(".")[0] for name in json.loads(done.stderr)}
    needed = {"watchfiles", "asyncio"} if words == ["doctor"] else set()  # it tries whether changes are reported
    assert not loaded & set(HEAVY) - needed


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["show", "prefs.md@now"], 0),
        (["diff", "0", "now", "--stat"], 0),
        (["blame", "prefs.md"], 0),
        (["stats"], 0),
        (["audit", "--format", "json", "--fail-on", "never"], 0),
        (["audit", "--since", "last", "--format", "html", "--fail-on", "never"], 0),
        (["audit", "--rules"], 0),
        (["restore", "prefs.md@now"], 3),
        (["undo", "--dry-run"], 3),
        (["redo"], 3),
        (["prune", "--older-than", "1d"], 0),
        (["prune", "--record", "--max-bytes", "0", "--dry-run"], 0),
        (["redact", "--match", "Berlin", "--dry-run"], 0),
    ],
    ids=str,
)
def test_verbs_about_what_was_load_nothing_heavy(words: list[str], code: int, folder: Path) -> None:
    loaded = folder.parent / "loaded"
    program = (
        "import sys, json, memtui.cli\n"
        f"loaded = open({str(loaded)!r}, 'w')\n"  # an audit gives up its right to write
        f"code = memtui.cli.main({words!r})\n"
        "loaded.write(json.dumps(sorted(sys.modules)))\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert done.returncode == code
    assert not {name.split(".")[0] for name in json.loads(loaded.read_text())} & set(HEAVY)


def test_a_closed_pipe_is_no_error(folder: Path, run: Run) -> None:
    for number in range(2_000):
        (folder / f"{number:04}-{'x' * 60}").touch()
    assert run("ls").code == 0
    reading, writing = os.pipe()
    os.close(reading)
    for words in (["ls"], ["ls", "-0"], ["ls", "--json"], ["log", "--json"], ["--help"]):
        with subprocess.Popen(
            [sys.executable, "-m", "memtui", *words], stdout=writing, stderr=subprocess.PIPE
        ) as process:
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (141, b"")
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_output_that_cannot_be_written_is_said(folder: Path) -> None:  # noqa: ARG001
    for words in (["ls"], ["ls", "--json"], ["show", "prefs.md"], ["log"], ["--version"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "memtui", *words], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
            )
        assert (done.returncode, done.stderr) == (74, b"The output could not be written: no space left on device.\n")


def test_closed_standard_files_do_no_harm(folder: Path) -> None:  # noqa: ARG001
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'"$0" -m memtui log {closed}', sys.executable], capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 0
        assert done.stderr == b""
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "doctor", "--json"], capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["ok"]


def test_other_encodings_lose_nothing(folder: Path, run: Run) -> None:
    (folder / "größe-日本.md").write_text("日本\n")
    latin = {"PYTHONIOENCODING": "latin-1"}
    assert b"gr\xf6\xdfe-\\u65e5\\u672c.md" in run("ls", env=latin).out
    assert "größe-日本.md" in run("ls", "--json", env=latin).out.decode()
    assert run("show", "größe-日本.md", env={**latin, "PYTHONUTF8": "1"}).out.decode() == "日本\n"


def test_a_bug_is_one_sentence_and_a_log_for_its_owner(
    folder: Path,  # noqa: ARG001
    state_home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(_Bug()) == 70  # type: ignore[arg-type]
    err = capsys.readouterr().err
    assert err.startswith("memtui stopped because of a bug: ZeroDivisionError. Log: ")
    assert err.count("\n") == 1
    (log,) = (state_home / "memtui" / "log").iterdir()
    assert str(log) in err
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert "Traceback" in log.read_text()


class _Bug(list[str]):
    """Words that fail when they are looked at."""

    def __iter__(self) -> Any:
        return iter(["ls", _Word("x")])


class _Word(str):
    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        raise ZeroDivisionError

    def __getitem__(self, _: object) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_draw_is_none(term: str, folder: Path, run_in_terminal: Run) -> None:  # noqa: ARG001
    ran = run_in_terminal(env={"TERM": term})
    assert ran.code == 2
    assert ran.out == b"memtui needs a terminal. For scripts use: memtui ls, memtui log --json\n"


_PRETEND = """
import sys
import types
app = types.ModuleType("memtui.ui.app")
app.browse = lambda folder, *, state, read_only, **_: print(repr((folder, state, read_only))) or 7
sys.modules["memtui.ui.app"] = app
from memtui.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "named", "expected"),
    [
        (["memories"], "", ("{path}", None, False)),
        ([], "memories", ("{path}", None, False)),
        (["-C", "memories", "--read-only", "--state", "s"], "", ("{path}", "s", True)),
        (["--", "memories"], "", ("{path}", None, False)),
        ([], "", (None, None, False)),
    ],
)
def test_the_browser_is_given_what_was_said(
    *,
    words: list[str],
    named: str,
    expected: tuple[Any, ...],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_in_terminal: Run,
) -> None:
    monkeypatch.chdir(folder.parent if words or named else folder)
    ran = run_in_terminal(*words, program=("-c", _PRETEND), env={"MEMTUI_DIR": named, "TEXTUAL_THEME": "nord"})
    path = str(folder) if expected[0] else None
    assert ran.out.decode().strip() == repr((path, *expected[1:]))
    assert ran.code == 7


def test_a_missing_folder_is_said_before_anything_is_drawn(folder: Path, run_in_terminal: Run) -> None:
    ran = run_in_terminal("-C", f"{folder}-not")
    assert ran.code == 3
    assert b"Nothing was created." in ran.out
    assert not Path(f"{folder}-not").exists()
