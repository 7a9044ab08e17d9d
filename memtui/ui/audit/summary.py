"""The box at the top: what was looked at, since when, what came of it, and what it was done with."""

from collections.abc import Iterable, Mapping

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.audit.audit import Audit
from memtui.audit.findings import Severity
from memtui.audit.inbox import Inbox
from memtui.core.visible import one_line
from memtui.ui import wording
from memtui.ui.audit.listing import WORDS, counts
from memtui.ui.audit.pages import moment
from memtui.ui.text import fit

LOOKING = "Looking at the folder."
_WIDE = 100
"""Cells from which on both halves of a row are labelled."""
_NARROW = 70
_LEFT_WIDE, _LEFT, _LEFT_SLIM = 56, 40, 34
"""Cells of the left half."""
_STATES = {"intact": "intact", "broken": "broken", "none": "none", "unknown": "not checked"}
"""What is known of the journal, where there is no room for more."""
_METER = 10
_ACTORS = 3
_STYLES = {
    "FAIL": "$text-error bold",
    "WARN": "$text-warning bold",
    "info": "$text-primary",
    "ok": "$text-success bold",
}


class SummaryView(Widget):
    """Three rows where there is little room, else five.

    Args:
        budget: Tokens that all notes together may have, estimated; 0 for no limit.
    """

    DEFAULT_CSS = """
    SummaryView {
        height: 5; padding: 0 1; background: $background; color: $foreground;
        border: heavy $foreground 60%;
        border-title-color: $foreground; border-title-style: bold; border-subtitle-color: $foreground;
        &.-fail { border: heavy $error; border-title-color: $text-error; }
        &.-warn { border: heavy $warning; border-title-color: $text-warning; }
        &.-ok { border: heavy $success; border-title-color: $text-success; }
        &.-read-only { border: double $foreground 60%; }
        &.-read-only.-fail { border: double $error; }
        &.-read-only.-warn { border: double $warning; }
        &.-read-only.-ok { border: double $success; }
    }
    """

    audit: reactive[Audit | None] = reactive(None)
    inbox: reactive[Inbox | None] = reactive(None)
    progress: reactive[str] = reactive("")
    """How far the audit is, in words, while it goes on."""
    state: reactive[str] = reactive(LOOKING)
    """Why there is no audit yet, as a sentence."""
    so_far: reactive[Mapping[Severity, int]] = reactive(dict)
    """How much of each was found while it goes on."""
    enforced: reactive[str] = reactive("")
    """What this process cannot do any more, in a few words."""

    def __init__(self, *, budget: int = 0, id: str | None = None) -> None:
        super().__init__(id=id)
        self._budget = budget
        self.border_title = "Summary"

    def watch_audit(self, audit: Audit | None) -> None:
        """The frame says at once how bad it is."""
        worst = "" if audit is None else "-ok"
        if audit is not None and audit.count(Severity.WARN):
            worst = "-warn"
        if audit is not None and audit.count(Severity.FAIL):
            worst = "-fail"
        for name in ("-fail", "-warn", "-ok"):
            self.set_class(name == worst, name)

    def watch_progress(self, progress: str) -> None:
        """How far it is stands in the frame."""
        self.border_subtitle = Content(progress)

    def render(self) -> RenderResult:
        """The rows, as many as there is room for."""
        width = self.content_size.width
        rows = self._rows(width)
        if self.content_size.height < 3:
            rows = rows[1:]  # how bad it is, and since when
        rows = rows[: self.content_size.height]
        return Content("\n").join([row.truncate(width) for row in rows])

    def _rows(self, width: int) -> list[Content]:
        audit, inbox = self.audit, self.inbox or (self.audit.inbox if self.audit else None)
        wide = width >= _WIDE
        if audit is None:
            counts = [(word, self.so_far[severity]) for severity, word in WORDS.items() if self.so_far.get(severity)]
            found = Content.assemble(_counted(counts), " so far") if counts else Content("")
            found = _labelled("result", found) if wide and counts else found
            return [Content(self.state), found, _since(audit, inbox, wide, width), *[Content("")] * 2]
        files, left = _files(audit, self._budget, wide), _left(width, wide)
        rows = [
            _two(files, _events(audit, wide, width - max(files.cell_length + 3, left)), left),
            _two(_result(audit, wide), _journal(audit, wide, width), left),
            _since(audit, inbox, wide, width),
        ]
        refused = (
            f"; {audit.refused:,} {'call was' if audit.refused == 1 else 'calls were'} refused" if audit.refused else ""
        )
        scope = f"{one_line(audit.title)} only{refused}"
        enforced = f"   {self.enforced}" if self.enforced else ""
        head = f"   head {audit.chain.hash[:8]}" if audit.chain.hash else ""
        tool = f"memtui {audit.version}, {audit.rules:,} rules, digest {audit.digest}{head}"
        return [*rows, _labelled("scope", fit(scope + enforced, width - 9)), _labelled("tool", fit(tool, width - 9))]


def _labelled(label: str, words: str | Content) -> Content:
    return Content.assemble((f"{label:<8} ", "$text-primary"), words)


def _left(width: int, wide: bool) -> int:
    """Cells of the left half."""
    return _LEFT_WIDE if wide else _LEFT if width >= _NARROW else _LEFT_SLIM


def _two(left: Content, right: Content, room: int) -> Content:
    return Content.assemble(left, " " * max(room - left.cell_length, 3), right)


def _files(audit: Audit, budget: int, wide: bool) -> Content:
    tokens = Content(_tokens(audit.tokens))
    if budget:
        part = audit.tokens / budget
        full = min(round(part * _METER), _METER)
        style = "$text-error bold" if part > 1 else "$text-warning" if part > 0.8 else "$text-success"
        meter = f"[{'#' * full}{'.' * (_METER - full)}]"
        limit = _tokens(budget)[1:] if wide else _tokens(budget)[1:].removesuffix(" tokens")
        tokens = Content.assemble(f"{part:.0%} of {limit} ", (meter, style))
    size = wording.size(audit.bytes)
    if wide:
        return _labelled("files", Content.assemble(f"{audit.files:,}   {size}   ", tokens))
    return Content.assemble(f"{wording.files(audit.files)}  {size}  ", tokens)


def _tokens(count: int) -> str:
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            return f"~{count / limit:.1f}{unit} tokens".replace(f".0{unit}", unit)
    return f"~{count:,} tokens"


def _events(audit: Audit, wide: bool, room: int) -> Content:
    who = sorted(audit.actors.items(), key=lambda item: -item[1])
    named = "   ".join(f"{fit(one_line(name), 16)} {count:,}" for name, count in who[:_ACTORS])
    more = sum(count for _, count in who[_ACTORS:])
    if wide:
        return _labelled("events", f"{audit.events:,}   {named}" + (f"   others {more:,}" if more else ""))
    words = [f"{audit.events:,} {'event' if audit.events == 1 else 'events'}"]
    words += [f"{audit.actors[name]:,} {how}" for name, how in _NAMED if audit.actors.get(name)]
    while len(words) > 1 and len("  ".join(words)) > room:
        words.pop()
    return Content("  ".join(words))


_NAMED = (("you", "by you"), ("outside", "outside"))


def _result(audit: Audit, wide: bool) -> Content:
    words = _counted([(word, count) for word, count in counts(audit) if count or word in ("FAIL", "WARN", "ok")])
    return _labelled("result", words) if wide else words


def _counted(counts: Iterable[tuple[str, int]]) -> Content:
    parts = [
        Content.styled(f"{word} {count:,}", _STYLES[word] if count or word == "ok" else "") for word, count in counts
    ]
    return Content("   ").join(parts)


def _journal(audit: Audit, wide: bool, width: int) -> Content:
    style = {"intact": "$text-success", "broken": "$text-error bold"}.get(audit.chain.state, "$text-warning")
    room = width - 9 - max(_left(width, wide), _result(audit, wide).cell_length + 3)
    whole = one_line(audit.chain.words)
    short = whole if wide or cell_len(whole) <= room else _STATES.get(audit.chain.state, whole)
    words = (fit(short, room), style)
    return _labelled("journal", Content.assemble(words)) if wide else Content.assemble("journal: ", words)


def _since(audit: Audit | None, inbox: Inbox | None, wide: bool, width: int) -> Content:
    if inbox is None:
        return Content("")
    new = sum(file.sign == "+" for file in inbox.files)
    gone = sum(file.sign == "-" for file in inbox.files)
    changed = f"{len(inbox.files):,}   new {new:,}   deleted {gone:,}"
    since = one_line(inbox.since_words) or "the beginning"
    if audit is not None and audit.chain.state == "none" and not inbox.files:
        since = "there is no record"
    if inbox.since_us is not None and not since[:1].isdecimal():
        since = f"{moment(inbox.since_us)} ({since})"
    if wide:
        return _two(_labelled("changed", changed), _labelled("since", fit(since, width - _LEFT_WIDE - 9)), _LEFT_WIDE)
    changed = f"changed {changed}"
    since = fit(f"since  {since}", width - len(changed) - 2)
    return Content.assemble(since, " " * max(width - cell_len(since) - len(changed), 2), changed)
