"""`memtui review`: what changed since the last review, and what a reviewer says of it."""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from memtui import opening
from memtui.audit import judging, reverting
from memtui.audit.changed_hunks import Compared, compared
from memtui.audit.findings import Finding
from memtui.audit.inbox import ChangedFile, ChangedHunk, Inbox, Mark, Verdict
from memtui.audit.inboxes import hunks, inbox
from memtui.audit.marks import Review, outside, review_path
from memtui.audit.review_file import NOTHING, ReviewFile
from memtui.cli import moments, output, places, restored, review_text
from memtui.cli.configured import memory_settings
from memtui.cli.exits import Exit, Failure
from memtui.cli.opened import insist_on_writing, opened
from memtui.cli.verb import Options, Parser, Verb
from memtui.cli.words import closest
from memtui.core.restoring import Restored
from memtui.core.visible import one_line
from memtui.engine import Engine, Observer
from memtui.outgoing import Outgoing
from memtui.places import short
from memtui.scribe import Here

_ACTIONS = ("accept", "flag", "note", "revert", "done")
_PAST = {"accept": "Not accepted", "flag": "Not flagged", "note": "Not noted", "revert": "Not reverted"}
_MAKING: dict[str, Callable[..., Mark]] = {
    "accept": judging.accept,
    "flag": judging.flag,
    "note": judging.note,
}
_FILTERS = (("actor", "--by"), ("session", "--session"), ("path", "--in"), ("rule", "--rule"))


def _arguments(parser: Parser) -> None:
    parser.add_argument(
        "action", metavar="ACTION", nargs="?", help="accept, flag, note, revert PATH..., or done; else the list"
    )
    parser.add_argument("paths", metavar="PATH", nargs="*")
    parser.add_argument("--all", action="store_true", help="instead of PATH: all that is listed")
    parser.add_argument("--hunk", metavar="N", type=_number, action="append", help="only this hunk, as --diff has it")
    parser.add_argument("--words", metavar="TEXT", dest="text", help="what you have to say")
    parser.add_argument("--diff", action="store_true", help="list the hunks, with their numbers")
    parser.add_argument("--since", metavar="WHEN", default="last", help="after event 41, yesterday; else last review")
    parser.add_argument("--review", metavar="FILE", help="where the marks are, to be carried along")
    parser.add_argument("--reviewer", metavar="NAME", help="who you are; listing: whose marks count")
    parser.add_argument("--by", metavar="NAME", dest="actor")
    parser.add_argument("--session", metavar="ID")
    parser.add_argument("--in", "--path", metavar="PATH", dest="path")
    parser.add_argument("--rule", metavar="RULE")
    parser.add_argument("--seen", metavar="N", type=_number)
    parser.add_argument("--accepted", action="store_true")
    parser.add_argument("-y", "--yes", action="store_true")


def _number(given: str) -> int:
    plain = given.removeprefix("#")
    if not (plain.isascii() and plain.isdecimal() and len(plain) < 10):
        raise argparse.ArgumentTypeError(f"{given!r} is no number")
    return int(plain)


def _run(options: Options, arguments: argparse.Namespace) -> int:
    action: str | None = arguments.action
    _insist_on_sense(action, arguments)
    if action == "revert":
        insist_on_writing(options, _PAST[action])
    path = places.folder(options)
    place = review_path(path) if arguments.review is None else outside(arguments.review, path, options.state)
    outgoing = Outgoing(path, opening.state_directory(path, options.state), nothing=NOTHING)
    file = ReviewFile(place, folder=short(path), writer=Here(outgoing))
    review = file.read()
    with _opened(path, options) as memory:
        desk = _Desk(memory, file, review, options, arguments, path)
        if action is None:
            return desk.look()
        if action == "done":
            return desk.end()
        if action == "revert":
            assert isinstance(memory, Engine)
            return desk.revert(memory)
        return desk.judge(action)


def _insist_on_sense(action: str | None, arguments: argparse.Namespace) -> None:
    """Judge the words together.

    Raises:
        Failure: They make no sense.
    """
    paths: list[str] = arguments.paths
    if action is not None and action not in _ACTIONS:
        nearest = None if {"/", "."} & set(action) else closest(action, _ACTIONS)
        hint = f"Did you mean '{nearest}'?" if nearest else f"To list what changed there: memtui review --in {action}"
        raise Failure(Exit.USAGE, f"memtui review: {action!r} is nothing that a reviewer does. {hint}")
    if action in _PAST and bool(paths) is arguments.all:
        raise Failure(
            Exit.USAGE, f"memtui review {action}: name what: a PATH, or --all. To see what there is: memtui review"
        )
    if action == "done" and (paths or arguments.all or any(getattr(arguments, name) for name, _ in _FILTERS)):
        raise Failure(
            Exit.USAGE,
            "memtui review done: it is about all that there is. To accept a part of it: memtui review accept",
        )
    if action is None and (arguments.all or arguments.hunk or arguments.text or arguments.seen):
        raise Failure(Exit.USAGE, "memtui review: say what to do with that: accept, flag, note or revert.")
    if action == "note" and not arguments.text:
        raise Failure(Exit.USAGE, "memtui review note: say what, with --words TEXT.")
    if arguments.reviewer is not None and not arguments.reviewer.strip():
        raise Failure(Exit.USAGE, "memtui review: the name of the reviewer is empty. Nothing was noted.")
    if arguments.hunk and (len(paths) != 1 or arguments.all):
        raise Failure(Exit.USAGE, "memtui review: --hunk is about one file. Name it.")


@contextmanager
def _opened(path: str, options: Options) -> Iterator[Observer]:
    """The memory; with `--read-only`, by what cannot write."""
    if options.read_only:
        with opening.observe(path, state=options.state, settings=memory_settings(options, path)) as observer:
            if observer.recorded.problem:
                output.message(observer.recorded.problem)
            yield observer
    else:
        with opened(path, options) as memory:
            yield memory


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Something that is judged: a file, or hunks of it."""

    file: ChangedFile
    hunks: tuple[ChangedHunk, ...] = ()


class _Desk:
    """A reviewer at work."""

    def __init__(
        self,
        memory: Observer,
        file: ReviewFile,
        review: Review,
        options: Options,
        arguments: argparse.Namespace,
        folder: str,
    ) -> None:
        self._memory = memory
        self._file = file
        self._review = review
        self._options = options
        self._given = arguments
        self._folder = folder
        self._reviewer: str = (arguments.reviewer or judging.reviewer_here()).strip()

    # Looking

    def look(self) -> int:
        """Tell what there is."""
        found = self._inbox(accepted=self._given.accepted)
        left = self._left(found)
        shown: list[tuple[Compared, Sequence[ChangedHunk]]] = []
        if self._given.diff:
            shown = [(compared(self._memory, file), hunks(self._memory, file, self._review)) for file in found.files]
        if self._options.json:
            head = judging.head_of(self._memory)
            output.document(
                review_text.record(
                    found,
                    left=left,
                    head=head,
                    review=short(self._file.path),
                    reviewer=self._given.reviewer,
                    hunks=shown if self._given.diff else None,
                )
            )
        else:
            self._print(found, left, shown)
        return Exit.FINDINGS if left else Exit.OK

    def _left(self, found: Inbox) -> int:
        return sum(judging.is_left(file, self._given.reviewer) for file in found.files)

    def _print(self, found: Inbox, left: int, shown: Sequence[tuple[Compared, Sequence[ChangedHunk]]]) -> None:
        if found.problem:
            output.message(found.problem)
        if not shown:
            is_for_person = output.is_terminal(sys.stdout)
            width = shutil.get_terminal_size().columns if is_for_person else None
            for line in review_text.lines(found, left, width):
                output.line(line)
            if left and is_for_person and not self._options.quiet:
                output.line("To look at them one by one, on a screen: memtui audit")
            return
        colored = output.is_colored()
        rows = iter(review_text.lines(found, left))
        output.line(next(rows))
        for file, each in zip(found.files, shown, strict=True):
            name = f"{file.was} -> {file.path}" if file.was else file.path
            output.line(f"  {file.sign} {one_line(name)}")
            for sign, line in review_text.hunk_lines(*each):
                color = {"+": 32, "-": 31, "@": 36}.get(sign)
                output.line(f"\x1b[{color}m{line}\x1b[m" if colored and color else line)

    def _inbox(self, *, accepted: bool, plain: bool = False) -> Inbox:
        given = self._given
        try:
            return inbox(
                self._memory,
                self._review,
                since=given.since,
                reviewer=given.reviewer,
                actor=None if plain else given.actor,
                session=None if plain else given.session,
                path=None if plain or given.path is None else places.place(given.path, self._folder).relative,
                rule=None if plain else given.rule,
                findings=self._findings() if given.rule and not plain else (),
                accepted=accepted,
                runs=given.action is None,
            )
        except ValueError as error:
            code = Exit.MISSING if str(error).startswith(("There is no event", "The record has no")) else Exit.USAGE
            raise Failure(code, f"memtui review: {error}") from error

    def _findings(self) -> Sequence[Finding]:
        from memtui.audit.auditing import audit  # for start-up cost: only who asks for a rule waits for all of them

        return audit(self._memory, title=short(self._folder), place=self._folder, only={self._given.rule}).findings

    # Judging

    def judge(self, action: str) -> int:
        """Accept, flag or note."""
        chosen = self._chosen(_PAST[action])
        head = judging.head_of(self._memory)
        said: Callable[..., Mark] = partial(
            _MAKING[action], reviewer=self._reviewer, head=head, words=self._given.text or ""
        )
        marks: list[Mark] = []
        for each in chosen:
            if not each.hunks:
                marks.append(said(each.file))
                continue
            mine = [said(each.file, hunk=hunk) for hunk in each.hunks]
            marks += mine
            known = hunks(self._memory, each.file, self._review)
            whole = judging.completing(each.file, known, mine, reviewer=self._reviewer, head=head)
            marks += [whole] if action == "accept" and whole is not None else []
        self._keep(marks)
        return self._tell(action, chosen, marks)

    def _tell(self, action: str, chosen: Sequence[_Chosen], marks: Sequence[Mark]) -> int:
        left = self._left(self._inbox(accepted=False, plain=True))
        if self._options.json:
            output.document(
                {
                    "schema": output.SCHEMA,
                    "done": True,
                    "review": short(self._file.path),
                    "marks": [review_text.mark_record(mark) for mark in marks],
                    "left": left,
                }
            )
        elif not self._options.quiet:
            verb = {"accept": "Accepted", "flag": "Flagged", "note": "Noted"}[action]
            output.line(f"{verb} {_named(chosen)}. {_count(left, 'change')} left to review.")
        return Exit.OK

    def end(self) -> int:
        """The reviewer has seen all that there is."""
        self._given.since = "last"
        head = judging.head_of(self._memory)  # first: what comes after it, nobody is taken to have seen
        found = self._inbox(accepted=True, plain=True)
        if self._given.seen is not None:
            head = self._seen_head(head)
        marks = judging.done(found, reviewer=self._reviewer, head=head, words=self._given.text or "")
        if self._given.seen is not None:
            marks = marks[-1:]
        self._keep(marks)
        flagged = sum(file.verdict is Verdict.FLAG for file in found.files)
        if self._options.json:
            output.document(
                {
                    "schema": output.SCHEMA,
                    "done": True,
                    "review": short(self._file.path),
                    "marks": [review_text.mark_record(mark) for mark in marks],
                    "flagged": flagged,
                }
            )
        elif not self._options.quiet:
            stay = f" {_count(flagged, 'flagged file')} {'stays' if flagged == 1 else 'stay'}." if flagged else ""
            begins = f"The next review begins after #{head[0]} ({head[1][:8]})."
            output.line(f"Reviewed by {one_line(self._reviewer)}. {begins}{stay}")
        return Exit.OK

    def _seen_head(self, head: judging.Head) -> judging.Head:
        seq: int = self._given.seen
        if seq > head[0]:
            raise Failure(Exit.MISSING, f"There is no event #{seq} in the record: it ends at #{head[0]}.")
        event = self._memory.history.event(seq)
        return (seq, event.hash) if event is not None else head

    def revert(self, memory: Engine) -> int:
        """Take back, each change as an event of its own."""
        chosen = self._chosen(_PAST["revert"])
        if len(chosen) > 1 and not self._given.yes:
            for each in chosen:
                output.message(f"  {each.file.sign} {one_line(each.file.path)}")
            if not restored.asked(f"Revert {_count(len(chosen), 'file')}?", _PAST["revert"]):
                output.message(f"{_PAST['revert']}. Nothing was written.")
                return Exit.FINDINGS
        code = Exit.OK
        records: list[dict[str, object]] = []
        for each in sorted(chosen, key=lambda each: each.file.sign != ">"):  # so that no directory is left behind
            done, marks = self._take_back(memory, each)
            if marks:
                self._keep(marks)
            if self._options.json:
                records.append(restored.record(done, self._folder, dry_run=False))
            elif done.event is not None and not self._options.quiet:
                output.line(
                    f"Reverted {_named([each])}: {restored.counted(done.changes)}. "
                    f"memtui undo {done.event.seq} takes it back."
                )
            if done.problem and not self._options.json:
                output.message(done.problem)
            code = code or restored.code_of(done)
        if self._options.json:
            output.document({"schema": output.SCHEMA, "done": code is Exit.OK, "reverted": records})
        return code

    def _take_back(self, memory: Engine, each: _Chosen) -> tuple[Restored, list[Mark]]:
        """Take back a file or hunks of it, the last hunk first so that the others stay where they are."""
        say: Callable[..., Mark] = partial(judging.reverted, reviewer=self._reviewer, words=self._given.text or "")
        if not each.hunks:
            done = reverting.revert(memory, each.file)
            return done, [say(each.file, head=judging.head_of(memory))] if done.event is not None else []
        if len(each.hunks) > 1:
            raise Failure(Exit.USAGE, "memtui review revert: one --hunk at a time: the others get other numbers by it.")
        hunk = each.hunks[0]
        done = reverting.revert(memory, each.file, hunk)
        return done, [say(each.file, hunk=hunk, head=judging.head_of(memory))] if done.event is not None else []

    def _keep(self, marks: Sequence[Mark]) -> None:
        self._review = self._file.add(marks)

    # Choosing

    def _chosen(self, past: str) -> Sequence[_Chosen]:
        """What the words are about.

        Raises:
            Failure: Nothing there is to be reviewed, or it has changed since it was seen.
        """
        found = self._inbox(accepted=not self._given.all, plain=not self._given.all)
        files = list(found.files) if self._given.all else self._named_files(found, past)
        if not files:
            raise Failure(Exit.MISSING, f"{past}: nothing is left to review. Nothing was noted.")
        self._insist_on_seen(files, past)
        if not self._given.hunk:
            return [_Chosen(file) for file in files]
        if len(files) != 1:
            raise Failure(Exit.USAGE, f"{past}: --hunk is about one file, and these are {len(files):,}.")
        known = hunks(self._memory, files[0], self._review)
        if not known:
            problem = compared(self._memory, files[0]).problem or "Its text is the same."
            raise Failure(Exit.MISSING, f"{past}: {one_line(files[0].path)} has no hunks. {problem}")
        if wrong := [number for number in self._given.hunk if not 1 <= number <= len(known)]:
            there = "one hunk" if len(known) == 1 else f"{len(known):,} hunks"
            raise Failure(Exit.MISSING, f"{past}: {one_line(files[0].path)} has {there}, and no hunk {wrong[0]}.")
        numbers = dict.fromkeys(self._given.hunk)
        return [_Chosen(files[0], tuple(known[number - 1] for number in numbers))]

    def _named_files(self, found: Inbox, past: str) -> Sequence[ChangedFile]:
        chosen: dict[int, ChangedFile] = {}  # two may have one path: what was there, and what took its place
        for given in self._given.paths:
            place = places.place(given, self._folder)
            inside = [
                file
                for file in found.files
                if place.is_root or file.path == place.relative or file.path.startswith(place.relative + "/")
            ]
            if not inside:
                inside = [file for file in found.files if file.was == place.relative]
            if not inside:
                raise Failure(
                    Exit.MISSING,
                    f"{past}: {place} has not changed since {one_line(found.since_words)}. Nothing was noted.",
                )
            chosen |= {id(file): file for file in inside}
        return list(chosen.values())

    def _insist_on_seen(self, files: Sequence[ChangedFile], past: str) -> None:
        seen: int | None = self._given.seen
        if seen is None:
            return
        for file in files:
            newer = next((event.seq for event in file.events if event.seq > seen), 0)
            if (later := self._memory.history.event(newer)) is not None:
                raise Failure(
                    Exit.CONFLICT,
                    f"{past}: {one_line(file.path)} has changed since #{seen}: {moments.described(later)}. "
                    f"Nothing was noted. See: memtui review --diff",
                )


def _named(chosen: Sequence[_Chosen]) -> str:
    if len(chosen) > 1:
        return _count(len(chosen), "file")
    each = chosen[0]
    name = one_line(each.file.path)
    return f"{_count(len(each.hunks), 'hunk')} of {name}" if each.hunks else name


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


VERB = Verb(
    "review",
    "judge what changed",
    (
        ("memtui review --diff", "what is left to be looked at"),
        ("memtui review accept notes", "a file, or a directory"),
        ("memtui review done", "the next review begins here"),
    ),
    _arguments,
    _run,
    (
        "--by, --session, --in and --rule narrow the list; --seen N refuses what changed",
        "after #N. Exit: 0 done or nothing left, 1 left to review, 4 read-only, 5 changed",
    ),
    keeps_rights=True,
)
