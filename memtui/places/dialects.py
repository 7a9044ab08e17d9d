"""Where other agents keep their memories: data in `dialects.toml`, and the registers that some of them keep."""

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.places.claude_code import DirectoryFinder, find_project, list_configured_directories
from memtui.places.file_rules import NO_RULE, FileRule, NoteStart, parse_file_rule, parse_note_start
from memtui.places.letta_limits import LettaLimits, read_letta_limits
from memtui.places.probe import DirectoryProber, parse_object, read_start

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_REGISTER_BYTES = 1_000_000
_PATH_BYTES = 10_000
_MOST_NAMES = 10_000
"""Names of one directory that are matched, and projects of one register that are looked at."""
GROUP = "memtui.dialects"
"""The entry points by which a package brings more kinds, in the form of `dialects.toml`."""
_LONGEST_ERROR = 300
_PATTERNS = ("folders", "projects", "at", "marks", "elsewhere", "sessions")
_CHOICE = re.compile(r"\{([^}]*)\}")
_PROJECT_ITEM = re.compile(r"[ \t]*-[ \t]+([\"']?)(/[^\n]*?)\1[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Dialect:
    """A kind of memory folder; the fields are described in `dialects.toml`."""

    name: str
    title: str
    folders: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    at: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    needs: int = 1
    project: str = ""
    closed: str = ""
    files: tuple[FileRule, ...] = ()
    starts: tuple[NoteStart, ...] = ()
    limits: LettaLimits | None = None
    """Those that are kept in the folder itself; `None` where none are, or where no folder is meant."""

    def get_rule(self, path: str) -> FileRule:
        """What a file is, by its path relative to the folder."""
        rule = next((rule for rule in self.files if rule.matches(path)), NO_RULE)
        most = self.limits.get_most(path) if self.limits is not None else 0
        return replace(rule, most=most) if most else rule

    def is_kind_of(self, folder: str) -> bool:
        """Whether a folder holds what such a one does; nothing of it is opened."""
        found = 0
        for mark in self.marks:
            found += _holds(folder, mark)
            if found >= self.needs:
                return True
        return not self.marks

    def is_recognised(self, folder: str, home: str) -> bool:
        """Whether a folder is of this kind, by its place and what it holds, or only by what it holds."""
        places = filter(None, (place_pattern(each, home) for each in self.folders))
        if any(_matches_path(folder, each) for each in places) or any(
            _matches_path(folder, each, is_end=True) for each in (*self.projects, *self.at)
        ):
            return self.is_kind_of(folder)
        return bool(self.elsewhere) and all(_holds(folder, mark) for mark in self.elsewhere)


PLAIN = Dialect("", "", files=(FileRule("**/MEMORY.md", loads="index"),))
"""Markdown of nobody in particular."""


def _holds(folder: str, mark: str) -> bool:
    return next(glob.iglob(os.path.join(glob.escape(folder), mark)), None) is not None


def _matches_path(path: str, pattern: str, *, is_end: bool = False) -> bool:
    """Whether a path, or its end, is written as a pattern says, name by name."""
    names, parts = path.split("/"), pattern.split("/")
    if len(names) < len(parts) or (not is_end and len(names) != len(parts)):
        return False
    return all(map(fnmatch.fnmatchcase, names[-len(parts) :], parts))


class DialectMemory(NamedTuple):
    """A memory folder of a kind; `project` is the directory that it is about, if that is known."""

    path: str
    dialect: Dialect
    project: str | None = None


def load_dialects() -> tuple[Dialect, ...]:
    """All kinds that are known: memtui's own, and those that installed packages bring."""
    return _load_all()[0]


def list_dialect_problems() -> tuple[str, ...]:
    """What packages bring and cannot be used, as sentences."""
    return _load_all()[1]


@cache
def _load_all() -> tuple[tuple[Dialect, ...], tuple[str, ...]]:
    import importlib.metadata  # noqa: PLC0415 - start-up: only where it is asked whose folder one is

    text = files("memtui.places").joinpath("dialects.toml").read_text(encoding="utf-8")
    found = {dialect.name: dialect for dialect in _parse_dialects(text)}
    problems: list[str] = []
    for point in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.name):
        try:
            for dialect in _parse_dialects(_read_package(point)):
                if dialect.name in found:
                    raise ValueError(f"{dialect.name} is known already")
                found[dialect.name] = dialect
        except Exception as error:  # code of a package: whatever it does wrong, what it brings is left out
            words = to_one_line(f"{type(error).__name__}: {error}")[:_LONGEST_ERROR]
            problems.append(f"The dialects of {to_one_line(point.value)} are not used: {words}")
    return tuple(found.values()), tuple(problems)


def _parse_dialects(text: str) -> list[Dialect]:
    import tomllib  # noqa: PLC0415 - start-up: only where it is asked whose folder one is

    return [_build_dialect(name, **table) for name, table in tomllib.loads(text).items()]


def _read_package(point: "EntryPoint") -> str:
    """The text that a package brings: it names a text, a file, or what returns one."""
    given = point.load()
    given = given() if callable(given) else given
    return str(given.read_text(encoding="utf-8") if hasattr(given, "read_text") else given)


def get_dialect(name: str) -> Dialect:
    """The kind of a name. Raises `KeyError` if there is none."""
    return {dialect.name: dialect for dialect in load_dialects()}[name]


def _build_dialect(
    name: str, *, title: str, needs: int = 1, project: str = "", closed: str = "",
    files: Iterable[dict[str, Any]] = (), starts: Iterable[dict[str, str]] = (), **patterns: list[str],
) -> Dialect:  # fmt: skip
    lists = {
        key: tuple(patterns.pop(key, ())) for key in ("folders", "projects", "at", "marks", "elsewhere", "sessions")
    }
    if patterns:
        raise ValueError(f"{name} has an unknown key: {', '.join(patterns)}")
    return Dialect(
        name, title, **lists, needs=needs, project=project, closed=closed,  # type: ignore[arg-type]
        files=tuple(parse_file_rule(**each) for each in files),
        starts=tuple(parse_note_start(**each) for each in starts),
    )  # fmt: skip


def find_dialect_memories(home: str, projects: Iterable[str], reach: DirectoryProber) -> Iterator[DialectMemory]:
    """All that there are: the user's, those of projects that are known, and those that a register names.

    Args:
        home: The home directory.
        projects: Directories of projects that are known.
        reach: Tells which directories are there.
    """
    known = dict.fromkeys([*projects, *_read_serena_projects(home)])
    names = DirectoryFinder(reach)
    firsts = {pattern.partition("/")[0] for dialect in load_dialects() for pattern in dialect.projects}
    tops = {project: _list_tops(project, firsts) for project in known if reach.is_directory(project)}
    for dialect in load_dialects():
        for pattern in filter(None, (place_pattern(each, home) for each in dialect.folders)):
            for path in _match(dialect, "/", pattern.lstrip("/"), reach):
                yield DialectMemory(path, dialect, _read_project(dialect, path, names))
        for project, found in tops.items() if dialect.projects else ():
            for pattern in dialect.projects:
                if pattern.partition("/")[0] in found:
                    for path in _match(dialect, project, pattern, reach):
                        yield DialectMemory(path, dialect, project)
    yield from _read_basic_memory_projects(home)


def place_pattern(pattern: str, home: str) -> str | None:
    """An absolute pattern: the choice at its beginning is made; `None` where nothing of it is set."""
    found = _CHOICE.match(pattern)
    assert found is not None, pattern
    for choice in found[1].split("|"):
        top = os.environ.get(choice[1:]) if choice.startswith("$") else home + choice[1:]
        if top and os.path.isabs(top):
            return glob.escape(os.path.normpath(top)) + pattern[found.end() :]
    return None


def _match(dialect: Dialect, top: str, pattern: str, reach: DirectoryProber) -> Iterator[str]:
    for path in _expand(top, pattern, reach):
        is_there = reach.is_directory(path)
        if is_there is None or (is_there and dialect.is_kind_of(path)):
            yield path


def _expand(top: str, pattern: str, reach: DirectoryProber) -> list[str]:
    """The paths that a pattern may stand for. Names are read only where the disk answers."""
    paths = [top]
    for part in pattern.split("/"):
        if glob.has_magic(part):
            above = [path for path in paths if reach.is_directory(path)]
            paths = [os.path.join(path, name) for path in above for name in fnmatch.filter(_list_names(path), part)]
        else:
            paths = [os.path.join(path, part) for path in paths]
    return paths


def _list_tops(project: str, firsts: Set[str]) -> Set[str]:
    """The first parts of patterns that a project may hold: of thousands of projects, most hold none."""
    try:
        with os.scandir(project) as entries:
            names = {entry.name for entry in entries if entry.name in firsts}
    except OSError:
        return set()
    return names | {first for first in firsts if glob.has_magic(first)}


def _list_names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))[:_MOST_NAMES]
    except OSError:
        return []


def recognise_folder(folder: str, *, home: str | None = None) -> Dialect:
    """Whose memory folder one is, by where it is and what it holds; `PLAIN` if nobody's in particular.

    Args:
        folder: Its path.
        home: The home directory, if not this user's.
    """
    home = home or os.path.expanduser("~")
    paths = dict.fromkeys((os.path.abspath(folder), os.path.realpath(folder)))
    for dialect in load_dialects():
        if any(dialect.is_recognised(path, home) for path in paths):
            limits = read_letta_limits(dialect.name, folder)
            return replace(dialect, limits=limits) if limits is not None else dialect
    if not paths.keys().isdisjoint(list_configured_directories(home)):
        return get_dialect("claude-code")
    if any(os.path.realpath(memory.path) in paths for memory in _read_basic_memory_projects(home)):
        return get_dialect("basic-memory")
    return PLAIN


# Which project a folder is about


def _read_project(dialect: Dialect, path: str, names: DirectoryFinder) -> str | None:
    if dialect.project == "name":
        above = os.path.dirname(path)
        return find_project(above, names) if os.path.basename(os.path.dirname(above)) == "projects" else None
    file, _, key = dialect.project.partition("#")
    if not file:
        return None
    data = read_start(os.path.join(path, file), _PATH_BYTES, os.O_NOFOLLOW)
    said = parse_object(data).get(key) if key else os.fsdecode(data).strip()
    return os.path.normpath(said) if isinstance(said, str) and _is_path(said) else None


def _is_path(text: str) -> bool:
    return os.path.isabs(text) and "\0" not in text and "\n" not in text


# Registers of projects


def _read_serena_projects(home: str) -> list[str]:
    """The directories of the projects that Serena has registered."""
    top = os.environ.get("SERENA_HOME") or os.path.join(home, ".serena")
    text = read_start(os.path.join(top, "serena_config.yml"), _REGISTER_BYTES).decode("utf-8", "surrogateescape")
    items: list[str] = []
    for line in f"\n{text}".partition("\nprojects:")[2].split("\n")[1:]:
        found = _PROJECT_ITEM.match(line)
        if found is not None and _is_path(found[2]):
            items.append(os.path.normpath(found[2]))
        elif line.strip() and not line.lstrip().startswith("#"):
            break  # the next key
    return items[:_MOST_NAMES]


def _read_basic_memory_projects(home: str) -> Iterator[DialectMemory]:
    """The folders that Basic Memory's configuration names."""
    config = os.environ.get("XDG_CONFIG_HOME")
    tops = (
        os.environ.get("BASIC_MEMORY_CONFIG_DIR"),
        config and os.path.join(config, "basic-memory"),
        os.path.join(home, ".basic-memory"),
    )
    top = next(each for each in tops if each and os.path.isabs(each))
    projects = parse_object(read_start(os.path.join(top, "config.json"), _REGISTER_BYTES)).get("projects")
    dialect = get_dialect("basic-memory")
    for given in list(projects.values())[:_MOST_NAMES] if isinstance(projects, dict) else ():
        path = given.get("path") if isinstance(given, dict) else given
        if isinstance(path, str) and _is_path(path):
            yield DialectMemory(os.path.normpath(path), dialect)
