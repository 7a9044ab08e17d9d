"""The full diffs of a conflict: what they changed, what I changed, and how the two differ."""

import asyncio
from typing import ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from memtui.core.diffs import compare
from memtui.ui.conflict.about import Conflict3
from memtui.ui.diff.layout import Comparison
from memtui.ui.diff.view import DIFF_KEYS, DiffView
from memtui.ui.frame import Header, KeyLine, MessageLine, Status
from memtui.ui.screens.once import Once

_UNKNOWN = "What both were made from is not kept any more."


class _Keys(KeyLine):
    """The keys of the diffs, with the way back last."""

    LAST: ClassVar[tuple[str, ...]] = ("conflict.away",)


class DifferencesScreen(Once[None]):
    """Shows one of three diffs at a time.

    Args:
        about: The conflict.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1", "which(0)", "theirs", id="conflict.theirs", tooltip="What they changed"),
        Binding("2", "which(1)", "mine", id="conflict.mine", tooltip="What I changed"),
        Binding("3", "which(2)", "between", id="conflict.between", tooltip="How mine differs from theirs"),
        Binding("tab", "next(1)", "next", id="conflict.next_diff", tooltip="To the next of the three", show=False),
        Binding("shift+tab", "next(-1)", "previous", id="conflict.previous_diff",
                tooltip="To the one before of the three", show=False),
        *DIFF_KEYS,
        Binding("escape,q", "dismiss", "back", id="conflict.away", tooltip="Back to the question"),
    ]  # fmt: skip

    DEFAULT_CSS = """
    DifferencesScreen {
        layout: vertical;

        #diff {
            height: 1fr; border: double $warning;
            border-title-color: $foreground; border-subtitle-color: $foreground;
        }
    }
    """

    diff = getters.query_one(DiffView)
    message = getters.query_one(MessageLine)

    def __init__(self, about: Conflict3) -> None:
        super().__init__()
        self._about = about
        self._which = 0

    def compose(self) -> ComposeResult:
        """One diff over the whole window."""
        yield Header()
        yield DiffView(title="Diff", id="diff")
        yield MessageLine(id="message")
        yield _Keys()

    def on_mount(self) -> None:
        """What they changed, at first."""
        self.query_one(Header).status = Status(self._about.path, live="CONFLICT", follow=None, program="memtui diff")
        self.diff.focus()
        self.action_which(0)

    def action_which(self, which: int) -> None:
        """Show one of the three."""
        self._which = which
        self._compare(which)

    def action_next(self, step: int) -> None:
        """The next of the three, or the one before."""
        self.action_which((self._which + step) % 3)

    @work(exclusive=True, group="diff")
    async def _compare(self, which: int) -> None:
        about = self._about
        base, theirs, mine = about.base, about.theirs, about.mine
        names = [" ".join(filter(None, both)) for both in zip(about.names, about.moments, strict=True)]
        old, new = ((base, theirs), (base, mine), (theirs, mine))[which]
        labels = ((names[0], names[1]), (names[0], names[2]), (names[1], names[2]))[which]
        say = (
            f"1  What changed meanwhile: {about.names[1]}.",
            "2  What you changed.",
            "3  From what stands there now to yours.",
        )
        self.message.say(f"{say[which]} Nothing has been written.")
        if old is None and which < 2:
            self.diff.show_notice(_UNKNOWN, "3 shows how the two differ.", labels=labels)
            return
        if new is None or old is None:
            self.diff.show_notice("No text stands there now.", "2 shows what you changed.", labels=labels)
            return
        if old == new:
            self.diff.show_notice(
                "The two texts are the same.", "They may differ in how their lines end.", labels=labels
            )
            return
        comparison = await asyncio.to_thread(lambda: Comparison(compare(old, new)))
        self.diff.show(comparison, labels)

    def action_hunk(self, step: int) -> None:
        """To the next hunk, or the one before."""
        self.diff.action_hunk(step)

    def action_arrange(self) -> None:
        """Side by side, or one under the other."""
        self.diff.action_arrange()

    def action_words(self) -> None:
        """Mark the changed words, or only the lines."""
        self.diff.action_words()

    def action_folds(self) -> None:
        """Show the unchanged lines, or fold them."""
        self.diff.action_folds()
