"""A folder in which nothing is remembered yet: calm, and with a way on."""

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget


class EmptyFolder(Widget):
    """Stands in for the panes while there is nothing to show in them."""

    def render(self) -> RenderResult:
        """What is the case, what will happen, what can be done."""
        key = "bold $text-accent"
        return Content.assemble(
            "\n",
            ("Nothing is remembered here yet.", "bold"),
            "\n\nAn agent writes to this folder through its memory tool.\n"
            "New files will appear here as they are written.\n\n",
            ("  o      ", key),
            "open another folder\n",
            ("  :      ", key),
            "all commands\n",
            ("  q      ", key),
            "quit\n\n",
            "Nothing has been created or changed on disk.",
        )
