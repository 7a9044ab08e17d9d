"""Removing a text for good: from history and file, with events, hashes and the reason left."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat.sessions.session import CHATS, Session
from memtui.cli import main
from memtui.opening import state_directory

SECRET = "hunter2-very-secret"
GIVEN = "password: [redacted]\nrest\n"


@pytest.fixture
def leaked(story: Path) -> Path:
    """A folder in which a secret stands in one note, and stood in another."""
    with memtui.open(story) as memory:
        agent = memtui.Agent("Claude")
        text = f"password: {SECRET}\nrest\n"
        for path in ("keys.md", "gone.md"):
            memory.execute({"command": "create", "path": f"/memories/{path}", "file_text": text}, actor=agent)
        memory.execute({"command": "delete", "path": "/memories/gone.md"}, actor=agent)
    return story


def everything(state_home: Path) -> bytes:
    """All that the state directory holds, as it lies on the disk, and all texts that the journal gives."""
    return b"".join(path.read_bytes() for path in state_home.rglob("*") if path.is_file())


def texts(folder: Path) -> bytes:
    with memtui.open(folder) as memory:
        found = [memory.history.text(change.after) or b"" for event in memory.events() for change in event.changes]
        found += [f"{event.answer} {event.arguments} {event.note}".encode() for event in memory.events()]
    return b"".join(found)


@pytest.mark.parametrize("way", ["argument", "stdin", "file"])
def test_a_secret_goes_from_everywhere(
    way: str, leaked: Path, state_home: Path, tmp_path: Path, run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SECRET.encode() in texts(leaked)
    (tmp_path / "secret").write_text(f"{SECRET}\r\n")
    words, stdin = {
        "argument": (["--match", SECRET], b""),
        "stdin": (["--match", "-"], f"{SECRET}\n".encode()),
        "file": (["--match-file", str(tmp_path / "secret")], b""),
    }[way]
    ran = run("redact", *words, "--reason", "leaked", "--yes", stdin=stdin)
    assert ran.code == 0
    assert ran.out.startswith(b"Removed for good: ")
    assert b"; in the folder 1 file changes. The events and their hashes stay.\n" in ran.out
    assert (b"shell's history" in ran.err) is (way == "argument")
    assert SECRET.encode() not in ran.out + ran.err
    assert (leaked / "keys.md").read_text() == "password: [redacted]\nrest\n"
    assert SECRET.encode() not in texts(leaked)
    assert SECRET.encode() not in everything(state_home)
    assert main(["log", "--json", "-n", "1"]) == 0
    event = json.loads(capsys.readouterr().out)
    assert (event["op"], event["actor"], event["note"].split(":")[0]) == ("redacted", "you", "leaked")


def test_what_an_event_wrote_goes(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "2", "--reason", "not ours", "--yes"]) == 0
    assert "Removed for good: " in capsys.readouterr().out
    assert main(["show", "new.md@2"]) == 3
    assert main(["show", "new.md@3"]) == 0
    assert (leaked / "keys.md").exists()


def test_all_that_a_path_ever_held_goes(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["redact", "notes/today.md", "-y"]) == 0
    assert "in the folder 1 file goes." in capsys.readouterr().out
    assert not (leaked / "notes" / "today.md").exists()
    assert main(["show", "notes/today.md@1"]) == 3


def test_a_file_that_is_called_like_a_number_is_written_as_a_path(
    leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (leaked / "2").write_text("x\n")
    assert main(["redact", "./2", "-n", "--json"]) == 0
    assert [change["path"] for change in json.loads(capsys.readouterr().out)["changes"]] == ["/memories/2"]


def test_a_dry_run_removes_nothing_also_read_only(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["-n"], ["-n", "--read-only"]):
        assert main(["redact", "--match", SECRET, *words, "-q"]) == 0
        assert main(["redact", "--match", SECRET, *words]) == 0
        out = capsys.readouterr().out
        assert out.startswith("What would go for good: ")
        assert main(["redact", "--match", SECRET, *words, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["done"], document["dry_run"], document["event"]) == (False, True, None)
        assert document["texts"] > 1
    assert SECRET in (leaked / "keys.md").read_text()
    assert SECRET.encode() in texts(leaked)


def test_as_json_what_was_done_is_told(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert main(["redact", "--match", SECRET, "--yes", "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["schema"], document["done"], document["problem"], document["left"]) == (1, True, None, [])
    assert [change["path"] for change in document["changes"]] == ["/memories/keys.md"]
    assert document["event"]["redacted"]
    assert SECRET not in out + err


def test_what_stays_is_told(leaked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (leaked / f"{SECRET}.md").write_text("x\n")
    assert main(["redact", "--match", SECRET, "--yes", "-q"]) == 1
    err = capsys.readouterr().err
    assert "Names and notes of events are part of the chain and stay: #11" in err
    assert "Rename it." in err


def test_a_person_is_asked(leaked: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("redact", "keys.md", typed=b"\n")
    assert ran.code == 1
    assert b"What goes for good: " in ran.out
    assert b"  - keys.md\n" in ran.out
    assert b"Remove this for good? It cannot be taken back.  y yes  n no: " in ran.out
    assert b"Nothing was removed." in ran.out
    assert (leaked / "keys.md").exists()
    assert run_in_terminal("redact", "keys.md", typed=b"y\n").code == 0
    assert not (leaked / "keys.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "name one of EVENT, PATH, --match or --match-file"),
        (["2", "--match", "x"], 2, "name one of EVENT, PATH, --match or --match-file"),
        (["2"], 2, "Nothing was removed: nobody can be asked here."),
        (["."], 2, "that is the whole folder"),
        (["--match", ""], 2, "Nothing was removed: the text to look for is empty."),
        (["--match", SECRET, "--reason", f"it was {SECRET}"], 2, "the reason holds the text itself"),
        (["--match-file", "nope"], 3, "nope cannot be read: no such file or directory. Nothing was removed."),
        (["--match", "nowhere at all"], 3, "Nothing was removed: it stands nowhere in the record's texts."),
        (["99"], 3, "There is no event #99."),
        (["zz.md"], 3, "Nothing was removed: nothing is known of zz.md."),
        (["2", "--read-only"], 4, "Nothing was removed: this is read-only."),
        (["../x"], 4, "outside the memory folder"),
    ],
)
def test_what_is_not_removed_is_told(
    *, words: list[str], code: int, said: str, leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = texts(leaked)
    assert main(["redact", *words]) == code
    out, err = capsys.readouterr()
    assert said in err
    assert SECRET not in out + err
    assert texts(leaked) == before


@pytest.fixture
def chatted(leaked: Path, state_home: Path) -> Session:
    """A session in which the secret was written to a note, told and thought about; it has ended."""
    directory = state_directory(str(leaked)) / CHATS
    session = Session.new(directory, folder=str(leaked))
    given = {"command": "create", "path": "/memories/keys.md", "file_text": f"password: {SECRET}\nrest\n"}
    with memtui.open(leaked) as memory:
        answer = memory.execute(given, actor=memtui.Agent("Claude"), call_id="toolu_1")
    session.write("turn_began", turn=1, text=f"Keep {SECRET}", attachments=[])
    session.write("message", turn=1, role="user", content=[{"type": "text", "text": f"Keep {SECRET}"}])
    content = [
        {"type": "thinking", "thinking": f"They want {SECRET}", "signature": "s"},
        {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": given},
    ]
    session.write("message", turn=1, role="assistant", content=content)
    session.write(
        "call", turn=1, call_id="toolu_1", name="memory", input=given, answer=answer.text, is_error=False,
        seq=answer.event.seq, edit_seq=None, note="", edit=None,
    )  # fmt: skip
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": answer.text}
    session.write("message", turn=1, role="user", content=[result])
    session.write("message", turn=1, role="assistant", content=[{"type": "text", "text": f"Kept: {SECRET}"}])
    session.write("turn_ended", turn=1, end="done", seconds=1.0, usage={}, remembered=[])
    session.close()
    assert SECRET.encode() in everything(state_home)
    return session


def test_a_match_goes_from_chat_sessions_as_well(
    chatted: Session, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = chatted.path.stat()
    assert main(["redact", "--match", SECRET, "--dry-run"]) == 0
    assert "; what was said of it in 1 chat session." in capsys.readouterr().out
    assert SECRET in chatted.path.read_text()
    assert main(["redact", "--match", SECRET, "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["done"], document["sessions"], document["left"]) == (True, [chatted.id], [])
    assert SECRET.encode() not in everything(state_home)
    after = chatted.path.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    resumed = Session.resume(chatted.path.parent, chatted.id)
    user, called, answered, said = resumed.restored().messages
    resumed.close()
    assert user["content"] == [{"type": "text", "text": "Keep [redacted]"}]
    (call,) = called["content"]  # the thinking is not what was signed any more, and is left out
    assert (call["name"], call["input"]["command"], call["input"]["file_text"]) == ("memory", "create", GIVEN)
    assert answered["content"][0]["tool_use_id"] == call["id"]
    assert said["content"] == [{"type": "text", "text": "Kept: [redacted]"}]


def test_what_a_path_held_goes_from_the_calls_of_chat_sessions(
    chatted: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["redact", "keys.md", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert "; what was said of it in 1 chat session. The events" in out
    assert "What you and the agent wrote of it there in other words stays. --match finds words anywhere.\n" in err
    records = {record["type"]: record for record in map(json.loads, chatted.path.read_text().splitlines())}
    assert records["call"]["input"] == {"command": "create", "path": "/memories/keys.md", "file_text": "[redacted]"}
    assert records["call"]["answer"] == "[redacted]"
    assert "password" not in chatted.path.read_text()


def test_a_match_that_stands_in_a_chat_only_goes_too(chatted: Session, capsys: pytest.CaptureFixture[str]) -> None:
    draft = chatted.path.with_name("draft-1.txt")
    draft.write_text("They want\nmore\n")
    assert main(["redact", "--match", "They want", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert out == "Removed for good: what was said of it in 2 chat sessions.\n"
    assert "Nothing was removed" not in err
    assert "They want" not in chatted.path.read_text() + draft.read_text()


def test_a_session_that_is_open_is_left_and_that_is_said(chatted: Session, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session.resume(chatted.path.parent, chatted.id)
    try:
        assert main(["redact", "--match", SECRET, "--yes"]) == 1
    finally:
        session.close()
    assert (
        f"The chat session {chatted.id} holds it and is open in another memtui. Close it there, and do it again.\n"
        in capsys.readouterr().err
    )
    assert main(["redact", "--match", SECRET, "--yes"]) == 0
    assert SECRET not in chatted.path.read_text()


def test_short_and_common_words_do_not_damage_a_session(chatted: Session) -> None:
    for word in ("e", "text", "memory", "toolu_1", '"', "\\"):
        main(["redact", "--match", word, "--yes", "--quiet"])
    resumed = Session.resume(chatted.path.parent, chatted.id)
    messages = resumed.restored().messages
    resumed.close()
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[1]["content"][0]["name"] == "memory"
