"""Writes in Claude Code's session files come into the journal once, marked as imported, and harm nothing."""

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui.agents.origin import find_origins, find_prompt, find_prompts
from memtui.agents.transcripts.parse import LONGEST, ReadCancelled, TranscriptLine, iter_lines
from memtui.agents.transcripts.sessions import list_session_files
from memtui.agents.transcripts.writes import TranscriptScan, scan_transcripts
from memtui.cli import main
from memtui.core.errors import StateUnusable
from memtui.core.events import Event, ImportedChange, decode_imported_details, sha256
from memtui.engine import Engine
from memtui.engine.imported_history import ImportRecorder


class Script:
    """Writes a session file as Claude Code does."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.path, self.folder = path, folder
        self._lines: list[bytes] = []
        self._calls = 0

    def raw(self, line: bytes) -> None:
        self._lines.append(line)
        self.path.write_bytes(b"\n".join(self._lines) + b"\n")

    def say(self, kind: str, content: object, **more: object) -> None:
        at = f"2026-10-01T10:{len(self._lines):02}:00.000Z"
        message = {"role": kind, "content": content, "model": "a-model"}
        self.raw(json.dumps({"type": kind, "sessionId": "s-1", "timestamp": at, "message": message, **more}).encode())

    def ask(self, prompt: str) -> None:
        self.say("user", prompt)

    def call(self, tool: str, name: str, told: dict[str, Any] | None = None, **given: object) -> str:
        """A call and what came of it; `told=None` for a call whose result is not there."""
        self._calls += 1
        call_id = f"toolu_{self._calls}"
        given = {"file_path": str(self.folder / name), **given}
        self.say("assistant", [{"type": "tool_use", "id": call_id, "name": tool, "input": given}])
        if told is not None:
            failed = told.pop("failed", False)
            result = {"type": "tool_result", "tool_use_id": call_id, "content": "ok", "is_error": failed}
            self.say("user", [result], toolUseResult=told)
        return call_id

    def block(self, tool: str, name: str, **given: object) -> dict[str, Any]:
        """What is asked for by a call of which the result is yet to be told."""
        given = {"file_path": str(self.folder / name), **given}
        return {"type": "tool_use", "id": "t", "name": tool, "input": given}

    def run(self, command: str, *, failed: bool = False, **told: object) -> None:
        """A shell command, and that it ended well."""
        said = {"stdout": "", "stderr": "", "interrupted": False, "failed": failed, **told}
        self.call("Bash", "", said, command=command)

    def hear(self) -> TranscriptScan:
        return scan_transcripts(str(self.folder), [str(self.path)])


@pytest.fixture
def script(tmp_path: Path) -> Script:
    folder = tmp_path / "app" / "memory"
    folder.mkdir(parents=True)
    return Script(tmp_path / "app" / "s-1.jsonl", folder)


@pytest.fixture
def memory(script: Script, tmp_path: Path) -> Iterator[Engine]:
    with memtui.open(script.folder, state=tmp_path / "state") as memory:
        yield memory


def test_a_write_is_told_with_its_text_session_prompt_and_place(script: Script) -> None:
    script.ask("Remember my shell")
    script.say("user", "<local-command-caveat>no prompt</local-command-caveat>", isMeta=True)
    call_id = script.call("Write", "notes/shell.md", {}, content="- zsh\n")
    (told,) = script.hear().writes
    assert (told.path, told.tool, told.call_id) == ("notes/shell.md", "Write", call_id)
    assert (told.before, told.after) == (None, b"- zsh\n")
    assert told.agent == memtui.Agent("Claude Code", "a-model", "s-1")
    assert (told.prompt, told.source, told.line) == ("Remember my shell", "s-1.jsonl", 3)
    assert told.at_us == 1_790_848_920_000_000


def test_edits_are_replayed_on_what_is_told_of_the_file(script: Script) -> None:
    script.call("Write", "a.md", {}, content="one\ntwo\ntwo\n")
    script.call("Edit", "a.md", {}, old_string="one", new_string="1")
    edits = [
        {"old_string": "two", "new_string": "2", "replace_all": True},
        {"old_string": "1\n", "new_string": "first\n"},
    ]
    script.call("MultiEdit", "a.md", {}, edits=edits)
    script.call("Edit", "a.md", {"originalFile": "changed by hand\n"}, old_string="hand", new_string="Claude")
    assert [told.after for told in script.hear().writes] == [
        b"one\ntwo\ntwo\n",
        b"1\ntwo\ntwo\n",
        b"first\n2\n2\n",
        b"changed by Claude\n",
    ]


def test_what_cannot_be_told_is_not_guessed(script: Script) -> None:
    script.call("Edit", "a.md", {}, old_string="one", new_string="1")  # of a text that nobody told
    script.call("Edit", "b.md", {"originalFile": "x"}, old_string="not there", new_string="1")
    script.call("MultiEdit", "c.md", {"originalFile": "x"}, edits="no list")
    script.call("Edit", "d.md", {"originalFile": "x"}, old_string=7, new_string="1")
    assert [told.after for told in script.hear().writes] == [None, None, None, None]


def test_calls_that_failed_or_have_no_result_did_not_happen(script: Script) -> None:
    script.call("Write", "a.md", {"failed": True}, content="a")
    script.call("Write", "b.md", None, content="b")
    heard = script.hear()
    assert heard.writes == []
    assert (heard.failed, heard.unfinished) == (1, 1)


@pytest.mark.parametrize("name", ["../x.md", "/etc/passwd", "../memory_bak/a.md", "a\0b", "../app.py"])
def test_files_elsewhere_are_none_of_ours(script: Script, name: str) -> None:
    script.call("Write", name, {}, content="x")
    assert script.hear().writes == []


def test_a_folder_that_is_named_through_a_link_is_the_same(script: Script, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "app")
    script.call("Write", str(tmp_path / "link" / "memory" / "a.md"), {}, content="x")
    (told,) = script.hear().writes
    assert told.path == "a.md"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{half",
        b"[]",
        b"7",
        b"\xff\xfe",
        b'{"type":"user","message":7}',
        b'{"type":"assistant","message":{"content":[7,{"type":"tool_use","name":"Write","input":7}]},"x":"app/memory"}',
        b'{"message":{"content":[{"type":"tool_use","name":"Write","id":7,"input":{"file_path":7}}]},"x":"app/memory"}',
        b'{"type":"user","timestamp":"yesterday","message":{"content":[{"type":"tool_result","tool_use_id":[]}]}}',
        b"[" * 100_000 + b'"tool_use" "Write" app/memory',
    ],
)
def test_lines_of_any_shape_are_taken_in_stride(script: Script, line: bytes) -> None:
    script.raw(line)
    script.call("Write", "a.md", {}, content="a")
    script.raw(line)
    assert [told.after for told in script.hear().writes] == [b"a"]


def test_a_line_that_is_still_being_written_is_left_for_the_next_time(script: Script) -> None:
    script.call("Write", "a.md", {}, content="a")
    whole = script.path.read_bytes()
    script.path.write_bytes(whole[:-2])
    assert script.hear().unfinished == 1
    script.path.write_bytes(whole)
    assert len(script.hear().writes) == 1


def test_a_line_of_any_length_is_passed_without_keeping_it(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b"first\n")
        file.seek(LONGEST + 10, os.SEEK_CUR)
        file.write(b"\nlast\n")
    assert list(iter_lines(str(path), lambda _: True)) == [TranscriptLine(1, b"first"), TranscriptLine(3, b"last")]


def test_reading_can_be_stopped(script: Script) -> None:
    script.call("Write", "a.md", {}, content="a")
    with pytest.raises(ReadCancelled):
        scan_transcripts(str(script.folder), [str(script.path)], lambda _: False)


def test_what_is_no_file_is_said_and_the_rest_is_heard(script: Script, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script.call("Write", "a.md", {}, content="a")
    heard = scan_transcripts(str(script.folder), [str(tmp_path / "fifo"), str(tmp_path / "gone"), str(script.path)])
    assert [path for path, _ in heard.unreadable] == [str(tmp_path / "fifo"), str(tmp_path / "gone")]
    assert len(heard.writes) == 1


def test_importing_changes_nothing_but_adds_marked_events_once(memory: Engine, script: Script) -> None:
    (script.folder / "a.md").write_text("two\n")
    memory.reconcile()
    state = memory.history.get_state(memory.get_head()[0])
    script.ask("Two, please")
    script.call("Write", "a.md", {}, content="one\n")
    script.call("Edit", "a.md", {}, old_string="one", new_string="two")
    told = script.hear().writes
    events = memory.imports.record(memory.imports.filter_unimported(told))
    assert [(event.command, event.changes, event.result) for event in events] == [("imported", (), "seen")] * 2
    assert [circumstances.at_us for event in events if (circumstances := decode_imported_details(event))] == [
        each.at_us for each in told
    ]
    assert memory.history.get_state(memory.get_head()[0]) == state
    assert memory.imports.filter_unimported(told) == []
    assert memory.imports.record(told) == []


def test_history_puts_what_was_told_where_it_belongs_and_says_who(memory: Engine, script: Script) -> None:
    script.call("Write", "a.md", {}, content="one\n")
    script.call("Edit", "a.md", {}, old_string="one", new_string="two")
    (script.folder / "a.md").write_text("two\n")
    memory.reconcile()
    memory.imports.record(script.hear().writes)
    rows = memory.history.versions_of("a.md", imported=True)
    assert [memory.history.text(row.after) for row in rows] == [b"two\n", b"one\n"]
    recorded, before = rows
    assert recorded.event.is_outside
    assert recorded.imported_by is not None
    assert recorded.imported_by.actor.name == "Claude Code"
    assert before.event.command == "imported"
    assert before.at_us < recorded.at_us
    assert [row.event.is_outside for row in memory.history.versions_of("a.md")] == [True]


def test_a_deleted_memory_that_only_a_session_tells_of_can_be_restored(memory: Engine, script: Script) -> None:
    script.call("Write", "gone.md", {}, content="dear\n")
    memory.imports.record(script.hear().writes)
    (deleted,) = memory.history.find_deleted()
    assert (deleted.path, deleted.is_stored, deleted.imported_us) == ("gone.md", True, script.hear().writes[0].at_us)
    memory.restore({"gone.md": deleted.version})
    assert (script.folder / "gone.md").read_text() == "dear\n"
    assert memory.history.find_deleted() == []


def test_what_stood_there_before_is_kept_too(memory: Engine, script: Script) -> None:
    script.call("Edit", "a.md", {"originalFile": "by hand\n"}, old_string="hand", new_string="Claude")
    memory.imports.record(script.hear().writes)
    rows = memory.history.get_imported_versions("a.md")
    assert [memory.history.text(row.after) for row in rows] == [b"by Claude\n", b"by hand\n"]


def test_a_line_leads_to_the_prompt_that_it_was_asked_for_with(memory: Engine, script: Script) -> None:
    script.ask("First")
    script.call("Write", "a.md", {}, content="one\ntwo\n")
    script.ask("Second")
    call_id = script.call("Edit", "a.md", {}, old_string="two", new_string="three")
    (script.folder / "a.md").write_text("one\nthree\nby hand\n")
    memory.reconcile()
    memory.imports.record(script.hear().writes)
    data = (script.folder / "a.md").read_bytes()
    origins = find_origins(memory, "a.md", data, state=None)
    found = [(origin.asked.prompt, origin.is_imported) for origin in origins]
    assert found == [("First", True), ("Second", True), ("", False)]
    assert origins[1].event is not None
    assert origins[1].event.call_id == call_id
    assert not origins[2].is_known or origins[2].event.is_outside  # type: ignore[union-attr]
    assert find_origins(memory, "a.md", data, state=None, only=[9]) == []


def test_what_is_redacted_is_gone_from_what_was_told_as_well(memory: Engine, script: Script) -> None:
    script.ask("The word is swordfish")
    script.call("Write", "a.md", {}, content="swordfish\n")
    memory.imports.record(script.hear().writes)
    memory.redact(match="swordfish", reason="a secret")
    (row,) = memory.history.get_imported_versions("a.md") or [None]
    assert row is None or memory.history.text(row.after) is None
    assert all("swordfish" not in (event.arguments or "") for event in memory.events())


def test_nothing_is_imported_read_only(script: Script, tmp_path: Path) -> None:
    script.call("Write", "a.md", {}, content="a")
    with (
        memtui.open(script.folder, state=tmp_path / "none", read_only=True) as memory,
        pytest.raises(StateUnusable, match="read-only"),
    ):
        memory.imports.record(script.hear().writes)


def test_importing_can_be_stopped_and_gone_on_with(memory: Engine, script: Script) -> None:
    for number in range(210):
        script.call("Write", f"{number}.md", {}, content=str(number))
    told = script.hear().writes
    first = memory.imports.record(told, progress=lambda done, _of: done < 200)
    assert len(first) == 200
    assert len(memory.imports.record(told)) == 10


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """A project of Claude Code's, as it lies below the home directory."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("CLAUDE_CONFIG_DIR", "MEMTUI_DIR", "MEMTUI_READ_ONLY", "MEMTUI_CONFIG", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / ".claude" / "projects" / "-srv-app" / "memory"
    folder.mkdir(parents=True)
    return Script(folder.parent / "s-1.jsonl", folder)


def test_the_verb_imports_says_what_and_brings_back_what_is_gone(
    claude: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    claude.ask("Keep\x1b[2J this")
    claude.call("Write", "gone.md", {}, content="dear\n")
    where = ["-C", str(claude.folder)]
    assert main(["import-transcripts", *where, "--dry-run"]) == 0
    assert "Would import 1 write to 1 note" in capfd.readouterr().out
    assert main(["import-transcripts", *where, "--read-only"]) == 4
    assert main(["import-transcripts", *where, "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert document["gone"] == ["/memories/gone.md"]
    assert document["new"][0]["session"] == "s-1"
    assert main(["import-transcripts", *where]) == 0
    assert "imported before" in capfd.readouterr().out
    assert main(["restore", *where, "gone.md"]) == 0
    assert (claude.folder / "gone.md").read_text() == "dear\n"
    capfd.readouterr()
    assert main(["origin", *where, "gone.md:1"]) == 0
    out = capfd.readouterr().out
    assert "asked   Keep\\x1b[2J this" in out
    assert "s-1.jsonl:2" in out
    assert main(["origin", *where, "gone.md:7"]) == 3
    assert main(["verify", *where]) == 0


def test_without_session_files_it_is_said(claude: Script, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["import-transcripts", "-C", str(claude.folder)]) == 3
    assert "no session files" in capfd.readouterr().err
    assert main(["import-transcripts", "-C", str(claude.folder), str(claude.path)]) == 3
    assert "cannot be read" in capfd.readouterr().err


def test_a_session_that_is_gone_on_with_elsewhere_tells_its_calls_once(script: Script, tmp_path: Path) -> None:
    script.call("Write", "a.md", {}, content="one\n")
    copy = tmp_path / "app" / "s-2.jsonl"
    copy.write_bytes(script.path.read_bytes().replace(b'"s-1"', b'"s-2"'))
    heard = scan_transcripts(str(script.folder), [str(script.path), str(copy)])
    assert [each.source for each in heard.writes] == ["s-1.jsonl"]


def test_a_call_id_that_is_used_again_hides_no_other_note(memory: Engine, script: Script) -> None:
    script.call("Write", "a.md", {}, content="one\n")
    script._calls = 0
    script.call("Write", "b.md", {}, content="two\n")
    told = script.hear().writes
    assert [each.path for each in told] == ["a.md", "b.md"]
    memory.imports.record(told[:1])
    assert [each.path for each in memory.imports.filter_unimported(told)] == ["b.md"]


def test_a_note_is_named_from_home_or_from_where_the_session_was_held(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(script.folder.parent))
    for number, file in enumerate(("~/memory/a.md", "b.md", "../memory/c.md", "../other/d.md")):
        block = {"type": "tool_use", "id": f"t{number}", "name": "Write", "input": {"file_path": file, "content": "x"}}
        script.say("assistant", [block], cwd=str(script.folder))
        script.say("user", [{"type": "tool_result", "tool_use_id": f"t{number}"}])
    assert [each.path for each in script.hear().writes] == ["a.md", "b.md", "c.md"]


def test_a_folder_is_known_by_a_link_of_another_name(script: Script, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere"
    link.symlink_to(script.folder)
    folder, script.folder = script.folder, link
    script.call("Write", "a.md", {}, content="x")
    assert [each.path for each in scan_transcripts(str(folder), [str(script.path)]).writes] == ["a.md"]


@pytest.mark.parametrize("name", ["\ud800.md", "a\udc80/b.md", "x" * 256, "/".join(["d" * 200] * 30)])
def test_a_name_that_no_file_can_have_is_passed_over(memory: Engine, script: Script, name: str) -> None:
    script.call("Write", name, {}, content="x")
    assert script.hear().writes == []
    assert memory.history.find_deleted() == []


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("This session is being continued from a previous conversation", {"isCompactSummary": True}),
        ("<local-command-stdout>done</local-command-stdout>", {}),
        ([{"type": "text", "text": "[Request interrupted by user for tool use]"}], {}),
        ([{"type": "text", "text": "<system-reminder>be calm</system-reminder>"}], {}),
        ("what a subagent is asked for", {"isSidechain": True}),
    ],
)
def test_what_stands_in_the_place_of_a_prompt_is_none(script: Script, content: object, more: dict[str, Any]) -> None:
    script.ask("Remember it")
    script.say("user", content, **more)
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == "Remember it"


def test_a_command_is_a_prompt_by_its_name_with_what_was_written_behind_it(script: Script) -> None:
    script.ask(
        "<command-message>note</command-message>\n<command-name>/note</command-name>\n<command-args>tea</command-args>"
    )
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == "/note tea"


def test_what_a_subagent_writes_was_asked_for_by_its_own_prompt(script: Script) -> None:
    script.say("user", "Tidy up", isSidechain=True)
    script.ask("And what is the time?")
    block = script.block("Write", "a.md", content="x")
    script.say("assistant", [block], isSidechain=True)
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}], isSidechain=True)
    assert script.hear().writes[0].prompt == "Tidy up"


def test_a_prompt_is_kept_up_to_a_length_and_a_huge_line_not_at_all(script: Script) -> None:
    script.ask("p" * 100_000)
    script.say("user", [{"type": "text", "text": "x" * 9_000_000}])
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == "p" * 2_000


def test_an_edit_that_takes_out_a_line_leaves_no_empty_one(script: Script) -> None:
    script.call("Edit", "a.md", {"originalFile": "one\ntwo\nthree\n"}, old_string="two", new_string="")
    assert script.hear().writes[0].after == b"one\nthree\n"


def test_what_the_person_made_of_an_edit_is_told_by_its_patch(script: Script) -> None:
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" one", "-two", "+TWO, by hand"]}
    told = {"originalFile": "one\ntwo\n", "userModified": True, "structuredPatch": [hunk]}
    script.call("Edit", "a.md", told, old_string="two", new_string="2")
    assert script.hear().writes[0].after == b"one\nTWO, by hand\n"


def test_a_patch_that_does_not_fit_what_is_known_is_not_believed(script: Script) -> None:
    script.call("Write", "a.md", {}, content="one\ntwo\n")
    hunk = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" by hand", "-two", "+three"]}
    script.call("Edit", "a.md", {"originalFile": None, "structuredPatch": [hunk]}, old_string="two", new_string="three")
    edit = script.hear().writes[1]
    assert (edit.before, edit.after) == (None, None)


@pytest.mark.parametrize(
    "patch",
    [
        "x",
        [7],
        [{}],
        [{"oldStart": "1", "lines": []}],
        [{"oldStart": -5, "lines": [7]}],
        [{"oldStart": 10**9, "lines": ["+x"]}],
        [{"oldStart": 1, "lines": ["", "?x"]}],
        [{"oldStart": 1, "lines": ["-one", "-two", "-", "-more"]}],
        [{"oldStart": 1, "lines": ["\\ No newline at end of file"]}],
    ],
)
def test_a_patch_of_any_shape_harms_nothing(script: Script, patch: object) -> None:
    told = {"originalFile": "one\ntwo\n", "structuredPatch": patch}
    script.call("Edit", "a.md", told, old_string="two", new_string="2")
    assert script.hear().writes[0].after == b"one\n2\n"


def test_a_result_that_is_only_an_error_in_words_did_not_happen(script: Script) -> None:
    block = script.block("Write", "a.md", content="x")
    script.say("assistant", [block])
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}], toolUseResult="Error: File has not been read yet")
    heard = script.hear()
    assert (heard.writes, heard.failed) == ([], 1)


def test_a_time_that_no_calendar_has_is_none(script: Script) -> None:
    block = script.block("Write", "a.md", content="x")
    script.say("assistant", [block], timestamp="9999-12-31T23:59:59Z")
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}], timestamp="9999-12-31T23:59:59Z")
    assert script.hear().writes[0].at_us == 0


def test_a_call_without_a_time_was_made_when_its_result_came(script: Script) -> None:
    script.say("assistant", [script.block("Write", "a.md", content="x")], timestamp=None)
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}])
    assert script.hear().writes[0].at_us == 1_790_848_860_000_000


def test_a_note_that_was_moved_is_told_of_under_its_old_name_and_is_not_gone(memory: Engine, script: Script) -> None:
    (script.folder / "old.md").write_text("tea\n")
    memory.reconcile()
    memory.execute(
        {"command": "rename", "old_path": "/memories/old.md", "new_path": "/memories/new.md"}, actor=memtui.Person()
    )
    script.ask("Remember tea")
    script.call("Write", "old.md", {}, content="tea\n")
    memory.imports.record(script.hear().writes)
    assert memory.history.find_deleted() == []
    (origin,) = find_origins(memory, "new.md", b"tea\n", state=None)
    assert origin.asked.prompt == "Remember tea"
    assert any(row.imported is not None for row in memory.history.versions_of("new.md", imported=True))


def test_what_is_told_later_of_the_name_that_a_note_left_is_another_notes(memory: Engine, script: Script) -> None:
    (script.folder / "old.md").write_text("tea\n")
    memory.reconcile()
    memory.execute(
        {"command": "rename", "old_path": "/memories/old.md", "new_path": "/memories/new.md"}, actor=memtui.Person()
    )
    block = script.block("Write", "old.md", content="tea\n")
    script.say("assistant", [block], timestamp="2999-01-01T00:00:00Z")
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}])
    memory.imports.record(script.hear().writes)
    assert memory.history.get_imported_versions("new.md") == []


def test_a_text_that_was_redacted_does_not_come_back_with_another_session(memory: Engine, script: Script) -> None:
    script.call("Write", "a.md", {}, content="the word is swordfish\n")
    memory.imports.record(script.hear().writes)
    memory.redact(match="swordfish", reason="a secret")
    script.call("Edit", "a.md", {"originalFile": "the word is swordfish\n"}, old_string="swordfish", new_string="gone")
    memory.imports.record(memory.imports.filter_unimported(script.hear().writes))
    texts = [memory.history.text(row.after) for row in memory.history.get_imported_versions("a.md")]
    assert texts == [b"the word is gone\n"]


def test_many_writes_are_recorded_without_reading_all_again_for_each_some(memory: Engine) -> None:
    told = [
        ImportedChange(
            path=f"n{n % 50}.md", at_us=n, agent=memtui.Agent("Claude Code"), call_id=f"t{n}", tool="Write", after=b"x"
        )
        for n in range(2_000)
    ]
    reads: list[int] = []
    journal = memory.journal
    original = journal.get_event
    journal.get_event = lambda seq: (reads.append(seq), original(seq))[1]  # type: ignore[method-assign]
    memory.imports.record(told)
    assert len(reads) <= 2 * len(told)


def test_a_line_that_stood_there_before_an_edit_did_not_come_with_it(memory: Engine, script: Script) -> None:
    (script.folder / "a.md").write_text("old\n")
    memory.reconcile()
    (script.folder / "a.md").write_text("old\nnew\n")
    memory.reconcile()
    script.call("Edit", "a.md", {"originalFile": "old\n"}, old_string="old\n", new_string="old\nnew\n")
    memory.imports.record(script.hear().writes)
    old, new = find_origins(memory, "a.md", b"old\nnew\n", state=None)
    assert (old.is_imported, new.is_imported) == (False, True)
    rows = memory.history.versions_of("a.md", imported=True)
    assert [(row.sign, row.imported is not None) for row in rows] == [("~", True), ("+", False)]


def test_where_the_write_before_was_redacted_an_edit_is_not_blamed_for_its_lines(
    memory: Engine, script: Script
) -> None:
    script.call("Write", "a.md", {}, content="old\nswordfish\n")
    script.call("Edit", "a.md", {"originalFile": "old\nswordfish\n"}, old_string="swordfish\n", new_string="new\n")
    memory.imports.record(script.hear().writes)
    memory.redact(match="swordfish", reason="a secret")
    assert [row is None for row in memory.history.blame_imported("a.md", b"old\nnew\n")] == [True, True]


# What the shell did


def _gone(script: Script) -> list[str]:
    return [told.path for told in script.hear().writes if told.is_gone]


def test_a_removal_is_told_and_the_note_is_restored_with_its_last_text(memory: Engine, script: Script) -> None:
    script.call("Write", "tea.md", {}, content="black\n")
    script.call("Edit", "tea.md", {}, old_string="black", new_string="green")
    script.ask("Forget the tea")
    script.run(f"rm {script.folder}/tea.md")
    removal = script.hear().writes[-1]
    assert (removal.path, removal.tool, removal.is_gone) == ("tea.md", "rm", True)
    assert (removal.before, removal.after, removal.prompt) == (b"green\n", None, "Forget the tea")
    memory.imports.record(script.hear().writes)
    (deleted,) = memory.history.find_deleted()
    assert (deleted.path, deleted.imported_us, deleted.event.note) == (
        "tea.md",
        removal.at_us,
        "rm, from a session file",
    )
    assert [row.sign for row in memory.history.versions_of("tea.md", imported=True)] == ["-", "~", "+"]
    memory.restore({"tea.md": deleted.version})
    assert (script.folder / "tea.md").read_text() == "green\n"
    assert memory.history.find_deleted() == []
    assert [row.sign for row in memory.history.versions_of("tea.md", imported=True)] == ["+", "-", "~", "+"]


def test_a_deletion_that_was_only_found_is_told_who_made_it(memory: Engine, script: Script) -> None:
    (script.folder / "a.md").write_text("a\n")
    memory.reconcile()
    (script.folder / "a.md").unlink()
    memory.reconcile()
    script.call("Bash", "", {"stdout": "", "stderr": ""}, command=f"rm {script.folder}/a.md")
    memory.imports.record([replace(script.hear().writes[0], at_us=memory.history.versions_of("a.md")[0].event.at_us)])
    newest, oldest = memory.history.versions_of("a.md", imported=True)
    assert (newest.sign, newest.event.is_outside, newest.actor.name) == ("-", True, "Claude Code")
    assert oldest.imported is None


@pytest.mark.parametrize(
    ("failed", "told"),
    [
        (True, {}),
        (False, {"interrupted": True}),
        (False, {"backgroundTaskId": "b"}),
        (False, {"returnCodeInterpretation": "No matches found"}),
    ],
)
def test_a_command_that_may_have_failed_removed_nothing(script: Script, failed: bool, told: dict[str, Any]) -> None:
    script.run(f"rm {script.folder}/a.md", failed=failed, **told)
    assert script.hear().writes == []


def test_of_two_commands_the_output_tells_whether_the_first_one_failed(script: Script) -> None:
    script.run(f"rm {script.folder}/a.md; ls", stdout="rm: cannot remove 'a.md'")
    script.run(f"rm {script.folder}/b.md; ls", stdout="c.md")
    assert _gone(script) == ["b.md"]


def test_a_command_in_the_background_tells_nothing(script: Script) -> None:
    script.call("Bash", "", {"stdout": ""}, command=f"rm {script.folder}/a.md", run_in_background=True)
    assert script.hear().writes == []


def test_commands_are_read_where_they_were_run_and_elsewhere_are_none_of_ours(script: Script) -> None:
    for number, command in enumerate(("rm a.md", "cd /elsewhere && rm b.md", "rm /etc/c.md", "rm ../memory_bak/d.md")):
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        script.say("assistant", [block], cwd=str(script.folder))
        result = {"type": "tool_result", "tool_use_id": f"t{number}"}
        script.say("user", [result], toolUseResult={"stdout": "", "stderr": ""})
    assert _gone(script) == ["a.md"]


def test_a_directory_goes_with_what_is_told_to_be_in_it(script: Script) -> None:
    for name in ("old/a.md", "old/b/c.md", "older/d.md"):
        script.call("Write", name, {}, content=name)
    script.run(f"rm -r {script.folder}/old")
    assert _gone(script) == ["old/a.md", "old/b/c.md"]
    script.run(f"rm -rf {script.folder.parent}")
    assert _gone(script)[2:] == ["older/d.md"]


def test_a_removal_of_all_below_names_no_directory_that_nobody_told_of(script: Script) -> None:
    script.run(f"rm -rf {script.folder}/unknown {script.folder}/b.md")
    assert _gone(script) == ["b.md"]


def test_a_copy_is_told_to_have_come_with_its_call(memory: Engine, script: Script) -> None:
    script.call("Write", "a.md", {}, content="a\n")
    script.ask("Copy it")
    script.run(f"cp {script.folder}/a.md {script.folder}/b.md")
    (script.folder / "b.md").write_text("a\n")
    memory.reconcile()
    memory.imports.record(script.hear().writes)
    (origin,) = find_origins(memory, "b.md", b"a\n", state=None)
    assert origin.asked.prompt == "Copy it"


def test_a_move_is_one_note_under_two_names(memory: Engine, script: Script) -> None:
    script.ask("Remember tea")
    script.call("Write", "old.md", {}, content="tea\n")
    script.ask("Call it better")
    script.run(f"mv {script.folder}/old.md {script.folder}/new.md")
    made, gone = script.hear().writes[1:]
    assert (made.path, made.after, made.moved_from) == ("new.md", b"tea\n", "old.md")
    assert (gone.path, gone.is_gone, gone.moved_to) == ("old.md", True, "new.md")
    (script.folder / "new.md").write_text("tea\n")
    memory.reconcile()
    memory.imports.record(script.hear().writes)
    assert memory.history.find_deleted() == []
    (origin,) = find_origins(memory, "new.md", b"tea\n", state=None)
    assert origin.asked.prompt == "Remember tea"
    assert [row.sign for row in memory.history.versions_of("old.md", imported=True)] == [">", "+"]


def test_what_is_moved_out_of_the_folder_is_gone_and_can_be_restored(memory: Engine, script: Script) -> None:
    script.call("Write", "a.md", {}, content="a\n")
    script.run(f"mv {script.folder}/a.md /elsewhere/")
    memory.imports.record(script.hear().writes)
    (deleted,) = memory.history.find_deleted()
    assert (deleted.path, deleted.is_stored) == ("a.md", True)


def test_a_target_that_may_be_a_directory_is_not_guessed(script: Script) -> None:
    script.call("Write", "a.md", {}, content="a\n")
    script.call("Write", "known/b.md", {}, content="b\n")
    script.run(f"mv {script.folder}/a.md {script.folder}/somewhere")
    script.run(f"cp {script.folder}/known/b.md {script.folder}")
    script.run(f"mv {script.folder}/b.md {script.folder}/known")
    told = [(each.path, each.is_gone, each.after) for each in script.hear().writes[2:]]
    assert told == [("a.md", True, None), ("b.md", False, b"b\n"), ("known/b.md", False, b"b\n"), ("b.md", True, None)]


def test_texts_are_told_through_copies_and_here_documents(script: Script) -> None:
    folder = script.folder
    script.run(f"cat > {folder}/a.md <<'EOF'\none\nEOF\n")
    script.run(f"cp {folder}/a.md {folder}/b.md && echo two >> {folder}/b.md")
    script.run(f"echo more >> {folder}/unknown.md")
    script.run(f"cp /elsewhere/x.md {folder}/x.md")
    told = {each.path: each.after for each in script.hear().writes}
    assert told == {"a.md": b"one\n", "b.md": b"one\ntwo\n", "unknown.md": None, "x.md": None}


def test_a_text_that_nobody_tells_is_neither_gone_nor_nothing(memory: Engine, script: Script) -> None:
    script.call("Edit", "a.md", {}, old_string="one", new_string="1")
    script.call("Write", "a.md", {}, content="two\n")
    memory.imports.record(script.hear().writes)
    rows = memory.history.versions_of("a.md", imported=True)
    assert [row.sign for row in rows] == ["~", "~"]
    assert [memory.history.text(row.after) for row in rows] == [b"two\n", None]


def test_a_notebook_is_told_as_its_result_notes_it(script: Script) -> None:
    told = {"original_file": "{}", "updated_file": '{"cells": []}'}
    script.call("NotebookEdit", "", told, notebook_path=str(script.folder / "n.ipynb"), new_source="x")
    (edit,) = script.hear().writes
    assert (edit.path, edit.tool, edit.before, edit.after) == ("n.ipynb", "NotebookEdit", b"{}", b'{"cells": []}')


# Who asked


@pytest.mark.parametrize(
    ("more", "prompt"),
    [
        ({"origin": {"kind": "human"}}, "hello"),
        ({"origin": {"kind": "peer", "from": "a1"}}, "before"),
        ({"origin": {"kind": "task-notification"}}, "before"),
        ({"attachment": {"prompt": "hello", "commandMode": "prompt"}}, "hello"),
        ({"attachment": {"prompt": [{"type": "text", "text": "hello"}]}}, "hello"),
        ({"attachment": {"prompt": "x", "origin": {"kind": "peer"}}}, "before"),
        ({"attachment": {"prompt": "x", "commandMode": "task-notification"}}, "before"),
        ({"attachment": {"type": "file", "prompt": "x"}}, "before"),
        ({"attachment": ["queued_command"]}, "before"),
    ],
)
def test_a_prompt_is_what_a_person_wrote_also_while_the_agent_was_at_work(
    script: Script, more: dict[str, Any], prompt: str
) -> None:
    script.ask("before")
    attached = more.get("attachment")
    if isinstance(attached, dict):
        more = {"attachment": {"type": "queued_command", **attached}}
    script.say("user" if attached is None else "attachment", "hello", **more)
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == prompt


def test_what_stands_behind_a_reminder_is_the_prompt(script: Script) -> None:
    script.ask(" <system-reminder>be calm</system-reminder>\n<system-reminder>x</system-reminder>\nRemember tea")
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == "Remember tea"


def test_many_lines_that_are_no_prompts_do_not_hide_the_prompt(script: Script) -> None:
    script.ask("Remember tea")
    for _ in range(50):
        script.ask("<task-notification>done</task-notification>")
    script.call("Write", "a.md", {}, content="x")
    assert script.hear().writes[0].prompt == "Remember tea"


def test_subagents_of_one_file_are_told_apart(script: Script) -> None:
    for agent in ("a", "b"):
        script.say("user", f"task of {agent}", isSidechain=True, agentId=agent)
    script.say("assistant", [script.block("Write", "a.md", content="x")], isSidechain=True, agentId="a")
    script.say("user", [{"type": "tool_result", "tool_use_id": "t"}], isSidechain=True, agentId="a")
    assert script.hear().writes[0].prompt == "task of a"


def test_a_call_is_told_of_the_session_in_which_it_was_made_and_not_of_its_branch(
    script: Script, tmp_path: Path
) -> None:
    script.call("Write", "a.md", {}, content="one\n")
    lines = [json.loads(line) | {"sessionId": "a-branch"} for line in script.path.read_bytes().splitlines()]
    branch = tmp_path / "app" / "a-branch.jsonl"  # before the other one by its name
    copied = [json.dumps({**line, "forkedFrom": {"sessionId": "s-1", "messageUuid": "m"}}) for line in lines]
    branch.write_text("\n".join(copied) + "\n")
    (told,) = scan_transcripts(str(script.folder), [str(branch), str(script.path)]).writes
    assert (told.source, told.agent.session) == ("s-1.jsonl", "s-1")


def test_an_empty_line_came_with_the_write_that_first_had_one(memory: Engine, script: Script) -> None:
    script.ask("First")
    script.call("Write", "a.md", {}, content="one\n")
    script.ask("Second")
    script.call("Write", "a.md", {}, content="one\r\n\r\ntwo")
    memory.imports.record(script.hear().writes)
    data = b"one\n\ntwo\n"
    assert [origin.asked.prompt for origin in find_origins(memory, "a.md", data, state=None)] == [
        "First",
        "Second",
        "Second",
    ]


def test_what_a_person_wrote_is_not_said_to_be_an_agents_because_it_wrote_the_same(
    memory: Engine, script: Script
) -> None:
    memory.execute({"command": "create", "path": "/memories/a.md", "file_text": "tea\n"}, actor=memtui.Person())
    script.ask("Remember tea")
    script.call("Write", "a.md", {}, content="tea\n")
    memory.imports.record(script.hear().writes)
    (origin,) = find_origins(memory, "a.md", b"tea\n", state=None)
    assert isinstance(origin.event, Event)
    assert (origin.event.actor, origin.asked.prompt) == (memtui.Person(), "")


def test_a_change_that_an_agent_claimed_late_is_the_agents_in_origin_and_blame(memory: Engine, script: Script) -> None:
    (script.folder / "a.md").write_text("tea\n")
    memory.reconcile()
    (script.folder / "a.md").write_text("tea\nmilk\n")
    memory.reconcile()
    agent = memtui.Agent("Claude Code", session="s-1")
    assert memory.claims.claim("a.md", actor=agent, call_id="toolu_1", hashes=[sha256(b"tea\nmilk\n")], note="Edit")
    found, claimed = find_origins(memory, "a.md", b"tea\nmilk\n", state=None)
    assert found.event is not None
    assert claimed.event is not None
    assert found.event.is_outside
    assert (claimed.event.actor, claimed.event.call_id) == (agent, "toolu_1")
    data = b"tea\nmilk\n"
    blame = memory.history.apply_claims(memory.history.blame("a.md", data))
    assert [event.actor.name for event in blame.lines if event] == ["outside", "Claude Code"]


def test_prompts_of_many_calls_of_a_session_are_found_in_one_reading(
    claude: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = memtui.Agent("Claude Code", session="s-1")
    events = []
    for number in range(20):
        claude.ask(f"Prompt {number}")
        call_id = claude.call("Write", f"{number}.md", {}, content="x")
        events.append(Event(at_us=1, actor=agent, command="created", path="/memories/x", call_id=call_id, seq=number))
    opened: list[object] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *more, **named: (opened.append(path), real(path, *more, **named))[1])
    found = find_prompts(events, None)
    assert [found[number].prompt for number in range(20)] == [f"Prompt {number}" for number in range(20)]
    assert opened.count(str(claude.path)) == 1
    assert find_prompts(events, None, most_bytes=1) == {}


def test_the_prompt_of_a_subagents_call_is_found_in_the_subagents_file(claude: Script) -> None:
    agents = claude.path.parent / "s-1" / "subagents"
    agents.mkdir(parents=True)
    own, claude.path = claude.path, agents / "agent-a.jsonl"
    claude.say("user", "Look at the tea", isSidechain=True, agentId="a")
    claude.say("assistant", [claude.block("Write", "a.md", content="x")], isSidechain=True, agentId="a")
    own.write_text("{}\n")
    agent = memtui.Agent("Claude Code", session="s-1")
    event = Event(at_us=1, actor=agent, command="created", path="/memories/a.md", call_id="t", seq=1)
    assert find_prompt(event, None) == ("Look at the tea", "agent-a.jsonl:2")


@pytest.mark.parametrize("session", ["../../x", "a/b", "*", "\0", "..", ""])
def test_a_session_of_any_name_leads_nowhere_else(claude: Script, session: str) -> None:
    claude.ask("Remember tea")
    call_id = claude.call("Write", "a.md", {}, content="x")
    agent = memtui.Agent("Claude Code", session=session)
    event = Event(at_us=1, actor=agent, command="created", path="/memories/a.md", call_id=call_id, seq=1)
    assert find_prompt(event, Path("/nowhere")) == ("", "")


# Files


@pytest.mark.usefixtures("claude")
def test_session_files_are_found_in_every_directory_of_configuration_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [
        ".claude/projects/-srv-app/s-1/subagents/agent-a.jsonl",
        ".claude/projects/-srv-app/s-1.jsonl",
        ".claude-work/projects/-srv-b/s-2.jsonl",
        ".config/claude/projects/-srv-c/s-3.jsonl",
        "named/projects/-srv-d/s-4.jsonl",
    ]
    for name in places:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "named"))
    kept = tmp_path / ".claude" / "projects"
    (kept / "-srv-linked").symlink_to(kept / "-srv-app")
    (kept / "-srv-app" / "loop").symlink_to(kept)
    (kept / "-srv-app" / "memory" / "note.jsonl").write_text("{}\n")
    (kept / "-srv-app" / "s-1" / "tool-results").mkdir()
    (kept / "-srv-app" / "s-1" / "tool-results" / "x.jsonl").write_text("{}\n")
    found = {os.path.realpath(path) for path in list_session_files()}
    assert found == {str(tmp_path / name) for name in places}
    assert len(list_session_files()) == len(places)


@pytest.mark.usefixtures("claude")
def test_the_sessions_beside_a_memory_are_found_wherever_it_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "copy" / "projects" / "-srv-app" / "memory"
    folder.mkdir(parents=True)
    (folder.parent / "s-9.jsonl").write_text("{}\n")
    assert list_session_files() == []
    assert list_session_files(str(folder)) == [str(folder.parent / "s-9.jsonl")]


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b"\n\n", b"\0\n", b"\r\n"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_lines_of_other_programs_are_read_as_well(script: Script, start: bytes, end: bytes) -> None:
    script.call("Write", "a.md", {}, content="a")
    script.path.write_bytes(start + script.path.read_bytes().replace(b"\n", end))
    assert [told.after for told in script.hear().writes] == [b"a"]


def test_a_file_that_grows_while_it_is_read_is_read_as_far_as_it_is_whole(script: Script) -> None:
    script.call("Write", "a.md", {}, content="a")
    whole = script.path.read_bytes()

    def grow(_: int) -> bool:
        with script.path.open("ab") as file:
            file.write(b'{"half')
        return len(script.path.read_bytes()) < len(whole) + 1_000

    with pytest.raises(ReadCancelled):
        scan_transcripts(str(script.folder), [str(script.path)], grow)
    heard = script.hear()
    assert (len(heard.writes), heard.broken) == (1, 0)


def test_edits_that_say_a_text_doubles_again_and_again_are_not_followed(script: Script) -> None:
    edits = [{"old_string": "a", "new_string": "aa", "replace_all": True}] * 60
    script.call("MultiEdit", "a.md", {"originalFile": "a"}, edits=edits)
    assert script.hear().writes[0].after is None


# Importing


def test_who_dies_while_recording_leaves_nothing_that_is_imported_twice(memory: Engine, script: Script) -> None:
    for number in range(3):
        script.call("Write", f"{number}.md", {}, content=str(number))
    told = script.hear().writes
    real = memory.journal.append_events

    def die(*given: Any, **named: Any) -> Any:
        real(*given, **named)
        raise KeyboardInterrupt

    memory.journal.append_events = die  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        memory.imports.record(told)
    memory.journal.append_events = real  # type: ignore[method-assign]
    assert memory.imports.filter_unimported(told) == []
    assert len(memory.history.find_deleted()) == 3


def test_an_import_that_was_stopped_says_how_far_it_came_and_goes_on(
    claude: Script, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(210):
        claude.call("Write", f"{number}.md", {}, content=str(number))
    where = ["-C", str(claude.folder)]
    real = ImportRecorder._record_batch

    def interrupted(self: ImportRecorder, *given: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return real(self, *given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ImportRecorder, "_record_batch", interrupted)
        assert main(["import-transcripts", *where]) == 130
    assert "Stopped: 200 changes of 210 are imported" in capfd.readouterr().err
    assert main(["import-transcripts", *where]) == 0
    assert "Imported 10 writes" in capfd.readouterr().out


def test_the_verb_tells_removals_and_what_they_leave(claude: Script, capfd: pytest.CaptureFixture[str]) -> None:
    claude.call("Write", "a.md", {}, content="a\n")
    claude.run(f"rm {claude.folder}/a.md")
    where = ["-C", str(claude.folder)]
    assert main(["import-transcripts", *where, "-n", "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert [(each["tool"], each["removed"]) for each in document["new"]] == [("Write", False), ("rm", True)]
    assert main(["import-transcripts", *where]) == 0
    captured = capfd.readouterr()
    assert "Imported 1 write and 1 removal of 1 note" in captured.out
    assert "text is not told" not in captured.err
    assert main(["restore", *where, "a.md"]) == 0
    assert "as of #1 (Claude Code, 2026-10-01 " in capfd.readouterr().out
    assert (claude.folder / "a.md").read_text() == "a\n"
