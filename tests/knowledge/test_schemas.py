"""What notes of a type have in common."""

from memtui.knowledge.parse import parse_note
from memtui.knowledge.schemas import (
    Described,
    compare_schemas,
    describe_problem,
    find_schemas,
    format_schema_note,
    infer_schema,
    validate_notes,
)
from memtui.notes.front_matter import read_properties


def describe(text: str, path: str = "a.md") -> Described:
    return parse_note(text, path), read_properties(text)


def make_person(number: int, extra: str = "", stated: str = "") -> Described:
    head = f"---\ntype: person\nage: {number}\ntags: [a, b]\n{extra}---\n"
    return describe(f"{head}- [role] engineer\n- works_at [[Acme]]\n{stated}", f"{number}.md")


_PEOPLE = [make_person(number, "email: x\n" if number < 4 else "", "- [fact] x\n") for number in range(9)]
_PEOPLE.append(make_person(9, "rare: 1\n", "- [fact] x\n- [fact] y\n"))


def test_a_schema_is_what_many_have() -> None:
    schema = infer_schema("person", _PEOPLE)
    assert schema.count == 10
    assert [(part.kind, part.name, part.type, part.is_list, part.is_required, part.count) for part in schema.parts] == [
        ("field", "age", "integer", False, True, 10),
        ("field", "tags", "string", True, True, 10),
        ("field", "email", "string", False, False, 4),
        ("observation", "fact", "string", True, True, 10),
        ("observation", "role", "string", False, True, 10),
        ("relation", "works_at", "Note", False, True, 10),
    ]


def test_a_schema_comes_back_from_its_note() -> None:
    schema = infer_schema("person", _PEOPLE)
    note = describe(format_schema_note(schema), "schemas/person.md")
    kept = find_schemas([note])["person"]
    assert kept.path == "schemas/person.md"
    assert compare_schemas(kept, schema) == []
    assert list(validate_notes(kept, _PEOPLE)) == []
    assert {(part.kind, part.name, part.type) for part in kept.parts} == {
        (part.kind, part.name, part.type) for part in schema.parts
    }


def test_a_note_that_is_not_as_its_schema_has_it() -> None:
    schema = infer_schema("person", _PEOPLE)
    bad = describe("---\ntype: person\nage: old\ntags: x\n---\n- [fact] x\n- works_at [[Acme]]\n", "bad.md")
    found = [(each.path, each.kind, each.part.name, each.found) for each in validate_notes(schema, [bad])]
    assert found == [("bad.md", "type", "age", "string"), ("bad.md", "missing", "role", "")]


def test_drifts_are_told_both_ways() -> None:
    kept = infer_schema("person", _PEOPLE)
    now = infer_schema("person", [describe("---\ntype: person\nage: 1\nmood: x\n---\n- [role] x\n- [role] y\n")])
    drifts = {
        (each.kept.name if each.kept else None, each.now.name if each.now else None)
        for each in compare_schemas(kept, now)
    }
    assert drifts == {
        ("tags", None), ("email", None), ("fact", None), ("works_at", None), (None, "mood"), ("role", "role"),
    }  # fmt: skip


def test_what_is_no_schema_is_none() -> None:
    assert (
        find_schemas(
            [describe("---\ntype: schema\n---\n"), describe("---\ntype: schema\nentity: x\nschema: y\n---\n")]
        )["x"].parts
        == ()
    )
    assert find_schemas([describe("---\ntype: other\nentity: x\nschema:\n  a: string\n---\n")]) == {}


def test_hostile_names_do_not_leave_the_notation() -> None:
    people = [describe(f'---\ntype: "p\\n---"\n"a: b\\nc": {number}\n---\n- [x y] z\n') for number in range(3)]
    text = format_schema_note(infer_schema("p\n---\x1b", people))
    assert "\x1b" not in text
    assert text.count("\n---\n") == 1


def make_schema(lines: str) -> Described:
    return describe(f"---\ntype: schema\nentity: task\n{lines}---\n", "schemas/task.md")


def test_the_values_of_an_enum_are_listed_or_in_a_text_with_a_description() -> None:
    note = make_schema(
        'schema:\n  status(enum): [open, done, 3, true]\n  size?(enum, how big): "[Small, large], as it feels"\n'
        "  one(enum): Only\n  empty(enum): []\n  enum: string\n"
    )
    parts = {part.name: part for part in find_schemas([note])["task"].parts}
    assert {name: (part.kind, part.type, part.values, part.is_required) for name, part in parts.items()} == {
        "status": ("observation", "enum", ("open", "done", "3", "true"), True),
        "size": ("observation", "enum", ("Small", "large"), False),
        "one": ("observation", "enum", ("Only",), True),
        "empty": ("observation", "any", (), True),
        "enum": ("observation", "string", (), True),
    }


def test_a_value_that_an_enum_does_not_list_is_a_problem() -> None:
    schema = find_schemas(
        [make_schema("schema:\n  status(enum): [open, done]\nsettings:\n  frontmatter:\n    level?(enum): [1, 2]\n")]
    )["task"]
    good = describe("---\ntype: task\nlevel: 2\n---\n- [Status] open #now\n- [status] done\n")
    plain = describe("---\ntype: task\n---\n- [status] open\n")
    bad = describe("---\ntype: task\nlevel: [1, 7]\n---\n\n- [status] open\n- [status] someday\n", "bad.md")
    assert list(validate_notes(schema, [good, plain])) == []
    problems = list(validate_notes(schema, [bad]))
    assert [(each.kind, each.part.name, each.found, each.line) for each in problems] == [
        ("value", "level", "7", 0), ("value", "status", "someday", 7)
    ]  # fmt: skip
    assert [describe_problem(each) for each in problems] == [
        "field level is 7, and none of 1, 2", "observation status is someday, and none of open, done"
    ]  # fmt: skip


def test_an_enum_comes_back_from_its_note() -> None:
    schema = find_schemas([make_schema("schema:\n  status?(enum): [open, two words]\n")])["task"]
    text = format_schema_note(schema)
    assert find_schemas([describe(text)])["task"].parts == schema.parts


def test_problems_are_one_line_whatever_a_note_says() -> None:
    schema = find_schemas([make_schema('schema:\n  status(enum): ["a\\e[31m", b, c, d, e, f, g]\n')])["task"]
    problem = next(validate_notes(schema, [describe(f"---\ntype: task\n---\n- [status] x\x1b]0;{'y' * 500}\n")]))
    words = describe_problem(problem)
    assert "\x1b" not in words
    assert "\n" not in words
    assert words.endswith(" and 2 more")
    assert len(words) < 200


def test_a_schema_can_say_that_notes_are_not_checked() -> None:
    for mode, is_off in (("off", True), ("warn", False), ("strict", False)):
        note = make_schema(f"schema:\n  a: string\nsettings:\n  validation: {mode}\n")
        assert find_schemas([note])["task"].is_off is is_off
