"""`--read-only` on every verb, and `memtui audit`: what is asked of the system, and what is left behind."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.cli import main
from memtui.cli.verbs import VERBS
from memtui.fs.landlock import get_landlock_version
from tests.neutral.conftest import Recorded
from tests.neutral.trees import age, differences, traces

# A word in braces is filled in. Behind each command line the exit code; whatever is to be changed is refused with 4.
_COMMANDS = """
ls                                          | 0
ls --json                                   | 0
show prefs.md                               | 0
show link.md                                | 0
show new.md@2                               | 0
show --as-model prefs.md                    | 0
search Berlin                               | 0
search --json by:Claude                     | 0
log                                         | 0
log --json                                  | 0
log --head                                  | 0
diff 2                                      | 1
diff 0 3 --stat                             | 1
blame new.md                                | 0
origin new.md                               | 0
stats                                       | 0
graph                                       | 0
graph --json --at 2                         | 0
links prefs.md                              | 0
links prefs.md --blame --json               | 0
orphans                                     | 1
observations                                | 1
recent                                      | 0
context memory://prefs                      | 0
schema validate                             | 0
suggest                                     | 0
suggest --accept 0c3f2a91be                 | 4
mv prefs.md moved.md                        | 4
cp prefs.md copied.md                       | 4
rm prefs.md                                 | 4
copy . ../copied                            | 4
mirror sqlite:../new.db .                   | 4
admin init postgres://me@/a?host=/none      | 3
admin accept postgres://me@/a?host=/none    | 3
merge prefs.md new.md                       | 4
merge prefs.md new.md --dry-run             | 0
split prefs.md                              | 4
split prefs.md --dry-run                    | 2
protect prefs.md                            | 4
protect --list                              | 0
restore new.md --at 2                       | 4
undo                                        | 4
redo                                        | 4
prune --older-than 1d                       | 0
redact --match Berlin                       | 4
run {commands}                              | 4
hook                                        | 0
hook status                                 | 1
hook install --yes                          | 4
places                                      | 0
places --json                               | 0
home                                        | 2
import-transcripts                          | 4
verify                                      | 0
export                                      | 0
export -o {out}/journal.jsonl               | 0
export -o {folder}/journal.jsonl            | 4
export -o {state}/journal.jsonl             | 4
config                                      | 0
doctor                                      | 0
doctor --json                               | 0
completion bash                             | 0
review                                      | 1
review accept prefs.md                      | 0
review revert prefs.md                      | 4
chat --print hello                          | 6
chat --sessions                             | 0
audit                                       | *
audit --format json                         | *
audit --format md                           | *
audit --format sarif                        | *
audit --format html                         | *
audit --format json --since 1               | *
audit -o {out}/report.md --format md        | *
audit -o {folder}/report.md --format md     | 4
audit --write-baseline {out}/known.json     | *
audit --write-baseline {folder}/known.json  | 4
audit --rules                               | 0
replay {commands}                           | 3
demo                                        | 2
help                                        | 0
help undo                                   | 0
mcp                                         | 0
serve                                       | 2
"""

_CHANGING = (
    "creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,"
    "chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,utime,utimes,utimensat,futimesat,truncate,ftruncate,fallocate,"
    "setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr"
)
_OPENING = "open,openat,openat2"
_CONNECTING = "socket"
_TO_THE_NETWORK = re.compile(r"\bAF_INET6?\b")
_TO_WRITE = re.compile(r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE|APPEND)\b")


def command_lines() -> list[tuple[str, str]]:
    """The command lines with their exit codes."""
    rows = (line.rpartition("|") for line in _COMMANDS.strip().splitlines())
    return [(words.strip(), code.strip()) for words, _, code in rows]


def test_no_verb_is_left_out() -> None:
    assert {words.split()[0] for words, _ in command_lines()} == set(VERBS)


@pytest.fixture
def traced(tmp_path: Path) -> list[str] | None:
    """The words before a command that has its calls written down; `None` where that cannot be done."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    words = [strace, "-f", "-y", "-qq", "-s", "4096", "-o", os.fspath(tmp_path / "calls")]
    words += ["-e", f"trace={_OPENING},{_CHANGING},{_CONNECTING}"]
    tried = subprocess.run([*words, sys.executable, "-c", ""], capture_output=True, timeout=60, check=False)
    return words if tried.returncode == 0 else None


@pytest.mark.sweep(keep=5, always=("chat", "undo", "audit -o", "export -o", "mcp"))
@pytest.mark.parametrize(("words", "code"), command_lines(), ids=lambda each: each)
def test_nothing_is_touched(
    words: str, code: str, recorded: Recorded, commands: Path, traced: list[str] | None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    values = {"commands": commands, "out": out, "folder": recorded.folder, "state": recorded.state}
    given = [word.format_map(values) for word in shlex.split(words)]
    folder = ["--dir", os.fspath(recorded.folder)]
    watched = [recorded.folder, recorded.state]
    age(recorded.folder, recorded.state)
    before = traces(*watched)
    command = [sys.executable, "-m", "memtui", *given, "--read-only", *folder]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "TERM": "dumb"}
    environment.pop("ANTHROPIC_API_KEY", None)
    done = subprocess.run(
        [*(traced or ()), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        env=environment,
        cwd=out,
        check=False,
    )
    assert differences(before, traces(*watched)) == []
    assert code == "*" or done.returncode == int(code), done.stderr
    assert done.returncode in (0, 1, 2, 3, 4, 6), done.stderr
    if done.returncode == 4:
        said = done.stderr + done.stdout
        assert any(
            word in said for word in ("read-only", "inside the memory folder", "in the directory of the journal")
        ), said
    if traced is not None:
        calls = (tmp_path / "calls").read_text(errors="replace").splitlines()
        assert calls
        assert [line for line in calls if _changes(line, watched)] == []
        assert [line for line in calls if _TO_THE_NETWORK.search(line)] == []


def test_a_connection_would_be_found(traced: list[str] | None, tmp_path: Path) -> None:
    if traced is None:
        pytest.skip("strace is not here, or may not trace")
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()"
    subprocess.run([*traced, sys.executable, "-c", code], timeout=60, check=True)
    calls = (tmp_path / "calls").read_text(errors="replace").splitlines()
    assert [line for line in calls if _TO_THE_NETWORK.search(line)] != []


def _changes(line: str, places: list[Path]) -> bool:
    """Whether a call asks to change something in some places; what was refused has been asked for all the same."""
    if not any(f"{place}{end}" in line for place in map(os.fspath, places) for end in ("/", ">", '"')):
        return False
    name = line.partition("(")[0].split()[-1]
    return name not in _OPENING.split(",") or _TO_WRITE.search(line) is not None


def test_what_is_looked_for_would_be_found(recorded: Recorded, traced: list[str] | None, tmp_path: Path) -> None:
    """A harness that finds nothing proves nothing: here an ordinary command writes."""
    if traced is None:
        pytest.skip("strace is not here, or may not trace")
    age(recorded.folder, recorded.state)
    watched = [recorded.folder, recorded.state]
    before = traces(*watched)
    words = ["rm", "new.md", "--yes", "--dir", os.fspath(recorded.folder)]
    subprocess.run([*traced, sys.executable, "-m", "memtui", *words], capture_output=True, timeout=100, check=False)
    assert differences(before, traces(*watched)) != []
    calls = (tmp_path / "calls").read_text(errors="replace").splitlines()
    assert [line for line in calls if _changes(line, watched)] != []


@pytest.mark.skipif(not hasattr(os, "O_NOATIME"), reason="the system notes every access")
def test_that_something_was_read_would_be_found(recorded: Recorded) -> None:
    age(recorded.folder)
    before = traces(recorded.folder)
    (recorded.folder / "prefs.md").read_bytes()
    found = differences(before, traces(recorded.folder))
    if not found:
        pytest.skip("this disk is mounted so that no access is noted")
    assert "atime_ns" in found[0]


def test_doctor_says_what_the_kernel_takes(recorded: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", os.fspath(recorded.folder), "--read-only"])
    told = capsys.readouterr().out
    line = next(line for line in told.splitlines() if "Landlock" in line)
    words = (
        f"version {get_landlock_version()}: with --read-only the kernel"
        if get_landlock_version()
        else "memtui itself opens everything"
    )
    assert words in line
    assert "skipped: this is read-only" in told
