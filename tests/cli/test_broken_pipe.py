"""A reader that leaves, as `head -1` does: every verb ends without a word, at whatever write it finds out."""

import os
import shlex
from pathlib import Path

import pytest

from memtui.cli.output import ExitCode
from memtui.cli.verbs import VERBS
from tests.agents.model_server import ModelServer, Text
from tests.cli.conftest import LIMIT
from tests.warm import Warm

_COMMANDS = """
ls
ls -0
show notes/old.md
show notes/old.md@now
search Berlin
stats
graph
graph --mermaid
links notes/old.md --blame --json
orphans --json
observations --all --json
recent
context memory://notes/old
schema validate --json
suggest --json
places
home --help
demo --help
help
help undo
log
log --follow
log --head
diff 0 now
blame notes/old.md
origin notes/old.md
import-transcripts --help
audit --fail-on never
audit --rules
audit --format html
audit --write-baseline - --fail-on never
review
verify
export
export -o -
undo --dry-run
redo --help
restore prefs.md@1
mv notes/today.md moved.md
cp notes/today.md copied.md
rm --dry-run notes
merge notes/old.md notes/today.md
merge notes/old.md notes/today.md --dry-run
split notes/old.md --json
split --help
admin --help
copy --help
mirror --help
protect notes
prune --older-than 1d
prune --record --max-bytes 0 --dry-run
redact --help
chat --print hello
chat --help
run commands
mcp --help
serve --help
hook status
hook install --yes
replay --help
config
doctor
completion bash
--help
--version
"""


def _command_lines() -> list[str]:
    lines = _COMMANDS.strip().splitlines()
    return [*lines, *(f"{line} --json" for line in lines if line.split()[0] in VERBS and line.count("--") == 0)]


def test_no_verb_is_left_out() -> None:
    assert {line.split()[0] for line in _command_lines()} >= set(VERBS)


@pytest.mark.sweep(keep=24, always=("export",))
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["at the last flush", "at the first write"])
@pytest.mark.parametrize("words", _command_lines())
def test_a_reader_that_left_is_no_fault(
    words: str, unbuffered: str, story: Path, server: ModelServer, warm: Warm, tmp_path: Path
) -> None:
    server.answer(Text("Berlin."))
    (tmp_path / "commands").write_text('{"command": "view", "path": "/memories"}\n')
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with open(tmp_path / "errors", "w+b") as errors, open(os.devnull, "rb") as nothing:
        fds = (nothing.fileno(), writing, errors.fileno())
        code = warm.start(["-m", "memtui", *shlex.split(words)], fds, env=environment, cwd=tmp_path).wait(LIMIT)
        os.close(writing)
        errors.seek(0)
        said = errors.read()
    assert (code, said) == (ExitCode.PIPE, b"")
    assert story.is_dir()
