"""CONTRACT.md, section "Inputs", and whatever else may be sent: every input is answered, and none raises."""

import json
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from types import MappingProxyType
from typing import Any

import pytest

import memtui
from memtui.core import commands
from tests.conftest import settle

MISSING = [
    ("view", {}, "path"),
    ("create", {"file_text": "x"}, "path"),
    ("create", {"path": "/memories/f"}, "file_text"),
    ("str_replace", {"old_str": "x"}, "path"),
    ("str_replace", {"path": "/memories/f"}, "old_str"),
    ("insert", {"insert_line": 0, "insert_text": ""}, "path"),
    ("insert", {"path": "/memories/f", "insert_text": ""}, "insert_line"),
    ("insert", {"path": "/memories/f", "insert_line": 0}, "insert_text"),
    ("delete", {}, "path"),
    ("rename", {"new_path": "/memories/g"}, "old_path"),
    ("rename", {"old_path": "/memories/f"}, "new_path"),
]


@pytest.fixture
def filled(world: Any) -> Any:
    return world.fill({"f": "a\nb\n"})


@pytest.mark.parametrize(("command", "given", "field"), MISSING)
def test_a_missing_field_is_named(filled: Any, command: str, given: dict[str, object], field: str) -> None:
    before = filled.picture()
    answer = filled.ask(command=command, **given)
    assert (answer.is_error, answer.text) == (True, f"Error: `{field}` is required for {command}")
    assert filled.picture() == before


@pytest.mark.parametrize(
    ("command", "shown"),
    [("read", "read"), ("View", "View"), ("", ""), (None, "null"), (5, "5"), (["view"], '["view"]'), ("a\nb", "a\\nb")],
)
def test_an_unknown_command_is_refused(world: Any, command: object, shown: str) -> None:
    answer = world.ask(command=command, path="/memories")
    assert (answer.is_error, answer.text) == (True, f"Error: unknown command {shown}")


@pytest.mark.parametrize(
    "given", [None, "view", 5, [], [("command", "view")], b"{}", {}, {"path": "/memories"}, object()]
)
def test_what_is_no_mapping_with_a_command_is_refused(world: Any, given: object) -> None:
    answer = world.main.execute(given, actor=memtui.Agent("a"))
    assert (answer.is_error, answer.text) == (True, "Error: the input must be an object with a `command`")


@pytest.mark.parametrize(
    "given",
    [
        '{"command": "create", "path": "/memories/n", "file_te',
        '{"command": "create", "path": "/memories/n"',
        '{"command": "cre',
        "{",
    ],
)
def test_half_an_input_touches_nothing(filled: Any, given: str) -> None:
    before = filled.picture()
    for half in (given, {"command": "create", "path": "/memories/n"}, {"command": "cre"}):
        assert filled.main.execute(half, actor=memtui.Agent("a")).is_error
    assert filled.picture() == before


@pytest.mark.parametrize(
    ("command", "alias"),
    [
        ({"command": "insert", "path": "/memories/f", "insert_line": 0, "new_str": "x"}, "new_str"),
        ({"command": "rename", "path": "/memories/f", "new_path": "/memories/g"}, "path"),
    ],
)
def test_an_alias_is_taken_and_noted(filled: Any, command: dict[str, object], alias: str) -> None:
    answer = filled.ask(**command)
    assert not answer.is_error
    assert answer.event.aliases == (alias,)
    assert list(filled.main.events())[-1].aliases == (alias,)


def test_a_canonical_name_that_is_null_is_missing_where_an_alias_is_given(filled: Any) -> None:
    answer = filled.ask(command="insert", path="/memories/f", insert_line=0, insert_text=None, new_str="x")
    assert (answer.is_error, answer.event.aliases) == (False, ("new_str",))
    answer = filled.ask(command="rename", old_path=None, path="/memories/f", new_path="/memories/g")
    assert (answer.is_error, answer.event.aliases) == (False, ("path",))


def test_the_canonical_name_wins_over_its_alias(filled: Any) -> None:
    answer = filled.ask(command="insert", path="/memories/f", insert_line=0, insert_text="right", new_str="wrong")
    assert (answer.is_error, answer.event.aliases) == (False, ())
    assert filled.tree()["f"] == b"right\na\nb\n"
    answer = filled.ask(command="rename", old_path="/memories/f", path="/memories/no", new_path="/memories/g")
    assert (answer.is_error, answer.event.aliases) == (False, ())


def test_unknown_fields_are_ignored(filled: Any) -> None:
    odd = {"view_range": 7, "why": "because", "file_text": 5, "": None}
    assert not filled.ask(command="delete", path="/memories/f", **odd).is_error


TEXTS: list[tuple[dict[str, object], str]] = [
    ({"command": "create", "path": "/memories/n"}, "file_text"),
    ({"command": "str_replace", "path": "/memories/f"}, "old_str"),
    ({"command": "str_replace", "path": "/memories/f", "old_str": "a"}, "new_str"),
    ({"command": "insert", "path": "/memories/f", "insert_line": 0}, "insert_text"),
]
"""Commands without one of their texts, and its name."""


@pytest.mark.parametrize("value", [None, 5, True, ["x"], {"a": 1}, b"x", 1.5])
@pytest.mark.parametrize(("command", "field"), TEXTS)
def test_what_is_no_text_is_refused(filled: Any, command: dict[str, object], field: str, value: object) -> None:
    if field == "new_str" and value is None:
        return  # the contract gives it a meaning
    before = filled.picture()
    answer = filled.ask(**command, **{field: value})
    assert (answer.is_error, answer.text) == (True, f"Error: `{field}` must be a string")
    assert filled.picture() == before


@pytest.mark.parametrize(("command", "field"), TEXTS)
def test_a_lone_surrogate_is_refused(filled: Any, command: dict[str, object], field: str) -> None:
    answer = filled.ask(**command, **{field: "a\udc80"})
    assert (answer.is_error, answer.text) == (True, f"Error: `{field}` is not valid Unicode text")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1", "1"),
        (True, "true"),
        (1.5, "1.5"),
        (None, "null"),
        ([1], "[1]"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
    ],
)
def test_what_is_no_integer_is_refused(filled: Any, value: object, shown: str) -> None:
    answer = filled.ask(command="insert", path="/memories/f", insert_line=value, insert_text="x")
    assert (answer.is_error, answer.text) == (True, f"Error: `insert_line` must be an integer, got: {shown}")


VIEW = {"command": "view", "path": "/memories/f"}


@pytest.mark.parametrize(
    "given",
    [
        OrderedDict(VIEW), UserDict(VIEW), MappingProxyType(VIEW), ChainMap({}, VIEW), defaultdict(list, VIEW),
        json.loads(json.dumps(VIEW)), {**VIEW, 5: 6, None: 7, (1,): 8},
    ],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_any_mapping_is_taken(filled: Any, given: object) -> None:
    assert not filled.main.execute(given, actor=memtui.Agent("a")).is_error


class Evil:
    """An object that cannot even be named."""

    def __repr__(self) -> str:
        raise RuntimeError


def _nested(depth: int) -> object:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


def _endless() -> list[object]:
    value: list[object] = []
    value.append(value)
    return value


ODD = [
    _nested(100_000), _endless(), 10**5_000, -(10**5_000), 1e308, float("nan"), b"\xff", bytearray(b"x"),
    object(), Evil(),
    [Evil()], {"a": {1, 2}}, {1: 2, "a": 3}, range(5), "x" * 3_000_000, "\x00\x1b]52;c;\x07", "\ud800",
    Ellipsis, 3 + 4j, [10**5_000] * 2,
]  # fmt: skip


@pytest.mark.sweep(keep=8)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_no_value_in_any_field_raises_or_leaves_a_journal_that_cannot_be_read(odd: object) -> None:
    engine = memtui.open_in_memory()
    me = memtui.Agent("a")
    engine.execute({"command": "create", "path": "/memories/f", "file_text": "a\n"}, actor=me)
    whole = {
        "path": "/memories/f", "view_range": [1, 1], "file_text": "x", "old_str": "a", "new_str": "b", "insert_line": 0,
        "insert_text": "t", "old_path": "/memories/f", "new_path": "/memories/g",
    }  # fmt: skip
    count = 1
    for command in ("view", "create", "str_replace", "insert", "delete", "rename", odd):
        for field in whole:
            answer = engine.execute({"command": command, **whole, field: odd}, actor=me)
            assert len(answer.text) < 20_000 or not answer.is_error
            count += 1
    assert engine.execute(odd, actor=me).is_error
    assert len(list(engine.events())) == count + 1
    engine.close()


@pytest.mark.parametrize("name", ["\ud800", "a\x00b", "", "x" * 100_000, "\x1b[31m", "'; DROP TABLE events; --"])
def test_any_name_of_an_actor_is_recorded(world: Any, name: str) -> None:
    actor = memtui.Agent(name, name, name)
    answer = world.main.execute({"command": "view", "path": "/memories"}, actor=actor, call_id=name or None)
    assert not answer.is_error
    settle(world.main)
    (*_, last) = world.main.events()
    assert (last.actor, last.call_id) == (actor, name or None)


def test_what_is_no_actor_is_a_mistake_of_the_program_and_changes_nothing(filled: Any) -> None:
    before = filled.picture()
    for actor in (None, "tester", object):
        for command in (VIEW, {"command": "delete", "path": "/memories/f"}, {}):
            with pytest.raises(TypeError, match="not an actor"):
                filled.main.execute(command, actor=actor)
    assert filled.picture() == before
    assert filled.main.journal.get_intents() == []
    assert all(event.actor for event in filled.main.events())


def test_a_closed_memory_says_so(world: Any) -> None:
    engine = world.main
    engine.close()
    with pytest.raises(memtui.MemtuiError, match="closed"):
        world.ask(engine, command="view", path="/memories")
    engine.close()


def test_every_answer_is_an_event_with_the_call_that_asked(filled: Any) -> None:
    before = len(list(filled.main.events()))
    view = filled.main.execute(VIEW, actor=memtui.Agent("a", "m", "s"), call_id="toolu_1")
    wrong = filled.ask(command="view", path="/memories/no")
    settle(filled.main)
    first, second = list(filled.main.events())[before:]
    assert (first, second) == (view.event, wrong.event)
    assert (first.actor, first.call_id, first.viewed.size) == (memtui.Agent("a", "m", "s"), "toolu_1", 4)
    assert (second.is_error, second.answer, json.loads(second.arguments)["path"]) == (True, wrong.text, "/memories/no")


@pytest.mark.sweep(each="command")
@pytest.mark.parametrize(
    "value",
    [
        ["x" * 1_000_000] * 50,
        {"x": ["y"] * 1_000_000},
        "\U0001f600" * 16_384,
        [["\x00" * 10_000]] * 10,
        [[[[[1] * 1_000] * 10] * 10] * 10],
        10**6_000,
        list(range(100_000)),
    ],
    ids=["texts", "a mapping", "wide characters", "escapes", "nested", "a huge number", "numbers"],
)
@pytest.mark.parametrize("command", ["view", "str_replace", "insert", "rename"])
def test_what_is_recorded_of_an_input_has_a_limit(value: object, command: str) -> None:
    fields = ("path", "old_path", "new_path", "old_str", "new_str", "insert_line", "insert_text", "view_range")
    with memtui.open_in_memory() as memory:
        answer = memory.execute({"command": command, **dict.fromkeys(fields, value)}, actor=memtui.Agent("a"))
        assert answer.is_error
        (event,) = memory.events()
    assert 2 < len(event.arguments) <= commands.RECORDED_BYTES
    json.loads(event.arguments)
