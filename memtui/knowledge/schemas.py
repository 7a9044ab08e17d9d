"""What notes of a type have in common: inferred, kept as a note, and compared.

A schema says which fields of front matter, categories of observations and types of relations the notes of a type have,
which of them each one must have, and how many do. It is kept as a note of type `schema` in the short notation that
Basic Memory reads: `name?: string` is optional, a type with a capital is a relation.
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
_MOST_PARTS = 200
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
        type: `string`, `integer`, `number`, `boolean`, `any`; of a relation `Note`, or as the schema has it.
        is_list: Whether a note has several.
        is_required: Whether each note has to have it.
        count: How many notes have it; 0 where a schema was read.
    """

    kind: PartKind
    name: str
    type: str = "string"
    is_list: bool = False
    is_required: bool = False
    count: int = 0


@dataclass(frozen=True, slots=True)
class NoteSchema:
    """The schema of the notes of a type.

    Attributes:
        type: In lower case.
        count: Of how many notes it was inferred; 0 where it was read.
        path: Of the note in which it is kept; empty where it was inferred.
    """

    type: str
    parts: tuple[SchemaPart, ...]
    count: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """Where a note is not as its schema has it: `missing` a part, or a field of another `type`."""

    path: str
    kind: Literal["missing", "type"]
    part: SchemaPart
    found: str = ""


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
    mark = ("" if part.is_required else "?") + ("(array)" if part.is_list else "")
    return f"{part.name}{mark}: {part.type}"


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
    return NoteSchema(entity.strip().casefold(), tuple(parts[:_MOST_PARTS]), 0, note.path)


def _iter_parts(given: object, *, is_field: bool) -> Iterator[SchemaPart]:
    for written, value in given.items() if isinstance(given, dict) else ():
        name = min((written.partition(mark)[0] for mark in _MARKS), key=len).strip()
        rest = written[len(name) :]
        is_list = "(array" in rest
        word = value.partition(",")[0].strip() if isinstance(value, str) else "any"
        kind: PartKind = "field" if is_field else "relation" if word[:1].isupper() else "observation"
        if name:
            yield SchemaPart(kind, name, word or "any", is_list, "?" not in rest)


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
            elif part.kind == "field" and (wrong := _find_wrong_type(part.type, properties[name])):
                yield SchemaProblem(note.path, "type", part, wrong)


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
