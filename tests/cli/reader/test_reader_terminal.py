"""memtui line by line in a real terminal: what it says while it is waited for, and how it is asked for."""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import memtui
from memtui.agents.remote_approval import request_approval
from memtui.core.approvals import Allow, Deny, Edit, Proposal, Verdict
from memtui.core.events import Agent, Change, EntryKind, Version, sha256
from memtui.fs import state as fs_state
from tests.cli.conftest import CLAUDE, LIMIT, Follower, Run, read_until

_ON = b"[memtui screen reader mode: on]\n"
_MENU = b"? for the choices: "


class Terminal:
    """memtui in a pseudo-terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int) -> None:
        self.process = process
        self.heard = b""
        self._master = master

    def hear(self, text: bytes) -> bytes:
        """What it says, up to a text."""
        heard = read_until(self._master, lambda read: text in read.replace(b"\r\n", b"\n")).replace(b"\r\n", b"\n")
        assert text in heard, heard
        self.heard += heard
        return heard

    def type(self, line: str, then: bytes = _MENU) -> bytes:
        """Type a line, and hear what comes up to a text."""
        os.write(self._master, f"{line}\n".encode())
        return self.hear(then)

    def end(self) -> int:
        """Hear it to its end; its exit code."""
        self.heard += read_until(self._master, lambda _: False).replace(b"\r\n", b"\n")
        assert b"\x1b" not in self.heard, "no cursor is moved, and nothing is colored"
        return self.process.wait(LIMIT)


@contextmanager
def terminal(*words: str) -> Iterator[Terminal]:
    """Run memtui in a terminal, and end it whatever happens."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memtui", *words, "--screen-reader"], stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    with process:
        try:
            yield Terminal(process, master)
        finally:
            process.kill()
            os.close(master)


def test_ctrl_c_goes_back_to_the_first_menu_and_there_ends_it(folder: Path) -> None:
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        reader.type("new note", b"directory: ")
        os.kill(reader.process.pid, signal.SIGINT)
        assert b"Back in the main menu.\n" in reader.hear(_MENU)
        os.kill(reader.process.pid, signal.SIGINT)
        assert reader.end() == 130
    assert reader.heard.endswith(b"Closed.\n")
    assert b"Traceback" not in reader.heard


def test_the_end_of_input_and_a_signal_end_it(folder: Path) -> None:
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        os.write(reader._master, b"\x04")
        assert reader.end() == 0
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        reader.process.terminate()
        assert reader.end() == 128 + signal.SIGTERM


def test_one_sentence_is_said_for_each_change_as_it_happens(folder: Path) -> None:
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        reader.type("follow", b"Following. Enter stops.\n")
        with memtui.open(folder) as memory:
            path = "/memories/prefs.md"
            command = {"command": "str_replace", "path": path, "old_str": "Berlin", "new_str": "Lisbon"}
            memory.execute({"command": "view", "path": path}, actor=CLAUDE)
            memory.execute(command, actor=CLAUDE)
            memory.execute({"command": "delete", "path": "/memories/../x"}, actor=CLAUDE)
        heard = reader.hear(b"was refused: ")
        assert b"Claude edited prefs.md, 1 line added, 1 removed.\n" in heard
        assert b"looked at" not in heard
        (folder / "by-hand\x1b[2J.md").write_text("x\n")
        assert b"Another program created by-hand\\x1b[2J.md" in reader.hear(b"[2J.md")
        assert b"changed since you last looked" in reader.type("")
        reader.type("q", b"Closed.\n")
        assert reader.end() == 0


def asked(folder: Path, verdicts: list[Verdict], after: bytes = b"tea\n\x1b[2J\n") -> threading.Thread:
    """Have an agent in another process ask about a change."""
    texts = {sha256(text): text for text in (b"tea\n", after)}
    was, will = (Version(EntryKind.FILE, sha256(text), len(text)) for text in (b"tea\n", after))
    proposal = Proposal(
        Agent("Claude Code", "a-model", "a-session"),
        "str_replace",
        "/memories/notes/drinks.md",
        None,
        "toolu_1",
        (Change("notes/drinks.md", was, will),),
        texts,
        "The memory file has been edited.",
        {"command": "str_replace", "path": "/memories/notes/drinks.md"},
    )
    state = fs_state.get_state_directory(folder)
    thread = threading.Thread(target=lambda: verdicts.append(request_approval(state, proposal, seconds=LIMIT)))
    thread.start()
    return thread


def test_an_agent_that_asks_is_heard_at_once_and_answered_by_number(folder: Path, tmp_path: Path) -> None:
    verdicts: list[Verdict] = []
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        for answers, verdict in (
            (["no, and say why", "too strong"], Deny("too strong")),
            (["edit", "write lines at", "and milk", ".", "answer with"], Edit("tea\n\x1b[2J\nand milk\n")),
            (["yes, and"], Allow()),
        ):
            asker = asked(folder, verdicts)
            assert b"\nClaude Code asks to edit notes/drinks.md. It waits until " in reader.hear(
                b"Choose Questions from agents.\nNumber"
            )
            heard = reader.type("questions", b"Number, Enter for back: ")
            assert b"1 line added, in 1 place.\nLine 2 is new: \\x1b[2J\n" in heard
            assert b"1. Yes, this change\n2. No\n3. No, and say why\n4. Edit it first\n" in heard
            for answer in answers[:-1]:
                reader.type(answer, b": ")
            reader.type(answers[-1])
            asker.join(LIMIT)
            assert verdicts.pop() == verdict
        asked(folder, verdicts).join(LIMIT)
        assert verdicts.pop() == Allow(), "she said that it need not be asked about any more"
        assert b"Allowed by your rule: Claude Code asks to edit notes/drinks.md." in reader.hear(b"drinks.md.\nNumber")
        heard = reader.type("questions", b"Number, Enter for back: ")
        assert b"No agent is asking.\nAllowed without a question until you quit:\n" in heard
        reader.type("ask again about all", b"You are asked about it again.")
        asker = asked(folder, verdicts)
        reader.hear(b"Choose Questions from agents.\nNumber")
        reader.type("questions", b"Number, Enter for back: ")
        reader.type("no")
        asker.join(LIMIT)
        assert verdicts.pop() == Deny("")
        reader.type("q", b"Closed.\n")
        assert reader.end() == 0
    del tmp_path


def test_an_asker_that_goes_is_told(folder: Path) -> None:
    with terminal(str(folder)) as reader:
        reader.hear(b"Number: ")
        program = (
            "import sys; from tests.cli.reader.test_reader_terminal import asked; from pathlib import Path\n"
            "asked(Path(sys.argv[1]), []).join()"
        )
        asker = subprocess.Popen([sys.executable, "-c", program, str(folder)])
        with asker:
            reader.hear(b"asks to edit notes/drinks.md.")
            asker.kill()
        reader.hear(b"The agent that asked has ended. Nothing was written.")
        assert b"No agent is asking." in reader.type("questions", b"No agent is asking.")
        reader.type("q", b"Closed.\n")
        assert reader.end() == 0


@pytest.mark.parametrize("way", ["option", "variable", "file"])
def test_it_is_asked_for_by_option_variable_or_file(
    way: str, folder: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--screen-reader"] if way == "option" else []
    if way == "variable":
        monkeypatch.setenv("MEMTUI_SCREEN_READER", "1")
    if way == "file":
        config = Path(os.environ["XDG_CONFIG_HOME"], "memtui", "config.toml")
        config.parent.mkdir(parents=True)
        config.write_text("[ui]\nscreen_reader = true\n")
    ran = run(*words, stdin=b"q\n")
    assert (ran.code, ran.err) == (0, b"")
    assert ran.out.startswith(_ON)
    del folder, tmp_path


def test_the_variable_can_say_no_and_then_a_terminal_is_needed(folder: Path, run: Run) -> None:
    ran = run(str(folder), stdin=b"q\n", env={"MEMTUI_SCREEN_READER": "0", "MEMTUI_DIR": ""})
    assert ran.code == 2
    assert _ON not in ran.out


def test_no_screen_is_ever_loaded(folder: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom memtui.cli import main\ncode = main()\n"
        "print([name for name in ('textual', 'rich', 'anthropic', 'mcp') if name in sys.modules], code)"
    )
    lines = b"files\nprefs\nedit\nline by line\nwrite lines at\nx\n.\nsave\nhistory\nb\nb\nb\nfind\nx\nb\n\nundo\nq\n"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), "--screen-reader"],
        input=lines, capture_output=True, timeout=LIMIT, check=True, env={**os.environ, "EDITOR": "true"},
    )  # fmt: skip
    assert b"Undid your edit of prefs.md" in done.stdout
    assert done.stdout.endswith(b"Closed.\n[] 0\n"), done.stdout + done.stderr
    del tmp_path


def test_without_any_input_it_says_so(folder: Path) -> None:
    words = [sys.executable, "-m", "memtui", str(folder), "--screen-reader"]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *words], capture_output=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stdout) == (2, _ON)
    assert done.stderr.startswith(b"No input to read answers from. For scripts use: ")


def test_the_log_speaks_in_sentences(
    story: Path, run: Run, following: Callable[..., AbstractContextManager[Follower]]
) -> None:
    ran = run("log", "--screen-reader")
    lines = ran.out.decode().splitlines()
    told = [line.partition(" ")[2] for line in lines]
    assert told == [
        "memtui found 3 files. Event 1.",
        "Claude created new.md, 2 lines added. Event 2.",
        "Claude edited new.md, 2 lines added, 1 removed. Event 3.",
        "Claude renamed new.md to notes/old.md. Event 4.",
        "Claude viewed notes/old.md, 3 lines. Event 5.",
        "Claude deleted prefs.md, 2 lines removed. Event 6.",
        "Another program edited notes/today.md, 1 line added. Event 7.",
    ]
    with following("--screen-reader", "-n", "1") as follower:
        assert b"edited notes/today.md, 1 line added.\n" in follower.read_until(b"\n")
        with memtui.open(story) as memory:
            command = {"command": "create", "path": "/memories/a.md", "file_text": "x\n"}
            memory.execute(command, actor=Agent("Evil\x1b[2J\nYou"))
        line = follower.read_until(b"\n").decode()
    assert line.partition(" ")[2] == "Evil\\x1b[2J\\nYou created a.md, 1 line added.\n"
    assert run("log", "--screen-reader", "--json").out.startswith(b'{"schema"')
