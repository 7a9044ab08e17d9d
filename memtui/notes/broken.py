"""What in a note cannot be read as the format that its name promises."""

import json
from collections.abc import Iterator

from memtui.notes.front_matter import front_matter_of
from memtui.notes.kinds import format_of
from memtui.notes.spots import Spot


def broken(text: str, path: str) -> Iterator[Spot]:
    """What cannot be read in a text."""
    match format_of(path):
        case "json":
            yield from _broken_json(text, 0)
        case "jsonl":
            start = 0
            for line in text.split("\n"):
                if line.strip():
                    yield from _broken_json(line, start)
                start += len(line) + 1
        case "md" | "txt":
            matter = front_matter_of(text)
            if matter.problem:
                yield Spot("broken", "front-matter", 0, matter.end, matter.problem)


def _broken_json(text: str, start: int) -> Iterator[Spot]:
    if not text.strip():
        yield Spot("broken", "json", start, start, "no JSON: it is empty")
        return
    try:
        json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        yield Spot("broken", "json", start + error.pos, start + error.pos, f"no JSON: {error.msg}, line {error.lineno}")
    except (RecursionError, ValueError):
        yield Spot("broken", "json", start, start, "JSON that is nested too deeply, or has too long a number")
