"""A screen above the browser with a diff beside something: the diff's keys work from wherever on it one is."""

from textual import getters

from memtui.ui.diff.view import DiffView
from memtui.ui.screens.above import AboveBrowser


class BesideDiff(AboveBrowser):
    """What a list chooses is compared beside it."""

    diff = getters.query_one("#diff", DiffView)

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
