"""Who brought in what was found, and when; and that it is said where nobody knows."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memtui
from memtui import memory as memory_module
from memtui.audit.context import AuditContext
from memtui.audit.model import UNKNOWN, Audit, Family, FindingOrigin, Hit
from memtui.audit.runner import run_audit
from memtui.core.events import ImportedChange, sha256
from tests.audit.families import Whole, Words, rule

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
TODO = Words((rule("todo"), r"TODO[^\n]*"))
Look = Callable[..., Audit]


@pytest.fixture
def look(folder: Path, tmp_path: Path) -> Look:
    def look(*families: Any, state: Path | None = None) -> Audit:
        with memory_module.observe(folder, state=state or tmp_path / "state", look=False) as observer:
            return run_audit(observer, title="m", families=families or (TODO,))

    return look


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Iterator[memtui.Engine]:
    with memtui.open(folder, state=tmp_path / "state") as memory:
        yield memory


def do(memory: memtui.Engine, call_id: str | None = None, actor: Any = CLAUDE, **command: object) -> int:
    answer = memory.execute(command, actor=actor, call_id=call_id)
    assert not answer.is_error, answer.text
    return answer.event.seq


def origins(found: Audit) -> list[FindingOrigin]:
    return [each.origin for each in found.findings]


def test_each_line_has_its_own_origin(memory: memtui.Engine, look: Look) -> None:
    first = do(memory, "toolu_1", command="create", path="/memories/a.md", file_text="TODO one\n\nplain\n")
    second = do(
        memory,
        "toolu_2",
        memtui.Person(),
        command="insert",
        path="/memories/a.md",
        insert_line=0,
        insert_text="TODO two\n",
    )
    one, two = origins(look())  # an agent comes before the person
    assert (one.actor, one.seq, one.command, one.session, one.call_id) == (
        "Claude", first, "create", "session-1", "toolu_1",
    )  # fmt: skip
    assert (two.actor, two.seq, two.command, two.session, two.call_id) == ("you", second, "insert", None, "toolu_2")
    assert one.is_exact
    assert one.is_known
    event = memory.history.get_event(first)
    assert event is not None
    assert one.at_us == event.at_us


def test_a_note_that_was_renamed_keeps_who_wrote_its_lines(memory: memtui.Engine, look: Look) -> None:
    first = do(memory, command="create", path="/memories/a.md", file_text="TODO\n")
    do(memory, actor=memtui.Person(), command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    assert [(each.actor, each.seq) for each in origins(look())] == [("Claude", first)]


def test_without_a_journal_it_is_not_known(folder: Path, look: Look) -> None:
    (folder / "a.md").write_text("TODO\n")
    assert origins(look()) == [UNKNOWN]
    assert not UNKNOWN.is_known


def test_what_was_there_at_the_first_look_is_said_to_have_been_there(folder: Path, tmp_path: Path, look: Look) -> None:
    (folder / "a.md").write_text("TODO\n")
    with memtui.open(folder, state=tmp_path / "state") as memory:
        first = memory.history.get_event(1)
    assert first is not None
    (origin,) = origins(look())
    assert (origin.is_known, origin.is_exact) == (False, False)
    assert (origin.actor, origin.seq, origin.command, origin.at_us) == ("", 1, "found", first.at_us)


def test_what_changed_outside_is_told_with_its_event_once_it_is_recorded(
    folder: Path, memory: memtui.Engine, look: Look
) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="one\n")
    (folder / "a.md").write_text("one\nTODO\n")
    (origin,) = origins(look())
    assert (origin.actor, origin.seq, origin.is_known, origin.is_exact) == ("outside", None, True, False)
    memory.reconcile()
    (origin,) = origins(look())
    assert (origin.actor, origin.seq, origin.command, origin.is_exact) == ("outside", 2, "modified", True)


def test_a_change_that_an_agent_claimed_late_is_the_agents(folder: Path, memory: memtui.Engine, look: Look) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="one\n")
    (folder / "a.md").write_text("one\nTODO\n")
    memory.reconcile()
    claimed = memory.claims.claim("a.md", actor=CLAUDE, call_id="toolu_9", hashes=[sha256(b"one\nTODO\n")], note="Edit")
    assert claimed is not None
    (origin,) = origins(look())
    assert (origin.actor, origin.session, origin.call_id, origin.command) == (
        "Claude",
        "session-1",
        "toolu_9",
        "modified",
    )
    assert origin.seq == 2


def test_where_earlier_texts_are_gone_a_line_may_be_older(memory: memtui.Engine, look: Look) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="secret\n")
    second = do(memory, command="str_replace", path="/memories/a.md", old_str="secret\n", new_str="TODO\n")
    third = do(memory, command="insert", path="/memories/a.md", insert_line=1, insert_text="TODO\n")
    memory.redact(match="secret", reason="a test")
    older, newer = origins(look())
    assert (older.seq, older.is_exact) == (second, False)
    assert (newer.seq, newer.is_exact) == (third, True)


def named(path: str, rule_id: str = "link-leaves", **given: object) -> Whole:
    def find(subject: AuditContext) -> Iterator[Hit]:
        del subject
        yield Hit(rule=rule_id, path=path, words="it is", **given)  # type: ignore[arg-type]

    return Whole(rule(rule_id, Family.INTEGRITY), find)


def test_a_link_is_by_whoever_made_it(folder: Path, memory: memtui.Engine, look: Look) -> None:
    (folder / "link").symlink_to("/elsewhere")
    memory.reconcile()
    (origin,) = origins(look(named("link")))
    assert (origin.actor, origin.seq, origin.command) == ("outside", 1, "created")


def test_a_name_is_by_whoever_gave_it_and_what_a_file_holds_by_who_changed_it_last(
    memory: memtui.Engine, look: Look
) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="x\n")
    renamed = do(memory, actor=memtui.Person(), command="rename", old_path="/memories/a.md", new_path="/memories/b.md")
    last = do(memory, command="insert", path="/memories/b.md", insert_line=0, insert_text="y\n")
    assert [each.seq for each in origins(look(named("b.md", "hidden-file")))] == [renamed]
    assert [each.seq for each in origins(look(named("b.md", "over-limit")))] == [last]


def test_a_rule_may_name_the_event_that_it_is_about(memory: memtui.Engine, look: Look) -> None:
    first = do(memory, "toolu_1", command="create", path="/memories/a.md", file_text="x\n")
    do(memory, command="delete", path="/memories/a.md")
    (origin,) = origins(look(named("", "outside-change", facts={"seq": first})))
    assert (origin.seq, origin.call_id) == (first, "toolu_1")
    assert origins(look(named("", "outside-change", facts={"seq": 99}))) == [UNKNOWN]


def test_the_folder_itself_is_by_nobody(memory: memtui.Engine, look: Look) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="x\n")
    assert origins(look(named("", "no-journal"))) == [UNKNOWN]


def test_what_is_gone_or_never_was_is_by_nobody(memory: memtui.Engine, look: Look) -> None:
    do(memory, command="create", path="/memories/a.md", file_text="x\n")
    do(memory, command="delete", path="/memories/a.md")
    assert origins(look(named("a.md", "over-limit"))) == [UNKNOWN]
    assert origins(look(named("never.md", "over-limit"))) == [UNKNOWN]


def test_an_agent_that_calls_itself_you_is_not_shown_as_the_person(memory: memtui.Engine, look: Look) -> None:
    do(memory, actor=memtui.Agent("you"), command="create", path="/memories/a.md", file_text="TODO\n")
    assert [each.actor for each in origins(look())] == ["agent:you"]


def test_what_a_session_file_told_afterwards_says_who_brought_a_line_in(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "a.md").write_text("one\nSee [that](nowhere.md).\n")
    told = ImportedChange(
        path="a.md",
        at_us=1_000_000,
        agent=memtui.Agent("Claude Code", None, "s-1"),
        call_id="toolu_1",
        tool="Write",
        source="s-1.jsonl",
        line=3,
        after=b"one\nSee [that](nowhere.md).\n",
    )
    with memtui.open(folder, state=tmp_path / "state") as memory:
        memory.imports.record([told])
        (finding,) = run_audit(memory, title="m", only=["dead-link"]).findings
    origin = finding.origin
    assert (origin.actor, origin.session, origin.call_id, origin.at_us) == ("Claude Code", "s-1", "toolu_1", 1_000_000)
    assert origin.command == "Write, from a session file"
