"""The report for people who read it in a terminal or in a log: what is wrong first, and what to do about it."""

import textwrap
from collections.abc import Iterator

from memtui.audit.audit import Audit, Excepted
from memtui.audit.findings import Finding, Origin, Severity
from memtui.audit.inbox import ChangedFile, Inbox, Run
from memtui.audit.report.words import (
    SEVERITIES,
    UNTOLD,
    counted,
    hand,
    knows_origins,
    shown,
    size,
    tokens,
    verdict,
    when,
    where,
    without_secrets,
)

WIDTH = 96
"""Columns in which sentences are set; what is shown of files is not broken."""
_INDENT = " " * 6
_COLORS = {Severity.FAIL: "1;31", Severity.WARN: "33", Severity.INFO: "36"}
_OK = "32"
_BOLD = "1"
_HASH = 16
"""Digits of the chain's hash by which a head can be noted."""
_RULES = 8
"""Rules that are told by name where many did not run for the same reason."""


def write(audit: Audit, *, color: bool = False, width: int = WIDTH, everything: bool = False) -> str:
    """The report as lines of text.

    Args:
        audit: What was found.
        color: Whether words are colored, for a terminal.
        width: Columns in which sentences are set.
        everything: Whether also fingerprints are told, and what is excepted, finding by finding.
    """
    return "\n".join(_Text(audit, color=color, width=max(40, min(width, WIDTH))).lines(everything=everything)) + "\n"


class _Text:
    def __init__(self, audit: Audit, *, color: bool, width: int) -> None:
        self._audit = audit
        self._color = color
        self._width = width
        self._tells_origins = knows_origins(audit)

    def lines(self, *, everything: bool) -> Iterator[str]:
        """The report, line by line."""
        audit = self._audit
        yield from self._head()
        if audit.inbox is not None:
            yield from self._inbox(audit.inbox)
        if audit.findings:
            yield ""
        for finding in audit.findings:
            yield from self._finding(finding, everything=everything)
        if audit.findings and not self._tells_origins:
            yield ""
            yield from self._wrapped(UNTOLD)
        if audit.findings:
            yield from self._what_to_do()
        if audit.passed:
            yield ""
            wide = max(len(each.name) for each in audit.passed)
            for each in audit.passed:
                first = f"ok    {shown(each.name):<{wide}}  "
                lines = list(self._wrapped(shown(each.words), first, " " * len(first)))
                yield from (lines[0].replace("ok", self._painted("ok", _OK), 1), *lines[1:])
        yield from self._excepted(everything=everything)
        yield from self._skipped()
        yield ""
        yield from self._wrapped(verdict(audit))
        if audit.chain.hash:
            head = f"Head: {audit.chain.seq}:{audit.chain.hash[:_HASH]}"
            yield from self._wrapped(f"{head}   rules: {audit.rules} ran, {audit.digest}", "", "  ")
        else:
            yield f"Rules: {audit.rules} ran, {audit.digest}"
        yield from self._wrapped(f"READ-ONLY: nothing under {shown(audit.title)} can be changed from this session.")
        for sentence in audit.neutral:
            yield from self._wrapped(shown(sentence))

    def _head(self) -> Iterator[str]:
        audit = self._audit
        yield f"{self._painted(f'memtui audit {shown(audit.title)}', _BOLD)}   {when(audit.taken_us)}"
        yield ""
        events = counted(audit.events, "event")
        by = ", ".join(f"{count:,} {_by(name)}" for name, count in audit.actors.items())
        refused = f"   {counted(audit.refused, 'call')} refused" if audit.refused else ""
        held = f"{counted(audit.files, 'file')}  {size(audit.bytes)}  {tokens(audit.tokens)} tokens"
        yield from self._wrapped(f"{held}   {events}{f': {by}' if by else ''}{refused}", "", "  ")
        if audit.budgets:
            words = "; ".join(shown(budget.words) for budget in audit.budgets)
            yield from self._wrapped(f"budgets: {words}", "", "  ")
        counts = {severity: f"{severity.upper()} {audit.count(severity):,}" for severity in SEVERITIES}
        words = f"{'   '.join(counts.values())}   ok {len(audit.passed)}   journal: {shown(audit.chain.words)}"
        first, *others = self._wrapped(words, "", "  ")
        for severity, said in counts.items():
            if audit.count(severity):
                first = first.replace(said, self._painted(said, _COLORS[severity]), 1)
        yield from (first, *others)

    def _finding(self, finding: Finding, *, everything: bool) -> Iterator[str]:
        word = self._painted(f"{finding.severity.upper():<4}", _COLORS[finding.severity])
        mark = f"  {finding.fingerprint}" if everything else ""
        yield f"{word}  {self._painted(finding.rule, _BOLD)}  {where(finding.place)}{mark}"
        yield from self._wrapped(shown(finding.words), _INDENT)
        if finding.evidence:
            yield f"{_INDENT}| {shown(finding.evidence)}"
        if self._tells_origins and (finding.place.path or finding.origin.is_known):  # the folder itself is by nobody
            yield from self._wrapped(_from(finding.origin), _INDENT, _INDENT + "      ")

    def _what_to_do(self) -> Iterator[str]:
        yield ""
        yield "What to do"
        told: dict[str, str] = {}
        for finding in self._audit.findings:
            told.setdefault(finding.rule, finding.do)
        for rule, do in told.items():
            yield from self._wrapped(f"{rule}: {shown(do)}", "  ", "    ")

    def _inbox(self, inbox: Inbox) -> Iterator[str]:
        yield ""
        since = shown(inbox.since_words)
        if not inbox.files:
            yield f"Since {since}: nothing changed."
        else:
            yield f"Since {since}: {counted(len(inbox.files), 'file')} changed"
            wide = max(len(shown(each.path)) for each in inbox.files)
            for each in inbox.files:
                yield f"  {each.sign} {shown(each.path):<{min(wide, 60)}}  {_changed(each)}".rstrip()
        for run in inbox.runs:
            yield from self._run(run)
        if inbox.problem:
            yield from self._wrapped(shown(inbox.problem), "  ")

    def _run(self, run: Run) -> Iterator[str]:
        files = counted(len(run.paths), "file")
        words = f"in one go, events {run.first} to {run.last}: {files}, +{run.added} -{run.removed}"
        yield from self._wrapped(f"{shown(hand(run.actor))} {words}", "  ", "    ")
        if run.lost:
            lost = counted(len(run.lost) + run.unlisted, "fact")
            yield from self._wrapped(f"{lost} lost: what was dropped and stands nowhere any more", "    ")
        for fact in run.lost:
            said = shown(without_secrets(fact.text.strip()), limit=self._width)
            yield f"    - {shown(fact.path)}:{fact.line}  {said}"
        if run.unlisted:
            yield f"    {run.unlisted:,} more are not listed"
        if run.unsearched:
            yield from self._wrapped(f"more may be lost: {run.unsearched}", "    ")

    def _excepted(self, *, everything: bool) -> Iterator[str]:
        audit = self._audit
        if not audit.excepted:
            return
        by_baseline = sum(each.by == "baseline" for each in audit.excepted)
        parts = []
        if others := len(audit.excepted) - by_baseline:
            parts.append(f"{others:,} by the settings")
        if by_baseline:
            parts.append(f"{by_baseline:,} by the baseline")
        more = "" if everything else "   (all of them: --all)"
        yield ""
        yield from self._wrapped(f"Not counted: {', '.join(parts)}{more}", "", "  ")
        for each in audit.excepted if everything else ():
            yield from self._excepted_one(each)

    def _excepted_one(self, excepted: Excepted) -> Iterator[str]:
        finding = excepted.finding
        until = f" until {excepted.until}" if excepted.until else ""
        yield f"  {finding.severity.upper():<4}  {finding.rule}  {where(finding.place)}"
        yield from self._wrapped(f"{shown(excepted.reason)}{until}", _INDENT + "  ")

    def _skipped(self) -> Iterator[str]:
        by_reason: dict[str, list[str]] = {}
        for each in self._audit.skipped:
            by_reason.setdefault(each.reason, []).append(each.rule)
        if by_reason:
            yield ""
        for reason, rules in by_reason.items():
            named = ", ".join(rules[:_RULES]) + (f" and {len(rules) - _RULES} more" if len(rules) > _RULES else "")
            yield from self._wrapped(f"Not looked at, {shown(reason)}: {named}", "", "  ")

    def _wrapped(self, words: str, first: str = "", others: str | None = None) -> Iterator[str]:
        yield from textwrap.wrap(
            words,
            self._width,
            initial_indent=first,
            subsequent_indent=first if others is None else others,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [first]

    def _painted(self, words: str, color: str) -> str:
        return f"\x1b[{color}m{words}\x1b[0m" if self._color else words


def _by(name: str) -> str:
    """An actor as a count of events says whose they are: `3 by you`."""
    words = shown(name)
    return f"{words} memtui" if name == "outside" else f"by {words}"


def _from(origin: Origin) -> str:
    """Who brought something in, and when, as a line."""
    if not origin.is_known:
        if origin.seq is None or origin.at_us is None:
            return "from  unknown: the journal does not tell"
        return f"from  unknown: there when memtui first looked, {when(origin.at_us)} (#{origin.seq})"
    who = shown(hand(origin.actor))
    if origin.seq is None:
        return f"from  {who}: not recorded, found {when(origin.at_us)}"
    number = f" (#{origin.seq})"
    call = f"  call {shown(origin.call_id)}" if origin.call_id else ""
    earlier = "" if origin.is_exact else ", or somebody before: earlier texts are gone"
    return f"from  {who}, {when(origin.at_us)}, {shown(origin.command)}{number}{earlier}{call}"


def _changed(file: ChangedFile) -> str:
    lines = "" if file.added is None and file.removed is None else f"+{file.added or 0} -{file.removed or 0}"
    who = ", ".join(shown(hand(actor)) for actor in file.actors)
    was = f"was {shown(file.was)}" if file.was else ""
    verdict = f"[{file.verdict.value}]" if file.verdict is not None else ""
    return "  ".join(part for part in (f"{lines:<9}", who, was, verdict) if part)
