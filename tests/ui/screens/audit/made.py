"""Audits, inboxes and an inspection made by hand: what the screen is shown in tests, without a folder or a rule."""

import random
import string
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from memtui.audit.model import (
    NO_CUSTOM_RULES,
    UNKNOWN,
    Audit,
    AuditCancelled,
    AuditFinding,
    ChainStatus,
    Family,
    FindingLocation,
    FindingOrigin,
    PassedCheck,
    Severity,
    SkippedRule,
    SuppressedFinding,
)
from memtui.core.diffs import compare_texts
from memtui.core.errors import MemtuiError
from memtui.core.events import Agent, EntryKind, Event, Outside, Person, Version, sha256
from memtui.core.history import ActionResult, SurroundingCalls
from memtui.core.settings import AuditSettings
from memtui.review.inbox import (
    ChangedFile,
    ChangedHunk,
    ChangeRun,
    Inbox,
    LostFact,
    MarkedFinding,
    ReviewMark,
    ReviewVerdict,
)  # fmt: skip
from memtui.review.inspection import AuditCallbacks, ChangeComparison
from memtui.review.triage import mark_finding

AT = datetime(2026, 11, 21, 10, 9, 12).timestamp()
"""When the story of these tests is, in seconds since 1970, by the clock on the wall."""
AT_US = int(AT * 1e6)
MINUTE = 60_000_000


def secret() -> str:
    """Something that looks like a key, and is none."""
    tail = random.Random(6).choices(string.ascii_letters + string.digits, k=40)
    return "-".join(["sk", "ant", "".join(tail)])


NOTES = {
    "project/status.json": f'{{\n  "phase": "build",\n  "token": "{secret()}",\n  "open": ["a", "b"]\n}}\n',
    "notes/2026-01-10-session.md": "# January\n\n- the importer stops at rows without a price\n",
    "MEMORY.md": "\n".join(f"- [note {number}](notes/{number}.md)" for number in range(238)) + "\n",
    "scratch.txt": "written by hand\n",
    "user_preferences.md": "# User\n\n- Prefers **very short** answers\n- Timezone: Europe/Lisbon\n- Likes `ruff`\n",
    "people/me.md": "# Me\n\n- Moved to Lisbon\n- Works on Fridays\n",
    "notes/2026-11-21-standup.md": "# Standup\n\n- Release on Tuesday\n- Ana reviews the importer\n",
}
BEFORE = {
    "user_preferences.md": "# User\n\n- Prefers **short** answers\n- Timezone: Europe/Berlin\n- Likes `ruff`\n"
    "- Uses vim\n",
    "notes/old.md": "- the licence key of the importer is renewed in March\n- ask Ana for the price list\n",
    "notes/older.md": "- the server room is behind the kitchen\n",
}


def place(path: str, line: int, what: str) -> tuple[FindingLocation, tuple[int, int]]:
    """Where a text stands in a note, as a place and as characters."""
    lines = NOTES[path].split("\n")
    column = lines[line - 1].index(what) + 1
    start = sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
    return FindingLocation(path, line, column, line, column + len(what)), (start, start + len(what))


def finding(
    rule: str, family: Family, severity: Severity, where: FindingLocation, words: str, **more: Any
) -> AuditFinding:
    """A finding, with what nobody asks about filled in."""
    known: dict[str, Any] = {
        "evidence": "", "do": "Look at it.", "origin": UNKNOWN,
        "fingerprint": sha256(f"{rule} {where}".encode("utf-8", "surrogateescape"))[:16],
    }  # fmt: skip
    return AuditFinding(rule=rule, family=family, severity=severity, location=where, words=words, **{**known, **more})


def findings() -> tuple[AuditFinding, ...]:
    """One of each severity, as a small folder has them."""
    where, span = place("project/status.json", 3, secret())
    claude = FindingOrigin("Claude", 17, AT_US, "create", "session-9", "toolu_01B2")
    return (
        finding(
            "anthropic-key", Family.SECRET, Severity.FAIL, where, "a key of Anthropic",
            evidence='"token": "sk-ant****",', do="Rotate the key, then remove it from the note.", origin=claude,
            masked=span,
        ),
        finding("outside-change", Family.INTEGRITY, Severity.WARN, FindingLocation("scratch.txt"),
                "it was changed outside memtui, and nobody recorded it", origin=FindingOrigin("outside", None, None)),
        finding("long-index", Family.UPKEEP, Severity.WARN, FindingLocation("MEMORY.md", 201),
                "238 lines, and only 200 of them are loaded", facts={"lines": 238, "limit": 200}),
        finding("stale", Family.UPKEEP, Severity.WARN, FindingLocation("notes/2026-01-10-session.md"),
                "not read by an agent, nor changed, in 314 days", facts={"days": 314}),
        finding("expired-exemption", Family.UPKEEP, Severity.INFO, FindingLocation(""), "an exemption has expired"),
    )  # fmt: skip


def version(text: str | None) -> Version | None:
    """The version that a text has."""
    if text is None:
        return None
    data = text.encode()
    return Version(EntryKind.FILE, sha256(data), len(data))


def event(seq: int, actor: Any, command: str, path: str, minutes: int) -> Event:
    """Something that happened."""
    return Event(seq=seq, at_us=AT_US + minutes * MINUTE, actor=actor, command=command, path=f"/memories/{path}")


CLAUDE, DREAM = Agent("Claude", session="session-9"), Agent("Claude", session="dream-3")


def changed(path: str, *events: Event, run: int | None = None, added: int = 0, removed: int = 0) -> ChangedFile:
    """A changed file of the story."""
    actors = tuple(dict.fromkeys(each.actor.name for each in events))
    sessions = tuple(dict.fromkeys(each.actor.session for each in events if isinstance(each.actor, Agent)))
    return ChangedFile(
        path=path, before=version(BEFORE.get(path)), after=version(NOTES.get(path)), events=events, actors=actors,
        sessions=tuple(each for each in sessions if each), added=added, removed=removed, run=run,
    )  # fmt: skip


def inbox() -> Inbox:
    """Three files, and a run that cleaned up two more."""
    files = (
        changed("user_preferences.md", event(18, CLAUDE, "str_replace", "user_preferences.md", 1),
                event(19, Person(), "write", "user_preferences.md", 3), added=2, removed=3),
        changed("notes/2026-11-21-standup.md", event(20, CLAUDE, "create", "notes/2026-11-21-standup.md", 4), added=4),
        changed("people/me.md", event(21, Outside(), "created", "people/me.md", 6), added=4),
        changed("notes/old.md", event(22, DREAM, "delete", "notes/old.md", 9), run=1, removed=2),
        changed("notes/older.md", event(23, DREAM, "delete", "notes/older.md", 9), run=1, removed=1),
    )  # fmt: skip
    lost = (LostFact("notes/old.md", 1, "- the licence key of the importer is renewed in March", 22),)
    run = ChangeRun(
        number=1, actor="Claude", session="dream-3", first=22, last=23, at_us=AT_US + 9 * MINUTE,
        until_us=AT_US + 10 * MINUTE, paths=("notes/old.md", "notes/older.md"), added=0, removed=3, lost=lost,
    )  # fmt: skip
    return Inbox(since=16, since_us=AT_US - 900 * MINUTE, since_words="2026-11-20 18:00 (your last review)", until=23,
                 files=files, runs=(run,))  # fmt: skip


def passed() -> tuple[PassedCheck, ...]:
    """What is in order."""
    return (
        PassedCheck(Family.INTEGRITY, "paths", "no link leaves the folder"),
        PassedCheck(Family.INTEGRITY, "format", "23 of 23 files parse"),
        PassedCheck(Family.INTEGRITY, "size", "largest file 7.1 KB of 64 KB"),
    )


def excepted() -> SuppressedFinding:
    """Something that somebody has judged to be in order."""
    held = finding(
        "html-comment", Family.HIDDEN, Severity.WARN, FindingLocation("MEMORY.md", 3), "a comment that is not shown"
    )
    return SuppressedFinding(held, "written by the index tool", "2026-12-31")


def audit(**more: Any) -> Audit:
    """An audit of the story."""
    known: dict[str, Any] = {
        "title": "~/app/memories", "taken_us": AT_US + 11 * MINUTE, "files": 23, "bytes": 41_000, "tokens": 10_400,
        "events": 41, "actors": {"Claude": 37, "you": 3, "outside": 1}, "refused": 1,
        "chain": ChainStatus(state="intact", words="intact, 41 of 41 events", seq=41, hash="9f2c41ab" * 8, events=41),
        "findings": findings(), "excepted": (excepted(),), "passed": passed(), "inbox": inbox(),
        "skipped": (SkippedRule("orphan", "off by default"),), "version": "0.5.0", "rules": 62,
        "digest": "9f2c0d1e41ab77aa", "seconds": {"read": 0.01, "secret": 0.02},
        "neutral": ("Files are opened to be read only.",),
    }  # fmt: skip
    return Audit(**{**known, **more})


class MadeHistory:
    """The past of the made folder: nothing is recorded."""

    def versions_of(self, path: str, *, limit: int = -1) -> list[Any]:
        del path, limit
        return []


class MadeObserver:
    """An open folder that is none."""

    read_only = True
    history = MadeHistory()


class MadeInspection:
    """Answers as an inspection does, from what it is given; what it is told is kept."""

    def __init__(
        self,
        made: Audit | None = None,
        *,
        can_revert: bool = False,
        notes: dict[str, str] | None = None,
        settings: AuditSettings | None = None,
        enforced: str = "",
    ) -> None:
        self.made = made or audit()
        self.folder, self.state = "/home/ada/app/memories", None
        self.title = self.made.title
        self.reviewer = "ada"
        self.settings = settings or AuditSettings()
        self.custom = NO_CUSTOM_RULES
        self.enforced = enforced
        self.is_confined = bool(enforced)
        self.observer: Any = None
        self.review_location = "~/.local/state/memtui/reviews/memories.json"
        self.can_revert = can_revert
        self.notes = NOTES if notes is None else notes
        self.marks: list[ReviewMark] = []
        self.judgements = 0
        """How often something was to be written."""
        self.told: dict[int, SurroundingCalls] = {}
        """What was done around events."""
        self.undecided: list[MarkedFinding] = []
        self.failures_reason = ""
        self.finished = 0
        self.reverted: list[tuple[str, str]] = []
        self.written: list[tuple[str, str, bool]] = []
        self.existing: set[str] = set()
        self.looks = 0
        self.closed = False
        self.refuses: MemtuiError | None = None
        """What every write is answered with, if it is."""
        self.unopened: MemtuiError | None = None
        self.gate: threading.Event | None = None
        """What an audit waits for in its middle."""
        self.slow: threading.Event | None = None
        """What a mark waits for before it is written."""
        self.changed: Callable[[], None] | None = None
        self.asker: Any = None

    def open_folder(self) -> None:
        if self.unopened is not None:
            raise self.unopened
        self.observer = MadeObserver()

    def run_audit(self, callbacks: AuditCallbacks) -> Audit:
        self.looks += 1
        made = self.made
        if made.inbox is not None:
            callbacks.inbox(made.inbox)
        callbacks.progress("secret", 12, made.files)
        callbacks.found(made.findings[:1])
        while self.gate is not None and not self.gate.wait(0.01):
            if callbacks.stop():
                raise AuditCancelled
        return made

    def read_text(self, path: str) -> str | None:
        return self.notes.get(path)

    def compare(self, file: ChangedFile) -> ChangeComparison:
        before, after = BEFORE.get(file.previous_path or file.path, ""), self.notes.get(file.path, "")
        difference = compare_texts(before, after)
        hunks = tuple(
            ChangedHunk(hunk, sha256(f"{file.path} {number}".encode())[:16])
            for number, hunk in enumerate(difference.hunks)
        )
        return ChangeComparison(difference, hunks)

    def find_calls(self, seq: int) -> SurroundingCalls:
        return self.told.get(seq, SurroundingCalls(seq))

    def record_verdict(
        self,
        files: Sequence[ChangedFile],
        verdict: ReviewVerdict,
        *,
        hunk: ChangedHunk | None = None,
        words: str = "",
        findings: Sequence[MarkedFinding] = (),
    ) -> list[ReviewMark]:
        if self.slow is not None:
            assert self.slow.wait(20)
        if self.refuses is not None:
            raise self.refuses
        new = [
            ReviewMark(
                reviewer=self.reviewer, at_us=time.time_ns() // 1_000, verdict=verdict, path=file.path,
                hunk=hunk.fingerprint if hunk else "", words=words, seq=41, findings=tuple(findings),
            )
            for file in files
        ]  # fmt: skip
        self.marks += new
        self.judgements += 1
        if hunk is None and self.made.inbox is not None:
            of_files = {mark.path: mark for mark in new}
            marked = tuple(
                replace(each, marks=(*each.marks, of_files[each.path])) if each.path in of_files else each
                for each in self.made.inbox.files
            )
            self.made = replace(self.made, inbox=replace(self.made.inbox, files=marked))
        return new

    def dismiss(self, findings: Sequence[AuditFinding], reason: str, until: str) -> Sequence[ReviewMark]:
        return self._mark(ReviewVerdict.DISMISS, findings, reason, until)

    def restore(self, findings: Sequence[AuditFinding]) -> Sequence[ReviewMark]:
        return self._mark(ReviewVerdict.RESTORE, findings, "", "")

    def _mark(
        self, verdict: ReviewVerdict, findings: Sequence[AuditFinding], words: str, until: str
    ) -> Sequence[ReviewMark]:
        if self.refuses is not None:
            raise self.refuses
        marks = [
            ReviewMark(
                reviewer=self.reviewer, at_us=AT_US, verdict=verdict, path="", words=words, until=until,
                findings=(mark_finding(each),),
            )
            for each in findings
        ]  # fmt: skip
        self.marks += marks
        return marks

    def find_undecided(self, audit: Audit) -> Sequence[MarkedFinding]:
        del audit
        return self.undecided

    def finish(self, shown: Inbox, audit: Audit, failures_reason: str = "") -> ReviewMark:
        del shown, audit
        self.failures_reason = failures_reason
        if self.refuses is not None:
            raise self.refuses
        self.finished += 1
        nothing = Inbox(since=41, since_us=AT_US, since_words="the last review, by ada", until=41, files=())
        self.made = replace(self.made, inbox=nothing)
        return ReviewMark(reviewer=self.reviewer, at_us=AT_US, verdict=ReviewVerdict.ACCEPT, path="", seq=41)

    def revert(self, engine: Any, file: ChangedFile, hunk: ChangedHunk | None) -> ActionResult:
        del engine
        self.reverted.append((file.path, hunk.fingerprint if hunk else ""))
        self.record_verdict([file], ReviewVerdict.REVERTED, hunk=hunk)
        return ActionResult(event=event(42, Person(), "restore", file.path, 12))

    def export(self, audit: Audit, format: str, path: str, *, force: bool) -> str:
        del audit
        if self.refuses is not None:
            raise self.refuses
        if path in self.existing and not force:
            raise FileExistsError(path)
        self.written.append((format, path, force))
        return path

    def watch(self, changed: Callable[[], object]) -> Callable[[], None]:
        self.changed = changed
        return lambda: setattr(self, "changed", None)

    def close(self) -> None:
        self.closed = True


def made(inspection: MadeInspection) -> Any:
    """An inspection as the screen takes it."""
    return cast("Any", inspection)


def marked(paths: Sequence[str], verdict: ReviewVerdict, reviewer: str = "bob", words: str = "") -> Inbox:
    """The inbox of the story, with a mark of a reviewer on some files."""
    box = inbox()
    mark = ReviewMark(reviewer=reviewer, at_us=AT_US, verdict=verdict, path="", words=words)
    files = tuple(replace(each, marks=(mark,)) if each.path in paths else each for each in box.files)
    return replace(box, files=files)
