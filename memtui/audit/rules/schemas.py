"""Notes that are not as the schema of their type has them.

A folder without schema notes costs one search a note: nothing is parsed where no note says that it is a schema.
"""

import re
from collections.abc import Iterator

from memtui.audit.context import AuditContext, iter_prose_notes
from memtui.audit.model import Hit
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.notes.front_matter import find_front_matter_end, read_properties

ID = "schema-mismatch"
_MAY_BE_SCHEMA = re.compile(r"type[\"']?[ \t]*:[ \t]*[\"']?schema\b", re.IGNORECASE)


def find_mismatches(subject: AuditContext) -> Iterator[Hit]:
    """Where notes are not as their schemas have them."""
    texts = {note.path: text for note, text in iter_prose_notes(subject) if text.startswith(("---", "\ufeff---"))}
    holders = [path for path, text in texts.items() if _MAY_BE_SCHEMA.search(text, 0, find_front_matter_end(text))]
    if not holders:
        return
    from memtui.knowledge.parse import parse_note  # noqa: PLC0415 - start-up: only where there are schemas
    from memtui.knowledge.schemas import describe_problem, find_schemas, validate_notes  # noqa: PLC0415 - as above

    schemas = find_schemas((parse_note(texts[path], path), read_properties(texts[path])) for path in holders)
    schemas = {name: schema for name, schema in schemas.items() if not schema.is_off}
    if not schemas:
        return
    checked = 0
    for path, text in texts.items():
        subject.check_cancelled()
        properties = read_properties(text)
        kind = properties.get("type")
        schema = schemas.get(" ".join(kind.split()).casefold()) if isinstance(kind, str) else None
        if schema is None:
            continue
        checked += 1
        for problem in validate_notes(schema, [(parse_note(text, path), properties)]):
            start, end = _find_place(text, problem.part.name, problem.line, is_there=problem.kind != "missing")
            identity = f"{problem.kind} {problem.part.kind} {problem.part.name} {problem.found}"
            words = f"{describe_problem(problem)}, by {to_one_line(schema.path)}"
            facts = {"part": problem.part.name, "schema": schema.path}
            yield Hit(ID, path, words, start=start, end=end, facts=facts, identity=identity)
    words = f"{format_count(checked, 'note is', 'notes are')} as {format_count(len(schemas), 'schema')} have them"
    subject.log.counted["schemas"] = words if len(schemas) > 1 else words.replace(" have ", " has ")


def _find_place(text: str, name: str, line: int, *, is_there: bool) -> tuple[int, int] | tuple[None, None]:
    """The line of an observation, or of a field in the front matter; none for what is missing."""
    if not is_there:
        return None, None
    if line:
        start = 0
        for _ in range(line - 1):
            start = text.index("\n", start) + 1
        end = text.find("\n", start)
        return start, len(text) if end < 0 else end
    front = find_front_matter_end(text)
    found = re.compile(rf"^[ \t]*[\"']?{re.escape(name)}[\"']?[ \t]*:[^\r\n]*", re.MULTILINE).search(text, 0, front)
    return found.span() if found is not None else (None, None)
