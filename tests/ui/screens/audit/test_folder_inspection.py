"""What stands behind the screen over a real folder: it looks, marks, exports, and reads the record anew."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.core.errors import MemoryClosed, MemtuiError
from memtui.core.events import Agent
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import LocalWriter
from memtui.review.folder_inspection import FolderInspection, ReviewOptions
from memtui.review.inbox import Inbox, ReviewVerdict
from memtui.review.inspection import FORMATS, AuditCallbacks
from tests.ui.conftest import fill
from tests.ui.screens.audit.made import secret

CLARA = Agent("Clara", session="session-1")


class Told:
    """What an audit tells while it goes on."""

    def __init__(self) -> None:
        self.progress: list[tuple[str, int, int]] = []
        self.inboxes: list[Inbox] = []
        self.found: list[object] = []

    @property
    def callbacks(self) -> AuditCallbacks:
        """As the inspection takes it."""
        return AuditCallbacks(
            lambda *each: self.progress.append(each), self.inboxes.append, self.found.extend, lambda: False
        )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory with a record."""
    place = tmp_path / "memories"
    fill(place, {"a.md": "# A\n\n- one\n- two\n- three\n- four\n- five\n", "key.md": f"the key is {secret()}\n"})
    with memtui.open(place, state=tmp_path / "state") as memory:
        memory.execute({"command": "create", "path": "/memories/b.md", "file_text": "# B\n"}, actor=CLARA)
    return place


@contextmanager
def _inspect(folder: Path, tmp_path: Path) -> Iterator[FolderInspection]:
    state = str(tmp_path / "state")
    wanted = ReviewOptions(
        folder=str(folder), title="~/m", review=str(tmp_path / "r.json"), reviewer="ada", state=state
    )
    look = partial(memory_module.observe, folder, state=state, look=False)
    made = FolderInspection(wanted, look, LocalWriter(ExportWriter(folder, state)))
    made.open_folder()
    with closing(made):
        yield made


@pytest.fixture
def inspection(folder: Path, tmp_path: Path) -> Iterator[FolderInspection]:
    """The memory, audited alone."""
    with _inspect(folder, tmp_path) as made:
        yield made


def end(inspection: FolderInspection) -> None:
    """Look, and end the review over what there is."""
    audit = inspection.run_audit(Told().callbacks)
    assert audit.inbox is not None
    inspection.finish(audit.inbox, audit)


def test_what_changed_after_it_was_shown_is_not_reviewed_by_the_end_of_the_review(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with memtui.open(folder, state=state) as memory:
        wanted = ReviewOptions(
            folder=os.fspath(folder),
            title="~/m",
            review=os.fspath(tmp_path / "r.json"),
            reviewer="ada",
            state=os.fspath(state),
        )
        inspection = FolderInspection(wanted, lambda: memory, LocalWriter(ExportWriter(folder, state)), engine=memory)
        inspection.open_folder()
        audit = inspection.run_audit(Told().callbacks)
        shown = audit.inbox
        assert shown is not None
        memory.execute({"command": "create", "path": "/memories/late.md", "file_text": "late\n"}, actor=CLARA)
        inspection.finish(shown, audit)
        after = inspection.run_audit(Told().callbacks).inbox
        assert after is not None
        assert [each.path for each in after.files] == ["late.md"]
        with pytest.raises(MemtuiError, match="a file changed since it was shown"):
            inspection.finish(shown, audit)
        inspection.close()


@pytest.mark.parametrize("live", [False, True])
def test_it_keeps_which_notes_are_clean_for_the_next_audit(live: bool, folder: Path, tmp_path: Path) -> None:
    state, kept = tmp_path / "state", tmp_path / "state" / "clean-notes.json"
    wanted = ReviewOptions(
        folder=str(folder), title="~/m", review=str(tmp_path / "r.json"), reviewer="ada", state=str(state), cache=kept
    )
    with memtui.open(folder, state=state) as memory:
        look = partial(memory_module.observe, folder, state=state, look=False)
        writer = LocalWriter(ExportWriter(folder, state), kept=[kept])
        inspection = FolderInspection(wanted, look, writer, engine=memory if live else None)
        inspection.open_folder()
        with closing(inspection):
            first = inspection.run_audit(Told().callbacks)
            data = kept.read_bytes()
            assert secret().encode() not in data
            again = inspection.run_audit(Told().callbacks)
            assert [each.fingerprint for each in again.findings] == [each.fingerprint for each in first.findings]
            (folder / "a.md").write_text(f"# A\n\n{secret()}\n")
            found = inspection.run_audit(Told().callbacks).findings
            assert {each.location.path for each in found if each.rule == "anthropic-key"} == {"a.md", "key.md"}
            assert kept.read_bytes() != data


def test_it_tells_the_inbox_and_what_it_finds_before_the_end(inspection: FolderInspection) -> None:
    told = Told()
    audit = inspection.run_audit(told.callbacks)
    assert len(told.inboxes) == 1
    assert {each.rule for each in audit.findings} >= {"anthropic-key"}
    assert set(map(id, told.found)) == set(map(id, audit.findings))
    assert {what for what, _, _ in told.progress} >= {"read", "secret", "hidden"}


def test_what_is_accepted_stays_listed_with_its_mark_until_the_review_ends(inspection: FolderInspection) -> None:
    told = Told()
    inspection.run_audit(told.callbacks)
    file = next(each for each in told.inboxes[0].files if each.path == "b.md")
    inspection.record_verdict([file], ReviewVerdict.ACCEPT)
    audit = inspection.run_audit(told.callbacks)
    again = audit.inbox
    assert again is not None
    assert next(each for each in again.files if each.path == "b.md").verdict is ReviewVerdict.ACCEPT
    inspection.finish(again, audit)
    after = inspection.run_audit(told.callbacks).inbox
    assert after is not None
    assert [each.path for each in after.files] == []


def test_the_last_hunk_that_is_accepted_accepts_the_file(
    inspection: FolderInspection, folder: Path, tmp_path: Path
) -> None:
    end(inspection)
    with memtui.open(folder, state=tmp_path / "state") as memory:
        for old, new in (("- one", "- 1"), ("- five", "- 5")):
            command = {"command": "str_replace", "path": "/memories/a.md", "old_str": old, "new_str": new}
            memory.execute(command, actor=CLARA)
    box = inspection.run_audit(Told().callbacks).inbox
    assert box is not None
    (file,) = box.files
    compared = inspection.compare(file)
    assert len(compared.hunks) == 2
    assert len(inspection.record_verdict([file], ReviewVerdict.ACCEPT, hunk=compared.hunks[0])) == 1
    marks = inspection.record_verdict([file], ReviewVerdict.ACCEPT, hunk=compared.hunks[1])
    assert [bool(mark.hunk) for mark in marks] == [True, False]


def test_what_somebody_recorded_meanwhile_is_known_as_theirs_at_the_next_look(
    inspection: FolderInspection, folder: Path, tmp_path: Path
) -> None:
    end(inspection)
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.execute({"command": "create", "path": "/memories/c.md", "file_text": "# C\n"}, actor=CLARA)
    audit = inspection.run_audit(Told().callbacks)
    assert audit.inbox is not None
    assert [(each.path, each.actors) for each in audit.inbox.files] == [("c.md", ("Clara",))]
    assert not any(each.location.path == "c.md" and each.rule == "outside-change" for each in audit.findings)


@pytest.mark.parametrize("format", FORMATS)
def test_each_report_is_written_outside_and_holds_no_secret(
    inspection: FolderInspection, tmp_path: Path, format: str
) -> None:
    audit = inspection.run_audit(Told().callbacks)
    place = tmp_path / f"report.{FORMATS[format]}"
    inspection.export(audit, format, str(place), force=False)
    text = place.read_text()
    assert "key.md" in text
    assert secret() not in text
    if format in ("json", "sarif"):
        assert json.loads(text)
    with pytest.raises(FileExistsError):
        inspection.export(audit, format, str(place), force=False)
    inspection.export(audit, format, str(place), force=True)


def test_a_report_inside_the_folder_is_refused(inspection: FolderInspection, folder: Path) -> None:
    audit = inspection.run_audit(Told().callbacks)
    with pytest.raises(MemtuiError, match="inside the memory folder"):
        inspection.export(audit, "md", str(folder / "report.md"), force=True)
    assert not (folder / "report.md").exists()


def test_a_change_is_told_while_it_is_watched_and_not_after(inspection: FolderInspection, folder: Path) -> None:
    changed = threading.Event()
    inspection.run_audit(Told().callbacks)
    end = inspection.watch(changed.set)
    fill(folder, {"new.md": "new\n"})
    assert changed.wait(20)
    audit = inspection.run_audit(Told().callbacks)
    assert any(each.location.path == "new.md" for each in audit.findings)
    changed.clear()
    fill(folder, {"newer.md": "newer\n"})
    assert changed.wait(20)
    end()


def test_a_review_file_that_is_no_review_is_told_and_left_as_it_is(
    inspection: FolderInspection, tmp_path: Path
) -> None:
    (tmp_path / "r.json").write_text("no review")
    told = Told()
    inspection.run_audit(told.callbacks)
    assert "r.json" in told.inboxes[0].problem
    with pytest.raises(MemtuiError):
        inspection.record_verdict([told.inboxes[0].files[0]], ReviewVerdict.ACCEPT)
    assert (tmp_path / "r.json").read_text() == "no review"


def test_after_its_end_it_looks_no_more(inspection: FolderInspection) -> None:
    inspection.run_audit(Told().callbacks)
    inspection.close()
    with pytest.raises(MemoryClosed):
        inspection.run_audit(Told().callbacks)


def test_a_moment_that_is_none_is_said_as_a_sentence(folder: Path, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    wanted = ReviewOptions(folder=os.fspath(folder), title="~/m", review=os.fspath(tmp_path / "r.json"), reviewer="ada",
                    state=state, since="900")  # fmt: skip
    made = FolderInspection(
        wanted, partial(memory_module.observe, folder, state=state), LocalWriter(ExportWriter(folder, state))
    )
    made.open_folder()
    with pytest.raises(MemtuiError):
        made.run_audit(Told().callbacks)
    made.close()


def test_the_calls_around_a_change_are_those_of_its_conversation_in_order(folder: Path, tmp_path: Path) -> None:
    other = Agent("Clara", session="session-2")
    with memtui.open(folder, state=tmp_path / "state") as memory:
        for actor, path in ((CLARA, "c.md"), (other, "d.md"), (CLARA, "../e.md"), (CLARA, "f.md")):
            memory.execute({"command": "create", "path": f"/memories/{path}", "file_text": "x\n"}, actor=actor)
        seq = next(event.seq for event in memory.events() if event.path == "/memories/c.md")
    with _inspect(folder, tmp_path) as inspection:
        told = inspection.find_calls(seq)
        paths = [(event.path, event.is_error) for event in told.events]
        assert paths == [
            ("/memories/b.md", False), ("/memories/c.md", False), ("/memories/../e.md", True),
            ("/memories/f.md", False),
        ]  # fmt: skip
        assert (told.seq, told.earlier, told.later, told.prompt) == (seq, 0, 0, "")
        assert inspection.find_calls(10_000).events == ()


def test_what_was_asked_for_is_read_from_the_session_file_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    session = claude / "projects" / "-srv-app" / "session-1.jsonl"
    lines = [
        {"type": "user", "message": {"role": "user", "content": "remember that I moved"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "call-7"}]}},
    ]
    fill(tmp_path, {str(session.relative_to(tmp_path)): "".join(json.dumps(each) + "\n" for each in lines)})
    state = str(tmp_path / "state")
    with memtui.open(folder, state=state) as memory:
        command = {"command": "create", "path": "/memories/c.md", "file_text": "x\n"}
        seq = memory.execute(command, actor=CLARA, call_id="call-7").event.seq
    with _inspect(folder, tmp_path) as inspection:
        assert inspection.find_calls(seq).prompt == "remember that I moved"
        session.unlink()
        assert inspection.find_calls(seq).prompt == "remember that I moved"


def test_the_rules_are_loaded_behind_the_first_paint() -> None:
    modules = "memtui.ui.audit_app, memtui.review.folder_inspection, sys"
    code = f"import {modules}; print('memtui.audit.registry' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
