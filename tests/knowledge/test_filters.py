"""Which notes are wanted, by their fields."""

import pytest

from memtui.knowledge.filters import InvalidCondition, NoteFilter, parse_conditions
from memtui.knowledge.parse import parse_note
from memtui.notes.front_matter import read_properties

_NOTE = (
    "---\ntype: Project\nstatus: Open\npriority: 3\nowner: Mara\nday: 2026-11-21\ntags: [ops, db]\ndone: true\n"
    "metadata:\n  level: high\n---\n- [decision] SQLite #storage\n"
)


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({}, True),
        ({"owner": "mara"}, True),
        ({"owner": "tom"}, False),
        ({"priority": 3}, True),
        ({"priority": "3"}, True),
        ({"priority": {"$gt": 2}}, True),
        ({"priority": {"$gt": 3}}, False),
        ({"priority": {"$gte": 3, "$lt": 10}}, True),
        ({"priority": {"$lte": 2}}, False),
        ({"day": {"$gt": "2026-11-20"}}, True),
        ({"day": {"$lt": "2026-11-20"}}, False),
        ({"owner": {"$in": ["tom", "mara"]}}, True),
        ({"owner": {"$in": ["tom"]}}, False),
        ({"tags": {"$contains": "ops"}}, True),
        ({"tags": ["ops", "db"]}, True),
        ({"tags": ["ops", "ui"]}, False),
        ({"owner": {"$contains": "ar"}}, True),
        ({"tags": "db"}, True),
        ({"owner": {"$exists": True}}, True),
        ({"owner": {"$exists": False}}, False),
        ({"none": {"$exists": False}}, True),
        ({"none": {"$ne": 3}}, True),
        ({"owner": {"$ne": "mara"}}, False),
        ({"none": {"$gt": 0}}, False),
        ({"none": 0}, False),
        ({"done": True}, True),
        ({"done": False}, False),
        ({"owner": {"$gt": 3}}, False),
        ({"metadata.level": "high"}, True),
        ({"owner.level": "high"}, False),
    ],
)
def test_a_condition_on_front_matter(fields: dict[str, object], passes: bool) -> None:
    wanted = NoteFilter(fields=parse_conditions(fields))
    assert wanted.accepts_fields(read_properties(_NOTE)) is passes


@pytest.mark.parametrize(
    "fields",
    [
        {"": 1},
        {"a..b": 1},
        {"x" * 300: 1},
        {"a": {}},
        {"a": {"$regex": "x"}},
        {"a": {"$in": "x"}},
        {"a": {"$in": []}},
        {"a": None},
        {"a": {"$gt": [1]}},
        {"a": {"$exists": "yes"}},
        {"a": [{"b": 1}]},
        {str(n): n for n in range(30)},
    ],
)
def test_what_is_no_condition_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidCondition):
        parse_conditions(fields)


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        (NoteFilter(), True),
        (NoteFilter(types=frozenset({"project"})), True),
        (NoteFilter(types=frozenset({"user"})), False),
        (NoteFilter(statuses=frozenset({"open"})), True),
        (NoteFilter(statuses=frozenset({"closed"})), False),
        (NoteFilter(tags=frozenset({"ops", "storage"})), True),
        (NoteFilter(tags=frozenset({"ops", "ui"})), False),
        (NoteFilter(categories=frozenset({"decision", "x"})), True),
        (NoteFilter(categories=frozenset({"fact"})), False),
    ],
)
def test_what_a_note_says_of_itself(wanted: NoteFilter, passes: bool) -> None:
    assert wanted.accepts(parse_note(_NOTE, "a.md")) is passes
    assert bool(wanted) is (wanted != NoteFilter())
