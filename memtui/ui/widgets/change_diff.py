"""The diff of a changed file with the verdict on each hunk in its margin, and the facts below it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.segment import Segment
from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from memtui.audit.report.wording import format_actor
from memtui.core.unicode import to_one_line
from memtui.review.inbox import ChangedFile, ChangedHunk, ReviewMark, ReviewVerdict
from memtui.ui.theme import truncate
from memtui.ui.widgets.changes import format_verdict
from memtui.ui.widgets.diff.view import DiffView
from memtui.ui.widgets.finding_detail import format_timestamp
from memtui.ui.widgets.finding_page import wrap_text

_SIGNS = {
    ReviewVerdict.ACCEPT: ("x", "added"),
    ReviewVerdict.FLAG: ("!", "removed"),
    ReviewVerdict.REVERTED: ("<", "current"),
}


class ChangeDiffView(DiffView):
    """A diff with a sign for the verdict on each hunk: `x` accepted, `!` flagged, `<` reverted."""

    IS_PART_OF_SCREEN = True

    signs: Mapping[int, ReviewVerdict] = {}
    """The last verdict on each hunk, by its number from 0."""

    def set_file_name(self, path: str) -> None:
        """Name the file in the edge."""
        self._title = f"2 {path}"

    def set_signs(self, signs: Mapping[int, ReviewVerdict]) -> None:
        """Draw other signs."""
        self.signs = signs
        self._redraw()

    def _draw_row(self, y: int) -> Strip:
        strip = super()._draw_row(y)
        row = self._get_row(y)
        hunk = -1 if row is None else row.item.hunk
        sign = _SIGNS.get(self.signs.get(hunk, ReviewVerdict.NOTE))
        if self._layout is None or sign is None or self._layout.get_hunk_rows(hunk)[0] + self._remark_height != y:
            return strip
        letter, role = sign
        return Strip([Segment(letter, self._resolve_style(role)), *list(strip)[1:]])


class ChangeDetail(NamedTuple):
    """A change without its lines."""

    file: ChangedFile
    hunk: ChangedHunk | None = None
    """The current hunk."""
    number: int = 0
    """Its number, from 1."""
    hunks: Sequence[ChangedHunk] = ()


class ChangeDetailView(Widget):
    """Who changed a file, when and in which session, and the verdicts on it and on the hunk."""

    DEFAULT_CSS = """
    ChangeDetailView { height: auto; max-height: 6; padding: 0 1; background: $panel; color: $foreground; }
    """

    detail: reactive[ChangeDetail | None] = reactive(None, layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._build_rows(width))

    def render(self) -> RenderResult:
        return Content("\n").join(self._build_rows(self.content_size.width))

    def _build_rows(self, width: int) -> list[Content]:
        if self.detail is None:
            return []
        file, hunk = self.detail.file, self.detail.hunk
        times = sorted(event.at_us for event in file.events)
        when = " to ".join(dict.fromkeys(format_timestamp(at) for at in (times[0], times[-1]))) if times else ""
        sessions = ", ".join(f"session {to_one_line(each)}" for each in file.sessions)
        numbers = " ".join(f"#{event.seq}" for event in file.events[-4:])
        facts = ", ".join(
            each for each in (to_one_line(", ".join(map(format_actor, file.actors))), when, sessions, numbers) if each
        )
        who = wrap_text(f"By {facts}" if facts else "Author not recorded", max(width, 8))
        rows = [Content(text) for ((text, _),) in who[:2]]
        if file.staleness_note:
            rows.append(Content.styled(truncate(f"Has {file.staleness_note}", width), "$text-warning"))
        judged = sum(any(mark.verdict is not ReviewVerdict.NOTE for mark in each.marks) for each in self.detail.hunks)
        if len(self.detail.hunks) > 1 and judged:
            rows.append(Content(truncate(f"{judged:,} of {len(self.detail.hunks):,} hunks reviewed", width)))
        rows += [_format_mark(mark, "", width) for mark in file.marks[-2:]]
        if hunk is not None:
            rows += [_format_mark(mark, f"hunk {self.detail.number}: ", width) for mark in hunk.marks[-2:]]
        return rows[:6]


def _format_mark(mark: ReviewMark, before: str, width: int) -> Content:
    style = {ReviewVerdict.ACCEPT: "$text-success", ReviewVerdict.FLAG: "$text-error bold"}.get(
        mark.verdict, "$text-warning"
    )
    words = f': "{to_one_line(mark.words)}"' if mark.words else ""
    by = f"{format_verdict(mark)} by {to_one_line(mark.reviewer)}, {format_timestamp(mark.at_us)}"
    return Content.styled(truncate(f"{before}{by}{words}", width), style)
