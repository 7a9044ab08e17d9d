"""The text that is being edited, as lines.

Textual's own document splits at everything Unicode calls a line end (form feed, U+0085, U+2028) and joins with line
feeds again: such characters would be gone after the first save. Here only a line feed ends a line. Textual also joins
all lines for each row that it draws; here the joined text is kept until something changes.
"""

from typing import overload

from textual.document._document import DocumentBase, EditResult, Location, Newline
from textual.geometry import Size


class Lines(DocumentBase):
    """A text, without its line feeds.

    Args:
        text: Lines that end with `\\n` and with nothing else.
    """

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._text: str | None = text
        self.first_changed = 0
        """The first line that is not as it was when somebody last set this to `line_count`."""

    @property
    def text(self) -> str:
        """The whole text."""
        if self._text is None:
            self._text = "\n".join(self._lines)
        return self._text

    @property
    def newline(self) -> Newline:
        """A line feed: how lines end in the file is known to its shape."""
        return "\n"

    @property
    def lines(self) -> list[str]:
        """The lines themselves, not to be changed."""
        return self._lines

    @property
    def line_count(self) -> int:
        """How many there are, at least 1: behind the last line feed is a line as well."""
        return len(self._lines)

    @property
    def start(self) -> Location:
        """Where it begins."""
        return 0, 0

    @property
    def end(self) -> Location:
        """Behind the last character."""
        return len(self._lines) - 1, len(self._lines[-1])

    def get_line(self, index: int) -> str:
        """One line."""
        return self._lines[index]

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        """One line or several."""
        return self._lines[line_index]

    def get_size(self, indent_width: int) -> Size:
        """Lines, and nothing on their width, which depends on how they are shown."""
        del indent_width
        return Size(0, len(self._lines))

    def get_text_range(self, start: Location, end: Location) -> str:
        """What stands between two locations."""
        (top, left), (bottom, right) = sorted((self.clamped(start), self.clamped(end)))
        if top == bottom:
            return self._lines[top][left:right]
        parts = self._lines[top : bottom + 1]
        parts[0], parts[-1] = parts[0][left:], parts[-1][:right]
        return "\n".join(parts)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Put a text in the place of what stands between two locations."""
        (top, left), (bottom, right) = sorted((self.clamped(start), self.clamped(end)))
        replaced = self.get_text_range((top, left), (bottom, right))
        new = text.split("\n")
        before, after = self._lines[top][:left], self._lines[bottom][right:]
        column = len(new[-1]) + (len(before) if len(new) == 1 else 0)
        new[0] = before + new[0]
        new[-1] += after
        self._lines[top : bottom + 1] = new
        self._text = None
        self.first_changed = min(self.first_changed, top)
        return EditResult((top + len(new) - 1, column), replaced)

    def clamped(self, location: Location) -> Location:
        """The nearest location that there is."""
        row, column = location
        if row >= len(self._lines):
            return self.end
        row = max(row, 0)
        return row, min(max(column, 0), len(self._lines[row]))

    def index_of(self, location: Location) -> int:
        """How many characters stand before a location."""
        row, column = location
        return sum(map(len, self._lines[:row])) + row + column

    def location_of(self, index: int) -> Location:
        """Where the character with a number stands."""
        for row, line in enumerate(self._lines):
            if index <= len(line):
                return row, index
            index -= len(line) + 1
        return self.end
