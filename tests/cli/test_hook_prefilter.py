"""The hook's first look lets nothing pass that is about a memory."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.hooks.payload import locate_file
from memtui.agents.hooks.prefilter import is_foreign_call, parse_options
from tests.conftest import fill

LOADED = "import sys; print(*sorted(name for name in sys.modules if name.startswith('memtui')), file=sys.stderr)"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Memory folders of each kind, and a link to one."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    known = fill(tmp_path / "notes of mine", {"a.md": "a\n"})
    memtui.open(known).close()
    link = tmp_path / "link"
    link.symlink_to(known)
    claude = home / ".claude"
    own = [
        claude / "projects" / "-w" / "memory",
        claude / "agent-memory" / "x",
        tmp_path / ".claude/agent-memory-local/y",
    ]
    for each in own:
        each.mkdir(parents=True)
    return [known, link, known / "sub", *own]


def call(tool: str, where: str = "/", event: str = "PreToolUse", **given: Any) -> bytes:
    return json.dumps({"hook_event_name": event, "tool_name": tool, "cwd": where, "tool_input": given}).encode()


def test_a_file_of_a_memory_is_never_taken_for_another(places: list[Path], tmp_path: Path) -> None:
    for place in places:
        path = str(place / "note.md")
        assert locate_file(path) is not None
        for event in ("PreToolUse", "PostToolUse"):
            assert not is_foreign_call(call("Write", event=event, file_path=path, content="x"))
        for command in (f"rm {path}", f"echo x >> '{path}'", f"D={place}; cat $D/a", f"rm -r {place.parent}"):
            assert not is_foreign_call(call("Bash", command=command)), command
        assert not is_foreign_call(call("Bash", str(place), command="echo x > y.md"))
        assert not is_foreign_call(call("Bash", str(place.parent), command=f"cd {place.name} && echo x > y.md"))
    named = tmp_path / "elsewhere"
    named.mkdir()
    assert not is_foreign_call(call("Write", file_path=f"{named}/a.md", content="x"), str(named))
    assert not is_foreign_call(call("Bash", command=f"echo x > {named}/a.md"), str(named))


@pytest.mark.usefixtures("places")
def test_what_is_certainly_no_memory_is_done_with(tmp_path: Path) -> None:
    for path in (f"{tmp_path}/project/src/app.py", "/etc/hosts"):
        assert is_foreign_call(call("Write", file_path=path, content="x"))
        assert is_foreign_call(call("Edit", file_path=path, old_string="a", new_string="b"))
    for command in (
        "rm build.log",
        "mv a.py b.py && git status",
        "git status",
        "ls -la | head",
        "npm test > out.txt 2>&1",
        "cp a b",
        f"cat {tmp_path}/project/x",
    ):
        assert is_foreign_call(call("Bash", str(tmp_path / "project"), command=command)), command


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"7", b"NaN", b'{"a": 1} x', b"\xff", b"[" * 200_000, call("Write"),
        call("Write", file_path=7), call("Write", file_path="relative.md"),
        call("Write", event="Stop", file_path="/x"), call("Other"),
        call("Bash", "relative", command="ls"), call("Bash", command=7), call("mcp__memtui__memory", command="view"),
    ],
)  # fmt: skip
def test_what_is_not_certain_is_left_to_the_hook(data: bytes) -> None:
    with contextlib.suppress(ValueError, RecursionError):  # which `is_done` takes for no
        assert not is_foreign_call(data)


def test_a_call_that_is_done_with_loads_next_to_nothing(tmp_path: Path) -> None:
    data = call("Write", file_path=str(tmp_path / "x.py"), content="x")
    code = f"import sys; sys.argv = ['memtui', 'hook', '--ask']\nfrom memtui.__main__ import main\nmain()\n{LOADED}"
    heavy = "print(*({'json', 're', 'typing', 'dataclasses', 'pathlib', 'enum'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"{code}\n{heavy}"],
        input=data, capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])},
    )  # fmt: skip
    loaded, others = done.stderr.decode().splitlines()
    assert loaded.split() == [
        "memtui", "memtui.__main__", "memtui.agents", "memtui.agents.hooks", "memtui.agents.hooks.prefilter",
    ]  # fmt: skip
    assert others == ""


def test_the_version_is_printed_without_the_command_line() -> None:
    program = f"import sys; sys.argv[1:] = ['--version']\nfrom memtui.__main__ import main\nmain()\n{LOADED}"
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr.split()) == (f"memtui {memtui.__version__}\n", ["memtui", "memtui.__main__"])


def test_a_call_about_a_memory_loads_no_parser_and_no_socket(places: list[Path]) -> None:
    data = call("Write", file_path=str(places[0] / "a.md"), content="b\n")
    code = "import sys; sys.argv = ['memtui', 'hook', '--ask']\nfrom memtui.__main__ import main\nmain()\n"
    names = {"argparse", "socket", "ctypes", "sqlite3", "traceback", "dataclasses", "pathlib", "datetime", "hashlib"}
    heavy = f"print(*({names} & set(sys.modules)), file=sys.stderr)"
    environment = {**os.environ, "PYTHONPATH": str(Path(memtui.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code + heavy], input=data, capture_output=True, check=True, env=environment
    )
    assert b'"permissionDecision": "ask"' in done.stdout
    assert done.stderr == b"\n"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["--ask", "--wait", "30", "--dir", "/a b"], {"--ask": "", "--wait": "30", "--dir": "/a b"}),
        (["--wait", "0"], None), (["--wait", "3601"], None), (["--wait", "x"], None), (["--dir"], None),
        (["--dir", ""], None), (["--dir", "--ask"], None), (["--dir=/a"], None), (["install"], None),
        (["--read-only"], None), (["--no-config", "--ask"], None),
    ],
)  # fmt: skip
def test_options_that_are_not_plain_are_left_to_the_command_line(
    words: list[str], options: dict[str, str] | None
) -> None:
    assert parse_options(words) == options
