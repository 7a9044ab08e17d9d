"""Which piece an item becomes, and where an empty row parts it from what stands above it."""

from memtui.ui.chat.call_rows import call_piece
from memtui.ui.chat.items import Call, Ended, Item, Message, Remark, Stage, Thought, Tone
from memtui.ui.chat.message_rows import is_long, message_piece, thought_piece
from memtui.ui.chat.piece import Frame, Piece
from memtui.ui.chat.remark_rows import ended_piece, remark_piece


def piece_of(item: Item, above: Item | None, frame: Frame, now: float) -> Piece:
    """Lay an item out.

    Args:
        item: What is to be shown.
        above: What stands above it.
        frame: How much room there is.
        now: Seconds of the clock of the conversation.
    """
    gap = above is not None and not _together(above, item)
    match item:
        case Thought():
            return thought_piece(item, frame, now, gap=gap)
        case Message():
            return message_piece(item, frame, gap=gap)
        case Call():
            return call_piece(item, frame, gap=gap)
        case Ended():
            return ended_piece(item, frame, gap=gap)
        case Remark():
            return remark_piece(item, frame, now, gap=gap)
    return Piece()


def _together(above: Item, item: Item) -> bool:
    """Whether two things stand without an empty row between them: what the model does, one after the other."""
    if isinstance(above, Ended):
        return isinstance(item, Remark) and item.tone is Tone.UNDONE
    open_call = isinstance(above, Call) and above.is_open and above.stage is not Stage.COMING
    return isinstance(above, Call | Thought) and isinstance(item, Call | Thought) and not open_call


def can_fold(item: Item) -> bool:
    """Whether there is more to it than is shown at first."""
    match item:
        case Thought():
            return bool(item.text.strip())
        case Message():
            return is_long(item)
        case Call():
            return True
        case Remark(tone=Tone.RULE):
            return bool(item.detail)
    return False
