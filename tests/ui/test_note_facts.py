"""What is said of a note in its details."""

from pathlib import Path

import pytest

import memtui
from memtui.core.events import ImportedChange
from memtui.ui.links import collect_facts


def test_the_path_of_the_file_is_written_from_the_persons_own_directory_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    for folder, shown in (("ann/memories", "~/memories/a.md"), ("anna/memories", f"{tmp_path}/anna/memories/a.md")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text("a\n")
        with memtui.open(tmp_path / folder, state=tmp_path / f"state of {folder.partition('/')[0]}") as engine:
            facts = collect_facts(engine, "a.md", folder=str(tmp_path / folder), now_us=0)
        assert {fact.name: fact.value for fact in facts}["file"] == shown


def test_the_details_lead_to_the_session_and_the_prompt_of_the_last_write(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    told = ImportedChange(
        path="a.md",
        at_us=1,
        agent=memtui.Agent("Claude Code", None, "s-1"),
        call_id="toolu_1",
        tool="Write",
        prompt="Keep\x1b[2J this",
        source="s-1.jsonl",
        line=3,
        after=b"kept\n",
    )
    (tmp_path / "memories" / "a.md").write_bytes(b"kept\n")
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as memory:
        memory.imports.record([told])
        facts = {fact.name: fact.value for fact in collect_facts(memory, "a.md", folder="/m", now_us=2)}
    assert facts["written by"] == "Claude Code, Write"
    assert (facts["session"], facts["source"]) == ("s-1", "s-1.jsonl:3")
    assert facts["prompt"] == "Keep\\x1b[2J this"


def test_the_details_tell_who_removed_what_is_gone(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    agent = memtui.Agent("Claude Code", None, "s-1")
    made = ImportedChange(path="a.md", at_us=1, agent=agent, call_id="toolu_1", tool="Write", after=b"kept\n")
    gone = ImportedChange(
        path="a.md", at_us=2, agent=agent, call_id="toolu_2", tool="rm", prompt="Forget it", is_gone=True
    )
    with memtui.open(tmp_path / "memories", state=tmp_path / "state") as memory:
        memory.imports.record([made, gone])
        facts = {fact.name: fact.value for fact in collect_facts(memory, "a.md", folder="/m", now_us=3)}
    assert (facts["deleted by"], facts["prompt"]) == ("Claude Code, rm", "Forget it")
