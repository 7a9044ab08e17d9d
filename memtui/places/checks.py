"""What an agent's program would not take back: texts that it refuses, or that shut it out of its own file.

Each check is for files that the program writes itself. Sources: the programs of November 2026 (`docs/folders.md`).
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

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
    """Hermes' guard refuses to replace and to remove where the file is not what it would write itself.

    Hermes reads every line end as one line feed. A line with § and blanks separates nothing, and is refused neither.
    """
    if not most or not text.strip():
        return None
    entries = text.replace("\r\n", "\n").replace("\r", "\n").split(_SEPARATOR)
    line = 1
    for number, entry in enumerate(entries, 1):
        core = entry.strip()
        if not core:
            return Refusal(f"entry {number} is empty: nothing stands between two lines with §", line)
        if (number > 1 and entry[0] != core[0]) or (number < len(entries) and entry[-1] != core[-1]):
            return Refusal(f"entry {number} has blanks or empty lines beside its line with §", line)
        if len(core) > most:
            start = line + entry[: len(entry) - len(entry.lstrip())].count("\n")
            return Refusal(f"entry {number} has {len(core):,} characters, over the limit of {most:,}", start)
        line += entry.count("\n") + 2
    total = sum(len(entry.strip()) for entry in entries) + len(_SEPARATOR) * (len(entries) - 1)
    if total > most:
        return Refusal(f"{total:,} characters in all, over the limit of {most:,}: it can add nothing more")
    return None


_LETTA_BLOCKS = re.compile(r"(?:memory/)?(?:system|reference)/.*\.md")
_LETTA_SKILL = re.compile(r"(?:memory/)?skills/[^/]+\.md")
_LETTA_KEYS, _LETTA_MEMFS_KEYS = ("description", "read_only", "limit"), ("name", "description")


def _check_letta(path: str, text: str, most: int) -> Refusal | None:
    """Letta Code's hook refuses a commit with such a block, in the layout with `system/`. It reads lines, not YAML."""
    if _LETTA_SKILL.fullmatch(path):
        return _FLAT_SKILL
    if not _LETTA_BLOCKS.fullmatch(path):
        return None
    lines = _find_front_lines(text)
    if isinstance(lines, Refusal):
        return lines
    found = False
    for number, line in lines:
        if line.startswith((" ", "\t")):
            continue
        key, value = _split_front_line(line)
        key = key.replace(" ", "")
        if key not in _LETTA_KEYS:
            return _refuse_key(key, _LETTA_KEYS, number)
        if key == "description" and not value:
            return Refusal("its description is empty", number)
        found = found or key == "description"
    return _check_length(path, text, most) if found else Refusal("it needs front matter with a description")


def _check_letta_memfs(path: str, text: str, most: int) -> Refusal | None:
    """The same in the layout with `MEMORY.md`."""
    if _LETTA_SKILL.fullmatch(path):
        return _FLAT_SKILL
    if not path.endswith(".md") or path.startswith("skills/"):
        return None
    if path.rpartition("/")[2] == "MEMORY.md":
        if text.split("\n", 1)[0] == "---":
            return Refusal("MEMORY.md must not have front matter", 1)
        return _check_length(path, text, most)
    lines = _find_front_lines(text)
    if isinstance(lines, Refusal):
        return lines
    found: set[str] = set()
    for number, line in lines:
        key, value = _split_front_line(line)
        if key not in _LETTA_MEMFS_KEYS:
            return _refuse_key(key, _LETTA_MEMFS_KEYS, number)
        if key in found:
            return Refusal(f"its front matter has {key} twice", number)
        if value in ("", '""', "''"):
            return Refusal(f"its {key} is empty", number)
        found.add(key)
    missing = [key for key in _LETTA_MEMFS_KEYS if key not in found]
    return Refusal(f"it needs front matter with a {missing[0]}") if missing else _check_length(path, text, most)


_FLAT_SKILL = Refusal("a skill must be a directory: skills/NAME/SKILL.md")


def _find_front_lines(text: str) -> list[tuple[int, str]] | Refusal:
    """The lines of front matter that are not empty, with their numbers from 1."""
    lines = text.split("\n")
    if lines[0] != "---":
        return Refusal("it needs front matter with a description")
    if "---" not in lines[1:]:
        return Refusal("its front matter is not closed by a line ---", 1)
    return [(number, line) for number, line in enumerate(lines[1 : lines.index("---", 1)], 2) if line]


def _split_front_line(line: str) -> tuple[str, str]:
    key, found, value = line.partition(":")
    return key.strip(" "), (value if found else line).strip(" ")


def _refuse_key(key: str, allowed: Sequence[str], line: int) -> Refusal:
    return Refusal(f"its front matter may only have {', '.join(allowed[:-1])} and {allowed[-1]}, not {key}", line)


def _find_changed_block(path: str, text: str, before: str) -> Refusal | None:
    """Letta Code's hook refuses changes of a block that says `read_only: true`, and of that line itself."""
    if not _LETTA_BLOCKS.fullmatch(path) or text == before:
        return None
    was, now = _get_read_only(before), _get_read_only(text)
    if was == "true":
        return Refusal("it is read_only and may not be changed")
    return Refusal("read_only may not be set, changed or removed") if was != now else None


def _get_read_only(text: str) -> str:
    lines = _find_front_lines(text)
    values = [] if isinstance(lines, Refusal) else [line for _, line in lines if line.startswith("read_only:")]
    return "\n".join(line.partition(":")[2].strip(" ") for line in values)


_QWEN_FRONT = re.compile(r"---\n(.*?)\n---", re.DOTALL)
_QWEN_TYPE = re.compile(r"(?:^|(?<=[\r\u2028\u2029]))type:[^\S\n]*([^\n\r\u2028\u2029]+)", re.MULTILINE)


def _check_qwen(path: str, text: str, most: int) -> Refusal | None:
    """Qwen Code does not see a note without front matter, or of another type. It reads lines, not YAML."""
    if not path.endswith(".md") or path.rpartition("/")[2] == "MEMORY.md":
        return None
    front = _QWEN_FRONT.match(text.replace("\r\n", "\n"))
    kind = _QWEN_TYPE.search(front[1]) if front is not None else None
    if kind is None or kind[1].strip(" \t\v\f\xa0\ufeff") not in _QWEN_TYPES:
        types = ", ".join(_QWEN_TYPES[:-1])
        return Refusal(f"it needs front matter with a type: {types} or {_QWEN_TYPES[-1]}")
    return _check_length(path, text, most)


def find_new_refusal(dialect: Dialect, path: str, text: str, before: str) -> Refusal | None:
    """Why the agent's program would refuse a text that it did not refuse before; arguments as of `find_refusal`.

    What it refuses already may be put right step by step.
    """
    if dialect.name == "letta" and (refusal := _find_changed_block(path, text, before)) is not None:
        return refusal
    refusal = find_refusal(dialect, path, text) if dialect.name else None
    return refusal if refusal is not None and find_refusal(dialect, path, before) is None else None


_CHECKS: dict[str, Check] = {
    "hermes": _check_hermes, "letta": _check_letta, "letta-memfs": _check_letta_memfs, "qwen": _check_qwen,
}  # fmt: skip


def _find_line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
