"""The least that a Textual application with our layout can be: what `start` compares with."""

from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.scroll_view import ScrollView
from textual.widgets import Static


class Bare(App[None]):
    """A header, three empty scroll views, and two lines below them."""

    CSS = """
    .line { height: 1; }
    #body { height: 1fr; }
    ScrollView { border: round $foreground 35%; }
    #files { width: 38; height: 1fr; }
    #note { width: 1fr; height: 1fr; }
    #activity { height: 8; }
    """

    def compose(self) -> ComposeResult:
        """The same places as in memtui."""
        yield Static("bare header", classes="line")
        with Horizontal(id="body"):
            yield ScrollView(id="files")
            yield ScrollView(id="note")
        yield ScrollView(id="activity")
        yield Static("message", classes="line")
        yield Static("keys", classes="line")


if __name__ == "__main__":
    Bare().run()
