"""`memtui hook`: what Claude Code runs, in a process of its own; and the settings that it is put into."""

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.hooks import approval
from memtui.agents.hooks.payload import MATCHER, InvalidHookCall, locate_file, parse_call, predict_results
from memtui.agents.hooks.settings import (
    HookSettingsError,
    add_hooks,
    load_hook_settings,
    remove_hooks,
    save_hook_settings,
)
from memtui.agents.remote_approval import ApprovalQuestion, ApprovalServer
from memtui.core.approvals import Allow, Deny, Edit, Stop, Unanswered, Verdict
from memtui.core.events import Agent, Outside, Person, Result
from memtui.fs.state import get_state_directory
from memtui.fs.state import get_state_home as state_home_of
from memtui.journal.announcements import AnnouncementStore
from tests.agents.approver import open_approver
from tests.conftest import wait_until

Run = Callable[..., Any]

LIMIT = 30.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with nothing in it."""
    path = tmp_path / "home"
    (path / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.delenv("MEMTUI_DIR", raising=False)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory folder that memtui knows."""
    path = tmp_path / "memories"
    path.mkdir()
    (path / "prefs.md").write_text("- tea\n- Berlin\n")
    memtui.open(path).close()
    return path


def told(event: str, path: Path | str, tool: str = "Write", **more: Any) -> bytes:
    """What Claude Code tells a hook."""
    given = {"file_path": str(path)}
    given |= {
        key: more.pop(key)
        for key in tuple(more)
        if key in ("content", "old_string", "new_string", "replace_all", "edits")
    }
    record = {
        "session_id": "a-session",
        "transcript_path": "/somewhere/a-session.jsonl",
        "cwd": "/",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "toolu_1",
        **more,
    }
    return json.dumps(record).encode()


def events(folder: Path) -> list[Any]:
    with memtui.memory.connect(folder) as memory:
        return list(memory.events())


def write_by_claude(run: Run, folder: Path, name: str, content: str, *words: str) -> Any:
    """What happens when Claude Code writes a file: the hook, the write, the hook."""
    path = folder / name
    existed = path.exists()
    before = run("hook", *words, stdin=told("PreToolUse", path, content=content))
    assert (before.code, before.out, before.err) == (0, b"", b"")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    response = {"type": "update" if existed else "create", "filePath": str(path), "content": content}
    after = run("hook", *words, stdin=told("PostToolUse", path, content=content, tool_response=response))
    assert (after.code, after.out, after.err) == (0, b"", b"")
    wait_until(lambda: any(event.call_id == "toolu_1" for event in events(folder)))
    return events(folder)[-1]


# Recording


def test_a_write_is_recorded_as_claude_codes(run: Run, folder: Path) -> None:
    event = write_by_claude(run, folder, "prefs.md", "- coffee\n")
    assert event.actor == Agent("Claude Code", session="a-session")
    assert (event.command, event.path, event.note, event.call_id) == (
        "modified",
        "/memories/prefs.md",
        "Write",
        "toolu_1",
    )
    assert event.result is Result.OK
    assert json.loads(event.arguments)["transcript"] == "/somewhere/a-session.jsonl"
    log = run("log", "--dir", str(folder)).out.decode()
    assert "Claude Code  modified     /memories/prefs.md" in log.splitlines()[-1]
    assert log.splitlines()[-1].endswith("Write")
    record = json.loads(run("log", "--json", "--dir", str(folder)).out.splitlines()[-1])
    assert (record["actor"], record["session"], record["op"], record["result"]) == (
        "Claude Code", "a-session", "modified", "ok",
    )  # fmt: skip


def test_a_new_file_in_a_new_directory_is_recorded_as_claude_codes(run: Run, folder: Path) -> None:
    event = write_by_claude(run, folder, "notes/new.md", "new\n")
    assert (event.actor.name, event.command, event.path) == ("Claude Code", "created", "/memories/notes/new.md")


def test_what_claude_code_wrote_can_be_taken_back(run: Run, folder: Path) -> None:
    event = write_by_claude(run, folder, "prefs.md", "- coffee\n")
    assert run("undo", str(event.seq), "--dir", str(folder), "--yes").code == 0
    assert (folder / "prefs.md").read_text() == "- tea\n- Berlin\n"
    assert run("verify", "--dir", str(folder)).code == 0


@pytest.mark.parametrize(
    ("tool", "given", "after"),
    [
        ("Edit", {"old_string": "tea", "new_string": "coffee"}, "- coffee\n- Berlin\n"),
        ("Edit", {"old_string": "- ", "new_string": "* ", "replace_all": True}, "* tea\n* Berlin\n"),
        (
            "MultiEdit",
            {"edits": [{"old_string": "tea", "new_string": "x"}, {"old_string": "x", "new_string": "milk"}]},
            "- milk\n- Berlin\n",
        ),
    ],
    ids=["Edit", "everywhere", "MultiEdit"],
)
def test_an_edit_is_recorded_as_claude_codes(
    run: Run, folder: Path, tool: str, given: dict[str, Any], after: str
) -> None:
    path = folder / "prefs.md"
    assert run("hook", stdin=told("PreToolUse", path, tool, **given)).code == 0
    path.write_text(after)
    assert run("hook", stdin=told("PostToolUse", path, tool, **given, tool_response={})).code == 0
    wait_until(lambda: len(events(folder)) > 1)
    event = events(folder)[-1]
    assert (event.actor.name, event.note) == ("Claude Code", tool)


def test_what_an_edit_leaves_is_told_from_the_file_that_it_found(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    path.write_text("- coffee\n- Berlin\n")
    response = {"originalFile": "- tea\n- Berlin\n", "oldString": "tea", "newString": "coffee"}
    given = {"old_string": "tea", "new_string": "coffee"}
    assert run("hook", stdin=told("PostToolUse", path, "Edit", **given, tool_response=response)).code == 0
    wait_until(lambda: len(events(folder)) > 1)
    assert events(folder)[-1].actor.name == "Claude Code"


def test_what_somebody_else_wrote_meanwhile_is_not_taken_for_claude_codes(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    run("hook", stdin=told("PreToolUse", path, content="theirs\n"))
    path.write_text("somebody else's\n")
    run("hook", stdin=told("PostToolUse", path, content="theirs\n", tool_response={}))
    wait_until(lambda: len(events(folder)) > 1)
    assert events(folder)[-1].actor == Outside()


NOTE = "---\nname: tea\ndescription: how tea is ordered\nmetadata:\n  type: user\n---\n\nGreen tea.\n"
STAMPED = NOTE.replace(
    "  type: user\n",
    "  node_type: memory\n  type: user\n  originSessionId: a-session\n  modified: 2026-11-20T07:46:36.334Z\n",
)


@pytest.mark.parametrize("seen", [False, True], ids=["alone", "memtui open"])
@pytest.mark.parametrize("tool", ["Write", "Edit"])
def test_a_note_that_claude_code_stamps_is_claude_codes(run: Run, folder: Path, tool: str, seen: bool) -> None:
    path = folder / "tea.md"
    given: dict[str, Any] = {"content": NOTE}
    response: dict[str, Any] = {"type": "create", "content": STAMPED, "structuredPatch": [], "originalFile": None}
    after, before = STAMPED, len(events(folder))
    if tool == "Edit":
        path.write_text(STAMPED)
        memtui.open(folder).close()
        before = len(events(folder))
        given = {"old_string": "Green tea.", "new_string": "\tBlack tea."}
        after = STAMPED.replace("Green tea.", "\tBlack tea.").replace("36.334Z", "59.001Z")
        response = {"originalFile": STAMPED, "structuredPatch": []}
    run("hook", stdin=told("PreToolUse", path, tool, **given))
    path.write_text(after)
    if seen:
        memtui.open(folder).close()
    run("hook", stdin=told("PostToolUse", path, tool, **given, tool_response={**response, "memdirStamped": True}))
    wait_until(lambda: len(events(folder)) > before)
    (event,) = events(folder)[before:]
    assert (event.actor.name, event.note) == ("Claude Code", tool)


def test_a_note_that_differs_by_more_than_the_stamp_is_not_claude_codes(run: Run, folder: Path) -> None:
    for text in (STAMPED.replace("Green", "Black"), STAMPED.replace("how tea", "HOW TEA"), f"x{STAMPED}"):
        run("hook", stdin=told("PreToolUse", folder / "tea.md", content=NOTE))
        (folder / "tea.md").write_text(text)
        memtui.open(folder).close()
        assert events(folder)[-1].actor == Outside()


def test_what_was_found_before_the_hook_spoke_is_said_and_not_rewritten(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    path.write_text("theirs\n")
    memtui.open(folder).close()
    found = events(folder)[-1]
    assert found.actor == Outside()
    run("hook", stdin=told("PostToolUse", path, content="theirs\n", tool_response={}))
    wait_until(lambda: len(events(folder)) > found.seq)
    said = events(folder)[-1]
    assert events(folder)[-2] == found
    assert (said.actor.name, said.command, said.changes) == ("Claude Code", "claimed", ())
    assert said.note == f"#{found.seq} was its Write, found before it was announced"
    assert "claimed" in run("log", "--dir", str(folder)).out.decode()


def test_the_folders_of_claude_code_are_known_without_being_told(run: Run, home: Path) -> None:
    folder = home / ".claude" / "projects" / "-work" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("before\n")
    event = write_by_claude(run, folder, "MEMORY.md", "after\n")
    assert (event.actor.name, event.command) == ("Claude Code", "modified")
    with memtui.open(folder) as memory:
        assert memory.undo([event.seq]).event is not None
    assert (folder / "MEMORY.md").read_text() == "before\n"


def test_a_new_file_in_a_folder_that_was_never_looked_at_is_claude_codes(run: Run, home: Path) -> None:
    folder = home / ".claude" / "agent-memory" / "helper"
    folder.mkdir(parents=True)
    event = write_by_claude(run, folder, "notes.md", "new\n")
    assert (event.actor.name, event.command) == ("Claude Code", "created")
    assert stat.S_IMODE(state_home_of().stat().st_mode) == 0o700


def test_a_folder_may_be_named(run: Run, tmp_path: Path) -> None:
    folder, state = tmp_path / "elsewhere", tmp_path / "its-state"
    folder.mkdir()
    words = ("--dir", str(folder), "--state", str(state))
    assert run("hook", *words, stdin=told("PreToolUse", folder / "a.md", content="a\n")).code == 0
    (folder / "a.md").write_text("a\n")
    assert run("hook", *words, stdin=told("PostToolUse", folder / "a.md", content="a\n", tool_response={})).code == 0

    def recorded() -> list[Any]:
        with memtui.memory.connect(folder, state=state) as memory:
            return list(memory.events())

    wait_until(lambda: (state / "journal.db").exists() and recorded())
    assert recorded()[-1].actor.name == "Claude Code"


@pytest.mark.parametrize(
    "path",
    [
        "~/project/README.md", "~/.claude/settings.json", "~/.claude/projects/a/b/memory/x.md",
        "~/.claude/projects/memory/x.md", "/memory/x.md", "~/.claude/agent-memory/x.md",
    ],
)  # fmt: skip
def test_what_is_no_memory_leaves_no_trace(run: Run, path: str, state_home: Path) -> None:
    for event in ("PreToolUse", "PostToolUse"):
        ran = run("hook", "--ask", stdin=told(event, os.path.expanduser(path), content="x", tool_response={}))
        assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert not state_home.exists()


def test_the_innermost_folder_is_the_one(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    for folder in (outer, inner):
        memtui.open(folder).close()
    place = locate_file(str(inner / "a" / "b.md"))
    assert place is not None
    assert (place.folder, place.path, place.state) == (str(inner), "a/b.md", str(get_state_directory(str(inner))))


def test_a_link_is_followed_to_where_the_file_is(tmp_path: Path, folder: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    place = locate_file(str(link / "prefs.md"))
    assert place is not None
    assert (place.folder, place.path) == (str(folder), "prefs.md")


def test_a_call_of_our_own_tool_is_linked_to_its_session(run: Run) -> None:
    data = json.dumps(
        {
            "session_id": "a-session", "transcript_path": "/t.jsonl", "hook_event_name": "PreToolUse",
            "tool_name": "mcp__memtui__memory", "tool_use_id": "toolu_9",
            "tool_input": {"command": "create", "path": "/memories/a.md", "file_text": "a"},
        }
    ).encode()  # fmt: skip
    ran = run("hook", "--ask", stdin=data)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    linked = AnnouncementStore(state_home_of()).find_by_call("toolu_9")
    assert linked is not None
    assert linked.actor == Agent("Claude Code", session="a-session")


# What it is told

HOSTILE = {
    "nothing": b"",
    "no JSON": b"{",
    "bytes": bytes(range(256)),
    "a list": b"[]",
    "a number": b"7",
    "a long number": b"1" * 10_000,
    "deep": b"[" * 200_000,
    "no input": b'{"hook_event_name":"PreToolUse","tool_name":"Write"}',
    "input of another type": b'{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":[1]}',
    "no path": b'{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{}}',
    "path of another type": b'{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":[1]}}',
    "NUL": b'{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a\\u0000b"}}',
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_whatever_it_is_told_the_agent_goes_on(run: Run, data: bytes) -> None:
    ran = run("hook", "--ask", "--strict", stdin=data)
    assert (ran.code, ran.out) == (0, b"")
    assert ran.err.endswith(b"Nothing was recorded.\n")


@pytest.mark.parametrize(
    "data",
    [b"{}", b'{"hook_event_name":"Stop"}', b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}'],
)
def test_what_is_not_for_it_is_passed_in_silence(run: Run, data: bytes) -> None:
    ran = run("hook", "--ask", "--strict", stdin=data)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")


def test_more_than_it_reads_is_not_taken_apart() -> None:
    with pytest.raises(InvalidHookCall, match="too long"):
        parse_call(b" " * 64_000_001)


def test_odd_names_are_recorded_and_shown_safely(run: Run, folder: Path) -> None:
    name = "odd \x1b[31m \u202e[red].md"
    event = write_by_claude(run, folder, name, "x\n")
    assert event.actor.name == "Claude Code"
    assert b"\x1b" not in run("log", "--dir", str(folder)).out


def test_a_call_without_an_id_is_the_same_before_and_after() -> None:
    record = {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "/a", "content": "x"}}
    before, after = (
        parse_call(json.dumps(record).encode()),
        parse_call(json.dumps({**record, "hook_event_name": "PostToolUse", "tool_response": {}}).encode()),
    )
    assert before is not None
    assert after is not None
    assert before.call_id == after.call_id


def test_in_a_terminal_it_says_what_it_is_for(run_in_terminal: Run) -> None:
    ran = run_in_terminal("hook")
    assert ran.code == 2
    assert b"memtui hook install" in ran.out


def test_a_state_directory_that_cannot_be_used_stops_nobody(run: Run, folder: Path) -> None:
    (get_state_directory(str(folder)) / "announced").write_text("in the way")
    ran = run("hook", stdin=told("PreToolUse", folder / "prefs.md", content="x"))
    assert (ran.code, ran.out) == (0, b"")
    assert b"The memtui hook failed" in ran.err


# The text that a tool leaves


@pytest.mark.parametrize(
    ("tool", "given", "before", "after"),
    [
        ("Write", {"content": "é\n"}, None, (b"\xc3\xa9\n",)),
        ("Write", {"content": "a\nb\n"}, b"x\r\n", (b"a\nb\n", b"a\r\nb\r\n")),
        ("Write", {"content": 7}, None, ()),
        ("Write", {"content": "\ud800"}, None, ()),
        ("Edit", {"old_string": "a", "new_string": "b"}, b"a\n", (b"b\n",)),
        ("Edit", {"old_string": "a", "new_string": "b"}, b"a a\n", ()),
        ("Edit", {"old_string": "a", "new_string": "b", "replace_all": True}, b"a a\n", (b"b b\n",)),
        ("Edit", {"old_string": "x", "new_string": "b"}, b"a\n", ()),
        ("Edit", {"old_string": "a", "new_string": "a"}, b"a\n", ()),
        ("Edit", {"old_string": "a", "new_string": "b"}, None, ()),
        ("Edit", {"old_string": "", "new_string": "new\n"}, None, (b"new\n",)),
        ("Edit", {"old_string": "", "new_string": "new\n"}, b"there\n", ()),
        ("Edit", {"old_string": "a\nb", "new_string": "c\nd"}, b"a\r\nb\r\n", (b"c\r\nd\r\n",)),
        ("Edit", {"old_string": "b", "new_string": ""}, b"a\nb\nc\n", (b"a\nc\n",)),
        ("Edit", {"old_string": "a", "new_string": "b"}, b"\xff a", ()),
        ("Edit", {"old_string": "a", "new_string": r"\1$&"}, b"a\n", (b"\\1$&\n",)),
        ("MultiEdit", {"edits": []}, b"a", ()),
        ("MultiEdit", {"edits": [7]}, b"a", ()),
        ("MultiEdit", {"edits": "a"}, b"a", ()),
        (
            "MultiEdit",
            {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "a", "new_string": "c"}]},
            b"a",
            (),
        ),
    ],
)
def test_the_text_that_a_tool_leaves(
    tool: str, given: dict[str, object], before: bytes | None, after: tuple[bytes, ...]
) -> None:
    assert predict_results(tool, given, before) == after


# Asking


@contextmanager
def person(
    state: Path, *verdicts: Verdict, meanwhile: Callable[[], object] = lambda: None
) -> Iterator[list[ApprovalQuestion]]:
    """Somebody at a running memtui who answers, in this order; what happens before the first answer."""
    asked: list[ApprovalQuestion] = []
    left = list(verdicts)

    def answer(question: ApprovalQuestion) -> None:
        asked.append(question)
        if len(asked) == 1:
            meanwhile()
        threading.Thread(target=question.answer, args=(left.pop(0),)).start()

    with open_approver(state, answer):
        yield asked


def decision(ran: Any) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return dict(json.loads(ran.out)["hookSpecificOutput"])


def test_a_yes_is_a_yes(run: Run, folder: Path) -> None:
    with person(get_state_directory(str(folder)), Allow()) as asked:
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="new\n")))
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "allow")
    assert "updatedInput" not in said
    proposal = asked[0].proposal
    assert (proposal.actor.name, proposal.command, proposal.path) == ("Claude Code", "create", "/memories/prefs.md")
    change = proposal.changes[0]
    assert (proposal.text(change.before), proposal.text(change.after)) == ("- tea\n- Berlin\n", "new\n")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [(Deny(), "declined"), (Deny("too long"), "They said: too long"), (Stop(), "stopped")],
    ids=["no", "reason", "stop"],
)
def test_a_no_is_a_no_with_its_reason(run: Run, folder: Path, verdict: Verdict, words: str) -> None:
    with person(get_state_directory(str(folder)), verdict):
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="new\n")))
    assert said["permissionDecision"] == "deny"
    assert words in said["permissionDecisionReason"]
    assert "Nothing was written." in said["permissionDecisionReason"]
    wait_until(lambda: len(events(folder)) > 1)
    event = events(folder)[-1]
    assert (event.actor.name, event.command, event.path) == ("Claude Code", "create", "/memories/prefs.md")
    assert (event.result, event.changes, event.call_id) == (Result.REFUSED, (), "toolu_1")
    assert event.note == ("stopped" if verdict == Stop() else "declined")


def test_a_text_that_the_person_edited_is_what_is_written(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    with person(get_state_directory(str(folder)), Edit("hers\n")):
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", path, content="theirs\n")))
    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {"file_path": str(path), "content": "hers\n"}
    assert "hers\n" in said["additionalContext"]
    path.write_text("hers\n")
    memtui.open(folder).close()
    event = events(folder)[-1]
    assert (event.actor.name, event.note) == ("Claude Code", "Write, edited by you")


def test_an_edit_that_the_person_edited_is_saved_as_hers_and_the_agent_is_told(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    given = {"old_string": "tea", "new_string": "coffee"}
    with person(get_state_directory(str(folder)), Edit("- water\n")) as asked:
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", path, "Edit", **given)))
    assert asked[0].proposal.text(asked[0].proposal.changes[0].after) == "- coffee\n- Berlin\n"
    assert said["permissionDecision"] == "deny"
    assert "now holds:\n- water\n" in said["permissionDecisionReason"]
    assert path.read_text() == "- water\n"
    wait_until(lambda: len(events(folder)) > 2)
    hers, theirs = events(folder)[-2:]
    assert (hers.actor, hers.note) == (Person(), "Claude Code's Edit, edited")
    assert (theirs.actor.name, theirs.note, theirs.changes) == ("Claude Code", "edited by you first", ())


def test_what_the_person_wrote_is_not_lost_when_the_file_changes_meanwhile(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    change = partial(path.write_text, "- there is no such drink any more\n")
    with person(get_state_directory(str(folder)), Edit("- water\n"), Allow(), meanwhile=change) as asked:
        given = {"old_string": "tea", "new_string": "coffee"}
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", path, "Edit", **given)))
    again = asked[1].proposal
    assert again.draft == "- water\n"
    assert "has changed since" in again.again
    assert again.text(again.changes[0].before) == "- there is no such drink any more\n"
    assert said["permissionDecision"] == "deny"
    assert path.read_text() == "- water\n"


def test_a_text_that_was_looked_at_in_the_editor_and_not_changed_is_a_yes(run: Run, folder: Path) -> None:
    with person(get_state_directory(str(folder)), Edit("new\n")):
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="new\n")))
    assert said["permissionDecision"] == "allow"
    assert "updatedInput" not in said


def test_what_changed_while_the_person_looked_is_asked_again(run: Run, folder: Path) -> None:
    path = folder / "prefs.md"
    change = partial(path.write_text, "changed\n")
    with person(get_state_directory(str(folder)), Allow(), Deny("no"), meanwhile=change) as asked:
        said = decision(run("hook", "--ask", stdin=told("PreToolUse", path, content="new\n")))
    assert said["permissionDecision"] == "deny"
    assert "has changed since" in asked[1].proposal.again
    assert asked[1].proposal.text(asked[1].proposal.changes[0].before) == "changed\n"


def test_nobody_answering_in_time_is_a_no(run: Run, folder: Path) -> None:
    desk = ApprovalServer(get_state_directory(str(folder)), lambda _: None)
    desk.start()
    try:
        assert desk.wait_until_open(LIMIT)
        ran = run("hook", "--ask", "--wait", "1", stdin=told("PreToolUse", folder / "prefs.md", content="new\n"))
    finally:
        desk.close()
    said = decision(ran)
    assert said["permissionDecision"] == "deny"
    assert "Nobody answered within 1 s" in said["permissionDecisionReason"]


def test_a_memtui_that_is_closed_with_the_question_open_is_a_no(run: Run, folder: Path) -> None:
    desk = ApprovalServer(get_state_directory(str(folder)), lambda _: threading.Thread(target=desk.close).start())
    desk.start()
    assert desk.wait_until_open(LIMIT)
    ran = run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="new\n"))
    said = decision(ran)
    assert said["permissionDecision"] == "deny"
    assert "Nobody answered within 2 s" in said["permissionDecisionReason"]


def test_a_question_that_is_asked_again_when_the_time_is_up_is_a_no(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(_: Path, proposal: Any, *, seconds: float, **__: Any) -> Verdict:
        if proposal.again:
            return Unanswered(min(seconds, 0))  # as `ask_elsewhere` says it of no time at all
        (folder / "prefs.md").write_text("changed\n")
        return Allow()

    monkeypatch.setattr(approval, "request_approval", ask)
    call = parse_call(told("PreToolUse", folder / "prefs.md", content="new\n"))
    place = locate_file(str(folder / "prefs.md"))
    assert call is not None
    assert place is not None
    decision = approval.request_decision(call, place, 30)
    assert decision is not None
    assert not decision.allows
    assert "Nobody answered within 30 s" in decision.reason


def test_with_nobody_there_claude_code_asks_in_its_own_terminal(run: Run, folder: Path) -> None:
    said = decision(run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="new\n")))
    assert said["permissionDecision"] == "ask"
    assert "No memtui is open" in said["permissionDecisionReason"]
    (folder / "prefs.md").write_text("new\n")  # the person allowed it there
    memtui.open(folder).close()
    assert events(folder)[-1].actor.name == "Claude Code"


def test_with_nobody_there_what_would_change_nothing_is_not_asked_about(run: Run, folder: Path) -> None:
    ran = run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="- tea\n- Berlin\n"))
    assert (ran.code, ran.out) == (0, b"")


def test_with_nobody_there_a_strict_hook_says_no(run: Run, folder: Path) -> None:
    ran = run("hook", "--ask", "--strict", stdin=told("PreToolUse", folder / "prefs.md", content="new\n"))
    assert decision(ran)["permissionDecision"] == "deny"


def test_a_strict_hook_that_fails_says_no(run: Run, folder: Path) -> None:
    (folder / "d").mkdir()
    ran = run("hook", "--ask", "--strict", stdin=told("PreToolUse", folder / "d", content="new\n"))
    assert decision(ran)["permissionDecision"] == "deny"
    assert b"The memtui hook failed" in ran.err


def test_what_would_change_nothing_is_not_asked_about(run: Run, folder: Path) -> None:
    with person(get_state_directory(str(folder))) as asked:
        ran = run("hook", "--ask", stdin=told("PreToolUse", folder / "prefs.md", content="- tea\n- Berlin\n"))
        assert (ran.code, ran.out) == (0, b"")
    assert asked == []


def test_an_edit_that_cannot_be_shown_is_not_let_through(run: Run, folder: Path) -> None:
    (folder / "prefs.md").write_text("it\u2019s tea\n")  # Claude Code takes a straight quote for a curly one
    edit = told("PreToolUse", folder / "prefs.md", "Edit", old_string="it's tea", new_string="it's gone")
    with person(get_state_directory(str(folder))) as asked:
        said = decision(run("hook", "--ask", stdin=edit))
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"] == (
        "What prefs.md would hold cannot be told. Nothing was written. Read the file again, and give the text to "
        "replace exactly as it stands there, once."
    )
    assert asked == []


def test_what_was_done_is_not_asked_about(run: Run, folder: Path) -> None:
    with person(get_state_directory(str(folder))) as asked:
        ran = run("hook", "--ask", stdin=told("PostToolUse", folder / "prefs.md", content="x", tool_response={}))
        assert (ran.code, ran.out) == (0, b"")
    assert asked == []


# Settings


@pytest.fixture
def settings(home: Path) -> Path:
    return home / ".claude" / "settings.json"


ODD = """{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "check.sh \\u00e9"}]}
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]
    },
    "unknown": [1, 2.5, null, {"z": 1, "a": 2}]
}
"""


def test_install_shows_the_diff_and_does_nothing_where_nobody_can_be_asked(run: Run, settings: Path) -> None:
    settings.write_text(ODD)
    ran = run("hook", "install", "--ask")
    assert ran.code == 2
    assert b"+" in ran.out
    assert MATCHER.encode() in ran.out
    assert b"--yes" in ran.err
    assert settings.read_text() == ODD


@pytest.mark.parametrize("typed", [b"y\n", b"n\n", b"\n"])
def test_install_asks_in_a_terminal(run_in_terminal: Run, settings: Path, typed: bytes) -> None:
    ran = run_in_terminal("hook", "install", typed=typed)
    assert b"Install this?" in ran.out
    assert ran.code == (0 if typed == b"y\n" else 1)
    assert settings.exists() is (typed == b"y\n")


def test_install_and_uninstall_leave_everything_else_as_it_was(run: Run, settings: Path) -> None:
    settings.write_text(ODD)
    settings.chmod(0o640)
    assert run("hook", "install", "--yes").code == 0
    value = json.loads(settings.read_text())
    assert list(value) == ["model", "hooks", "unknown"]
    assert value["unknown"] == [1, 2.5, None, {"z": 1, "a": 2}]
    assert [group["matcher"] for group in value["hooks"]["PreToolUse"]] == ["Bash", MATCHER]
    assert value["hooks"]["PostToolUse"][0]["hooks"][0]["command"].endswith("hook")
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    assert run("hook", "uninstall", "--yes").code == 0
    assert json.loads(settings.read_text()) == json.loads(ODD)
    assert list(settings.parent.iterdir()) == [settings]


def test_where_there_was_nothing_nothing_is_left(run: Run, settings: Path) -> None:
    assert run("hook", "install", "--yes").code == 0
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600
    assert run("hook", "uninstall", "--yes").code == 0
    assert json.loads(settings.read_text()) == {}


def test_install_twice_is_install_once(run: Run, settings: Path) -> None:
    assert run("hook", "install", "--yes").code == 0
    first = settings.read_bytes()
    again = run("hook", "install")
    assert (again.code, settings.read_bytes()) == (0, first)
    assert b"installed already" in again.out
    assert run("hook", "install", "--ask", "--wait", "60", "--yes").code == 0
    hooks = json.loads(settings.read_text())["hooks"]
    assert [len(hooks[event]) for event in ("PreToolUse", "PostToolUse")] == [1, 1]
    before = hooks["PreToolUse"][0]["hooks"][0]
    assert before["command"].endswith("hook --ask --wait 60")
    assert before["timeout"] > 60


def test_status_says_where_it_is(run: Run, settings: Path) -> None:
    assert run("hook", "status").code == 1
    assert run("hook", "install", "--ask", "--yes").code == 0
    ran = run("hook", "status", "--json")
    assert ran.code == 0
    rows = {row["scope"]: row for row in json.loads(ran.out)["settings"]}
    assert rows["user"]["installed"] is True
    assert rows["user"]["commands"][0].endswith("hook --ask")
    assert rows["project"]["installed"] is False
    value = json.loads(settings.read_text())
    del value["hooks"]["PostToolUse"]
    settings.write_text(json.dumps(value))
    assert b"install it again" in run("hook", "status").out
    older = {"matcher": MATCHER.replace("Bash|", ""), "hooks": value["hooks"]["PreToolUse"][0]["hooks"]}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [older], "PostToolUse": [older]}}))
    assert b"install it again" in run("hook", "status").out
    settings.write_text("{")
    ran = run("hook", "status")
    assert ran.code == 1
    assert b"unreadable" in ran.out


@pytest.mark.parametrize(("scope", "name"), [("--project", "settings.json"), ("--local", "settings.local.json")])
def test_a_project_has_settings_of_its_own(run: Run, tmp_path: Path, monkeypatch: Any, scope: str, name: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    assert run("hook", "install", scope, "--yes").code == 0
    assert (project / ".claude" / name).exists()
    assert run("hook", "status").code == 0


DAMAGED = {
    "not JSON": ("{", "is not JSON"),
    "a comment": ('{\n  // mine\n  "a": 1\n}', "has a comment in line 2"),
    "another comment": ('{\n  "a": 1 /* mine */\n}', "has a comment in line 2"),
    "a list": ("[]", "not a JSON object"),
    "twice": ('{"a": 1, "a": 2}', "has a duplicate key"),
    "a number that is none": ('{"a": 1e999}', "a number that would be lost"),
    "not text": (b"\xff\xfe", "not UTF-8"),
    "odd hooks": ('{"hooks": []}', "do not have Claude Code's format"),
    "odd groups": ('{"hooks": {"PreToolUse": {}}}', "do not have Claude Code's format"),
    "deep": ("[" * 100_000, "cannot be read as JSON"),
}


@pytest.mark.parametrize(("held", "words"), DAMAGED.values(), ids=DAMAGED)
def test_settings_that_cannot_be_kept_are_left_alone(run: Run, settings: Path, held: str | bytes, words: str) -> None:
    data = held.encode() if isinstance(held, str) else held
    settings.write_bytes(data)
    ran = run("hook", "install", "--yes")
    assert ran.code != 0
    assert words in ran.err.decode()
    assert "Nothing was written." in ran.err.decode()
    assert settings.read_bytes() == data


def test_a_link_to_the_settings_stays_a_link(run: Run, settings: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}\n")
    settings.symlink_to(real)
    assert run("hook", "install", "--yes").code == 0
    assert settings.is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_what_is_no_file_is_left_alone(run: Run, settings: Path) -> None:
    settings.mkdir()
    ran = run("hook", "install", "--yes")
    assert ran.code != 0
    assert b"Nothing was written." in ran.err


def test_settings_that_changed_meanwhile_are_not_overwritten(settings: Path) -> None:
    settings.write_text("{}")
    loaded = load_hook_settings(str(settings))
    settings.write_text('{"a": 1}')
    with pytest.raises(HookSettingsError, match="was changed by another program"):
        save_hook_settings(loaded, add_hooks(loaded, "memtui hook", seconds=None))
    assert settings.read_text() == '{"a": 1}'


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}', '{\n\t"a": 1\n}\n', '{\r\n  "a": 1\r\n}\r\n', "\ufeff{\n    \"a\": \"é\"\n}", "", " \n",
        '{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "memtui-like hook"}]}]}}',
        '{"hooks": {"PreToolUse": [7, {"hooks": 7}, {"matcher": "x"}]}}',
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "unclosed \'"}, 7]}]}}',
    ],
)  # fmt: skip
def test_putting_it_in_and_taking_it_out_is_nothing(settings: Path, text: str) -> None:
    settings.write_bytes(text.encode())
    loaded = load_hook_settings(str(settings))
    after = add_hooks(loaded, "'/opt/my tools/memtui' hook --ask", seconds=60)
    settings.write_bytes(after.encode())
    installed = load_hook_settings(str(settings))
    assert text.startswith("\ufeff") == after.startswith("\ufeff")
    assert ("\r\n" in after) == ("\r\n" in text)
    again = remove_hooks(installed)
    assert json.loads(again.removeprefix("\ufeff")) == loaded.value


def test_of_a_group_with_other_hooks_only_ours_is_taken(settings: Path) -> None:
    other = {"type": "command", "command": "other"}
    ours = {"type": "command", "command": "'/a b/memtui' hook"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [other, ours]}]}}))
    value = json.loads(remove_hooks(load_hook_settings(str(settings))))
    assert value == {"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [other]}]}}


def test_the_command_runs_by_its_whole_path_where_a_shell_does_not_find_it(
    run: Run, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run("hook", "install", "--yes").code == 0
    command = json.loads(settings.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert command == f"{sys.executable} -m memtui hook"
    done = subprocess.run(["sh", "-c", command], input=told("PreToolUse", "/x", content="x"), check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["instal"], ["install", "--strict"], ["install", "--wait", "0"], ["--wait", "x"]])
def test_a_slip_is_said(run: Run, words: list[str], settings: Path) -> None:
    ran = run("hook", *words, "--yes")
    assert ran.code == 2
    assert b"hook" in ran.err
    assert not settings.exists()


@pytest.mark.parametrize("action", ["install", "uninstall"])
def test_settings_that_cannot_be_read_are_no_bug_of_memtui(run: Run, settings: Path, action: str) -> None:
    settings.write_text("[]")
    ran = run("hook", action, "--yes")
    assert (ran.code, b"Nothing was written." in ran.err) == (3, True)


def test_two_settings_files_at_once_are_a_slip(run: Run, settings: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("hook", "install", "--user", "--project", "--yes")
    assert (ran.code, b"use one of --user, --project and --local" in ran.err) == (2, True)
    assert not settings.exists()
    assert not (tmp_path / ".claude").exists()
