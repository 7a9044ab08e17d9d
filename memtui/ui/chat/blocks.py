"""What a person copies who points at a row: the code, the paragraph or the list that it belongs to."""

from memtui.ui.chat.calls import copied
from memtui.ui.chat.items import YOU, Call, Ended, Item, Message, Remark, Thought
from memtui.ui.note.render import parser

_PARSED = 200_000
"""Characters of a text up to which its blocks are looked for."""


def block_at(item: Item, line: int | None) -> str:
    """The text of what stands at a line of an item.

    Args:
        item: What the cursor is on.
        line: Of its text, from 0; `None` for all of it.
    """
    match item:
        case Thought():
            return item.text.strip("\n")
        case Message(who=who):
            whole = who == YOU or line is None or len(item.text) > _PARSED
            return item.text.strip("\n") if whole else markdown_block(item.text, line or 0)
        case Call():
            return copied(item)
        case Remark(sentence=sentence, detail=detail):
            return detail or sentence
        case Ended(remembered=remembered):
            return "\n".join(each.path for each in remembered)
    return ""


def markdown_block(source: str, line: int) -> str:
    """The block of Markdown that holds a line, or the one before it; of code, the code alone.

    Args:
        source: The text.
        line: From 0.
    """
    found = ""
    lines = source.split("\n")
    for token in parser().parse(source):
        if token.map is None or token.level or token.nesting < 0:
            continue
        start, end = token.map
        if start > line and found:
            break
        found = token.content if token.type == "fence" else "\n".join(lines[start:end]).strip("\n")
    return found
