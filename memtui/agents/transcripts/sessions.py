"""Where the agents keep their session files, and reading them in one form.

Claude Code's lines are that form. Those of another agent are brought into it by its converter, and what is no call, no
result and no prompt is left out.
"""

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Protocol

from memtui.agents.transcripts.codex import CodexConverter
from memtui.agents.transcripts.gemini import GeminiConverter
from memtui.agents.transcripts.openclaw import OpenClawConverter, iter_rows
from memtui.agents.transcripts.parse import LONGEST, ReadCancelled, TranscriptLine, iter_lines, parse_record
from memtui.fs.no_atime import read_regular_file
from memtui.places.claude_code import list_config_directories
from memtui.places.dialects import load_dialects, place_pattern
from memtui.places.probe import read_start

CLAUDE_CODE = "Claude Code"
_DATABASE, _COMPRESSED, _DOCUMENT = ".sqlite", ".zst", ".json"
_ROOT, _ROOT_BYTES = ".project_root", 10_000
"""The file in which Gemini CLI notes the project of sessions."""


class SessionConverter(Protocol):
    """Brings the lines of one agent's session files into the form of Claude Code's."""

    @property
    def title(self) -> str:
        """The agent's name."""

    @property
    def marks(self) -> re.Pattern[bytes]:
        """What is found in each line that may matter."""

    def convert(self, record: Mapping[str, Any]) -> Iterator[bytes]:
        """The lines that a line stands for."""


class SessionFile:
    """A session file of any agent; its first line tells whose it is.

    Args:
        path: The file.
        read: Called with the number of bytes read; `False` stops.
        session: The only session that is wanted, where a file holds several; empty for all.

    Attributes:
        agent: The agent's name.
        count: How many lines were read.
        broken: How many of them are no JSON, of those that were looked at.

    Raises:
        OSError: It is not there, is no file, or cannot be read.
        ReadCancelled: It was stopped. Both may come while it is read, too.
    """

    def __init__(self, path: str, read: Callable[[int], bool], session: str = "") -> None:
        self.count, self.broken = 0, 0
        self._converter: SessionConverter | None = None
        if path.endswith(_DATABASE):
            self._lines, self._converter = iter_rows(path, read, session), OpenClawConverter()
        elif path.endswith(_DOCUMENT):
            self._lines, self._converter = _iter_messages(path, read), GeminiConverter(_read_project(path))
        else:
            lines = iter_lines(path, read, is_compressed=path.endswith(_COMPRESSED))
            first = list(islice(lines, 1))
            self._lines = chain(first, lines)
            self._converter = _choose_converter(path, parse_record(first[0].data) or {} if first else {})
        self.agent = CLAUDE_CODE if self._converter is None else self._converter.title

    def __iter__(self) -> Iterator[TranscriptLine]:
        """The lines, in the form of Claude Code's."""
        for line in self._lines:
            self.count += 1
            if self._converter is None:
                yield line
            elif self._converter.marks.search(line.data) is not None:
                record = parse_record(line.data)
                self.broken += record is None
                for data in self._converter.convert(record) if record is not None else ():
                    yield TranscriptLine(line.number, data)


def _choose_converter(path: str, first: Mapping[str, Any]) -> SessionConverter | None:
    if CodexConverter.recognise(first):
        return CodexConverter()
    if GeminiConverter.recognise(first):
        return GeminiConverter(_read_project(path))
    return OpenClawConverter() if OpenClawConverter.recognise(first) else None


def _iter_messages(path: str, read: Callable[[int], bool]) -> Iterator[TranscriptLine]:
    """A document that holds a whole session, as one line."""
    data = read_regular_file(path, LONGEST)
    if data is None or len(data) > LONGEST:
        raise OSError("it is no file" if data is None else "it is too large")
    if not read(len(data)):
        raise ReadCancelled
    yield TranscriptLine(1, data)


def _read_project(path: str) -> str:
    """The directory of the project that a session of Gemini CLI is about; empty if unknown."""
    above = path.rpartition("/chats/")[0]
    project = os.fsdecode(read_start(os.path.join(above, _ROOT), _ROOT_BYTES, os.O_NOFOLLOW)).strip() if above else ""
    return project if os.path.isabs(project) and "\0" not in project else ""


# Where they are

_ENDING = ".jsonl"
_NO_SESSIONS = frozenset({"memory", "tool-results"})
"""Directories beside the sessions of a project, without session files."""

_DEPTH = 6
"""Levels of directories below that of all projects: a project, a session, its agents, and some to spare."""


def list_session_files(folder: str = "", *, home: str | None = None) -> list[str]:
    """All session files of the agents that are known, in order, those of Claude Code first.

    Sessions of one project may write another one's memory, such as those of its other working trees, and one agent
    may write another one's.

    Args:
        folder: The memory folder; the sessions beside it are listed too, wherever that is.
        home: The user's home directory by default.
    """
    above, name = os.path.split(os.path.dirname(folder))
    beside = [os.path.dirname(above)] if name and os.path.basename(above) == "projects" else []
    tops = dict.fromkeys([*list_config_directories(home), *beside])
    own = sorted(_iter_session_files(os.path.join(top, "projects") for top in tops))
    return [*own, *_iter_others(home or os.path.expanduser("~"))]


def find_session_files(session: str, *, home: str | None = None) -> list[str]:
    """The files that may tell of a session: Claude Code's own and those of its agents, or another agent's.

    Args:
        session: Its id.
        home: The user's home directory by default.
    """
    if not session or os.sep in session or "\0" in session or session in (".", ".."):
        return []
    found: list[str] = []
    for top in list_config_directories(home):
        for project in _scan_directory(os.path.join(top, "projects")):
            if os.path.isfile(own := os.path.join(project.path, f"{session}{_ENDING}")):
                found.append(own)
            if os.path.isdir(agents := os.path.join(project.path, session)):
                found += sorted(_iter_session_files([agents]))
    if found:
        return found
    names = (session, session[:_SHORT]) if len(session) > _SHORT else (session,)
    others = _iter_others(home or os.path.expanduser("~"))
    return [
        path for path in others if path.endswith(_DATABASE) or any(name in os.path.basename(path) for name in names)
    ]


_SHORT = 8
"""Characters of a session's id in the names of Gemini CLI's files."""


def _iter_others(home: str) -> Iterator[str]:
    """The session files of other agents than Claude Code."""
    for dialect in load_dialects():
        for pattern in filter(None, (place_pattern(each, home) for each in dialect.sessions)):
            yield from sorted(path for path in glob.iglob(pattern) if os.path.isfile(path))


def sum_sizes(files: Sequence[str]) -> int:
    """The bytes of files, as far as they can be read."""
    total = 0
    for path in files:
        try:
            total += os.stat(path).st_size
        except OSError:
            continue
    return total


def _iter_session_files(tops: Iterable[str]) -> Iterator[str]:
    """The session files below some directories. Only links to projects are followed: others lead anywhere."""
    todo, seen = [(top, 0) for top in tops], set[str]()
    while todo:
        directory, depth = todo.pop()
        real = os.path.realpath(directory)
        if real in seen:
            continue
        seen.add(real)
        for entry in _scan_directory(directory):
            if entry.name.endswith(_ENDING):
                yield entry.path
            elif depth < _DEPTH and entry.name not in _NO_SESSIONS and _is_directory(entry, follow=not depth):
                todo.append((entry.path, depth + 1))


def _is_directory(entry: "os.DirEntry[str]", *, follow: bool) -> bool:
    try:
        return entry.is_dir(follow_symlinks=follow)
    except OSError:
        return False


def _scan_directory(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []
