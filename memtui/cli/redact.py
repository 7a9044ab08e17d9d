"""`memtui redact`: remove a text that must go, such as a secret, from history and file. It cannot be taken back."""

import argparse
import contextlib
import getpass
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from memtui.agents.chat.sessions.redaction import SessionRedactionResult, redact_sessions
from memtui.cli import context, event_text, output, restore, times
from memtui.cli.context import open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, NotFound, UsageError, format_os_error
from memtui.cli.parsing import Parser, Verb
from memtui.core.events import sha256
from memtui.core.history import RedactionResult
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import MemoryPath
from memtui.core.unicode import to_one_line
from memtui.core.wording import PLAIN, format_count, format_size
from memtui.editing.drafts import DIRECTORY, EditDraft, EditDraftStore
from memtui.engine import Engine
from memtui.fs import state as fs_state

# Removing a text from drafts: a text that goes from the journal must not stay in them.

_REDACTED = "[redacted]"


@dataclass(frozen=True, slots=True)
class DraftSelector:
    """What to redact: a text in every draft; whole drafts of `paths`, and of `versions` (path, SHA-256)."""

    match: str | None = None
    paths: Collection[str] = ()
    versions: Collection[tuple[str, str]] = ()

    def redact_text(self, draft: EditDraft) -> str | None:
        """The rest of a draft; `None` for nothing."""
        data = draft.text.encode("utf-8", "surrogatepass")
        if draft.path in self.paths or {(draft.path, draft.base), (draft.path, sha256(data))} & set(self.versions):
            return None
        text = draft.text
        for form in self._forms:
            text = text.replace(form, _REDACTED)
        return text

    def is_in(self, data: bytes) -> bool:
        """Whether a partly written draft holds the text."""
        return any(form.encode("utf-8", "surrogatepass") in data for form in self._forms)

    @property
    def _forms(self) -> tuple[str, ...]:
        if self.match is None:
            return ()
        lines = self.match.replace("\r\n", "\n")  # as lines end in an editor
        return tuple(dict.fromkeys((self.match, lines, lines.replace("\r", "\n"))))


@dataclass(frozen=True, slots=True)
class DraftRedactionResult:
    """The notes whose drafts held the text, and sentences about what could not be removed."""

    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def redact_drafts(state: Path, meant: DraftSelector, *, rehearse: bool) -> DraftRedactionResult:
    """Remove a text from all drafts in a state directory; with `rehearse`, only find them."""
    drafts = EditDraftStore(state / DIRECTORY)
    paths: list[str] = []
    problems: list[str] = []
    for draft, is_typed in drafts.list_all():
        text = meant.redact_text(draft)
        if text == draft.text:
            continue
        if is_typed:
            problems.append(
                f"A draft of {to_one_line(draft.path)} holds it and is open in another memtui. "
                "Save or discard it there, and try again."
            )
            continue
        try:
            if not rehearse:
                _rewrite_draft(drafts, draft, text)
        except OSError as error:
            problems.append(
                f"A draft of {to_one_line(draft.path)} holds it and cannot be rewritten: {format_os_error(error)}."
            )
            continue
        paths.append(draft.path)
    if not rehearse:
        for file in drafts.find_partial():
            with contextlib.suppress(OSError):  # one that has just come to its place, or went
                if meant.is_in(file.read_bytes()):
                    file.unlink()
    return DraftRedactionResult(tuple(paths), tuple(problems))


def _rewrite_draft(drafts: EditDraftStore, draft: EditDraft, text: str | None) -> None:
    if text is None:
        draft.file.unlink(missing_ok=True)
    else:
        drafts.rewrite(draft, text)


_NOT_DONE = "Nothing was removed"
_NAMED = 20
_CHATS = "chats"
"""Where sessions are, see `memtui.agents.chat.sessions`, which is not loaded for it."""


def add_redact_options(parser: Parser) -> None:
    parser.add_value("target", "EVENT|PATH", "the text of event 41; every text of PATH", nargs="?")
    parser.add_value("--match", "TEXT", "every text that holds TEXT; - reads it from stdin")
    parser.add_value("--match-file", "FILE", "every text that holds what is in FILE")
    parser.add_value("--reason", "WORDS", "why, kept in history; never the text itself", default="")
    parser.add_flag("-n --dry-run", "only list what would be removed")
    parser.add_flag("-y --yes", "do not ask")


def run_redact(options: Options, arguments: argparse.Namespace) -> int:
    given = (arguments.target, arguments.match, arguments.match_file)
    if sum(each is not None for each in given) != 1:
        raise UsageError("memtui redact: give one of EVENT, PATH, --match or --match-file. See: memtui redact --help")
    if not arguments.dry_run:
        require_writable(options, _NOT_DONE)
    path = context.resolve_folder(options)
    target = _RedactionTarget(arguments, path)
    with open_memory(path, options) as memory:
        if target.event is not None and memory.history.get_event(target.event) is None:
            raise times.make_no_event_failure(memory, target.event)
        state = fs_state.get_state_directory(path, options.state)
        result = target.redact(memory, rehearse=True)
        copies = target.redact_side_copies(memory, state, result, rehearse=True)
        if (_has_effect(result) or copies.has_any) and not arguments.dry_run:
            if not arguments.yes:
                _print_preview(result, copies)
                if not restore.confirm("Remove this for good? It cannot be undone.", _NOT_DONE):
                    output.print_message(f"{_NOT_DONE}.")
                    return ExitCode.FINDINGS
            if _has_effect(result):
                result = target.redact(memory, rehearse=False)
            copies = target.redact_side_copies(memory, state, result, rehearse=False)
    return _print_result(result, copies, options, path, arguments)


@dataclass(frozen=True, slots=True)
class _SideCopies:
    """Chat sessions and notes with drafts that hold the text, and sentences about what cannot be removed."""

    sessions: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def has_any(self) -> bool:
        return bool(self.sessions or self.drafts)


class _RedactionTarget:
    """An event, a path or a text that is to be removed."""

    def __init__(self, arguments: argparse.Namespace, folder: str) -> None:
        self.event: int | None = None
        self.path: str | None = None
        self.match: str | None = None
        self._reason: str = arguments.reason
        if arguments.target is None:
            self.match = _read_match(arguments)
            if self.match in self._reason:
                raise UsageError(f"{_NOT_DONE}: the reason contains the text itself, and would stay. Reword it.")
        elif (number := times.match_event_number(arguments.target)) is not None:
            self.event = number
        else:
            place = context.parse_memory_path(arguments.target, folder)
            if place.is_root:
                raise UsageError("memtui redact: that is the whole folder. Name a file, or use --match.")
            self.path = place.relative

    def redact(self, memory: Engine, *, rehearse: bool) -> RedactionResult:
        """Act, or only rehearse."""
        return memory.redact(event=self.event, path=self.path, match=self.match, reason=self._reason, rehearse=rehearse)

    def redact_side_copies(
        self, memory: Engine, state: Path, result: RedactionResult, *, rehearse: bool
    ) -> _SideCopies:
        """Redact chat sessions and drafts too, unless the journal was left as it is."""
        if not _has_effect(result) and not _is_about_names(result):
            return _SideCopies()
        chats = SessionRedactionResult()
        if _has_effect(result) or self.match is not None:
            place = None if self.path is None else str(MemoryPath.from_relative(self.path))
            chats = redact_sessions(
                state / _CHATS, match=self.match, path=place, events=result.events, rehearse=rehearse
            )
        drafts = redact_drafts(state, self._select_drafts(memory), rehearse=rehearse)
        return _SideCopies(chats.sessions, drafts.paths, (*chats.left, *drafts.left))

    def _select_drafts(self, memory: Engine) -> DraftSelector:
        """Which drafts are meant."""
        if self.path is not None:
            names = (row.moved_from for row in memory.history.versions_of(self.path))
            return DraftSelector(paths={self.path, *(name for name in names if name is not None)})
        event = memory.history.get_event(self.event) if self.event is not None else None
        versions = ((change.path, change.after) for change in event.changes) if event is not None else ()
        hashes = {(path, version.sha256) for path, version in versions if version is not None and version.sha256}
        return DraftSelector(match=self.match, versions=hashes)


def _read_match(arguments: argparse.Namespace) -> str:
    """The text to look for, from wherever it is given. A newline at its very end is not part of it."""
    if arguments.match is not None and arguments.match != "-":
        data = os.fsencode(arguments.match)
    elif arguments.match_file is not None:
        data = _read_file(arguments.match_file)
    elif output.is_terminal(sys.stdin):
        data = os.fsencode(getpass.getpass("The text to remove; it is not shown: "))
    else:
        with open(0, "rb", closefd=False) as source:
            data = source.read()
    data = data.removesuffix(b"\n").removesuffix(b"\r")
    if not data:
        raise UsageError(f"{_NOT_DONE}: the text to look for is empty.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{_NOT_DONE}: the text to look for is not UTF-8.") from None


def _read_file(name: str) -> bytes:
    try:
        with open(name, "rb") as source:
            return source.read()
    except OSError as error:
        raise NotFound(f"{name} cannot be read: {format_os_error(error)}. {_NOT_DONE}.") from error


def _has_effect(result: RedactionResult) -> bool:
    return bool(result.texts or result.changes)


def _print_preview(result: RedactionResult, copies: _SideCopies) -> None:
    """Print what would be removed, before the question."""
    output.print_message(f"Would remove for good: {_format_counts(result, copies)}.")
    files = restore.select_visible_changes(result.changes)
    for change in files[:_NAMED]:
        output.print_message(f"  {restore.get_sign(change)} {to_one_line(change.path)}")
    if len(files) > _NAMED:
        output.print_message(f"  and {len(files) - _NAMED:,} more")
    for sentence in (*result.also, *result.left, *copies.left):
        output.print_message(sentence)


def _format_counts(result: RedactionResult, copies: _SideCopies) -> str:
    counted = []
    if _has_effect(result):
        counted.append(f"{format_count(result.texts, 'text')}, {format_size(result.bytes, PLAIN)}")
    if result.changes:
        counted.append(f"in the folder {restore.format_change_counts(result.changes)}")
    if copies.sessions:
        count = len(copies.sessions)
        counted.append(f"its mentions in {count:,} chat {'session' if count == 1 else 'sessions'}")
    if copies.drafts:
        count = len(copies.drafts)
        counted.append(f"its text in {format_count(count, 'draft')}")
    return "; ".join(counted)


def _print_result(
    result: RedactionResult, copies: _SideCopies, options: Options, path: str, arguments: argparse.Namespace
) -> int:
    is_something = _has_effect(result) or copies.has_any or bool(copies.left)
    is_done = result.event is not None or (copies.has_any and not arguments.dry_run)
    if options.json:
        output.print_json(_serialize_redaction(result, copies, path, dry_run=arguments.dry_run, is_done=is_done))
    else:
        if (_has_effect(result) or copies.has_any) and not options.quiet:
            words = "Removed for good" if is_done else "Would remove for good"
            stay = " The events and their hashes stay." if result.event is not None else ""
            output.print_line(f"{words}: {_format_counts(result, copies)}.{stay}")
        for sentence in _list_remarks(result, copies, arguments, quiet=options.quiet):
            output.print_message(sentence)
    if is_something:
        problem = result.problem if _has_effect(result) else ""
        return ExitCode.FINDINGS if result.left or problem or copies.left else ExitCode.OK
    return ExitCode.CONFLICT if result.left and not _is_about_names(result) else ExitCode.MISSING


def _is_about_names(result: RedactionResult) -> bool:
    """Whether nothing was in the way: the record's texts just do not hold it."""
    return all(sentence in result.problem for sentence in result.left)


def _list_remarks(
    result: RedactionResult, copies: _SideCopies, arguments: argparse.Namespace, *, quiet: bool
) -> Iterator[str]:
    """Sentences about problems and other places that may hold the text."""
    is_something = _has_effect(result) or copies.has_any or bool(copies.left)
    if result.problem and (_has_effect(result) or not is_something):
        yield result.problem
    yield from (*result.also, *result.left) if _has_effect(result) else ()
    yield from copies.left
    if copies.sessions and arguments.match is None and arguments.match_file is None:
        yield "Other mentions of it in these chats stay. --match finds text anywhere."
    if arguments.match not in (None, "-") and not quiet:
        yield "The text may be in your shell's history now. --match - reads it from stdin."


def _serialize_redaction(
    result: RedactionResult, copies: _SideCopies, path: str, *, dry_run: bool, is_done: bool
) -> dict[str, object]:
    return {
        "done": is_done,
        "dry_run": dry_run,
        "problem": result.problem or None,
        "texts": result.texts,
        "bytes": result.bytes,
        "events": list(result.events),
        "changes": [event_text.serialize_change(change) for change in result.changes],
        "sessions": list(copies.sessions),
        "drafts": list(copies.drafts),
        "left": [*result.left, *copies.left],
        "also": list(result.also),
        "event": event_text.serialize_event(result.event, path) if result.event is not None else None,
    }


REDACT_VERB = Verb("redact", add_redact_options, run_redact)
