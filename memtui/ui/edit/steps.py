"""What was done to the text, to be taken back and done again.

Textual's history counts each edit for itself. Here several can be one step, such as a merge or an indented block, and
a step can carry on which version of the memory the text is based: taking back a merge goes back to what it was based
on before, or the next save would overwrite what was merged as if it had been read.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual.document._edit import Edit
from textual.document._history import EditHistory

_KEPT = 5_000
"""Steps that can be taken back."""


class Step(list[Edit]):
    """Edits that are one step.

    Attributes:
        basis: What the text was based on before it and after it; `None` where that did not change.
    """

    basis: tuple[Any, Any] | None = None


class Steps(EditHistory):
    """The steps, newest last."""

    def __init__(self) -> None:
        super().__init__(max_checkpoints=_KEPT, checkpoint_timer=2.0, checkpoint_max_characters=100)
        self._step: Step | None = None

    def record(self, edit: Edit) -> None:
        """Take in an edit: to the step that is open, or as typed text is grouped."""
        if self._step is None:
            super().record(edit)
        else:
            self._step.append(edit)

    @contextmanager
    def one(self, basis: tuple[Any, Any] | None = None) -> Iterator[None]:
        """Make one step of all that is done meanwhile.

        Args:
            basis: What the text is based on before it and after it, where that changes.
        """
        if self._step is not None:
            yield  # part of a larger step
            return
        step = self._step = Step()
        step.basis = basis
        try:
            yield
        finally:
            self._step = None
            if step:
                self._undo_stack.append(step)
                self._redo_stack.clear()
            self._previously_replaced = False
            self.checkpoint()

    def settle(self) -> None:
        """It was saved: what is taken back from now on is meant to be."""
        for step in (*self._undo_stack, *self._redo_stack):
            if isinstance(step, Step):
                step.basis = None
        self.checkpoint()
