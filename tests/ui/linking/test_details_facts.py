"""What is said of a note in its details."""

from pathlib import Path

import pytest

import memtui
from memtui.ui.linking.about import facts_of


def test_the_path_of_the_file_is_written_from_the_persons_own_directory_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    for folder, shown in (("ann/memories", "~/memories/a.md"), ("anna/memories", f"{tmp_path}/anna/memories/a.md")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.md").write_text("a\n")
        with memtui.open(tmp_path / folder, state=tmp_path / f"state of {folder.partition('/')[0]}") as engine:
            facts = facts_of(engine, "a.md", folder=str(tmp_path / folder), now_us=0)
        assert {fact.name: fact.value for fact in facts}["file"] == shown
