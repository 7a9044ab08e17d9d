"""What the question about a change consists of: the change, the text to edit, and a line for why not."""

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input

from memtui.ui.chat.ordered import OrderedTextArea
from memtui.ui.diff.layout import Arrangement
from memtui.ui.diff.view import SIDES_FROM, DiffView

_HUNKS = ("diff.next_hunk", "diff.previous_hunk")


class ProposalDiff(DiffView, inherit_bindings=False):
    """The change that is proposed. `n` says no here, so that `]` and `[` go from hunk to hunk."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            replace(each, show=False)
            for each in DiffView.BINDINGS
            if isinstance(each, Binding) and each.id not in _HUNKS
        ),
        Binding(
            "right_square_bracket", "hunk(1)", "hunk", id="question.next_hunk", tooltip="To the next change",
            show=False,
        ),
        Binding(
            "left_square_bracket", "hunk(-1)", "previous hunk", id="question.previous_hunk",
            tooltip="To the change before", show=False,
        ),
    ]  # fmt: skip

    @property
    def arrangement(self) -> Arrangement:
        """Side by side only where this pane itself is wide: the screen around it says nothing here."""
        arrangement = super().arrangement
        if self._wanted is None and self.size.width < SIDES_FROM:
            return Arrangement.UNIFIED
        return arrangement


class ProposedText(OrderedTextArea):
    """The text as it would be, to be changed before it is written."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "write", "write", id="question.write", tooltip="Write this text, as yours"),
        Binding(
            "escape", "back", "back", id="question.back", tooltip="Back to the question; the text is kept",
        ),
        Binding(
            "ctrl+g", "outside", "$EDITOR", id="question.outside", tooltip="Go on in $VISUAL or $EDITOR"
        ),
    ]  # fmt: skip

    class Done(Message):
        """The person is done with it."""

        def __init__(self, *, is_written: bool) -> None:
            """Tell whether it is to be written."""
            super().__init__()
            self.is_written = is_written

    class OutsideWanted(Message):
        """She wants her own editor."""

    def action_write(self) -> None:
        """That is what is to be written."""
        self.post_message(self.Done(is_written=True))

    def action_back(self) -> None:
        """Not now."""
        self.post_message(self.Done(is_written=False))

    def action_outside(self) -> None:
        """Elsewhere."""
        self.post_message(self.OutsideWanted())


class ReasonLine(Input):
    """A line for why not, sent to the model."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back", id="question.no_reason", tooltip="Back to the question", priority=True),
    ]

    class Left(Message):
        """She thought better of it."""

    def action_back(self) -> None:
        """Back to the question."""
        self.post_message(self.Left())
