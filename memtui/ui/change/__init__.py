"""A change on screen: who made it, and its lines."""

from memtui.ui.change.view import ChangeView

__all__ = ["ChangeView"]
