"""The report for people who read it in a terminal or in a log: what is wrong first, and what to do about it."""

import textwrap
from collections.abc import Iterator

from memtui.audit.masking import mask_message
from memtui.audit.model import Audit, AuditFinding, FindingOrigin, Severity, SuppressedFinding
from memtui.audit.ranking import SHOWN, FindingGroup, group_findings
from memtui.audit.report.wording import (
    NO_ORIGINS,
    SEVERITIES,
    describe_suppression,
    format_actor,
    format_location,
    format_minute,
    format_opinion,
    format_sign_off,
    format_suppressed_counts,
    format_trend,
    format_verdict,
    has_known_origins,
    sanitize_text,
)
from memtui.core.wording import PLAIN, format_count, format_short_count, format_size
from memtui.review.inbox import ChangedFile, ChangeRun, Inbox

WIDTH = 96
"""Columns in which sentences are set; what is shown of files is not broken."""
_INDENT = " " * 6
_COLORS = {Severity.FAIL: "1;31", Severity.WARN: "33", Severity.INFO: "36"}
_OK = "32"
_BOLD = "1"
_HASH = 16  # digits of the chain's hash by which a head can be noted
_RULES = 8  # skipped rules that are named for one reason


def render_text(audit: Audit, *, color: bool = False, width: int = WIDTH, everything: bool = False) -> str:
    """The report as lines of text.

    Args:
        everything: Whether fingerprints, suppressed findings and all findings of each group are listed.
    """
    return (
        "\n".join(_TextReport(audit, color=color, width=max(40, min(width, WIDTH))).iter_lines(everything=everything))
        + "\n"
    )


class _TextReport:
    def __init__(self, audit: Audit, *, color: bool, width: int) -> None:
        self._audit = audit
        self._color = color
        self._width = width
        self._tells_origins = has_known_origins(audit)

    def iter_lines(self, *, everything: bool) -> Iterator[str]:
        """The report, line by line."""
        audit = self._audit
        yield from self._render_header()
        if audit.inbox is not None:
            yield from self._render_inbox(audit.inbox)
        if audit.findings:
            yield ""
        for group in group_findings(audit.findings):
            if group.cause is None:
                yield from self._render_finding(group.worst, everything=everything)
            else:
                yield from self._render_group(group, everything=everything)
        if audit.findings and not self._tells_origins:
            yield ""
            yield from self._wrap(NO_ORIGINS)
        if audit.findings:
            yield from self._render_remedies()
        if audit.passed:
            yield ""
            wide = max(len(each.name) for each in audit.passed)
            for each in audit.passed:
                first = f"ok    {sanitize_text(each.name):<{wide}}  "
                lines = list(self._wrap(sanitize_text(each.words), first, " " * len(first)))
                yield from (lines[0].replace("ok", self._colorize("ok", _OK), 1), *lines[1:])
        yield from self._render_suppressed(everything=everything)
        yield from self._render_review()
        yield from self._render_skipped()
        yield ""
        yield from self._wrap(format_verdict(audit))
        if audit.chain.hash:
            head = f"Head: {audit.chain.seq}:{audit.chain.hash[:_HASH]}"
            yield from self._wrap(f"{head}   rules: {audit.rules} ran, {audit.digest}", "", "  ")
        else:
            yield f"Rules: {audit.rules} ran, {audit.digest}"
        yield from self._wrap(
            f"READ-ONLY: nothing under {sanitize_text(audit.title)} can be changed from this session."
        )
        for sentence in audit.neutral:
            yield from self._wrap(sanitize_text(sentence))

    def _render_header(self) -> Iterator[str]:
        audit = self._audit
        yield f"{self._colorize(f'memtui audit {sanitize_text(audit.title)}', _BOLD)}   {format_minute(audit.taken_us)}"
        yield ""
        events = format_count(audit.events, "event")
        by = ", ".join(f"{count:,} {_format_actor_count(name)}" for name, count in audit.actors.items())
        refused = f"   {format_count(audit.refused, 'call')} refused" if audit.refused else ""
        held = f"{format_count(audit.files, 'file')}  {format_size(audit.bytes, PLAIN)}"
        held += f"  ~{format_short_count(audit.tokens)} tokens"
        yield from self._wrap(f"{held}   {events}{f': {by}' if by else ''}{refused}", "", "  ")
        if audit.budgets:
            words = "; ".join(sanitize_text(budget.summary) for budget in audit.budgets)
            yield from self._wrap(f"budgets: {words}", "", "  ")
        counts = {severity: f"{severity.upper()} {audit.count_findings(severity):,}" for severity in SEVERITIES}
        words = f"{'   '.join(counts.values())}   ok {len(audit.passed)}   journal: {sanitize_text(audit.chain.words)}"
        first, *others = self._wrap(words, "", "  ")
        for severity, text in counts.items():
            if audit.count_findings(severity):
                first = first.replace(text, self._colorize(text, _COLORS[severity]), 1)
        yield from (first, *others)
        if audit.trend is not None:
            yield from self._wrap(format_trend(audit.trend), "", "  ")
        if audit.opinions:
            yield from self._wrap(sanitize_text(audit.opinions), "", "  ")

    def _render_finding(self, finding: AuditFinding, *, everything: bool) -> Iterator[str]:
        yield self._render_head(finding, _format_place(finding, everything=everything))
        yield from self._wrap(sanitize_text(finding.words), _INDENT)
        yield from self._render_details(finding, _INDENT)

    def _render_group(self, group: FindingGroup, *, everything: bool) -> Iterator[str]:
        """What the findings of a group have in common, the first few, and the number of the others."""
        yield self._render_head(group.worst, format_count(len(group.findings), "finding"))
        yield from self._wrap(sanitize_text(group.words), _INDENT)
        listed = group.findings if everything else group.findings[:SHOWN]
        for finding in listed:
            place = f"{_INDENT}- {_format_place(finding, everything=everything)}"
            words = "" if group.is_uniform else f"  {sanitize_text(finding.words)}"
            yield from self._wrap(f"{place}{words}", "", _INDENT + "  ")
            yield from self._render_details(finding, _INDENT + "  ")
        if more := len(group.findings) - len(listed):
            yield f"{_INDENT}and {more:,} more (all of them: --all)"

    def _render_head(self, finding: AuditFinding, where: str) -> str:
        word = self._colorize(f"{finding.severity.upper():<4}", _COLORS[finding.severity])
        return f"{word}  {self._colorize(finding.rule, _BOLD)}  {where}"

    def _render_details(self, finding: AuditFinding, indent: str) -> Iterator[str]:
        if finding.evidence:
            yield f"{indent}| {sanitize_text(finding.evidence)}"
        if finding.opinion is not None:
            yield from self._wrap(format_opinion(finding.opinion), indent, indent + "      ")
        if self._tells_origins and (finding.location.path or finding.origin.is_known):  # the folder itself is by nobody
            yield from self._wrap(_format_origin(finding.origin), indent, indent + "      ")

    def _render_remedies(self) -> Iterator[str]:
        yield ""
        yield "What to do"
        rules_by_advice: dict[str, dict[str, None]] = {}
        for finding in self._audit.findings:
            rules_by_advice.setdefault(finding.do, {})[finding.rule] = None
        for do, rules in rules_by_advice.items():
            yield from self._wrap(f"{', '.join(rules)}: {sanitize_text(do)}", "  ", "    ")

    def _render_inbox(self, inbox: Inbox) -> Iterator[str]:
        yield ""
        since = sanitize_text(inbox.since_words)
        if not inbox.files:
            yield f"Since {since}: nothing changed."
        else:
            yield f"Since {since}: {format_count(len(inbox.files), 'file')} changed"
            wide = max(len(sanitize_text(each.path)) for each in inbox.files)
            for each in inbox.files:
                yield f"  {each.sign} {sanitize_text(each.path):<{min(wide, 60)}}  {_format_change(each)}".rstrip()
        for run in inbox.runs:
            yield from self._render_run(run)
        if inbox.problem:
            yield from self._wrap(sanitize_text(inbox.problem), "  ")

    def _render_run(self, run: ChangeRun) -> Iterator[str]:
        files = format_count(len(run.paths), "file")
        words = f"in one run, events {run.first} to {run.last}: {files}, +{run.added} -{run.removed}"
        yield from self._wrap(f"{sanitize_text(format_actor(run.actor))} {words}", "  ", "    ")
        if run.lost:
            lost = format_count(run.lost_count, "fact")
            yield from self._wrap(f"{lost} lost: deleted text that is in no note now", "    ")
        for fact in run.lost:
            text = sanitize_text(mask_message(fact.text.strip()), limit=self._width)
            yield f"    - {sanitize_text(fact.path)}:{fact.line}  {text}"
        if run.unlisted:
            yield f"    {run.unlisted:,} more are not listed"
        if run.unsearched:
            yield from self._wrap(f"more may be lost: {run.unsearched}", "    ")

    def _render_suppressed(self, *, everything: bool) -> Iterator[str]:
        audit = self._audit
        if not audit.excepted:
            return
        more = "" if everything else "   (all of them: --all)"
        yield ""
        yield from self._wrap(f"Not counted: {format_suppressed_counts(audit)}{more}", "", "  ")
        for each in audit.excepted if everything else ():
            yield from self._render_suppressed_finding(each)

    def _render_suppressed_finding(self, excepted: SuppressedFinding) -> Iterator[str]:
        finding = excepted.finding
        mark = f"  {finding.fingerprint}" if excepted.by == "dismissal" else ""
        yield f"  {finding.severity.upper():<4}  {finding.rule}  {format_location(finding.location)}{mark}"
        yield from self._wrap(describe_suppression(excepted), _INDENT + "  ")

    def _render_review(self) -> Iterator[str]:
        audit = self._audit
        sentences = format_sign_off(audit.sign_off) if audit.sign_off is not None else []
        if audit.review_problem and audit.inbox is None:
            sentences.append(sanitize_text(audit.review_problem))
        if sentences:
            yield ""
        for sentence in sentences:
            yield from self._wrap(sentence)

    def _render_skipped(self) -> Iterator[str]:
        by_reason: dict[str, list[str]] = {}
        for each in self._audit.skipped:
            by_reason.setdefault(each.reason, []).append(each.rule)
        if by_reason:
            yield ""
        for reason, rules in by_reason.items():
            named = ", ".join(rules[:_RULES]) + (f" and {len(rules) - _RULES} more" if len(rules) > _RULES else "")
            yield from self._wrap(f"Rules not run, {sanitize_text(reason)}: {named}", "", "  ")

    def _wrap(self, words: str, first: str = "", others: str | None = None) -> Iterator[str]:
        yield from textwrap.wrap(
            words,
            self._width,
            initial_indent=first,
            subsequent_indent=first if others is None else others,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [first]

    def _colorize(self, words: str, color: str) -> str:
        return f"\x1b[{color}m{words}\x1b[0m" if self._color else words


def _format_place(finding: AuditFinding, *, everything: bool) -> str:
    mark = f"  {finding.fingerprint}" if everything else ""
    return f"{format_location(finding.location)}{mark}"


def _format_actor_count(name: str) -> str:
    """An actor as a count of events says whose they are: `3 by you`."""
    return f"by {sanitize_text(format_actor(name))}"


def _format_origin(origin: FindingOrigin) -> str:
    """Who brought something in, and when, as a line."""
    if not origin.is_known:
        if origin.seq is None or origin.at_us is None:
            return "from  unknown: not in the journal"
        return f"from  unknown: there when memtui first looked, {format_minute(origin.at_us)} (#{origin.seq})"
    who = sanitize_text(format_actor(origin.actor))
    if origin.seq is None:
        return f"from  {who}: not recorded, found {format_minute(origin.at_us)}"
    number = f" (#{origin.seq})"
    call = f"  call {sanitize_text(origin.call_id)}" if origin.call_id else ""
    earlier = "" if origin.is_exact else ", or an earlier author: earlier versions are missing"
    return f"from  {who}, {format_minute(origin.at_us)}, {sanitize_text(origin.command)}{number}{earlier}{call}"


def _format_change(file: ChangedFile) -> str:
    lines = "" if file.added is None and file.removed is None else f"+{file.added or 0} -{file.removed or 0}"
    who = ", ".join(sanitize_text(format_actor(actor)) for actor in file.actors)
    was = f"was {sanitize_text(file.previous_path)}" if file.previous_path else ""
    verdict = f"[{file.verdict.value}]" if file.verdict is not None else ""
    return "  ".join(part for part in (f"{lines:<9}", who, was, verdict) if part)
