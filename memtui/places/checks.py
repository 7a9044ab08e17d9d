"""What an agent's program would not take back: texts that it refuses, or that shut it out of its own file.

Each check is for files that the program writes itself. Sources: the programs of November 2026 (`docs/folders.md`).
"""

from collections.abc import Callable
from typing import NamedTuple

from memtui.notes.front_matter import parse_front_matter
from memtui.places.dialects import Dialect

_SEPARATOR = "\n§\n"
_QWEN_TYPES = ("user", "feedback", "project", "reference")


class Refusal(NamedTuple):
    """Why the agent's program would refuse a text, in words, and the line that it is about, from 1; 0 for the whole."""

    words: str
    line: int = 0


Check = Callable[[str, str, int], Refusal | None]
"""Takes the path, the text and the characters that are accepted (0 for any number)."""


def find_refusal(dialect: Dialect, path: str, text: str) -> Refusal | None:
    """Why the agent's program would refuse a text of a file; `None` if it would not, or if nobody knows.

    Args:
        dialect: Whose folder it is.
        path: Relative to the folder.
        text: The whole file.
    """
    rule = dialect.get_rule(path)
    if rule.kept is not None:
        return None  # its program writes it anew, whatever a person does
    check = _CHECKS.get(dialect.name, _check_length)
    return check(path, text, rule.most)


def _check_length(_: str, text: str, most: int) -> Refusal | None:
    if not most or len(text) <= most:
        return None
    return Refusal(f"{len(text):,} characters, over the limit of {most:,}", _find_line(text, most))


def _check_hermes(_: str, text: str, most: int) -> Refusal | None:
    """Hermes' guard refuses to replace and to remove where the file is not what it would write itself."""
    if not most:
        return None
    line = 1 + text[: len(text) - len(text.lstrip())].count("\n")
    total = 0
    for number, entry in enumerate(text.strip().split(_SEPARATOR), 1):
        if not entry.strip():
            if text.strip():
                return Refusal(f"entry {number} is empty: nothing stands between two lines with §", line)
        elif (at := next((at for at, each in enumerate(entry.split("\n")) if each.strip() == "§"), None)) is not None:
            return Refusal("a line with § has blanks or another line end beside it", line + at)
        elif entry != entry.strip():
            return Refusal(f"entry {number} has blanks or empty lines beside its line with §", line)
        elif len(entry) > most:
            return Refusal(f"entry {number} has {len(entry):,} characters, over the limit of {most:,}", line)
        total += len(entry) + (len(_SEPARATOR) if number > 1 else 0)
        line += entry.count("\n") + 2
    if total > most:
        return Refusal(f"{total:,} characters in all, over the limit of {most:,}: it can add nothing more")
    return None


def _check_letta(path: str, text: str, most: int) -> Refusal | None:
    """Letta Code's hook refuses a commit while a note has no description, here or elsewhere."""
    if not path.endswith(".md") or path.startswith("skills/") or path.rpartition("/")[2] == "MEMORY.md":
        return None
    front = parse_front_matter(text)
    if front.problem:
        return Refusal(f"its front matter cannot be read: {front.problem.removesuffix('.')}")
    if not str(front.properties.get("description") or "").strip():
        return Refusal("it needs front matter with a description")
    return _check_length(path, text, most)


def _check_qwen(path: str, text: str, most: int) -> Refusal | None:
    """Qwen Code does not see a note without front matter, or of another type."""
    if not path.endswith(".md") or path.rpartition("/")[2] == "MEMORY.md":
        return None
    front = parse_front_matter(text)
    kind = front.properties.get("type")
    if kind not in _QWEN_TYPES:
        types = ", ".join(_QWEN_TYPES[:-1])
        return Refusal(f"it needs front matter with a type: {types} or {_QWEN_TYPES[-1]}")
    return _check_length(path, text, most)


def find_new_refusal(dialect: Dialect, path: str, text: str, before: str) -> Refusal | None:
    """Why the agent's program would refuse a text that it did not refuse before; arguments as of `find_refusal`.

    What it refuses already may be put right step by step.
    """
    refusal = find_refusal(dialect, path, text) if dialect.name else None
    return refusal if refusal is not None and find_refusal(dialect, path, before) is None else None


_CHECKS: dict[str, Check] = {"hermes": _check_hermes, "letta": _check_letta, "qwen": _check_qwen}


def _find_line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
