"""The summary of an audit: files, events, result, journal, changes, scope and tool."""

from collections.abc import Iterable, Mapping

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.audit.model import Audit, Severity
from memtui.audit.report.wording import format_actor
from memtui.core import wording
from memtui.core.unicode import to_one_line
from memtui.review.inbox import Inbox
from memtui.ui.theme import truncate
from memtui.ui.widgets.finding_detail import format_timestamp
from memtui.ui.widgets.findings import WORDS, count_by_severity

LOOKING = "Auditing the folder."
_WIDE = 100
"""Cells from which on both halves of a row are labelled."""
_NARROW = 70
_LEFT_WIDE, _LEFT, _LEFT_SLIM = 56, 40, 34
"""Cells of the left half."""
_STATES = {"intact": "intact", "broken": "broken", "none": "none", "unknown": "not checked"}
"""Short words for the state of the journal."""
_METER = 10
_ACTORS = 3
_STYLES = {
    "FAIL": "$text-error bold",
    "WARN": "$text-warning bold",
    "info": "$text-primary",
    "ok": "$text-success bold",
}


class AuditSummaryView(Widget):
    """Five rows, or three where there is little room.

    Args:
        budget: The estimated tokens that all notes may have; 0 for no limit.
    """

    DEFAULT_CSS = """
    AuditSummaryView {
        height: 5; padding: 0 1; background: $background; color: $foreground;
        border: heavy $foreground 30%;
        border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $foreground;
        &.-fail { border-title-color: $text-error; }
        &.-warn { border-title-color: $text-warning; }
        &.-ok { border-title-color: $text-success; }
        &.-read-only { border: double $foreground 30%; }
    }
    """

    audit: reactive[Audit | None] = reactive(None)
    inbox: reactive[Inbox | None] = reactive(None)
    progress: reactive[str] = reactive("")
    """The progress of a running audit, in words."""
    state: reactive[str] = reactive(LOOKING)
    """Why there is no audit yet, as a sentence."""
    so_far: reactive[Mapping[Severity, int]] = reactive(dict)
    """The numbers of findings of a running audit."""
    enforced: reactive[str] = reactive("")
    """The rights that this process gave up, in a few words."""

    def __init__(self, *, budget: int = 0, id: str | None = None) -> None:
        super().__init__(id=id)
        self._budget = budget
        self.border_title = "Summary"

    def watch_audit(self, audit: Audit | None) -> None:
        fail, warn = (audit is not None and audit.count_findings(each) > 0 for each in (Severity.FAIL, Severity.WARN))
        self.set_class(fail, "-fail")
        self.set_class(warn and not fail, "-warn")
        self.set_class(audit is not None and not (warn or fail), "-ok")

    def watch_progress(self, progress: str) -> None:
        self.border_subtitle = Content(progress)

    def render(self) -> RenderResult:
        """As many rows as fit; of two, the result and the changes."""
        width, height = self.content_size
        rows = self._build_rows(width)[1 if height < 3 else 0 :]
        return Content("\n").join([row.truncate(width) for row in rows[:height]])

    def _build_rows(self, width: int) -> list[Content]:
        audit, inbox = self.audit, self.inbox or (self.audit.inbox if self.audit else None)
        wide = width >= _WIDE
        if audit is None:
            counts = [(word, self.so_far[severity]) for severity, word in WORDS.items() if self.so_far.get(severity)]
            found = Content.assemble(_format_counts(counts), " so far") if counts else Content("")
            found = _format_labelled("result", found) if wide and counts else found
            return [Content(self.state), found, _format_since(audit, inbox, wide, width), *[Content("")] * 2]
        files, left = _format_files(audit, self._budget, wide), _measure_left(width, wide)
        rows = [
            _join_halves(files, _format_events(audit, wide, width - max(files.cell_length + 3, left)), left),
            _join_halves(_format_result(audit, wide), _format_journal(audit, wide, width), left),
            _format_since(audit, inbox, wide, width),
        ]
        scope = f"{to_one_line(audit.title)} only"
        if audit.refused:
            scope += f"; {wording.format_count(audit.refused, 'call was', 'calls were')} refused"
        enforced = f"   {self.enforced}" if self.enforced else ""
        head = f"   head {audit.chain.hash[:8]}" if audit.chain.hash else ""
        tool = f"memtui {audit.version}, {audit.rules:,} rules, digest {audit.digest}{head}"
        return [
            *rows,
            _format_labelled("scope", truncate(scope + enforced, width - 9)),
            _format_labelled("tool", truncate(tool, width - 9)),
        ]


def _format_labelled(label: str, words: str | Content) -> Content:
    return Content.assemble((f"{label:<8} ", "$text-primary"), words)


def _measure_left(width: int, wide: bool) -> int:
    return _LEFT_WIDE if wide else _LEFT if width >= _NARROW else _LEFT_SLIM


def _join_halves(left: Content, right: Content, room: int) -> Content:
    return Content.assemble(left, " " * max(room - left.cell_length, 3), right)


def _format_files(audit: Audit, budget: int, wide: bool) -> Content:
    tokens = Content(f"~{wording.format_short_count(audit.tokens)} tokens")
    if budget:
        part = audit.tokens / budget
        full = min(round(part * _METER), _METER)
        style = "$text-error bold" if part > 1 else "$text-warning" if part > 0.8 else "$text-success"
        meter = f"[{'#' * full}{'.' * (_METER - full)}]"
        limit = wording.format_short_count(budget).replace(".0", "") + (" tokens" if wide else " tok")
        tokens = Content.assemble(f"{part:.0%} of {limit} ", (meter, style))
    size = wording.format_size(audit.bytes)
    if wide:
        return _format_labelled("files", Content.assemble(f"{audit.files:,}   {size}   ", tokens))
    return Content.assemble(f"{wording.format_file_count(audit.files)}  {size}  ", tokens)


def _format_events(audit: Audit, wide: bool, room: int) -> Content:
    who = sorted(audit.actors.items(), key=lambda item: -item[1])
    named = "   ".join(f"{truncate(to_one_line(format_actor(name)), 16)} {count:,}" for name, count in who[:_ACTORS])
    more = sum(count for _, count in who[_ACTORS:])
    if wide:
        return _format_labelled("events", f"{audit.events:,}   {named}" + (f"   others {more:,}" if more else ""))
    words = [wording.format_count(audit.events, "event")]
    named_actors = (("you", "by you"), ("outside", "by others"))
    words += [f"{audit.actors[name]:,} {how}" for name, how in named_actors if audit.actors.get(name)]
    while len(words) > 1 and len("  ".join(words)) > room:
        words.pop()
    return Content("  ".join(words))


def _format_result(audit: Audit, wide: bool) -> Content:
    counts = [(word, count) for word, count in count_by_severity(audit) if count or word != "info"]
    dismissed = sum(each.by == "dismissal" for each in audit.excepted)
    words = _format_counts([*counts, ("dismissed", dismissed)] if dismissed else counts)
    return _format_labelled("result", words) if wide else words


def _format_counts(counts: Iterable[tuple[str, int]]) -> Content:
    styled = ((f"{word} {count:,}", _STYLES.get(word, "") if count or word == "ok" else "") for word, count in counts)
    return Content("   ").join([Content.styled(text, style) for text, style in styled])


def _format_journal(audit: Audit, wide: bool, width: int) -> Content:
    style = {"intact": "$text-success", "broken": "$text-error bold"}.get(audit.chain.state, "$text-warning")
    room = width - 9 - max(_measure_left(width, wide), _format_result(audit, wide).cell_length + 3)
    whole = to_one_line(audit.chain.words)
    short = whole if wide or cell_len(whole) <= room else _STATES.get(audit.chain.state, whole)
    words = (truncate(short, room), style)
    return _format_labelled("journal", Content.assemble(words)) if wide else Content.assemble("journal: ", words)


def _format_since(audit: Audit | None, inbox: Inbox | None, wide: bool, width: int) -> Content:
    if inbox is None:
        return Content("")
    new = sum(file.sign == "+" for file in inbox.files)
    deleted = sum(file.sign == "-" for file in inbox.files)
    changed = f"{len(inbox.files):,}   new {new:,}   deleted {deleted:,}"
    since = to_one_line(inbox.since_words) or "the beginning"
    if audit is not None and audit.chain.state == "none" and not inbox.files:
        since = "no history"
    if inbox.since_us is not None and not since[:1].isdecimal():
        since = f"{format_timestamp(inbox.since_us)} ({since})"
    if wide:
        since = truncate(since, width - _LEFT_WIDE - 9)
        return _join_halves(_format_labelled("changed", changed), _format_labelled("since", since), _LEFT_WIDE)
    changed = f"changed {changed}"
    since = truncate(f"since  {since}", width - len(changed) - 2)
    return Content.assemble(since, " " * max(width - cell_len(since) - len(changed), 2), changed)
