"""What must not be overlooked: a loud line above the panes, for as long as it is the case."""

from rich.cells import cell_len
from textual.app import RenderResult
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.screen import Screen
from textual.widget import Widget

from memtui.core.visible import one_line
from memtui.ui.text import fit


class Banner(Widget):
    """Words over the whole width; on a narrow screen what can be done stands below what is the case.

    Args:
        id: The widget's id in the DOM.
        classes: `-warning` for what is no loss.
    """

    DEFAULT_CSS = """
    Banner {
        height: auto; padding: 0 1; background: $error; color: auto 95%; text-style: bold;
        &.-warning { background: $warning; }
        &:ansi { background: ansi_red; color: ansi_bright_white; }
        &.-warning:ansi { background: ansi_yellow; color: ansi_black; }
    }
    """

    case: reactive[str] = reactive("", layout=True)
    """What is the case; may hold names from outside."""
    remedy: reactive[str] = reactive("", layout=True)
    """What can be done."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row if there is room for all of it, else two."""
        del container, viewport
        return self._lines(width).plain.count("\n") + 1

    def render(self) -> RenderResult:
        """What is the case, then what can be done."""
        return self._lines(self.content_size.width)

    def _lines(self, width: int) -> Content:
        case = one_line(self.case)
        whole = f"{case} {self.remedy}".rstrip()
        if cell_len(whole) <= width or not self.remedy:
            return Content(fit(whole, width))
        return Content("\n".join([*_wrapped(case, width), fit(self.remedy, width)]))


def _wrapped(case: str, width: int) -> list[str]:
    """What is the case in as few rows as it needs, at most two."""
    head, last = case, ""
    while cell_len(head) > width and " " in head:
        head, _, word = head.rpartition(" ")
        last = f"{word} {last}".rstrip()
    return [fit(row, width) for row in (head, last) if row]


def show_banner(screen: Screen[None], name: str, case: str, remedy: str, *, before: str) -> None:
    """Put a banner on a screen, or take it away where there is nothing to say.

    Args:
        screen: Which one.
        name: The banner's id there; one called `loss` is the loudest.
        case: What is the case; empty for nothing.
        remedy: What can be done.
        before: Above which widget it stands.
    """
    known = screen.query(f"#{name}")
    if not case:
        known.remove()
        return
    if known:
        banner = known.first(Banner)
    else:
        banner = Banner(id=name, classes="" if name == "loss" else "-warning")
        screen.mount(banner, before=before)
    banner.case, banner.remedy = case, remedy
