"""What the person and the model said, and what the model thought, as rows."""

from memtui.ui.chat.items import YOU, Message, Thought
from memtui.ui.chat.piece import Frame, Piece
from memtui.ui.note.document import Document, Layout
from memtui.ui.note.lines import Row, Span, clean, indent, prose, wrap
from memtui.ui.text import fit
from memtui.ui.wording import size

FOLDED_FROM = 16
"""Lines of what the person wrote or pasted from which on it is folded."""
FOLDED_CHARACTERS = 2_000
SHOWN = 8
"""Lines of it that are shown then."""
SHOWN_CHARACTERS = 600
NEWEST = 1_000
"""Characters of what is being thought of which the last rows are shown."""
NAME = 300
"""Characters of the name of a file that went with it."""
BAR = "│ "


def is_long(message: Message) -> bool:
    """Whether what the person said is folded at first."""
    text = message.text
    return message.who == YOU and (text.count("\n") >= FOLDED_FROM or len(text) > FOLDED_CHARACTERS)


def message_piece(message: Message, frame: Frame, *, gap: bool) -> Piece:
    """What somebody said: Markdown of the model, and the person's words as she typed them."""
    head = [Row((Span(message.who, message.who),), 0, 0)] if frame.is_narrow else []
    label = "" if frame.is_narrow else message.who
    if message.who != YOU:
        document = Document(message.text, Layout("markdown", "rendered", frame.width))
        return Piece(head, document, label=label, gap=gap)
    text, fold = _typed(message.text), ""
    tail: list[Row] = []
    if is_long(message):
        fold = "▾" if message.is_open else "▸"
        if not message.is_open:
            short = _beginning(text)
            tail += prose([Span(f".. {_more(text[len(short) :])}", "more")], frame.width, 0)
            text = short
    names = [f"{name[:NAME]} ({size(count)})" for name, count in message.attachments]
    if names:
        tail += prose(clean("with " + ", ".join(names), "file"), frame.width, 0)
    document = Document(text or " ", Layout("text", "rendered", frame.width))
    return Piece(head, document, tail, label=label, fold=fold, band="band", gap=gap)


def _typed(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def _beginning(text: str) -> str:
    """The first lines of a long text, or the first words of a line that is too long itself."""
    short = "\n".join(text[:SHOWN_CHARACTERS].split("\n")[:SHOWN])
    if len(short) == SHOWN_CHARACTERS:
        line, _, _ = short.rpartition("\n")
        word, _, _ = short.rpartition(" ")
        short = line or word or short
    return short.rstrip("\n")


def _more(rest: str) -> str:
    lines = rest.strip("\n").count("\n") + 1
    return f"{lines:,} more lines" if lines > 1 else f"{len(rest):,} more characters"


def thought_piece(thought: Thought, frame: Frame, now: float, *, gap: bool) -> Piece:
    """What the model thinks: one row, with its newest line below it while it goes on."""
    text = thought.text.strip("\n")
    words = len(text.split())
    lasted = (now if thought.ended is None else thought.ended) - thought.began
    parts = [f"for {_seconds(lasted)}"] if lasted >= 1 else []
    counted = f"{words:,} word{'' if words == 1 else 's'}"
    verb = "thinking" if thought.ended is None else "thought"
    head = prose([Span(f"{' '.join([verb, *parts])}, {counted}", "thinking")], frame.width, 0)
    fold = ("▾" if thought.is_open else "▸") if text else ""
    bar = [Span(BAR, "quote-bar")]
    if thought.is_open and text:
        document = Document(text, Layout("text", "rendered", frame.width - len(BAR)))
        return Piece(head, document, prefix=bar, fold=fold, gap=gap)
    if thought.ended is None and text:
        newest = clean(text[-NEWEST:].rsplit("\n", 1)[-1], "thinking")
        rows = wrap(newest, frame.width - len(BAR))[-2:]
        head += [indent(Row(tuple(row), 0, 0, join="" if at else "\n"), bar) for at, row in enumerate(rows)]
    return Piece(head, fold=fold, gap=gap)


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return fit(f"{seconds // 60:.0f} min {seconds % 60:.0f} s", 20)
