"""Sessions of chats: no message is lost, however they end."""

import contextlib
import errno
import io
import json
import os
import resource
import stat
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memtui
from memtui.agents.chat import events
from memtui.agents.chat.events import ChatOptions
from memtui.agents.chat.sessions.export import rebuild_events
from memtui.agents.chat.sessions.records import NOT_RUN, iter_lines, repair_messages, restore_session
from memtui.agents.chat.sessions.replay import ReplayOutcome, replay_session
from memtui.agents.chat.sessions.store import ChatSession, SessionNotFound, find_session, list_sessions, read_records
from memtui.core.approvals import ApprovalPolicy
from memtui.core.errors import LockTimeout, StateUnusable


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """Where sessions are kept; not made yet."""
    return tmp_path / "state" / "chats"


def begun(chats: Path, **options: Any) -> ChatSession:
    return ChatSession.create(chats, folder="/home/me/memories", model="a-model", options=ChatOptions(**options), seq=4)


def say(session: ChatSession, turn: int, text: str) -> None:
    session.write("turn_began", turn=turn, text=text, attachments=[])
    session.write("message", turn=turn, role="user", content=[{"type": "text", "text": text}])


def answer(session: ChatSession, turn: int, *blocks: dict[str, Any] | str) -> None:
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    session.write("message", turn=turn, role="assistant", content=content)


def call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "memory", "input": {"command": "view", "path": "/memories"}}


def texts(messages: Any) -> list[tuple[str, str]]:
    """Roles with the texts of their blocks."""
    return [
        (message["role"], "|".join(block.get("text") or str(block.get("content")) for block in message["content"]))
        for message in messages
    ]


def heard(session: ChatSession) -> list[str]:
    found: list[str] = []
    session.listen(found.append)
    return found


# The file


def test_a_session_in_which_nothing_was_said_leaves_nothing_behind(chats: Path) -> None:
    session = begun(chats)
    session.write("setting", model="another")
    session.close()
    assert not chats.exists()
    assert list_sessions(chats) == []


def test_what_was_said_is_on_the_disk_at_once_for_its_owner_only(chats: Path) -> None:
    old = os.umask(0)
    try:
        session = begun(chats, effort="high")
        say(session, 1, "hello")
    finally:
        os.umask(old)
    records = [json.loads(line) for line in session.path.read_bytes().splitlines()]
    assert [record["type"] for record in records] == ["session", "setting", "turn_began", "message"]
    assert records[0] | {"at": ""} == {
        "type": "session",
        "at": "",
        "schema": 1,
        "id": session.id,
        "folder": "/home/me/memories",
        "model": "a-model",
        "provider": "anthropic",
        "seq": 4,
    }
    assert records[1]["effort"] == "high"
    assert all(record["at"].endswith("Z") for record in records)
    assert stat.S_IMODE(session.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(chats.stat().st_mode) == stat.S_IMODE(chats.parent.stat().st_mode) == 0o700


def test_the_file_drives_no_terminal_and_keeps_every_character(chats: Path) -> None:
    session = begun(chats)
    text = "\x1b]0;t\x07 \u202e \udc80 \U0001f600 é"
    say(session, 1, text)
    data = session.path.read_bytes()
    assert all(byte == 10 or 32 <= byte < 127 for byte in data)
    assert restore_session(session.iter_records()).unanswered == events.Prompt(text)


def test_values_of_the_conversation_are_taken_as_they_are(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "x")
    remembered = (events.MemoryChange("a.md", "created", added=1),)
    session.write(
        "turn_ended", turn=1, end=events.TurnOutcome.DONE, usage=events.Usage(input_tokens=3), remembered=remembered
    )
    session.write("setting", policy=ApprovalPolicy.ALLOW, always=frozenset({"b", "a"}))
    ended, setting = list(session.iter_records())[-2:]
    assert (ended["end"], ended["usage"]["input_tokens"], ended["remembered"][0]["path"]) == ("done", 3, "a.md")
    assert (setting["policy"], setting["always"]) == ("allow", ["a", "b"])


def test_what_has_no_form_in_json_is_a_bug_that_leaves_no_half_line(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "x")
    before = session.path.read_bytes()
    with pytest.raises(TypeError, match="object has no form in JSON"):
        session.write("message", turn=1, role="user", content=object())
    assert session.path.read_bytes() == before


def test_a_session_that_is_not_to_be_kept_can_be_told_and_is_nowhere(chats: Path) -> None:
    session = ChatSession.create(chats, folder="/f", kept=False)
    say(session, 1, "hello")
    assert [record["type"] for record in session.iter_records()][-1] == "message"
    session.close()
    assert not chats.exists()


# Resuming


def test_a_session_goes_on_where_it_ended(chats: Path) -> None:
    session = begun(chats, policy=ApprovalPolicy.READ_ONLY)
    say(session, 1, "hello")
    answer(session, 1, "hi")
    session.write("turn_ended", turn=1, end="done", usage={"input_tokens": 5, "context": 9, "cost": 0.5})
    session.write("setting", model="b-model", policy="allow", always=["notes"], effort="low", thinking=False)
    session.close()
    again = ChatSession.resume(chats)
    assert again.id == session.id
    assert heard(again) == []
    found = again.restore()
    assert texts(found.messages) == [("user", "hello"), ("assistant", "hi")]
    assert (found.turn, found.model, found.policy, found.always) == (1, "b-model", ApprovalPolicy.ALLOW, {"notes"})
    assert (found.effort, found.thinking, found.folder, found.seq) == ("low", False, "/home/me/memories", 4)
    assert found.usage == events.Usage(context=9, input_tokens=5, cost=0.5)
    assert found.last == events.Prompt("hello")
    say(again, 2, "more")
    assert [record["type"] for record in again.iter_records()].count("turn_began") == 2


def test_it_can_be_closed_while_it_is_read(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "hello")
    reading = session.iter_records()
    next(reading)
    session.close()
    assert [record["type"] for record in reading] == ["setting", "turn_began", "message"]
    ChatSession.resume(chats, session.id).close()
    assert list(session.iter_records()) == []


def test_it_is_found_by_its_id_the_beginning_of_it_and_as_the_last(chats: Path) -> None:
    chats.mkdir(parents=True)
    for number, name in enumerate(("20261121-100000-aaaa", "20261121-100000-aabb", "20261122-100000-cccc")):
        path = chats / f"{name}.jsonl"
        path.write_text('{"type":"session","schema":1}\n')
        os.utime(path, (1_000 - number, 1_000 - number))
    (chats / ".20261123-100000-dddd.jsonl.part").touch()
    (chats / "notes.txt").touch()

    def named(name: str) -> str:
        return find_session(chats, name).stem

    assert named("last") == "20261121-100000-aaaa"
    assert named("20261122") == named("20261122-100000-cccc") == "20261122-100000-cccc"
    assert named("20261121-100000-aab") == "20261121-100000-aabb"
    assert find_session(Path(), str(chats / "20261122-100000-cccc.jsonl")).stem == "20261122-100000-cccc"
    with pytest.raises(SessionNotFound, match=r"2 sessions begin with '20261121', such as .*aaaa and .*aabb\."):
        named("20261121")
    with pytest.raises(SessionNotFound, match="No session is named 'nope'"):
        named("nope")
    with pytest.raises(SessionNotFound, match="No session is named ''"):
        named("")
    with pytest.raises(SessionNotFound, match="No saved sessions for this folder"):
        find_session(chats / "none", "last")


def test_a_line_that_was_cut_off_is_removed_and_that_is_said(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "hello")
    session.close()
    whole = session.path.read_bytes()
    for rest in (b'{"type":"message","ro', b"\0" * 500, b'{"type":"mess' + b"x" * 3_000_000):
        session.path.write_bytes(whole + rest)
        again = ChatSession.resume(chats)
        assert [sentence[:40] for sentence in heard(again)] == ["The last line of this session was incomp"]
        again.close()
        assert session.path.read_bytes() == whole


def test_a_whole_line_without_its_end_is_kept(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "hello")
    session.close()
    whole = session.path.read_bytes()
    session.path.write_bytes(whole[:-1])
    again = ChatSession.resume(chats)
    assert heard(again) == []
    say(again, 2, "more")
    assert session.path.read_bytes().startswith(whole)
    assert sum(1 for _ in again.iter_records()) == 6


def test_a_damaged_line_is_left_out_and_that_is_said_once(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, "yes")
    say(session, 2, "two")
    session.close()
    lines = session.path.read_bytes().splitlines(keepends=True)
    lines[4] = b"\xff\xfe{damaged\n"
    lines.insert(6, b'["no", "object"]\n')
    session.path.write_bytes(b"".join(lines))
    again = ChatSession.resume(chats)
    said = heard(again)
    found = again.restore()
    assert texts(found.messages) == [("user", "one|two")] or found.unanswered == events.Prompt("two")
    list(again.iter_records())
    assert said == ["Line 5 of this session is damaged and was skipped. The rest was read."]
    assert b"damaged" in session.path.read_bytes()


def test_an_unknown_kind_is_kept_and_a_newer_form_is_refused(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    session.write("weather", sun=True)
    session.close()
    fork = ChatSession.fork(chats, session.id)
    assert any(record["type"] == "weather" and record["sun"] for record in fork.iter_records())
    assert list(rebuild_events(fork.iter_records()))
    fork.close()
    text = session.path.read_text()
    session.path.write_text(text.replace('"schema":1', '"schema":2', 1))
    for go_on in (ChatSession.resume, ChatSession.fork):
        with pytest.raises(StateUnusable, match=r"written by a newer memtui \(schema 2; this one reads 1\)"):
            go_on(chats, session.id)
    assert len(list_sessions(chats)) == 2
    assert [path.name for path in chats.iterdir() if path.name.startswith(".")] == []


def test_what_is_no_session_is_refused_and_left_alone(chats: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("something else\n")
    with pytest.raises(StateUnusable, match="is not a session of memtui"):
        ChatSession.resume(chats, str(other))
    assert other.read_text() == "something else\n"


def test_two_cannot_go_on_with_one_session_but_a_copy_can_be_made(chats: Path, run_python: Callable[..., Any]) -> None:
    session = begun(chats)
    say(session, 1, "one")
    program = (
        "import sys, pathlib\n"
        "from memtui.agents.chat.sessions.store import ChatSession\n"
        "try:\n    ChatSession.resume(pathlib.Path(sys.argv[1]))\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
        "print(ChatSession.fork(pathlib.Path(sys.argv[1])).restore().unanswered.text)"
    )
    done = run_python(program, chats)
    assert done.stderr == ""
    refused, copied = done.stdout.splitlines()
    assert refused == (
        f"LockTimeout Session {session.id} is open in another memtui. Nothing was changed. Close it there, or continue "
        f"in a copy: memtui chat --fork {session.id}"
    )
    assert copied == "one"
    with pytest.raises(LockTimeout):
        ChatSession.resume(chats, session.id)
    session.close()
    ChatSession.resume(chats, session.id).close()


def test_a_fork_goes_on_alone_and_says_from_where(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, "yes")
    fork = ChatSession.fork(chats, session.id)
    say(fork, 2, "in the copy")
    say(session, 2, "in the first")
    header = next(iter(fork.iter_records()))
    assert (header["forked_from"], header["id"], header["seq"]) == (session.id, fork.id, 4)
    assert fork.restore().unanswered == events.Prompt("in the copy")
    assert session.restore().unanswered == events.Prompt("in the first")
    assert stat.S_IMODE(fork.path.stat().st_mode) == 0o600
    assert {each.id: each.forked_from for each in list_sessions(chats)} == {session.id: None, fork.id: session.id}


def test_sessions_are_listed_with_what_tells_them_apart(chats: Path) -> None:
    first = begun(chats)
    say(first, 1, "  Remember\n\x1b[31m that\t" + "x" * 100)
    say(first, 2, "again")
    first.write("rewound", turn=2, why="retry")
    second = begun(chats)
    say(second, 1, "later")
    second.write("setting", model="b-model")
    os.utime(first.path, (1, 1))
    listed = list_sessions(chats)
    assert [each.id for each in listed] == [second.id, first.id]
    assert (listed[0].title, listed[0].model, listed[0].turns) == ("later", "b-model", 1)
    assert (listed[1].title[:22], listed[1].model, listed[1].turns) == ("Remember \\x1b[31m that", "a-model", 1)
    assert len(listed[1].title) == 60
    assert listed[1].at.endswith("Z")


# Faults


def test_a_full_disk_is_said_once_and_what_was_said_meanwhile_is_saved_later(
    chats: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begun(chats)
    said = heard(session)
    say(session, 1, "before")
    real = os.write
    room = [30]

    def full(fd: int, data: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "no room")
        written = real(fd, data[: room[0]])
        room[0] -= written
        return written

    monkeypatch.setattr(os, "write", full)
    before = session.path.read_bytes()
    answer(session, 1, "while it is full")
    say(session, 2, "still full")
    assert session.path.read_bytes() == before
    assert [sentence.partition(": ")[2] for sentence in said] == [
        "no space left on device. The conversation continues and is saved as soon as possible."
    ]
    assert len(list(session.iter_records())) == 7
    monkeypatch.setattr(os, "write", real)
    session.close()
    assert said[1:] == ["The session is saved again. Nothing is missing."]
    again = ChatSession.resume(chats)
    assert texts(again.restore().messages) == [("user", "before"), ("assistant", "while it is full")]
    assert again.restore().unanswered == events.Prompt("still full")


def test_a_directory_that_cannot_be_made_is_said_and_nothing_is_raised(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    session = begun(tmp_path / "state" / "chats")
    said = heard(session)
    say(session, 1, "hello")
    answer(session, 1, "hi")
    assert len(said) == 1
    assert "The session cannot be saved in" in said[0]
    assert texts(session.restore().messages) == [("user", "hello"), ("assistant", "hi")]
    session.close()


def test_a_large_session_is_read_in_a_stream(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "hello")
    line = json.dumps({"type": "call", "turn": 1, "call_id": "c", "answer": "x" * 100_000}).encode() + b"\n"
    with session.path.open("ab") as file:
        for _ in range(1_000):
            file.write(line)
    assert session.path.stat().st_size > 100_000_000
    tracemalloc.start()
    try:
        count = sum(1 for _ in session.iter_records())
        (listed,) = list_sessions(chats)
        found = list(rebuild_events(iter([])))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (count, listed.turns, found) == (1_004, 1, [])
    assert peak < 20_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0


@pytest.mark.parametrize("end", [b'"}\n', b""], ids=["ended", "cut off"])
def test_a_line_that_is_too_long_for_a_record_is_never_in_memory(chats: Path, end: bytes) -> None:
    session = begun(chats)
    say(session, 1, "one")
    session.close()
    with session.path.open("ab") as file:
        file.write(b'{"type":"call","turn":1,"answer":"')
        for _ in range(20):
            file.write(b"x" * 10_000_000)
        file.write(end)
    with contextlib.closing(ChatSession.resume(chats, kept=False)) as again:
        said = heard(again)
        tracemalloc.start()
        try:
            kinds = [record["type"] for record in again.iter_records()]
            from_file = [record["type"] for record in read_records(session.path)]
            (listed,) = list_sessions(chats)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kinds == from_file == ["session", "setting", "turn_began", "message"]
    assert (listed.turns, listed.title) == (1, "one")
    assert peak < 150_000_000
    assert said == ["Line 5 of this session is damaged and was skipped. The rest was read."][: bool(end)]


@settings(deadline=None)
@given(st.binary(max_size=60).map(lambda data: data.replace(b"a", b"\n")), st.integers(1, 9))
def test_lines_are_those_of_the_file_however_it_is_read(data: bytes, size: int) -> None:
    file = io.BytesIO(data)
    assert list(iter_lines(lambda most: file.read(min(size, most)))) == io.BytesIO(data).readlines()


# What is restored


def test_a_question_that_got_no_answer_is_given_back_and_not_sent_twice(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, "yes")
    session.write(
        "turn_began", turn=2, text="two", attachments=[{"name": "a.png", "media_type": "image/png", "size": 3}]
    )
    source = {"type": "base64", "media_type": "image/png", "data": "AQID"}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "two"}]
    session.write("message", turn=2, role="user", content=content)
    found = session.restore()
    assert texts(found.messages) == [("user", "one"), ("assistant", "yes")]
    assert found.unanswered == events.Prompt("two", (events.Attachment("a.png", "image/png", b"\x01\x02\x03"),))
    assert (found.last, found.turn) == (events.Prompt("one"), 2)


def test_what_got_no_answer_before_is_not_in_the_history_either(chats: Path) -> None:
    session = begun(chats)
    session.write("undone", turn=0, seq=1, note="Undone.")
    say(session, 1, "killed")
    say(session, 2, "failed")
    session.write("turn_ended", turn=2, end="fault", usage={})
    say(session, 3, "stopped")
    session.write("turn_ended", turn=3, end="stopped", usage={})
    assert session.restore().notes == ()
    say(session, 4, "said")
    answer(session, 4, "yes")
    found = session.restore()
    assert texts(found.messages) == [("user", "stopped|said"), ("assistant", "yes")]
    assert (found.unanswered, found.last, found.notes) == (None, events.Prompt("said"), ())


def test_a_call_without_an_answer_in_the_history_is_answered_as_recorded_or_as_unknown(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, "let me see", call("a"), call("b"))
    session.write("call", turn=1, call_id="a", name="memory", input={}, answer="listed", is_error=False, seq=7)
    found = session.restore()
    assert found.messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "a", "content": "listed"},
        {"type": "tool_result", "tool_use_id": "b", "content": NOT_RUN, "is_error": True},
    ]
    assert found.seqs == {1: (7,)}
    assert found.unanswered is None


@pytest.mark.parametrize(("why", "left"), [("retry", 1), ("edit", 1), ("clear", 0)])
def test_what_was_rewound_is_out_of_the_history_and_its_number_is_not_used_again(
    chats: Path, why: str, left: int
) -> None:
    session = begun(chats)
    for turn in (1, 2):
        say(session, turn, f"said {turn}")
        answer(session, turn, f"answer {turn}")
        session.write("turn_ended", turn=turn, end="done", usage={"context": 8, "output_tokens": 2})
    session.write("rewound", turn=left + 1, why=why)
    found = session.restore()
    assert texts(found.messages) == [("user", "said 1"), ("assistant", "answer 1")][: 2 * left]
    assert (found.turn, found.usage.output_tokens, found.usage.context) == (2, 4, 8 * left)
    assert (found.last, found.unanswered) == (events.Prompt("said 1") if left else None, None)


def test_what_the_model_was_not_told_yet_is_a_note_until_it_is_told(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, "yes")
    session.write("undone", turn=1, seq=9, note="The user took back a.md.")
    assert session.restore().notes == ("The user took back a.md.",)
    assert session.restore().undone == {1}
    say(session, 2, "two")
    assert session.restore().notes == ("The user took back a.md.",)  # nothing came back: it is sent again
    answer(session, 2, "I see")
    assert session.restore().notes == ()
    session.write("rewound", turn=2, why="retry")
    assert session.restore().notes == ("The user took back a.md.",)
    session.write("rewound", turn=1, why="clear")
    assert session.restore().notes == ()


def test_what_a_repair_added_is_part_of_the_history(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, call("a"))
    result = {"type": "tool_result", "tool_use_id": "a", "content": "Error: not run", "is_error": True}
    session.write("repaired", turn=1, message={"role": "user", "content": [result]})
    assert session.restore().messages[-1] == {"role": "user", "content": [result]}


# A history as the API takes it

_TEXT = st.sampled_from(["", " ", "a", "b"]).map(lambda text: {"type": "text", "text": text})
_IDS = st.sampled_from(["i", "j", "k"])
_BLOCK = st.one_of(
    _TEXT,
    _IDS.map(call),
    _IDS.map(lambda id: {"type": "tool_result", "tool_use_id": id, "content": "r"}),
    st.sampled_from(["", "s"]).map(lambda sign: {"type": "thinking", "thinking": "t", "signature": sign}),
    st.just({"type": "tool_use", "id": "l", "name": "memory", "input": "cut off"}),
    st.just({}),
)
_CONTENT = st.one_of(st.lists(_BLOCK, max_size=5), st.sampled_from(["", "plain", None, 7]))
_RECORD = st.one_of(
    st.builds(
        lambda turn, role, content: {"type": "message", "turn": turn, "role": role, "content": content},
        st.integers(1, 4),
        st.sampled_from(["user", "assistant", "system", None]),
        _CONTENT,
    ),
    st.builds(lambda turn: {"type": "turn_began", "turn": turn, "text": "x"}, st.integers(1, 4)),
    st.builds(lambda turn: {"type": "rewound", "turn": turn, "why": "retry"}, st.integers(1, 4)),
    st.builds(
        lambda id, text: {"type": "call", "turn": 1, "call_id": id, "answer": text, "is_error": False},
        _IDS,
        st.sampled_from(["", "done"]),
    ),
    st.builds(
        lambda content: {"type": "repaired", "turn": 1, "message": {"role": "user", "content": content}}, _CONTENT
    ),
    st.sampled_from([{"type": "message"}, {"type": "repaired"}, {"type": "turn_ended", "usage": 5}, {"type": "?"}]),
)


def faults_of(messages: Any) -> Iterator[str]:
    """What the API would refuse in a history."""
    seen: set[str] = set()
    for number, message in enumerate(messages):
        kinds = [block["type"] for block in message["content"]]
        if message["role"] != ("user", "assistant")[number % 2]:
            yield "the roles do not alternate"
        if not kinds:
            yield "a message is empty"
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        if kinds[: len(results)] != ["tool_result"] * len(results):
            yield "answers do not come first"
        before = messages[number - 1]["content"] if number else []
        calls = [block["id"] for block in before if block["type"] == "tool_use"]
        if results != calls:
            yield "calls and answers differ"
        if message["role"] == "assistant" and results:
            yield "the model answers itself"
        for block in message["content"]:
            if block["type"] == "tool_use" and (block["id"] in seen or seen.add(block["id"])):
                yield "an id is used twice"
            if block["type"] == "text" and not block["text"].strip():
                yield "a text is empty"
            if block["type"] == "thinking" and not block["signature"]:
                yield "thinking is not signed"
    if messages and any(block["type"] == "tool_use" for block in messages[-1]["content"]):
        yield "the last calls have no answer"


@given(st.lists(_RECORD, max_size=12))
def test_whatever_a_session_holds_its_history_is_one_that_the_api_takes(records: list[dict[str, Any]]) -> None:
    assert list(faults_of(restore_session(records).messages)) == []
    for event in rebuild_events(records):
        assert isinstance(event, events.ChatEvent)


def test_a_history_that_is_right_is_left_as_it_is() -> None:
    history = [
        {"role": "user", "content": [{"type": "text", "text": "one"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "x"},
                call("a"),
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "r", "cache_control": {"type": "ephemeral"}}
            ],
        },
        {"role": "assistant", "content": [{"type": "compaction", "content": "so far"}, {"type": "text", "text": "y"}]},
    ]
    assert repair_messages(history) == history


def test_an_id_that_was_used_before_is_not_used_again() -> None:
    results = [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]
    said = [{"type": "text", "text": "one"}]
    history = [
        {"role": "user", "content": said},
        {"role": "assistant", "content": [call("a")]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [*said, call("a"), call("b"), call("b")]},
        {"role": "user", "content": results},
    ]
    found = repair_messages(history)
    assert list(faults_of(found)) == []
    assert found[3]["content"] == [*said, call("b")]


# Told again


def test_a_session_is_told_again_as_it_was(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    answer(session, 1, thinking, "let me see", call("a"), call("b"))
    session.write(
        "call", turn=1, call_id="a", name="memory", input={"command": "view"}, answer="listed", is_error=False
    )
    session.write("call", turn=1, call_id="b", name="memory", input={}, answer="Error: no", is_error=True)
    answer(session, 1, "there it is")
    session.write("fault", kind="overloaded", sentence="Too much.")
    session.write("cleared", calls=2, tokens=300)
    session.write("compacted", summary="so far")
    remembered = [{"path": "a.md", "how": "created", "added": 2, "removed": 0, "edited": True}]
    session.write("turn_ended", turn=1, end="done", seconds=1.5, usage={"output_tokens": 7}, remembered=remembered)
    session.write("undone", turn=1, seq=3, sentence="Took back a.md.")
    say(session, 2, "two")
    session.write("rewound", turn=2, why="edit")
    told = list(rebuild_events(session.iter_records()))[1:]
    usage = events.Usage(output_tokens=7)
    assert told[:14] == [
        events.TurnStarted(1, events.Prompt("one")),
        events.ThinkingDelta(1, "hm"),
        events.TextDelta(1, 0, "let me see"),
        events.CallStarted(1, "a", "memory", call("a")["input"]),
        events.CallStarted(1, "b", "memory", call("b")["input"]),
        events.CallEnded(1, "a", "memory", {"command": "view"}, "listed", is_error=False),
        events.CallEnded(1, "b", "memory", {}, "Error: no", is_error=True),
        events.TextDelta(1, 1, "there it is"),
        events.ChatFault(events.FaultKind.OVERLOADED, "Too much."),
        events.ContextCleared(2, 300),
        events.ContextCompacted("so far"),
        events.TurnEnded(
            1,
            events.TurnOutcome.DONE,
            1.5,
            2,
            1,
            (events.MemoryChange("a.md", "created", added=2, removed=0, edited=True),),
            usage,
        ),
        events.UsageChanged(usage, usage),
        events.Notice("Took back a.md."),
    ]
    assert told[-1] == events.ConversationRewound(2, events.Prompt("two"))


def test_the_events_of_the_journal_come_along_where_they_can_be_had(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    fields = {"command": "create", "path": "/memories/a.md", "file_text": "x"}
    with memtui.open_in_memory() as memory:
        mine = memory.execute(fields, actor=memtui.Person()).event
        theirs = memory.execute({**fields, "path": "/memories/b.md"}, actor=memtui.Agent("Claude")).event
        undone = memory.undo([mine.seq]).event
        assert undone is not None
        numbers = {"seq": theirs.seq, "edit_seq": mine.seq}
        session.write("call", turn=1, call_id="a", name="memory", input=fields, answer="x", is_error=False, **numbers)
        session.write("undone", turn=1, seq=undone.seq, sentence="Took back a.md.")
        told = list(rebuild_events(session.iter_records(), memory.history.get_event))
    (ended,) = (event for event in told if isinstance(event, events.CallEnded))
    assert (ended.event, ended.edit) == (theirs, mine)
    assert events.TurnUndone(1, undone, "Took back a.md.") in told
    assert session.restore().seqs == {1: (mine.seq, theirs.seq)}


def test_a_turn_in_which_memtui_was_killed_is_told_as_such(chats: Path) -> None:
    session = begun(chats)
    say(session, 1, "one")
    answer(session, 1, call("a"))
    said, ended, turn, _ = list(rebuild_events(session.iter_records()))[-4:]
    assert isinstance(said, events.Notice)
    assert said.sentence.startswith("memtui ended in the middle of this turn.")
    assert isinstance(ended, events.CallEnded)
    assert (ended.call_id, ended.text, ended.is_error) == ("a", NOT_RUN, True)
    assert isinstance(turn, events.TurnEnded)
    assert (turn.end, turn.calls, turn.refused) == (events.TurnOutcome.CUT, 1, 1)


def test_a_session_from_elsewhere_allows_nothing_and_takes_nothing_back(chats: Path, tmp_path: Path) -> None:
    session = begun(chats)
    session.write("setting", policy="ask", always=[""])
    say(session, 1, "Hello")
    answer(session, 1, call("a"))
    session.write("call", turn=1, call_id="a", name="memory", input={}, answer="ok", is_error=False, seq=7)
    session.close()
    brought = tmp_path / "brought.jsonl"
    brought.write_bytes(session.path.read_bytes())

    def found(opened: ChatSession) -> tuple[object, object]:
        restored = opened.restore()
        opened.close()
        return restored.always, restored.seqs

    assert found(ChatSession.resume(chats, session.id)) == ({""}, {1: (7,)})
    assert found(ChatSession.resume(chats, str(brought))) == (frozenset(), {1: ()})
    copy = ChatSession.fork(chats, str(brought))
    assert found(copy) == (frozenset(), {1: ()})
    assert found(ChatSession.resume(chats, copy.id)) == (frozenset(), {1: ()})
    assert found(ChatSession.fork(chats, session.id)) == ({""}, {1: (7,)})


@pytest.mark.parametrize("id", [{}, [], None, 1, ""])
def test_an_answer_to_a_call_that_is_none_is_left_out(chats: Path, id: object) -> None:
    session = begun(chats)
    say(session, 1, "Hello")
    answer(session, 1, call("a"))
    strange = {"type": "tool_result", "tool_use_id": id, "content": "x"}
    session.write("message", turn=1, role="user", content=[strange])
    messages = session.restore().messages
    session.close()
    assert [block["tool_use_id"] for block in messages[2]["content"]] == ["a"]


def test_an_edit_of_what_is_no_note_is_said_to_be_lost_when_it_is_replayed() -> None:
    given = {"command": "create", "path": "/memories", "file_text": "x"}
    record = {"type": "call", "turn": 1, "call_id": "a", "name": "memory", "input": given, "answer": "x",
              "note": "edited by you first", "edit": "mine", "seq": 2, "edit_seq": 1}  # fmt: skip
    with memtui.open_in_memory() as memory:
        (told,) = replay_session([record], memory)
    assert told.outcome is ReplayOutcome.EDIT_LOST
