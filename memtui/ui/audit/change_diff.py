"""The diff of a changed file, with what reviewers said of each hunk in its margin; and the facts below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from memtui.audit.inbox import ChangedFile, ChangedHunk, Mark, Verdict
from memtui.core.visible import one_line
from memtui.ui.audit.change_listing import said
from memtui.ui.audit.page import broken
from memtui.ui.audit.pages import moment
from memtui.ui.diff.layout import Arrangement
from memtui.ui.diff.view import SIDES_FROM, DiffView
from memtui.ui.text import fit

_ROWS = 2
"""Rows for who changed it; the rest is in its history."""
_SIGNS = {Verdict.ACCEPT: ("x", "added"), Verdict.FLAG: ("!", "removed"), Verdict.REVERTED: ("<", "current")}


class ChangeDiff(DiffView):
    """A diff of which each hunk has a sign for what was said of it: `x` accepted, `!` flagged."""

    signs: Mapping[int, Verdict] = {}
    """The last verdict on each hunk, by its number from 0."""

    @property
    def arrangement(self) -> Arrangement:
        """Side by side only where this pane, and not only the screen, has room for both."""
        if self._wanted is None and self.size.width < SIDES_FROM:
            return Arrangement.UNIFIED
        return super().arrangement

    def name_file(self, path: str) -> None:
        """Say in the edge which file it is."""
        self._title = f"2 {path}"

    def sign(self, signs: Mapping[int, Verdict]) -> None:
        """Others were given."""
        self.signs = signs
        self._redraw()

    def _draw(self, y: int) -> Strip:
        strip = super()._draw(y)
        row = self._row(y) if y >= self._above else None
        verdict = self.signs.get(row.item.hunk) if row is not None and row.item.hunk >= 0 else None
        if row is None or verdict is None or verdict not in _SIGNS or not self._is_first(y, row.item.hunk):
            return strip
        letter, role = _SIGNS[verdict]
        return Strip([Segment(letter, self._role(role)), *list(strip)[1:]])

    def _is_first(self, y: int, hunk: int) -> bool:
        return self._layout is not None and self._layout.rows_of_hunk(hunk)[0] + self._above == y


@dataclass(frozen=True, slots=True)
class Said:
    """What is known of a change besides its lines.

    Attributes:
        file: Which file.
        hunk: The hunk that the person is at; `None` if there is none.
        number: Its number, from 1.
        hunks: All of them.
    """

    file: ChangedFile
    hunk: ChangedHunk | None = None
    number: int = 0
    hunks: Sequence[ChangedHunk] = ()


class AboutChange(Widget):
    """Who changed a file, when, in which conversation; and what reviewers said of it and of the hunk."""

    DEFAULT_CSS = """
    AboutChange { height: auto; max-height: 6; padding: 0 1; background: $panel; color: $foreground; }
    """

    said: reactive[Said | None] = reactive(None, layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row for each thing there is to say."""
        del container, viewport
        return len(self._rows(width))

    def render(self) -> RenderResult:
        """Who and when, then what was said."""
        return Content("\n").join(self._rows(self.content_size.width))

    def _rows(self, width: int) -> list[Content]:
        if self.said is None:
            return []
        file, hunk = self.said.file, self.said.hunk
        times = sorted(event.at_us for event in file.events)
        when = " to ".join(dict.fromkeys(moment(at) for at in (times[0], times[-1]))) if times else ""
        sessions = ", ".join(f"session {one_line(each)}" for each in file.sessions)
        numbers = " ".join(f"#{event.seq}" for event in file.events[-4:])
        facts = ", ".join(each for each in (one_line(", ".join(file.actors)), when, sessions, numbers) if each)
        who = broken(f"By {facts}" if facts else "Nobody recorded who changed it", max(width, 8))
        rows = [Content(text) for ((text, _),) in who[:_ROWS]]
        if file.changed_since:
            rows.append(Content.styled(fit(f"It has {file.changed_since}", width), "$text-warning"))
        judged = sum(any(mark.verdict is not Verdict.NOTE for mark in each.marks) for each in self.said.hunks)
        if len(self.said.hunks) > 1 and judged:
            rows.append(Content(fit(f"{judged:,} of {len(self.said.hunks):,} hunks reviewed", width)))
        rows += [_mark(mark, "", width) for mark in file.marks[-2:]]
        if hunk is not None:
            rows += [_mark(mark, f"hunk {self.said.number}: ", width) for mark in hunk.marks[-2:]]
        return rows[:6]


def _mark(mark: Mark, before: str, width: int) -> Content:
    style = {Verdict.ACCEPT: "$text-success", Verdict.FLAG: "$text-error bold"}.get(mark.verdict, "$text-warning")
    words = f': "{one_line(mark.words)}"' if mark.words else ""
    return Content.styled(
        fit(f"{before}{said(mark)} by {one_line(mark.reviewer)}, {moment(mark.at_us)}{words}", width), style
    )
