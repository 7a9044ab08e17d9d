"""A screen that closes once, however fast the keys come that close it."""

from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen

Result = TypeVar("Result")


class Once(Screen[Result]):
    """A screen that takes away itself, and never the one below.

    Textual's `dismiss` takes away whichever screen is on top. Of two keys that come at once, the first closes this
    screen, and the second, on its way to it by then, would close the screen below: an editor, with what is typed in it.
    """

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close, with an answer; a screen that is closed already, or below another, is not closed.

        One that is not mounted yet is closed once it is: taken away before, it would look for widgets that never came.

        Args:
            result: The answer.
        """
        if self.is_active and not self.is_mounted:
            self.call_later(self._dismiss_mounted, result)
            return AwaitComplete()
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def _dismiss_mounted(self, result: Result | None) -> None:
        self.dismiss(result)  # and nobody waits for it: what is returned must not be awaited by the screen itself
