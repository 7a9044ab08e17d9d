"""The input of the rules: a folder at one moment, and its journal."""

import os
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property, partial
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from memtui.audit.model import (
    NO_CUSTOM_RULES,
    AuditCancelled,
    ChainStatus,
    CustomRules,
    Hit,
    SkippedRule,
    check_cancelled,
)
from memtui.core.edits import format_human_size
from memtui.core.errors import SymlinkEscape
from memtui.core.events import EntryKind, sha256
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.settings import AuditSettings, Settings
from memtui.core.text_format import DecodedText, decode_text
from memtui.core.wording import estimate_token_count
from memtui.engine import Observer
from memtui.engine.reconcile import Entry
from memtui.notes.formats import detect_format
from memtui.notes.front_matter import find_front_matter_end
from memtui.places.dialects import Dialect
from memtui.review.inbox import Inbox
from memtui.scan.git_files import is_git_file
from memtui.scan.rule_matches import NO_SECRET_RULES, SecretRules
from memtui.scan.secrets import SecretScan
from memtui.store.base import FileContent, FileTooLarge, Node, NotRegularFile

if TYPE_CHECKING:
    from memtui.audit.provenance import JournalSummary, OriginTracer
    from memtui.audit.repository import Repository


_TOKENS, _BINARY = "tokens of texts", "binary files"
TEXTS = frozenset({"md", "txt", "json", "jsonl", "yaml", "toml", "xml", "html", "csv", "tsv"})
"""Formats that are text, whatever is in the file."""


@dataclass(frozen=True)
class Note:
    """A file of the folder."""

    path: str
    data: bytes | None  # its bytes; `None` if unreadable
    mtime_ns: int
    size: int
    links: int = 1
    problem: str = ""  # why it could not be read, as a sentence; else empty
    is_too_large: bool = False
    rules: SecretRules = NO_SECRET_RULES  # of a person's own files

    @cached_property
    def decoded(self) -> DecodedText | None:
        """What it says, and how it was read; `None` if it could not be, or if it is git's own."""
        return None if self.data is None or self.is_git_file else decode_text(self.data)

    @cached_property
    def is_git_file(self) -> bool:
        """Whether git keeps in it what was committed: nobody reads it as a note."""
        return self.data is not None and is_git_file(self.path, self.data)

    @cached_property
    def sha256(self) -> str:
        """The hash of its bytes; empty if it could not be read."""
        return "" if self.data is None else sha256(self.data)

    @cached_property
    def digest(self) -> str:
        """What is found in it depends on this only, besides the rules."""
        return blake2b(
            f"{self.path}\0{self.links}\0{self.sha256}".encode("utf-8", "surrogatepass"), digest_size=16
        ).hexdigest()

    @cached_property
    def text(self) -> str | None:
        """What it says, whatever its encoding; `None` if it could not be read, or if it is git's own."""
        return None if self.decoded is None else self.decoded.text

    @property
    def is_binary(self) -> bool:
        """Whether it is no text, and need not be by its name."""
        return self.decoded is not None and self.decoded.is_binary and detect_format(self.path) not in TEXTS

    @cached_property
    def secrets(self) -> SecretScan:
        """The secrets in it, for all who ask."""
        return SecretScan(self.text or "", self.rules, self.path)


@dataclass(frozen=True)
class OtherEntry:
    """A name in the folder that is no file."""

    path: str
    kind: EntryKind
    target: str = ""  # the target of a link, as written; else empty
    leaves_folder: bool = False
    is_dangling: bool = False
    what: str = ""  # the type of another entry, such as `a FIFO`
    problem: str = ""

    @property
    def is_unread(self) -> bool:
        """Whether nobody knows what can be read there. A link to nothing is known to lead nowhere."""
        return self.kind is EntryKind.OTHER or (bool(self.problem) and not self.is_dangling)


@dataclass
class CheckLog:
    """What the rules looked at, in their own words: an *ok* of a report says nothing else.

    Attributes:
        counted: What was counted, by the name of the check; a check that is not here was not made.
        skipped: Rules that could not run on this folder.
    """

    counted: dict[str, str] = field(default_factory=dict)
    skipped: list[SkippedRule] = field(default_factory=list)

    def skip(self, reason: str, *rules: str) -> None:
        """Say why rules could not run."""
        self.skipped += [SkippedRule(rule, reason) for rule in rules]


class KnownClean(Protocol):
    """What is known to hold nothing; see `memtui.audit.cache`."""

    def is_clean(self, note: Note, family: str) -> bool: ...
    def select_unclean(self, notes: Iterable[Note], family: str) -> list[Note]: ...

    def add_clean(self, note: Note, family: str) -> None: ...

    def find_in_all(
        self,
        name: str,
        subject: "AuditContext",
        find: "Callable[[AuditContext], Iterable[Hit]]",
        *,
        is_single: bool = False,
    ) -> Iterator[Hit]: ...


class ReceivedChecks(Protocol):
    """Checks that another process makes; see `memtui.audit.forked_checks`."""

    paths: frozenset[str]

    def receive(self, name: str) -> Any: ...


class ReceivedChain(Protocol):
    """A check of the journal that another process makes; see `fork_chain_check`."""

    def receive(self) -> Any: ...


@dataclass(frozen=True)
class AuditContext:
    """A folder at one moment.

    Attributes:
        now_us: The time, in microseconds since 1970.
        on_disk: The number of the last event of the journal on the disk; later ones were found by this audit
            and are not recorded.
        selection: The ids of the rules that run; empty for all. Hits of others are dropped, so a family may skip
            expensive checks: see `has_enabled_rule`.
    """

    notes: Mapping[str, Note]
    others: Mapping[str, OtherEntry]
    observer: Observer
    audit: AuditSettings
    memory: Settings
    now_us: int
    on_disk: int = 0
    repo: str | None = None
    pins: frozenset[str] = frozenset()
    place: str = ""
    custom: CustomRules = NO_CUSTOM_RULES
    selection: frozenset[str] = frozenset()
    inbox: Inbox | None = None
    cache: KnownClean | None = None
    forked: ReceivedChecks | None = None
    chain_check: ReceivedChain | None = None
    stop: Callable[[], bool] = lambda: False
    log: CheckLog = field(default_factory=CheckLog)

    def check_cancelled(self) -> None:
        """Raise `AuditCancelled` where the caller asks to stop; for rules that compare all notes."""
        if self.stop():
            raise AuditCancelled

    @property
    def dialect(self) -> Dialect:
        """Whose memory folder it is, and what its files are to that agent."""
        return self.observer.dialect

    @cached_property
    def digest(self) -> str:
        """What checks over names and contents of all notes depend on only, besides the rules."""
        hashed = blake2b(digest_size=16)
        for note in self.notes.values():
            hashed.update(note.digest.encode())
        rest = (tuple(self.others.values()), sorted(self.selection))
        hashed.update(repr(rest).encode("utf-8", "surrogatepass"))
        return hashed.hexdigest()

    def select_unclean(self, notes: Iterable[Note], family: str) -> list[Note]:
        """The notes that a family of rules is not known to find nothing in, in their order."""
        return list(notes) if self.cache is None else self.cache.select_unclean(notes, family)

    def is_clean(self, note: Note, family: str) -> bool:
        """Whether a family of rules is known to find nothing in a note."""
        return self.cache is not None and self.cache.is_clean(note, family)

    def find_in_all(self, name: str, find: "Callable[[AuditContext], Iterable[Hit]]") -> Iterator[Hit]:
        """The hits of a check over names and contents of all notes, which is made where it may find something."""
        make = partial(_find_in_all, name, find)
        return make(self) if self.cache is None else self.cache.find_in_all(name, self, make)

    @cached_property
    def text_counts(self) -> tuple[int, int]:
        """The estimated tokens of all notes, and how many are no text; where nothing has changed no note is decoded."""
        counting = (
            self.cache.find_in_all("texts", self, _count_texts, is_single=True) if self.cache else _count_texts(self)
        )
        next(counting, None)
        return int(self.log.counted.pop(_TOKENS)), int(self.log.counted.pop(_BINARY))

    @cached_property
    def chain(self) -> ChainStatus:
        """What is known of the journal; it is checked once."""
        from memtui.audit.provenance import check_chain  # noqa: PLC0415 - start-up: needs the database

        told = self.chain_check.receive() if self.chain_check is not None else None
        return ChainStatus(**told) if told else check_chain(self.observer, self.on_disk)

    @cached_property
    def journal_summary(self) -> "JournalSummary":
        """The journal in numbers; it is gone through once. Raises `AuditCancelled`."""
        from memtui.audit.provenance import summarize_journal  # noqa: PLC0415 - start-up: needs the database

        return summarize_journal(self.observer, self.on_disk, stop=self.stop)

    @cached_property
    def origins(self) -> "OriginTracer":
        """Who brought in what."""
        from memtui.audit.provenance import OriginTracer  # noqa: PLC0415 - start-up: needs the database

        return OriginTracer(self.observer, self.journal_summary, is_intact=self.chain.state == "intact")

    @cached_property
    def repository(self) -> "Repository | None":
        """The repository that notes are compared with, at one moment; `None` if none was named."""
        if self.repo is None:
            return None
        from memtui.audit.repository import Repository  # noqa: PLC0415 - start-up: only where one was named

        return Repository(self.repo)

    def iter_texts(self) -> Iterator[str]:
        """What the notes say; of binary files nothing."""
        return (note.text for note in self.notes.values() if note.text is not None and not note.is_binary)

    def hash_contents(self) -> dict[str, str]:
        """The SHA-256 of all that was read, files and targets of links, by path."""
        hashes = {path: note.sha256 for path, note in self.notes.items() if note.data is not None}
        return hashes | {
            path: sha256(os.fsencode(other.target))
            for path, other in self.others.items()
            if other.kind is EntryKind.LINK and other.target
        }

    def count_unread(self) -> int:
        """How many names there are at which nothing could be looked at."""
        notes = sum(note.data is None for note in self.notes.values())
        return notes + sum(each.is_unread for each in self.others.values())

    def has_enabled_rule(self, *rules: str) -> bool:
        """Whether any of these rules runs."""
        return not self.selection or not self.selection.isdisjoint(rules)


def _count_texts(subject: AuditContext) -> Iterator[Hit]:
    counted = subject.log.counted
    counted[_TOKENS] = str(sum(map(estimate_token_count, subject.iter_texts())))
    counted[_BINARY] = str(sum(note.is_binary for note in subject.notes.values()))
    yield from ()


def _find_in_all(name: str, find: Callable[[AuditContext], Iterable[Hit]], subject: AuditContext) -> Iterator[Hit]:
    """The hits of a check of all notes, which a second process may have made."""
    told = subject.forked.receive(name) if subject.forked is not None else None
    if told is None:
        yield from find(subject)
        return
    hits, counted, skipped = told
    subject.log.counted.update(counted)
    for rule, reason in skipped:
        subject.log.skip(reason, rule)
    yield from (Hit(*each) for each in hits)


# Read a folder for an audit: each name and each byte once. No link is followed.

_EVERY = 64  # files between two reports of how far it is
_NO_AUDIT = AuditSettings()
_NO_LIMITS = Settings()


def build_context(
    observer: Observer,
    *,
    settings: AuditSettings = _NO_AUDIT,
    memory: Settings = _NO_LIMITS,
    now_us: int | None = None,
    on_disk: int = 0,
    repo: str | None = None,
    pins: Iterable[str] = (),
    place: str = "",
    custom: CustomRules = NO_CUSTOM_RULES,
    chosen: Iterable[str] = (),
    inbox: Inbox | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
    entries: list[Entry] | None = None,
) -> AuditContext:
    """The state of a folder now.

    Args:
        now_us: The time, in microseconds since 1970; by default that of the clock.
        entries: To this is added what was read.
        progress: Called with the step, the number done and the total.

    Raises:
        AuditCancelled: `stop` returned true.
        FolderMissing: The folder is gone, or was replaced.
        OSError: The folder itself cannot be read.
    """
    notes, others = _read_folder(observer, memory.read_limit, custom.matcher, progress, stop, entries)
    return AuditContext(
        notes=notes,
        others=others,
        observer=observer,
        audit=settings,
        memory=memory,
        now_us=time.time_ns() // 1_000 if now_us is None else now_us,
        on_disk=on_disk,
        repo=repo,
        pins=frozenset(pins),
        place=place,
        custom=custom,
        selection=frozenset(chosen),
        inbox=inbox,
        stop=stop,
    )


def _read_folder(
    observer: Observer,
    limit: int,
    rules: SecretRules,
    progress: Callable[[str, int, int], None] | None,
    stop: Callable[[], bool],
    entries: list[Entry] | None,
) -> tuple[dict[str, Note], dict[str, OtherEntry]]:
    files = observer.get_totals().files
    if progress is not None and entries is not None:  # nothing is recorded yet
        files = sum(entry.kind is EntryKind.FILE for entry in observer.store.iter_names())
    notes: list[Note] = []
    nodes: list[Node] = []
    inhabited: set[str] = set()
    for node, content in observer.store.scan_contents(limit=limit):
        inhabited.add(node.path.rpartition("/")[0])
        if entries is not None:
            entries.append((node, content))
        if node.kind is EntryKind.FILE:
            if len(notes) % _EVERY == 0:
                check_cancelled(stop)
                if progress is not None:
                    progress("read", len(notes), max(files, len(notes)))
            notes.append(_build_note(node, content, limit, rules))
        else:
            nodes.append(node)
    others = (_build_other_entry(observer, node, is_empty=node.path not in inhabited) for node in nodes)
    get_path = attrgetter("path")
    return (
        {note.path: note for note in sorted(notes, key=get_path)},
        {other.path: other for other in sorted(others, key=get_path)},
    )


def _build_note(node: Node, content: FileContent | Exception | None, limit: int, rules: SecretRules) -> Note:
    data, problem, is_too_large = None, "", False
    match content:
        case FileContent():
            data, node = content
        case FileNotFoundError():
            problem = "It was deleted while the folder was read."
        case FileTooLarge():
            is_too_large = True
            size, most = format_human_size(content.size), format_human_size(limit)
            problem = f"It has {size}, over the limit of {most} for reading."
        case OSError():
            problem = f"It cannot be read: {_describe_os_error(content)}."
        case _:
            problem = "It was replaced while it was read."
    return Note(node.path, data, node.mtime_ns, node.size, node.links, problem, is_too_large, rules)


def _build_other_entry(observer: Observer, node: Node, *, is_empty: bool) -> OtherEntry:
    path = MemoryPath.from_relative(node.path)
    if node.kind is EntryKind.DIRECTORY:
        return OtherEntry(node.path, node.kind, problem=_describe_directory_problem(observer, path) if is_empty else "")
    if node.kind is not EntryKind.LINK:
        return OtherEntry(node.path, node.kind, what=node.special_kind)
    try:
        target = os.fsdecode(observer.store.read_link(path))
    except (NotRegularFile, SymlinkEscape):
        return OtherEntry(node.path, node.kind, problem="It was replaced while it was checked.")
    except OSError as error:
        return OtherEntry(node.path, node.kind, problem=f"It cannot be read: {_describe_os_error(error)}.")
    try:
        is_dangling = observer.store.get_node(path, follow=True) is None
    except SymlinkEscape:
        return OtherEntry(node.path, node.kind, target, leaves_folder=True)
    except OSError as error:  # such as links that lead to each other
        problem = f"Its target is missing: {_describe_os_error(error)}."
        return OtherEntry(node.path, node.kind, target, is_dangling=True, problem=problem)
    return OtherEntry(node.path, node.kind, target, is_dangling=is_dangling)


def _describe_directory_problem(observer: Observer, path: MemoryPath) -> str:
    """Why nothing was found in a directory; empty where nothing is in it."""
    try:
        next(iter(observer.store.scan(path, complete=True)), None)
    except OSError as error:
        return f"It cannot be read: {_describe_os_error(error)}."
    return ""


def _describe_os_error(error: OSError) -> str:
    return os.strerror(error.errno or 0).lower()


# Prose notes, and positions in them.

_PROSE = frozenset({"md", "txt"})
_WORDS_OF_OLD = """
archive archived archives history old log logs journal journals diary session sessions daily changelog meeting meetings
decisions adr deprecated obsolete legacy backup backups template templates example examples tmp trash
"""
_OLD = frozenset(_WORDS_OF_OLD.split())
_WORDS_OF_WORK = """
plan plans planned planning roadmap todo todos backlog proposal proposals progress report reports completion completed
findings retrospective retro postmortem refactoring refactor migration review reviews milestones milestone handoff
handover
"""
_WORK = frozenset(_WORDS_OF_WORK.split())
DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_./]?(?:0[1-9]|1[0-2])(?:[-_./]?\d\d)?)?(?!\d)")
"""A year, a month or a day."""


def iter_prose_notes(subject: AuditContext) -> Iterator[tuple[Note, str]]:
    """The notes in sentences and their texts, in order; hidden ones are none."""
    for note in subject.notes.values():
        if is_prose(note.path) and (text := note.text) is not None:
            yield note, text


def is_prose(path: str) -> bool:
    """Whether a file is a note in sentences by its name, and not a hidden one."""
    return detect_format(path) in _PROSE and not is_hidden(path)


def is_hidden(path: str) -> bool:
    """Whether a file, or a directory that it is in, is hidden."""
    return path.startswith(".") or "/." in path


def is_dated_note(path: str) -> bool:
    """Whether a note tells of a day, or of the past, by its name or its directory: it need not hold today."""
    return bool(DATED.search(path) or _OLD & set(re.split(r"[\W_]+", path.casefold())))


def is_work_note(path: str) -> bool:
    """Whether a note tells by its name of work that is planned or done: its paths are those of then."""
    return not _WORK.isdisjoint(re.split(r"[\W_]+", path.rpartition("/")[2].casefold()))


def get_body(text: str) -> str:
    """What a note says below its front matter."""
    return text[find_front_matter_end(text) :]


class LineOffsets:
    """Converts between offsets in a text and its lines and columns."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        self._length = len(text)
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def to_offset(self, line: int, column: int = 0) -> int:
        """The character at a column, from 0, of a line, from 1."""
        return self._starts[line - 1] + column

    def to_position(self, at: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1

    def get_bounds(self, line: int) -> tuple[int, int]:
        """The first character of a line, from 1, and its end."""
        return self._starts[line - 1], self._starts[line] - 1 if line < len(self._starts) else self._length
