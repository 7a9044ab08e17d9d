"""Renaming many paths at once in a text, one path a line: the text, its plan, and what is wrong with it.

Everything is checked before anything is done, and each problem is reported with the number of its line.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import covers
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.editing.templates import InvalidName, parse_name
from memtui.flows.dialog import Phrases, format_hint

HEAD = """\
# Each line below is the path of a note. Change the names.
# Keep the number and the order of the lines.
# A directory before a name moves the note; a missing one is created.
# A directory alone, such as people/, keeps the name of the note.
# You are asked before anything is renamed. All of it can be undone.
"""
_SHOWN = 20
"""Problems that are listed at most."""


@dataclass(frozen=True, slots=True)
class RenameProblem:
    """A sentence about a line of the text, from 1; 0 for the whole text."""

    line: int
    words: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.words}" if self.line else self.words


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """New paths by old ones where they differ, or the problems of the text."""

    moves: Mapping[str, str]
    problems: tuple[RenameProblem, ...] = ()


def can_be_written(path: str) -> bool:
    """Whether a path is the same after it was written on a line and read again."""
    return to_one_line(path) == path and path == path.strip()


def format_paths(paths: Sequence[str], is_folder: Callable[[str], bool]) -> str:
    """The text in which paths are changed; those of directories end in `/`. Each path passed `can_be_written`."""
    return HEAD + "".join(f"{_format_line(path, is_folder(path))}\n" for path in paths)


def _format_line(path: str, is_folder: bool) -> str:
    start = "./" if path.startswith("#") else ""  # else the first line would be taken for a comment
    return f"{start}{path}{'/' if is_folder else ''}"


def parse_renames(
    text: str,
    paths: Sequence[str],
    *,
    is_folder: Callable[[str], bool],
    exists: Callable[[str], bool],
    phrases: Phrases | None = None,
) -> RenamePlan:
    """The plan of the text of `paths` that a person changed; hints in problems need `phrases`."""
    lines = text.replace("\r\n", "\n").split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    while len(lines) > first and not lines[-1].strip():
        lines.pop()
    given = lines[first:]
    if len(given) != len(paths):
        count, names = format_count(len(given), "line"), format_count(len(paths), "name")
        return RenamePlan({}, (RenameProblem(0, f"There are {count} for {names}: write one line for each name."),))
    return _check_lines([(first + 1 + at, line) for at, line in enumerate(given)], paths, is_folder, exists, phrases)


def _check_lines(
    lines: Sequence[tuple[int, str]],
    paths: Sequence[str],
    is_folder: Callable[[str], bool],
    exists: Callable[[str], bool],
    phrases: Phrases | None,
) -> RenamePlan:
    moves: dict[str, str] = {}
    numbers: dict[str, int] = {}
    changed: dict[str, int] = {}
    problems: list[RenameProblem] = []
    for (number, line), old in zip(lines, paths, strict=True):
        try:
            new = parse_target(line, old, is_folder(old), phrases)
        except InvalidName as error:
            problems.append(RenameProblem(number, f"{to_one_line(old)}: {error}"))
            continue
        if numbers.setdefault(new, number) != number:
            problems.append(RenameProblem(number, f"{to_one_line(new)} is on line {numbers[new]} too."))
        elif new != old:
            changed[old] = number
        if new != old:
            moves[old] = new
    for old, number in changed.items():
        words = find_obstacle(old, moves[old], moves, is_folder, exists)
        if words:
            problems.append(RenameProblem(number, words))
    problems.sort(key=lambda problem: problem.line)
    more = len(problems) - _SHOWN
    if more > 0:
        problems = [*problems[:_SHOWN], RenameProblem(0, f"And {more:,} more.")]
    return RenamePlan({} if problems else moves, tuple(problems))


def parse_target(line: str, old: str, is_folder: bool, phrases: Phrases | None = None) -> str:
    """The new path; a folder alone moves the file there under its own name. Raises `InvalidName`."""
    if not line.strip():
        hint = format_hint(phrases, "file.delete", "deletes it.") if phrases is not None else ""
        raise InvalidName(f"It needs a name.{hint}")
    if line.removesuffix("\r") in (old, _format_line(old, is_folder)):
        return old  # also a name that nobody could make now
    typed = parse_name(line)
    if typed.is_folder and not is_folder:
        name = old.rpartition("/")[2]
        return f"{typed.path}/{name}" if typed.path else name
    if not typed.path:
        raise InvalidName("That is the memory folder itself.")
    return typed.path


def find_obstacle(
    old: str, new: str, moves: Mapping[str, str], is_folder: Callable[[str], bool], exists: Callable[[str], bool]
) -> str:
    """Why something cannot get its new path; empty if it can."""
    if covers(old, new):
        return f"{to_one_line(old)} cannot be put into itself."
    same = new.casefold() == old.casefold()  # where case makes no difference, it is in its own way
    if exists(new) and new not in moves and not same:
        return f"{to_one_line(new)} already exists."
    for parent in map(str, PurePosixPath(new).parents[:-1]):
        if parent not in moves and exists(parent) and not is_folder(parent):
            return f"{to_one_line(parent)} is not a directory."
    return ""
