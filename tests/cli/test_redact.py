"""Removing a text for good: from history and file, with events, hashes and the reason left."""

import json
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.chat.sessions.store import CHATS, ChatSession
from memtui.cli import main
from memtui.editing.drafts import DIRECTORY, EditDraftStore
from memtui.fs.state import get_state_directory

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
    assert b"; in the folder 1 file changed. The events and their hashes stay.\n" in ran.out
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
    assert "in the folder 1 file deleted." in capsys.readouterr().out
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
        assert out.startswith("Would remove for good: ")
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
    assert "Names and notes of events are part of the chain and stay: see #11" in err
    assert "Rename the file." in err


def test_a_person_is_asked(leaked: Path, run_in_terminal: Any) -> None:
    ran = run_in_terminal("redact", "keys.md", typed=b"\n")
    assert ran.code == 1
    assert b"Would remove for good: " in ran.out
    assert b"  - keys.md\n" in ran.out
    assert b"Remove this for good? It cannot be undone.  y yes  n no: " in ran.out
    assert b"Nothing was removed." in ran.out
    assert (leaked / "keys.md").exists()
    assert run_in_terminal("redact", "keys.md", typed=b"y\n").code == 0
    assert not (leaked / "keys.md").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "give one of EVENT, PATH, --match or --match-file"),
        (["2", "--match", "x"], 2, "give one of EVENT, PATH, --match or --match-file"),
        (["2"], 2, "Nothing was removed: no terminal to confirm in. Use --yes"),
        (["."], 2, "that is the whole folder"),
        (["--match", ""], 2, "Nothing was removed: the text to look for is empty."),
        (["--match", SECRET, "--reason", f"it was {SECRET}"], 2, "the reason contains the text itself"),
        (["--match-file", "nope"], 3, "nope cannot be read: no such file or directory. Nothing was removed."),
        (["--match", "nowhere at all"], 3, "Nothing was removed: it is not in the history."),
        (["99"], 3, "There is no event #99."),
        (["zz.md"], 3, "Nothing was removed: there is no history of zz.md."),
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
def chatted(leaked: Path, state_home: Path) -> ChatSession:
    """A session in which the secret was written to a note, told and thought about; it has ended."""
    directory = get_state_directory(str(leaked)) / CHATS
    session = ChatSession.create(directory, folder=str(leaked))
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
    chatted: ChatSession, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = chatted.path.stat()
    assert main(["redact", "--match", SECRET, "--dry-run"]) == 0
    assert "; its mentions in 1 chat session." in capsys.readouterr().out
    assert SECRET in chatted.path.read_text()
    assert main(["redact", "--match", SECRET, "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["done"], document["sessions"], document["left"]) == (True, [chatted.id], [])
    assert SECRET.encode() not in everything(state_home)
    after = chatted.path.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    resumed = ChatSession.resume(chatted.path.parent, chatted.id)
    user, called, answered, said = resumed.restore().messages
    resumed.close()
    assert user["content"] == [{"type": "text", "text": "Keep [redacted]"}]
    (call,) = called["content"]  # the thinking is not what was signed any more, and is left out
    assert (call["name"], call["input"]["command"], call["input"]["file_text"]) == ("memory", "create", GIVEN)
    assert answered["content"][0]["tool_use_id"] == call["id"]
    assert said["content"] == [{"type": "text", "text": "Kept: [redacted]"}]


def test_what_a_path_held_goes_from_the_calls_of_chat_sessions(
    chatted: ChatSession, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["redact", "keys.md", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert "; its mentions in 1 chat session. The events" in out
    assert "Other mentions of it in these chats stay. --match finds text anywhere.\n" in err
    records = {record["type"]: record for record in map(json.loads, chatted.path.read_text().splitlines())}
    assert records["call"]["input"] == {"command": "create", "path": "/memories/keys.md", "file_text": "[redacted]"}
    assert records["call"]["answer"] == "[redacted]"
    assert "password" not in chatted.path.read_text()


def test_a_match_that_stands_in_a_chat_only_goes_too(chatted: ChatSession, capsys: pytest.CaptureFixture[str]) -> None:
    draft = chatted.path.with_name("draft-1.txt")
    draft.write_text("They want\nmore\n")
    assert main(["redact", "--match", "They want", "--yes"]) == 0
    out, err = capsys.readouterr()
    assert out == "Removed for good: its mentions in 2 chat sessions.\n"
    assert "Nothing was removed" not in err
    assert "They want" not in chatted.path.read_text() + draft.read_text()


def test_a_session_that_is_open_is_left_and_that_is_said(
    chatted: ChatSession, capsys: pytest.CaptureFixture[str]
) -> None:
    session = ChatSession.resume(chatted.path.parent, chatted.id)
    try:
        assert main(["redact", "--match", SECRET, "--yes"]) == 1
    finally:
        session.close()
    assert (
        f"The chat session {chatted.id} holds it and is open in another memtui. Close it there, and try again.\n"
        in capsys.readouterr().err
    )
    assert main(["redact", "--match", SECRET, "--yes"]) == 0
    assert SECRET not in chatted.path.read_text()


def test_short_and_common_words_do_not_damage_a_session(chatted: ChatSession) -> None:
    for word in ("e", "text", "memory", "toolu_1", '"', "\\"):
        main(["redact", "--match", word, "--yes", "--quiet"])
    resumed = ChatSession.resume(chatted.path.parent, chatted.id)
    messages = resumed.restore().messages
    resumed.close()
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[1]["content"][0]["name"] == "memory"


@pytest.fixture
def drafts(leaked: Path) -> EditDraftStore:
    """What was typed of notes by a memtui that has ended, and what was set aside: the secret is in all of it."""
    found = EditDraftStore(get_state_directory(str(leaked)) / DIRECTORY)
    found.save("keys.md", f"password: {SECRET}\nmine\n", None, cursor=(1, 2))
    found.set_aside("notes/new.md", f"one\ntwo {SECRET}\n", None)
    found.save("other.md", "nothing of it\n", None)
    found.close()
    return found


def lying(folder: Path) -> dict[str, str]:
    return {
        draft.path: draft.text for draft in EditDraftStore(get_state_directory(str(folder)) / DIRECTORY).list_latest()
    }


def test_a_match_goes_from_drafts_and_the_rest_of_them_stays(
    drafts: EditDraftStore, leaked: Path, state_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = get_state_directory(str(leaked)) / DIRECTORY / ".0123-4-5.draft.89abcdef"
    half.write_text(f"typed: {SECRET}")
    before = drafts.find("keys.md")[0]
    assert main(["redact", "--match", SECRET, "--dry-run"]) == 0
    assert "; its text in 2 drafts." in capsys.readouterr().out
    assert SECRET in lying(leaked)["keys.md"]
    assert main(["redact", "--match", SECRET, "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["done"], sorted(document["drafts"]), document["left"]) == (True, ["keys.md", "notes/new.md"], [])
    assert lying(leaked) == {
        "keys.md": "password: [redacted]\nmine\n",
        "notes/new.md": "one\ntwo [redacted]\n",
        "other.md": "nothing of it\n",
    }
    (after,) = drafts.find("keys.md")
    assert (after.at_us, after.reason, after.cursor, after.base) == (
        before.at_us,
        before.reason,
        before.cursor,
        before.base,
    )
    assert after.file.stat().st_mode & 0o777 == 0o600
    assert not half.exists()
    assert SECRET.encode() not in everything(state_home)


def test_lines_of_a_match_end_in_drafts_as_they_do_in_an_editor(drafts: EditDraftStore, leaked: Path) -> None:
    assert drafts.find("keys.md")
    assert main(["redact", "--match", f"password: {SECRET}\r\nmine", "--yes"]) == 0
    assert lying(leaked)["keys.md"] == "[redacted]\n"


def test_all_drafts_of_a_path_go_with_what_it_held_also_of_one_that_was_never_saved(
    drafts: EditDraftStore, leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drafts.find("keys.md")
    assert main(["redact", "keys.md", "--yes"]) == 0
    assert "; its text in 1 draft." in capsys.readouterr().out
    assert main(["redact", "other.md", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed for good: its text in 1 draft.\n"
    assert set(lying(leaked)) == {"notes/new.md"}


def test_drafts_that_were_made_from_what_an_event_wrote_go_with_it(drafts: EditDraftStore, leaked: Path) -> None:
    with memtui.open(leaked) as memory:
        event = next(event for event in memory.events() if event.path == "/memories/keys.md")
        base = event.changes[0].after
    assert base is not None
    another = EditDraftStore(get_state_directory(str(leaked)) / DIRECTORY)
    another.set_aside("keys.md", "made from it\n", base.sha256)
    another.set_aside("notes/new.md", "of another note\n", base.sha256)
    assert main(["redact", str(event.seq), "--yes"]) == 0
    texts = {draft.text for draft in drafts.list_latest()}
    assert "made from it\n" not in texts
    assert {"of another note\n", f"password: {SECRET}\nmine\n"} <= texts


def test_a_draft_that_is_being_typed_is_left_and_that_is_said(
    drafts: EditDraftStore, leaked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts.save("live.md", f"now {SECRET}\n", None)
    try:
        assert main(["redact", "--match", SECRET, "--yes"]) == 1
    finally:
        drafts.close()
    said = "A draft of live.md holds it and is open in another memtui. Save or discard it there, and try again."
    assert said in capsys.readouterr().err
    assert lying(leaked)["live.md"] == f"now {SECRET}\n"
    assert main(["redact", "--match", SECRET, "--yes"]) == 0
    assert lying(leaked)["live.md"] == "now [redacted]\n"
