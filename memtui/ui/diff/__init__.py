"""Two texts compared, on screen."""

from memtui.ui.diff.view import DiffView as DiffView
