"""The limits of Letta Code's files, as its own check of a commit has them."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.places.checks import find_refusal
from memtui.places.dialects import recognise_folder
from memtui.places.letta_limits import LettaLimits, PathPattern, read_letta_limits

NOTE = "---\nname: a\ndescription: b\n---\n"
BLOCK = "---\ndescription: b\n---\n"


def limits(tmp_path: Path, name: str = "letta-memfs", **config: object) -> LettaLimits:
    (tmp_path / ".memfs.config.json").write_text(json.dumps({"version": 1, **config}))
    found = read_letta_limits(name, str(tmp_path))
    assert found is not None
    return found


def test_without_a_file_the_limit_is_that_of_the_program(tmp_path: Path) -> None:
    found = read_letta_limits("letta-memfs", str(tmp_path))
    assert found is not None
    assert [found.get_most(path) for path in ("MEMORY.md", "a/b.md", "skills/a/SKILL.md", "a.json")] == [
        20_000,
        20_000,
        0,
        0,
    ]
    legacy = read_letta_limits("letta", str(tmp_path))
    assert legacy is not None
    assert legacy.get_most("system/a.md") == 0
    assert read_letta_limits("qwen", str(tmp_path)) is None


def test_a_person_sets_limits_for_all_files_and_for_some(tmp_path: Path) -> None:
    overrides = [{"pattern": "logs/**", "maxCharacters": None}, {"pattern": "*.md", "maxCharacters": 300}]
    found = limits(tmp_path, maxFileCharacters=500, fileCharacterLimits=overrides)
    assert [found.get_most(path) for path in ("a.md", "x/a.md", "logs/x/a.md")] == [300, 500, 0]
    legacy = limits(tmp_path, "letta", maxFileCharacters=500)
    assert [legacy.get_most(path) for path in ("a.md", "system/a.md", "memory/reference/x/a.md")] == [0, 500, 500]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"version": 2, "maxFileCharacters": 5}', '{"version": 1, "maxFileCharacters": -1}',
     '{"version": 1, "maxFileCharacters": true}', '{"version": 1, "maxFileCharacters": 1e999}',
     '{"version": 1, "fileCharacterLimits": 7}', '{"version": 1, "fileCharacterLimits": [7, {"pattern": 3}, {}]}',
     '{"version": 1, "fileCharacterLimits": [{"pattern": "**", "maxCharacters": "3"}]}'],
)  # fmt: skip
def test_a_file_that_is_none_of_letta_s_sets_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / ".memfs.config.json").write_text(text)
    found = read_letta_limits("letta-memfs", str(tmp_path))
    assert found is not None
    assert found.get_most("a.md") == 20_000


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"version": 1, "maxFileCharacters": 5}')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/.memfs.config.json").symlink_to(tmp_path / "other.json")
    found = read_letta_limits("letta-memfs", str(tmp_path / "folder"))
    assert found is not None
    assert found.get_most("a.md") == 20_000


def test_what_letta_would_refuse_is_refused_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("# Index\n")
    limits(tmp_path, maxFileCharacters=100)
    dialect = recognise_folder(str(tmp_path), home=str(tmp_path / "nobody"))
    assert dialect.name == "letta-memfs"
    assert find_refusal(dialect, "a.md", NOTE) is None
    for path, start in (("a.md", NOTE), ("MEMORY.md", "# Index\n")):
        refusal = find_refusal(dialect, path, start + "x" * 100)
        assert refusal is not None
        assert "over the limit of 100" in refusal.words
    assert find_refusal(dialect, "skills/a/SKILL.md", "x" * 200) is None


@given(st.text("ab/*?", max_size=8), st.text("ab/", max_size=8))
def test_patterns_mean_what_they_mean_to_letta(pattern: str, path: str) -> None:
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\*|\?|.", pattern)
    expected = re.fullmatch("".join(words.get(part, part) for part in parts), path) is not None
    assert PathPattern(pattern).matches(path) == expected


def test_a_pattern_takes_no_longer_for_many_stars() -> None:
    assert not PathPattern("**/*a" * 40).matches("a/" * 500 + "b")
