"""`memtui review`: the changes since the last review, and the reviewer's verdicts."""

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from memtui import memory as memory_module
from memtui.cli import context, output, restore, review_text, sign_off, times
from memtui.cli.context import load_memory_settings, open_memory, require_writable
from memtui.cli.options import Options
from memtui.cli.output import ExitCode, Failure, NotFound, UsageError
from memtui.cli.parsing import Parser, Verb
from memtui.cli.review_context import ReviewContext
from memtui.core.history import ActionResult
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path
from memtui.core.suggestion import format_suggestion
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine, Observer
from memtui.fs import state
from memtui.fs.exports import ExportWriter
from memtui.fs.write_helper import LocalWriter
from memtui.review import verdicts
from memtui.review.hunks import HunkComparison, compare_file, find_changed_hunks
from memtui.review.inbox import ChangedFile, ChangedHunk, Inbox, MarkedFinding, ReviewMark, ReviewVerdict
from memtui.review.marks import NOTHING, ReviewFile, resolve_review_path

_FINDING_ACTIONS = ("dismiss", "restore")
_READS = ("dismissed", "export", "verify")
_ACTIONS = ("accept", "flag", "note", "revert", *_FINDING_ACTIONS, "done", *_READS)
_PAST = {"accept": "Not accepted", "flag": "Not flagged", "note": "Not noted", "revert": "Not reverted"}


def add_review_options(parser: Parser) -> None:
    parser.add_value("action", "ACTION", "accept, flag, note, revert PATH...; else list", nargs="?")
    parser.add_value("paths", "PATH", nargs="*")
    parser.add_flag("--all", "instead of PATH: everything listed")
    parser.add_value("--hunk", "N", "only this hunk, as --diff has it", type=_parse_number, action="append")
    parser.add_value("--words", "TEXT", "your comment; also --reason", dest="text")
    parser.add_value("--reason", "TEXT", dest="text")
    parser.add_value("--until", "WHEN")
    parser.add_value("--accept-failures", "REASON")
    parser.add_flag("--diff")
    parser.add_value("--since", "WHEN", default="last")
    parser.add_value("--review", "FILE", "the review file, to keep it elsewhere")
    parser.add_value("--reviewer", "NAME")
    parser.add_value("--by", "NAME", dest="actor")
    parser.add_value("--session", "ID")
    parser.add_value("--in --path", "PATH", dest="path")
    parser.add_value("--rule", "RULE")
    parser.add_value("--seen", "N", type=_parse_number)
    parser.add_flag("--accepted")
    parser.add_value("--repo", "DIR")
    parser.add_value("-o --output", "FILE")
    parser.add_value("--format", "FORMAT", choices=("md", "json"))
    parser.add_flag("--force")
    parser.add_flag("-y --yes")


def _parse_number(given: str) -> int:
    plain = given.removeprefix("#")
    if not (plain.isascii() and plain.isdecimal() and len(plain) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is not a number")
    return int(plain)


def run_review(options: Options, arguments: argparse.Namespace) -> int:
    action: str | None = arguments.action
    _validate_arguments(action, arguments)
    if action == "revert":
        require_writable(options, _PAST[action])
    path = context.resolve_folder(options)
    place = resolve_review_path(arguments.review, path, options.state)
    writer = LocalWriter(ExportWriter(path, state.get_state_directory(path, options.state), nothing=NOTHING))
    file = ReviewFile(place, folder=format_path(path), writer=writer)
    review = file.load()
    with _open_observer(path, options, reads=action is None or action in _READS) as memory:
        desk = _ReviewCommand(memory, file, review, options, arguments, path)
        match action:
            case None:
                return desk.list_changes()
            case "dismiss":
                return sign_off.dismiss(desk)
            case "restore":
                return sign_off.restore_findings(desk)
            case "dismissed":
                return sign_off.list_dismissed(desk)
            case "done":
                return sign_off.end_review(desk)
            case "export":
                return sign_off.export_record(desk, writer)
            case "verify":
                return sign_off.verify_record(desk)
            case "revert":
                assert isinstance(memory, Engine)
                return desk.revert(memory)
            case _:
                return desk.record_verdict(action)


def _validate_arguments(action: str | None, arguments: argparse.Namespace) -> None:
    """Raise `Failure` for arguments that contradict."""
    paths: list[str] = arguments.paths
    if action is not None and action not in _ACTIONS:
        known = () if {"/", "."} & set(action) else _ACTIONS
        hint = format_suggestion(
            action, known, f"To list what changed there: memtui review --in {action}", shown="'{}'"
        )
        raise UsageError(f"memtui review: unknown action {action!r}. {hint}")
    is_narrowed = any(getattr(arguments, name) for name in ("actor", "session", "path", "rule"))
    name_it = "give a PATH, or --all. To list the changes: memtui review"
    all_of_it = "it covers everything. To accept a part: memtui review accept"
    problems = (
        (action in _PAST and bool(paths) is arguments.all, f" {action}: {name_it}"),
        (action == "done" and (paths or arguments.all or is_narrowed), f" done: {all_of_it}"),
        (
            action is None and (arguments.all or arguments.hunk or arguments.text or arguments.seen),
            ": give an action: accept, flag, note or revert.",
        ),
        (action == "note" and not arguments.text, " note: give a comment, with --words TEXT."),
        (
            action in _FINDING_ACTIONS and (not paths or arguments.all),
            f" {action}: give the fingerprints of findings, listed by memtui audit --all.",
        ),
        (action == "dismiss" and not (arguments.text or "").strip(), " dismiss: give a reason, with --reason TEXT."),
        (arguments.until is not None and action != "dismiss", ": --until goes with dismiss."),
        (arguments.accept_failures is not None and action != "done", ": --accept-failures goes with done."),
        (
            arguments.accept_failures is not None and not arguments.accept_failures.strip(),
            " done: give a reason, with --accept-failures REASON.",
        ),
        (action in ("dismissed", "export") and bool(paths), f" {action}: it takes no PATH."),
        (action == "verify" and len(paths) != 1, " verify: give the file of one record."),
        (
            action != "export" and (arguments.output is not None or arguments.format is not None or arguments.force),
            ": -o, --format and --force go with export.",
        ),
        (
            arguments.reviewer is not None and not arguments.reviewer.strip(),
            ": the name of the reviewer is empty. Nothing was noted.",
        ),
        (arguments.hunk and (len(paths) != 1 or arguments.all), ": --hunk needs one file. Name it."),
    )
    for applies, words in problems:
        if applies:
            raise UsageError(f"memtui review{words}")


@contextmanager
def _open_observer(path: str, options: Options, *, reads: bool) -> Iterator[Observer]:
    """The memory; for an action that only reads, and with `--read-only`, an observer that cannot write."""
    if reads or options.read_only:
        with memory_module.observe(path, state=options.state, settings=load_memory_settings(options, path)) as observer:
            if observer.recorded.problem:
                output.print_message(observer.recorded.problem)
            yield observer
    else:
        with open_memory(path, options) as memory:
            yield memory


@dataclass(frozen=True, slots=True)
class _ReviewTarget:
    """Something that is judged: a file, or hunks of it."""

    file: ChangedFile
    hunks: tuple[ChangedHunk, ...] = ()


@dataclass
class _ReviewCommand(ReviewContext):
    """The list of changes, and the verdicts on them."""

    # Looking

    def list_changes(self) -> int:
        """List the changes."""
        found = self.load_inbox(accepted=self.given.accepted)
        open_count = self._count_left(found)
        hunks = [
            (compare_file(self.memory, file), find_changed_hunks(self.memory, file, self.review))
            for file in (found.files if self.given.diff else ())
        ]
        if self.options.json:
            record = review_text.serialize_inbox(
                found,
                left=open_count,
                head=verdicts.get_head(self.memory),
                review=format_path(self.file.path),
                reviewer=self.given.reviewer,
                hunks=hunks if self.given.diff else None,
                rules=self.custom.matcher,
            )
            output.print_json(record)
        else:
            self._print_changes(found, open_count, hunks)
        return ExitCode.FINDINGS if open_count else ExitCode.OK

    def _count_left(self, found: Inbox) -> int:
        return sum(verdicts.is_open(file, self.given.reviewer) for file in found.files)

    def _print_changes(
        self, found: Inbox, open_count: int, hunks: Sequence[tuple[HunkComparison, Sequence[ChangedHunk]]]
    ) -> None:
        if found.problem:
            output.print_message(found.problem)
        if not hunks:
            is_for_person = output.is_terminal(sys.stdout)
            width = shutil.get_terminal_size().columns if is_for_person else None
            for line in review_text.format_inbox(found, open_count, width):
                output.print_line(line)
            if open_count and is_for_person and not self.options.quiet:
                output.print_line("To review them one by one, on a screen: memtui audit")
            return
        rows = iter(review_text.format_inbox(found, open_count))
        output.print_line(next(rows))
        for file, each in zip(found.files, hunks, strict=True):
            name = f"{file.previous_path} -> {file.path}" if file.previous_path else file.path
            output.print_line(f"  {file.sign} {to_one_line(name)}")
            for sign, line in review_text.format_hunks(*each, self.custom.matcher, file.path):
                output.print_line(output.colorize(line, {"+": "32", "-": "31", "@": "36"}.get(sign)))

    # Judging

    def record_verdict(self, action: str) -> int:
        """Accept, flag or note."""
        chosen = self._select_targets(_PAST[action])
        failures = self._list_failures(chosen) if action == "accept" else {}
        head = verdicts.get_head(self.memory)
        words: str = self.given.text or ""
        build = partial(verdicts.build_marks, self.memory, self.review, ReviewVerdict(action))
        marks: list[ReviewMark] = []
        for each in chosen:
            findings = failures.get(each.file.path, ())
            marks += build(each.file, each.hunks, reviewer=self.reviewer, head=head, words=words, findings=findings)
        self.save_marks(marks)
        return self._print_verdict(action, chosen, marks)

    def _list_failures(self, chosen: Sequence[_ReviewTarget]) -> dict[str, list[MarkedFinding]]:
        """The findings that must not stay with which one note is accepted by its name."""
        paths = {each.file.path: each.hunks for each in chosen if each.file.after is not None}
        named = {context.parse_memory_path(given, self.folder).relative for given in self.given.paths}
        return sign_off.accept_with_failures(self, paths, is_named=paths.keys() <= named) if paths else {}

    def _print_verdict(self, action: str, chosen: Sequence[_ReviewTarget], marks: Sequence[ReviewMark]) -> int:
        open_count = self._count_left(self.load_inbox(accepted=False, plain=True))
        if self.options.json:
            records = [review_text.serialize_mark(mark) for mark in marks]
            said = {"done": True, "review": format_path(self.file.path), "marks": records, "left": open_count}
            output.print_json(said)
        elif not self.options.quiet:
            verb = {"accept": "Accepted", "flag": "Flagged", "note": "Noted"}[action]
            output.print_line(f"{verb} {_format_targets(chosen)}. {format_count(open_count, 'change')} left to review.")
        return ExitCode.OK

    def revert(self, memory: Engine) -> int:
        """Take back, each change as an event of its own."""
        chosen = self._select_targets(_PAST["revert"])
        if len(chosen) > 1 and not self.given.yes:
            for each in chosen:
                output.print_message(f"  {each.file.sign} {to_one_line(each.file.path)}")
            if not restore.confirm(f"Revert {format_count(len(chosen), 'file')}?", _PAST["revert"]):
                output.print_message(f"{_PAST['revert']}. Nothing was written.")
                return ExitCode.FINDINGS
        code = ExitCode.OK
        records: list[dict[str, object]] = []
        for each in sorted(chosen, key=lambda each: each.file.sign != ">"):  # so that no directory is left behind
            done, marks = self._revert_target(memory, each)
            if marks:
                self.save_marks(marks)
            if self.options.json:
                records.append(restore.serialize_restored(done, self.folder, dry_run=False))
            elif done.event is not None and not self.options.quiet:
                output.print_line(
                    f"Reverted {_format_targets([each])}: {restore.format_change_counts(done.changes)}. "
                    f"Undo: memtui undo {done.event.seq}"
                )
            if done.problem and not self.options.json:
                output.print_message(done.problem)
            code = code or restore.get_exit_code(done)
        if self.options.json:
            output.print_json({"done": code is ExitCode.OK, "reverted": records})
        return code

    def _revert_target(self, memory: Engine, each: _ReviewTarget) -> tuple[ActionResult, Sequence[ReviewMark]]:
        """Take back a file or one hunk of it."""
        if len(each.hunks) > 1:
            raise UsageError("memtui review revert: one --hunk at a time: it renumbers the others.")
        hunk = each.hunks[0] if each.hunks else None
        return verdicts.revert_and_mark(memory, each.file, hunk, reviewer=self.reviewer, words=self.given.text or "")

    # Choosing

    def _select_targets(self, past: str) -> Sequence[_ReviewTarget]:
        """The files and hunks named. Raises `Failure` if there are none, or they changed since."""
        found = self.load_inbox(accepted=not self.given.all, plain=not self.given.all)
        files = list(found.files) if self.given.all else self._select_files(found, past)
        if not files:
            raise NotFound(f"{past}: nothing is left to review. Nothing was noted.")
        self._require_seen(files, past)
        if not self.given.hunk:
            return [_ReviewTarget(file) for file in files]
        if len(files) != 1:
            raise UsageError(f"{past}: --hunk needs one file, and these are {len(files):,}.")
        known = find_changed_hunks(self.memory, files[0], self.review)
        if not known:
            problem = compare_file(self.memory, files[0]).problem or "Its text is the same."
            raise NotFound(f"{past}: {to_one_line(files[0].path)} has no hunks. {problem}")
        if wrong := [number for number in self.given.hunk if not 1 <= number <= len(known)]:
            there = "one hunk" if len(known) == 1 else f"{len(known):,} hunks"
            raise NotFound(f"{past}: {to_one_line(files[0].path)} has {there}, and no hunk {wrong[0]}.")
        numbers = dict.fromkeys(self.given.hunk)
        return [_ReviewTarget(files[0], tuple(known[number - 1] for number in numbers))]

    def _select_files(self, found: Inbox, past: str) -> Sequence[ChangedFile]:
        chosen: dict[int, ChangedFile] = {}  # two may have one path: what was there, and what took its place
        for given in self.given.paths:
            place = context.parse_memory_path(given, self.folder)
            inside = [
                file
                for file in found.files
                if place.is_root or file.path == place.relative or file.path.startswith(place.relative + "/")
            ]
            if not inside:
                inside = [file for file in found.files if file.previous_path == place.relative]
            if not inside:
                raise NotFound(
                    f"{past}: {place} has not changed since {to_one_line(found.since_words)}. Nothing was noted."
                )
            chosen |= {id(file): file for file in inside}
        return list(chosen.values())

    def _require_seen(self, files: Sequence[ChangedFile], past: str) -> None:
        seen: int | None = self.given.seen
        if seen is None:
            return
        known = min(seen, self.memory.recorded.last)  # a list records nothing, so its numbers behind that may be others
        for file in files:
            newer = next((event.seq for event in file.events if event.seq > known), 0)
            if (later := self.memory.history.get_event(newer)) is not None:
                since = f"has changed since #{seen}" if newer > seen else "was changed by an event recorded only now"
                raise Failure(
                    ExitCode.CONFLICT,
                    f"{past}: {to_one_line(file.path)} {since}: {times.describe_event(later)}. "
                    f"Nothing was noted. See: memtui review --diff",
                )


def _format_targets(chosen: Sequence[_ReviewTarget]) -> str:
    if len(chosen) > 1:
        return format_count(len(chosen), "file")
    each = chosen[0]
    name = to_one_line(each.file.path)
    return f"{format_count(len(each.hunks), 'hunk')} of {name}" if each.hunks else name


REVIEW_VERB = Verb("review", add_review_options, run_review, keeps_rights=True)
