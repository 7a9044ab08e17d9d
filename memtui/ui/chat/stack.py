"""The pieces of a conversation one above the other: which row of the screen is which row of which item.

A piece is made when a row of it is looked at, and forgotten when many others were looked at since; until then its
height is guessed. What is added at the end costs the same however long the conversation is.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence

from memtui.ui.chat.items import Call, Item, Message, Thought
from memtui.ui.chat.piece import Drawn, Frame, Piece

KEPT = 200
"""Pieces that are kept once they were made."""

Make = Callable[[Item, Item | None, Frame], Piece]
"""Lays an item out that stands below another one."""


class Stack:
    """Rows of a conversation.

    Args:
        items: The conversation; it grows and shrinks without telling, until `resized` or `touched` is called.
        make: Lays one item out.
        frame: How much room there is.
    """

    def __init__(self, items: Sequence[Item], make: Make, frame: Frame) -> None:
        self._items = items
        self._make = make
        self.frame = frame
        self._pieces: OrderedDict[Item, Piece] = OrderedDict()
        self._heights: list[int] = []
        self._known: list[bool] = []
        self._tops: list[int] = [0]
        self.cut(0)

    def relayout(self, frame: Frame) -> None:
        """There is another amount of room."""
        self.frame = frame
        self._pieces.clear()
        self.cut(0)

    def cut(self, index: int) -> None:
        """From this place on, other items stand there."""
        for item in [item for item in self._pieces if item.index >= index]:
            del self._pieces[item]
        del self._heights[index:], self._known[index:]
        for item in self._items[index:]:
            self._heights.append(_guess(item, self.frame.width))
            self._known.append(False)
        self._keep_tops(index)

    def touched(self, item: Item) -> None:
        """An item has changed: it is laid out anew when it is looked at."""
        if self._pieces.pop(item, None) is None:
            self._heights[item.index] = _guess(item, self.frame.width)
        self._known[item.index] = False
        if item.index + 1 < self.count:  # whether an empty row parts the two may be different now
            self._pieces.pop(self._items[item.index + 1], None)
            self._known[item.index + 1] = False
        self._keep_tops(item.index)

    def grown(self, item: Message) -> None:
        """The text of a message goes on: only its last block is laid out anew."""
        piece = self._pieces.get(item)
        if piece is None or piece.text is None:
            self.touched(item)
        else:
            piece.append(item.text[len(piece.text.source) :])
            self._measure(item.index, piece)

    def _keep_tops(self, index: int) -> None:
        """The first rows up to this item are still where they were."""
        del self._tops[index + 1 :]

    def _measure(self, index: int, piece: Piece) -> None:
        self._known[index] = True
        if self._heights[index] != piece.height:
            self._heights[index] = piece.height
            self._keep_tops(index)

    @property
    def count(self) -> int:
        """How many items."""
        return len(self._heights)

    @property
    def height(self) -> int:
        """Rows of all, as far as they are known."""
        return self.top(len(self._heights))

    def top(self, index: int) -> int:
        """The first row of an item; of the number of items, the row behind the last."""
        tops = self._tops
        while len(tops) <= index:
            tops.append(tops[-1] + self._heights[len(tops) - 1])
        return tops[index]

    def locate(self, y: int) -> tuple[int, int]:
        """Which item a row belongs to, and which row of it that is; the last one for rows below."""
        if not self._heights:
            return -1, 0
        if y >= self.height:
            return self.count - 1, max(0, self._heights[-1] - 1)
        index = bisect_right(self._tops, max(0, y)) - 1
        return index, max(0, y) - self._tops[index]

    def piece(self, index: int) -> Piece:
        """An item, laid out; its height is known from then on."""
        item = self._items[index]
        piece = self._pieces.get(item)
        if piece is None:
            above = self._items[index - 1] if index else None
            piece = self._pieces[item] = self._make(item, above, self.frame)
            if len(self._pieces) > KEPT:
                self._pieces.popitem(last=False)
        else:
            self._pieces.move_to_end(item)
        self._measure(index, piece)
        return piece

    def draw_from(self, y: int, count: int) -> None:
        """Make what is needed to show `count` rows from row `y` on."""
        index, inner = self.locate(y)
        while 0 <= index < self.count and self.top(index) < y + count:
            piece = self.piece(index)
            piece.draw_from(inner, y + count - self.top(index) - inner)
            self._measure(index, piece)
            index, inner = index + 1, 0

    def draw_before(self, index: int, inner: int, count: int) -> None:
        """Make the `count` rows above a row of an item."""
        while index >= 0 and count > 0:
            piece = self.piece(index)
            inner = piece.height if inner < 0 else inner
            while True:  # guessed heights within a long text become exact
                before = piece.height
                piece.draw_from(max(0, inner - count), min(count, inner))
                inner += piece.height - before
                if piece.height == before:
                    break
            self._measure(index, piece)
            count -= inner
            index, inner = index - 1, -1

    def row(self, y: int) -> Drawn | None:
        """One row; none beyond the end."""
        if not 0 <= y < self.height:
            return None
        index, inner = self.locate(y)
        piece = self.piece(index)
        return piece.row(inner) if inner < piece.height else None


def _guess(item: Item, width: int) -> int:
    match item:
        case Thought():
            return 1 + (len(item.text) // width if item.is_open else 0)
        case Message():
            return 2 + max(item.text.count("\n"), len(item.text) * 10 // (width * 9))
        case Call():
            return 1
    return 2
