"""What changed since a reviewer last looked: file by file, hunk by hunk, with what became of each."""

from dataclasses import dataclass
from enum import StrEnum

from memtui.audit.deeds import Deed, Step
from memtui.core.diffs import Hunk
from memtui.core.events import Version


class Verdict(StrEnum):
    """What a reviewer says of a change."""

    ACCEPT = "accept"
    FLAG = "flag"
    NOTE = "note"
    """Words, and no judgement."""
    REVERTED = "reverted"
    """It was taken back, in an ordinary session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One verdict of one reviewer: a line of a review file.

    Attributes:
        reviewer: Who.
        at_us: When, in microseconds since 1970 (UTC).
        verdict: What was said.
        path: Of which file, relative to the folder; `""` for all that there was: the reviewer was done.
        before: SHA-256 of what the file held before the change; empty for nothing.
        after: SHA-256 of what it held after it; empty for nothing.
        hunk: Which hunk, by its fingerprint; empty for the whole file.
        words: What the reviewer wrote.
        seq: The number of the journal's last event at the time.
        head: The chain's hash with it, in hexadecimal: what the verdict was given over.
    """

    reviewer: str
    at_us: int
    verdict: Verdict
    path: str
    before: str = ""
    after: str = ""
    hunk: str = ""
    words: str = ""
    seq: int = 0
    head: str = ""


@dataclass(frozen=True, slots=True)
class ChangedHunk:
    """One hunk of a changed file.

    Attributes:
        hunk: Where, in the lines before and after.
        fingerprint: The same as long as it is the same lines at the same place of the same text: 16 hexadecimal digits.
        events: Numbers of the events that brought in or took the lines, as far as that is known.
        marks: What reviewers said of it, the newest last.
    """

    hunk: Hunk
    fingerprint: str
    events: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """What became of one file since the last review.

    Attributes:
        path: What it is called now, or was called last; relative to the folder.
        was: What it was called then, where that is another name; else empty. One that is gone may have had another one.
        before: What it held then; `None` for nothing.
        after: What it holds now; `None` for nothing.
        events: What happened to it, the oldest first.
        steps: What it was before that, and after each of them.
        actors: Who did, as shown.
        sessions: In which conversations.
        added: Lines; `None` where lines do not apply.
        removed: Lines.
        marks: What reviewers said of the file as a whole, the newest last. A mark that was given over other texts
            than these does not count, and is not here.
        run: The number of the run (see `Run`) that it is part of; `None` if of none.
        earlier: The last judgement that was given over other texts of it than these; `None` if there is none.
    """

    path: str
    was: str = ""
    before: Version | None
    after: Version | None
    events: tuple[Deed, ...] = ()
    steps: tuple[Step, ...] = ()
    actors: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    added: int | None = None
    removed: int | None = None
    marks: tuple[Mark, ...] = ()
    run: int | None = None
    earlier: Mark | None = None

    @property
    def changed_since(self) -> str:
        """That somebody judged other texts of it than these, such as `changed since it was accepted`; else empty."""
        match self.earlier.verdict if self.earlier is not None else None:
            case Verdict.ACCEPT:
                return "changed since it was accepted"
            case Verdict.FLAG:
                return "changed since it was flagged"
            case _:
                return ""

    @property
    def sign(self) -> str:
        """`+` new, `~` changed, `-` deleted, `>` renamed."""
        if self.before is None:
            return "+"
        if self.after is None:
            return "-"
        return ">" if self.was and self.before.sha256 == self.after.sha256 else "~"

    @property
    def verdict(self) -> Verdict | None:
        """The last judgement of the file as a whole; `None` if there is none.

        One that was reverted and is listed all the same was brought back: it is to be judged again.
        """
        judged = [mark.verdict for mark in self.marks if mark.verdict is not Verdict.NOTE]
        return judged[-1] if judged and judged[-1] is not Verdict.REVERTED else None


@dataclass(frozen=True, slots=True)
class LostFact:
    """A line that a clean-up dropped, and that nothing near to it says elsewhere.

    Attributes:
        path: Where it stood.
        line: In which line, from 1.
        text: What it said.
        seq: The number of the event that dropped it.
    """

    path: str
    line: int
    text: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Many changes that one actor made in one go, such as a dream or a clean-up: shown as one.

    Attributes:
        number: From 1.
        actor: Who, as shown.
        session: In which conversation, where known.
        first: The number of the first event.
        last: The number of the last one.
        at_us: When it began, in microseconds since 1970.
        until_us: When it ended.
        paths: Files that it changed.
        added: Lines.
        removed: Lines.
        lost: What it dropped that stands nowhere any more.
        unlisted: How many more of these there are: nobody reads thousands.
        unsearched: Why not all that it dropped was held against the notes, as a part of a sentence; empty if it was.
    """

    number: int
    actor: str
    session: str | None
    first: int
    last: int
    at_us: int
    until_us: int
    paths: tuple[str, ...]
    added: int
    removed: int
    lost: tuple[LostFact, ...] = ()
    unlisted: int = 0
    unsearched: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What changed since a reviewer last looked.

    Attributes:
        since: The number of the event after which it begins; 0 for the journal's beginning.
        since_us: When that was, in microseconds since 1970; `None` if there was none.
        since_words: What it is since, such as `the last review, by ada`, or `2026-11-20 18:00`.
        until: The number of the last event that is in it.
        files: What changed, those with most to say first.
        runs: What was done in one go.
        marks: All marks that the review file holds, the oldest first.
        problem: What is wrong with the review file or its head, as a sentence; empty if nothing is.
        folders: Directories that came, went or got another name; what changed in them is among `files`.
    """

    since: int
    since_us: int | None
    since_words: str
    until: int
    files: tuple[ChangedFile, ...]
    runs: tuple[Run, ...] = ()
    marks: tuple[Mark, ...] = ()
    problem: str = ""
    folders: tuple[ChangedFile, ...] = ()
