"""What reviewers said, as a document that shows when it was changed."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.fs.state import get_state_directory
from memtui.review.inbox import ReviewMark, ReviewVerdict
from memtui.review.marks import (
    MOST_BYTES,
    START,
    Review,
    ReviewFile,
    ReviewFileUnusable,
    compute_digest,
    get_review_path,
    resolve_review_path,
)


def mark(number: int = 1, **given: Any) -> ReviewMark:
    values: dict[str, Any] = {
        "reviewer": "ada",
        "at_us": 1_763_700_000_000_000 + number,
        "verdict": ReviewVerdict.ACCEPT,
        "path": f"{number}.md",
        "before": "",
        "after": "ab" * 32,
        "seq": number,
        "head": "cd" * 32,
    }
    return ReviewMark(**{**values, **given})


def kept(path: Path, count: int = 5) -> dict[str, Any]:
    path.write_bytes(Review(folder="memories").add_marks(mark(at) for at in range(1, count + 1)).to_json())
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


TEXT = st.text(st.characters(codec=None), max_size=40)


@given(
    marks=st.lists(
        st.builds(
            ReviewMark,
            reviewer=TEXT,
            at_us=st.integers(0, 4_000_000_000_000_000),
            verdict=st.sampled_from(ReviewVerdict),
            path=TEXT,
            before=TEXT,
            after=TEXT,
            hunk=TEXT,
            words=TEXT,
            seq=st.integers(0, 1 << 40),
            head=TEXT,
        ),
        max_size=5,
    )
)
def test_what_is_written_is_read_again(marks: list[ReviewMark], tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    review = Review(folder="here").add_marks(marks)
    path.write_bytes(review.to_json())
    again = Review.read(path)
    assert (again.marks, again.folder, again.problem, again.hash) == (review.marks, "here", "", review.hash)
    assert again.to_json() == review.to_json()
    assert again.valid_marks == again.marks


def test_a_file_that_is_not_there_is_an_empty_review(tmp_path: Path) -> None:
    assert Review.read(tmp_path / "none.json").marks == ()


def test_the_document_is_readable_and_shows_no_hidden_character() -> None:
    data = Review(folder="memories").add_marks([mark(words="a\u202eb\x1b[2J", path="x\udcff.md")]).to_json()
    assert data.decode("ascii")
    assert b'  "kind": "memtui review"' in data
    assert b"\\u202e" in data
    assert b"\\udcff" in data
    assert b"\x1b" not in data
    assert list(json.loads(data)) == ["schema", "kind", "folder", "marks", "hash"]


def changed(document: dict[str, Any]) -> None:
    document["marks"][2]["verdict"] = "flag"


def dropped(document: dict[str, Any]) -> None:
    del document["marks"][2]


def first_dropped(document: dict[str, Any]) -> None:
    del document["marks"][0]


def last_dropped(document: dict[str, Any]) -> None:
    del document["marks"][-1]


def last_changed(document: dict[str, Any]) -> None:
    document["marks"][-1]["words"] = "all is well"


def swapped(document: dict[str, Any]) -> None:
    marks = document["marks"]
    marks[1], marks[2] = marks[2], marks[1]


def repeated(document: dict[str, Any]) -> None:
    document["marks"].insert(1, document["marks"][1])


def added(document: dict[str, Any]) -> None:
    document["marks"].append({**document["marks"][-1], "path": "forged.md"})


def seq_changed(document: dict[str, Any]) -> None:
    document["marks"][3]["seq"] = 99


def hash_changed(document: dict[str, Any]) -> None:
    document["hash"] = "0" * 64


@pytest.mark.parametrize(
    "tamper",
    [changed, dropped, first_dropped, last_dropped, last_changed, swapped, repeated, added, seq_changed, hash_changed],
)
def test_a_mark_that_was_changed_is_found_and_does_not_count(
    tamper: Callable[[dict[str, Any]], None], tmp_path: Path
) -> None:
    path = tmp_path / "review.json"
    document = kept(path)
    originals = set(Review.read(path).marks)
    tamper(document)
    path.write_text(json.dumps(document))
    review = Review.read(path)
    assert "was changed by another program" in review.problem
    assert set(review.valid_marks) <= originals
    assert len(review.valid_marks) < max(len(review.marks), len(originals))
    # The break stays to be seen when more is said, and what is said then counts.
    after = ReviewFile(path).add([mark(9, words="later")])
    assert after.marks[-1].words == "later"
    again = Review.read(path)
    assert again.problem
    assert again.valid_marks[-1] == after.marks[-1]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not a review file"),
        (b"hello", "is not a review file"),
        (b"\xff\xfe{", "is not a review file"),
        (b"[1]", "is not a review file"),
        (b'{"schema": 1, "kind": "another"}', "is not a review file"),
        (b"[" * 100_000, "is not a review file"),
        (b'{"schema": 1, "kind": "memtui review", "folder": "", "marks": [', "is cut short or damaged in line 1"),
        (b'{"schema": 3, "kind": "memtui review"}', "was written by a newer memtui (schema 3; this one reads 2)"),
        (b'{"schema": 1, "kind": "memtui review", "marks": []}', "has missing or wrong fields"),
        (
            b'{"schema": 1, "kind": "memtui review", "folder": "", "hash": "", "marks": [{}]}',
            "Mark 1 of the review file",
        ),
    ],
)
def test_a_file_that_is_no_review_is_said_and_left_as_it_is(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    path.write_bytes(data)
    with pytest.raises(ReviewFileUnusable, match="Nothing was written") as raised:
        Review.read(path)
    assert words in str(raised.value)
    with pytest.raises(ReviewFileUnusable):
        ReviewFile(path).add([mark()])
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["review.json"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seq", -1),
        ("seq", True),
        ("seq", "1"),
        ("at", "yesterday"),
        ("at", 5),
        ("verdict", "fine"),
        ("words", ["a"]),
        ("previous", None),
    ],
)
def test_a_mark_with_a_wrong_value_is_said(field: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    document = kept(path)
    document["marks"][1][field] = value
    path.write_text(json.dumps(document))
    with pytest.raises(ReviewFileUnusable, match="Mark 2 of the review file"):
        Review.read(path)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    path.touch()
    os.truncate(path, MOST_BYTES + 1)
    with pytest.raises(ReviewFileUnusable, match="over the limit of"):
        Review.read(path)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    os.mkfifo(path)
    with pytest.raises(ReviewFileUnusable, match="is not a review file"):
        Review.read(path)
    with pytest.raises(ReviewFileUnusable, match="is not a review file"):
        Review.read(tmp_path)


def test_what_a_later_version_adds_to_a_mark_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "review.json"
    entry = {**Review().add_marks([mark()]).entries[0], "colour": "green"}
    assert entry["previous"] == START
    document = {"schema": 1, "kind": "memtui review", "folder": "", "marks": [entry], "hash": compute_digest(entry)}
    path.write_text(json.dumps(document))
    assert Review.read(path).problem == ""
    ReviewFile(path).add([mark(2)])
    assert json.loads(path.read_bytes())["marks"][0]["colour"] == "green"
    assert Review.read(path).problem == ""


def test_it_is_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "reviews" / "review.json"
    ReviewFile(path).add([mark()])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert os.listdir(path.parent) == ["review.json"]


def test_its_usual_place_is_in_the_state_directory_and_never_beside_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = get_review_path(str(tmp_path / "memories"))
    assert place.parent == tmp_path / "state" / "memtui" / "reviews"
    assert place.name.startswith("memories-")
    assert place != get_review_path(str(tmp_path / "other" / "memories"))
    assert get_state_directory(str(tmp_path / "memories")) not in place.parents
    assert get_review_path(str(tmp_path / ("x" * 255))).name.endswith(".json")


def test_inside_the_memory_folder_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "memories"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    for place in (folder / "r.json", folder / "deep" / "r.json", folder, tmp_path / "link" / "r.json"):
        with pytest.raises(ReviewFileUnusable, match="where an agent could reach it"):
            resolve_review_path(place, str(folder))
    with pytest.raises(ReviewFileUnusable, match="where the journal is kept"):
        resolve_review_path(get_state_directory(str(folder)) / "r.json", str(folder))
    with pytest.raises(ReviewFileUnusable, match="where an agent could reach it"):
        get_review_path(str(folder), folder)
    assert resolve_review_path(tmp_path / "r.json", str(folder)) == tmp_path / "r.json"
    assert list(folder.iterdir()) == []
