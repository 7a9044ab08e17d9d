"""Renaming many at once, in a text: one path a line, changed as one changes any text.

Pure. Everything is checked before anything is done, and what is wrong is said with the number of its line, so that
nobody who slips in a text of five hundred lines loses one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtui.core.visible import one_line
from memtui.ui.files.contents import ancestors, is_at_or_below
from memtui.ui.managing.names import BadName, judged
from memtui.ui.said_keys import said

HEAD = """\
# Each line below is a memory, as it is called now. Change the names.
# Keep the lines: none more, none less, in this order.
# Another folder before a name moves it there; missing ones are made.
# Only a folder, such as people/, moves it there under its own name.
# Then you are shown what will happen, and asked. All of it can be taken back.
"""
_SHOWN = 20
"""So many problems are told at most."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text cannot be taken as it is.

    Attributes:
        line: Its number in the text, from 1; 0 where it is about the whole text.
        words: A sentence; safe to show.
    """

    line: int
    words: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.words}" if self.line else self.words


@dataclass(frozen=True, slots=True)
class Renames:
    """What a text says.

    Attributes:
        moves: New paths by old ones, only of what changes.
        problems: Why it cannot be done; empty if it can.
    """

    moves: Mapping[str, str]
    problems: tuple[Problem, ...] = ()


def can_be_written(path: str) -> bool:
    """Whether a path can stand on a line of such a text and be what it was when it is read again."""
    return one_line(path) == path and path == path.strip()


def written(paths: Sequence[str], is_folder: Callable[[str], bool]) -> str:
    """The text in which paths are changed.

    Args:
        paths: Each can be written; see `can_be_written`.
        is_folder: Whether a path is a directory; it is written with a `/` at its end then.
    """
    return HEAD + "".join(f"{_line(path, is_folder(path))}\n" for path in paths)


def _line(path: str, is_folder: bool) -> str:
    start = "./" if path.startswith("#") else ""  # else the first line would be taken for a comment
    return f"{start}{path}{'/' if is_folder else ''}"


def read(
    text: str,
    paths: Sequence[str],
    *,
    is_folder: Callable[[str], bool],
    exists: Callable[[str], bool],
) -> Renames:
    """What a text says that was written by `written` and changed by a person.

    Args:
        text: All of it.
        paths: Those that it was written for.
        is_folder: Whether a path is a directory now.
        exists: Whether there is something at a path now.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    first = 0
    while first < len(lines) and (lines[first].startswith("#") or not lines[first].strip()):
        first += 1
    while len(lines) > first and not lines[-1].strip():
        lines.pop()
    given = lines[first:]
    if len(given) != len(paths):
        count = f"{len(given):,} {'line' if len(given) == 1 else 'lines'}"
        names = f"{len(paths):,} {'name' if len(paths) == 1 else 'names'}"
        return Renames({}, (Problem(0, f"There are {count} for {names}: each line stands for one."),))
    return _checked([(first + 1 + at, line) for at, line in enumerate(given)], paths, is_folder, exists)


def _checked(
    lines: Sequence[tuple[int, str]],
    paths: Sequence[str],
    is_folder: Callable[[str], bool],
    exists: Callable[[str], bool],
) -> Renames:
    moves: dict[str, str] = {}
    numbers: dict[str, int] = {}
    changed: dict[str, int] = {}
    problems: list[Problem] = []
    for (number, line), old in zip(lines, paths, strict=True):
        try:
            new = target_of(line, old, is_folder(old))
        except BadName as error:
            problems.append(Problem(number, f"{one_line(old)}: {error}"))
            continue
        if numbers.setdefault(new, number) != number:
            problems.append(Problem(number, f"{one_line(new)} stands on line {numbers[new]} too."))
        elif new != old:
            changed[old] = number
        if new != old:
            moves[old] = new
    for old, number in changed.items():
        words = in_the_way(old, moves[old], moves, is_folder, exists)
        if words:
            problems.append(Problem(number, words))
    problems.sort(key=lambda problem: problem.line)
    more = len(problems) - _SHOWN
    if more > 0:
        problems = [*problems[:_SHOWN], Problem(0, f"And {more:,} more.")]
    return Renames({} if problems else moves, tuple(problems))


def target_of(line: str, old: str, is_folder: bool) -> str:
    """The new path that somebody wrote for an old one; only a folder's name moves a file there, under its own name.

    Raises:
        BadName: It cannot be a name here.
    """
    if not line.strip():
        raise BadName(f"It needs a name. {said('file.delete', 'd')} deletes it.")
    if line.removesuffix("\r") in (old, _line(old, is_folder)):
        return old  # also a name that nobody could make now
    typed = judged(line)
    if typed.is_folder and not is_folder:
        name = old.rpartition("/")[2]
        return f"{typed.path}/{name}" if typed.path else name
    if not typed.path:
        raise BadName("That is the memory folder itself.")
    return typed.path


def in_the_way(
    old: str,
    new: str,
    moves: Mapping[str, str],
    is_folder: Callable[[str], bool],
    exists: Callable[[str], bool],
) -> str:
    """Why something cannot get its new path; empty if it can."""
    if is_at_or_below(new, old):
        return f"{one_line(old)} cannot be put into itself."
    same = new.casefold() == old.casefold()  # where case makes no difference, it is in its own way
    if exists(new) and new not in moves and not same:
        return f"{one_line(new)} is there already."
    for parent in ancestors(new):
        if parent not in moves and exists(parent) and not is_folder(parent):
            return f"{one_line(parent)} is no folder; nothing can lie in it."
    return ""
