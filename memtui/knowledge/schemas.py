"""What notes of a type have in common: inferred, kept as a note, and compared.

A schema says which fields of front matter, categories of observations and types of relations the notes of a type have,
which of them each one must have, and how many do. It is kept as a note of type `schema` in the short notation that
Basic Memory reads: `name?: string` is optional, a type with a capital is a relation, and `name(enum): [a, b]` has one
of these values.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.knowledge.model import ParsedNote

SCHEMA_TYPE = "schema"
"""The type of a note that holds a schema."""
REQUIRED, OPTIONAL = 0.95, 0.25
"""The share of notes from which on what they have in common is required, and from which on it is told at all."""
ENUM = "enum"
"""The type of a part of which all values are listed."""
_MOST_PARTS = 200
_MOST_VALUES = 200
_NAMED = 5  # values of an enum in a sentence
_LONGEST = 60  # characters of a value in a sentence
_LEFT_OUT = frozenset({"title", "type", "permalink", "metadata"})
"""Fields that say which note it is, or hold other ones."""
_MARKS = "(?"
_RELATED = "Note"

PartKind = Literal["field", "observation", "relation"]
_KINDS: tuple[PartKind, ...] = ("field", "observation", "relation")
Described = tuple[ParsedNote, Mapping[str, object]]
"""A note, and its front matter."""


@dataclass(frozen=True, slots=True)
class SchemaPart:
    """What notes of a type have in common.

    Attributes:
        kind: A `field` of front matter, an `observation` of a category, or a `relation` of a type.
        name: Of the field, the category or the relation.
        type: `string`, `integer`, `number`, `boolean`, `enum`, `any`; of a relation `Note`, or as the schema has it.
        is_list: Whether a note has several.
        is_required: Whether each note has to have it.
        count: How many notes have it; 0 where a schema was read.
        values: Of an `enum`, the values that it may have.
    """

    kind: PartKind
    name: str
    type: str = "string"
    is_list: bool = False
    is_required: bool = False
    count: int = 0
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteSchema:
    """The schema of the notes of a type.

    Attributes:
        type: In lower case.
        count: Of how many notes it was inferred; 0 where it was read.
        path: Of the note in which it is kept; empty where it was inferred.
        is_off: Whether it says that notes are not to be checked.
    """

    type: str
    parts: tuple[SchemaPart, ...]
    count: int = 0
    path: str = ""
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Where a note is not as its schema has it.

    Attributes:
        kind: `missing` is a part that it has to have, `type` a field of another type, `value` one that is not listed.
        found: The type, or the value; empty where the part is missing.
        line: Of an observation, from 1; else 0.
    """

    path: str
    kind: Literal["missing", "type", "value"]
    part: SchemaPart
    found: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class SchemaDrift:
    """Where the notes of a type have gone from their schema; `kept` or `now` is `None` where it is in one alone."""

    kept: SchemaPart | None
    now: SchemaPart | None


def infer_schema(type: str, notes: Iterable[Described]) -> NoteSchema:
    """What the notes of a type have in common; what fewer than a quarter of them have is left out."""
    counts: dict[tuple[PartKind, str], int] = {}
    several: set[tuple[PartKind, str]] = set()
    types: dict[str, set[str]] = {}
    count = 0
    for note, properties in notes:
        count += 1
        for key, times in _count_parts(note, properties).items():
            counts[key] = counts.get(key, 0) + 1
            if times > 1:
                several.add(key)
        for name, value in properties.items():
            types.setdefault(name, set()).update(_name_types(value))
            if isinstance(value, list):
                several.add(("field", name))
    common = [(key, found) for key, found in counts.items() if found >= OPTIONAL * count]
    common.sort(key=lambda each: (_KINDS.index(each[0][0]), -each[1], each[0][1]))
    parts = [
        SchemaPart(
            kind,
            name,
            _RELATED if kind == "relation" else _join_types(types.get(name, ())) if kind == "field" else "string",
            (kind, name) in several,
            found >= REQUIRED * count,
            found,
        )
        for (kind, name), found in common[:_MOST_PARTS]
    ]
    return NoteSchema(type, tuple(parts), count)


def _count_parts(note: ParsedNote, properties: Mapping[str, object]) -> dict[tuple[PartKind, str], int]:
    found: dict[tuple[PartKind, str], int] = {}
    for name, value in properties.items():
        if name not in _LEFT_OUT and value is not None and not isinstance(value, dict):
            found["field", name] = 1
    for kind, names in (
        ("observation", [each.category.casefold() for each in note.observations if each.category]),
        ("relation", [each.relation for each in note.links if each.relation]),
    ):
        for name in names:
            key: tuple[PartKind, str] = ("observation" if kind == "observation" else "relation", name)
            found[key] = found.get(key, 0) + 1
    return found


def _name_types(value: object) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, bool):
            yield "boolean"
        elif isinstance(each, int):
            yield "integer"
        elif isinstance(each, float):
            yield "number"
        elif isinstance(each, str):
            yield "string"


def _join_types(found: Iterable[str]) -> str:
    names = set(found)
    if names <= {"integer", "number"} and len(names) == 2:
        return "number"
    return names.pop() if len(names) == 1 else "any"


# Schemas as notes


def format_schema_note(schema: NoteSchema) -> str:
    """A schema as a note; names that the notation cannot hold are left out."""
    lines = ["---", f"title: {_quote(schema.type)} schema", f"type: {SCHEMA_TYPE}", f"entity: {_quote(schema.type)}"]
    stated = [_format_part(part) for part in schema.parts if part.kind != "field" and _is_plain(part.name)]
    fields = [_format_part(part) for part in schema.parts if part.kind == "field" and _is_plain(part.name)]
    lines += ["version: 1", *(["schema:"] if stated else []), *(f"  {line}" for line in stated)]
    lines += ["settings:", "  validation: warn"]
    lines += [*(["  frontmatter:"] if fields else []), *(f"    {line}" for line in fields), "---", ""]
    text = "\n".join(lines) + f"\n# What notes of type {to_one_line(schema.type)} hold\n"
    return f"{text}\nInferred from {schema.count:,} of them.\n"


def _format_part(part: SchemaPart) -> str:
    modifier = f"({ENUM})" if part.values else "(array)" if part.is_list else ""
    written = f"[{', '.join(map(_quote, part.values))}]" if part.values else part.type
    return f"{part.name}{'' if part.is_required else '?'}{modifier}: {written}"


def _is_plain(name: str) -> bool:
    return bool(name) and all(each.isalnum() or each in "_-" for each in name) and not name.startswith("-")


def _quote(word: str) -> str:
    return word if _is_plain(word) else '"' + to_one_line(word).replace("\\", "\\\\").replace('"', '\\"') + '"'


def parse_schema_note(note: ParsedNote, properties: Mapping[str, object]) -> NoteSchema | None:
    """The schema that a note holds; `None` if it holds none."""
    entity, stated = properties.get("entity"), properties.get("schema")
    settings = properties.get("settings")
    fields = settings.get("frontmatter") if isinstance(settings, dict) else None
    if note.type != SCHEMA_TYPE or not isinstance(entity, str) or not (stated or fields):
        return None
    parts = [*_iter_parts(fields, is_field=True), *_iter_parts(stated, is_field=False)]
    mode = settings.get("validation") if isinstance(settings, dict) else None
    is_off = mode is False or (isinstance(mode, str) and mode.casefold() == "off")
    return NoteSchema(entity.strip().casefold(), tuple(parts[:_MOST_PARTS]), 0, note.path, is_off)


def _iter_parts(given: object, *, is_field: bool) -> Iterator[SchemaPart]:
    for written, value in given.items() if isinstance(given, dict) else ():
        name = min((written.partition(mark)[0] for mark in _MARKS), key=len).strip()
        rest = written[len(name) :]
        before, _, modifier = rest.partition("(")
        values = _list_values(value) if modifier.strip().startswith(ENUM) else ()
        word = ENUM if values else value.partition(",")[0].strip() if isinstance(value, str) else "any"
        kind: PartKind = "field" if is_field else "relation" if word[:1].isupper() else "observation"
        if name:
            is_list = modifier.strip().startswith("array")
            yield SchemaPart(kind, name, word or "any", is_list, "?" not in before, values=values)


def _list_values(written: object) -> tuple[str, ...]:
    """The values of an enum: a list, or a text that holds one in brackets and a description behind it."""
    if isinstance(written, str):
        inside = written.strip()
        inside = inside[1:].partition("]")[0] if inside.startswith("[") else inside
        written = [each.strip() for each in inside.split(",")]
    found = [_spell_value(each) for each in written[:_MOST_VALUES]] if isinstance(written, list) else []
    return tuple(each for each in found if each)


def _spell_value(value: object) -> str:
    """A value as it is written in YAML; empty for what is none, such as a list in a list."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).strip() if isinstance(value, str | int | float) else ""


def find_schemas(notes: Iterable[Described]) -> dict[str, NoteSchema]:
    """The schemas of a folder, by the type of the notes; of several for one type the first by path."""
    found: dict[str, NoteSchema] = {}
    for note, properties in sorted(notes, key=lambda each: each[0].path):
        schema = parse_schema_note(note, properties)
        if schema is not None:
            found.setdefault(schema.type, schema)
    return found


# Held against notes


def validate_notes(schema: NoteSchema, notes: Iterable[Described]) -> Iterator[SchemaProblem]:
    """Where notes are not as their schema has them."""
    for note, properties in notes:
        has = _count_parts(note, properties)
        for part in schema.parts:
            name = part.name.casefold() if part.kind == "observation" else part.name
            if (part.kind, name) not in has:
                if part.is_required and not (part.kind == "field" and properties.get(name) is not None):
                    yield SchemaProblem(note.path, "missing", part)
            elif part.values:
                yield from _find_wrong_values(part, note, properties)
            elif part.kind == "field" and (wrong := _find_wrong_type(part.type, properties[name])):
                yield SchemaProblem(note.path, "type", part, wrong)


def _find_wrong_values(part: SchemaPart, note: ParsedNote, properties: Mapping[str, object]) -> Iterator[SchemaProblem]:
    """The values of a note that an enum does not list; the tags behind an observation are none of its value."""
    if part.kind == "field":
        given = properties[part.name]
        stated = [(_spell_value(each), 0) for each in (given if isinstance(given, list) else [given])]
    else:
        category = part.name.casefold()
        found = (each for each in note.observations if each.category.casefold() == category)
        stated = [(_drop_tags(each.content), each.line) for each in found]
    for value, line in dict(reversed(stated)).items():
        if value not in part.values:
            yield SchemaProblem(note.path, "value", part, value, line)


def _drop_tags(content: str) -> str:
    words = content.split()
    while len(words) > 1 and words[-1].startswith("#"):
        words.pop()
    return " ".join(words)


def describe_problem(problem: SchemaProblem) -> str:
    """What is wrong, as a clause on one line."""
    part = problem.part
    what = f"{part.kind} {_shorten(part.name)}"
    match problem.kind:
        case "missing":
            return f"{what} is missing"
        case "type":
            return f"{what} is {problem.found}, and not {_shorten(part.type)}"
        case "value":
            named = ", ".join(map(_shorten, part.values[:_NAMED]))
            more = f" and {len(part.values) - _NAMED:,} more" if len(part.values) > _NAMED else ""
            return f"{what} is {_shorten(problem.found) or 'empty'}, and none of {named}{more}"


def _shorten(word: str) -> str:
    shown = to_one_line(word)
    return shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "..."


def _find_wrong_type(wanted: str, value: object) -> str:
    """The type of a value that is not of the one wanted; empty if all are. Numbers are words as well."""
    if wanted not in ("integer", "number", "boolean"):
        return ""
    allowed = {"integer", "number"} if wanted == "number" else {wanted}
    return next((name for name in _name_types(value) if name not in allowed), "")


def compare_schemas(kept: NoteSchema, now: NoteSchema) -> list[SchemaDrift]:
    """Where what notes have in common is not what their schema says."""
    old = {(part.kind, part.name.casefold()): part for part in kept.parts}
    new = {(part.kind, part.name.casefold()): part for part in now.parts}
    drifts = []
    for key in dict.fromkeys((*old, *new)):
        was, found = old.get(key), new.get(key)
        if was is None or found is None or was.is_required is not found.is_required or was.is_list is not found.is_list:
            drifts.append(SchemaDrift(was, found))
    return drifts
