"""A text box in which keys do what they do in the order in which they were pressed.

Textual lets characters go to the box and looks for bindings elsewhere, each in its own time: of what is typed fast, or
comes from a slow line in one go, Enter overtakes the end of the sentence before it.
"""

from textual.events import Key
from textual.widgets import TextArea


class OrderedTextArea(TextArea):
    """Runs its own bindings where characters are taken in."""

    async def _on_key(self, event: Key) -> None:
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
