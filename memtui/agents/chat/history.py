"""The history of a conversation, in a form that the API takes after any stop, cut or rewind; and attachments.

The API refuses a history in which roles do not alternate, a tool call has no answer, a text is empty or thinking lacks
its signature. A conversation that was broken off once would then be lost for good, so each history is repaired.
"""

import base64
import math
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memtui.agents.chat.events import Attachment, Model, Prompt
from memtui.agents.chat.sessions.records import Message, repair_messages
from memtui.core.images import Image, build_content_blocks
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line

Block = dict[str, Any]

STOPPED = "Error: not run: the user stopped before this call was complete. Nothing was changed"
CUT_OFF = "Error: not run: the answer was cut off before this call was complete. Nothing was changed"
BROKEN_OFF = "Error: not run: the connection broke off before this was carried out. Nothing was changed"
"""Answers to calls that were not executed."""


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One message of the history and its turn; `model` is `None` for the person, and where it is not known."""

    turn: int
    message: Message
    model: str | None = None


class ChatHistory:
    """The messages of a conversation, in order."""

    def __init__(self, entries: Iterable[HistoryEntry] = ()) -> None:
        self._entries = list(entries)
        self.call_ids: set[str] = set()
        """Of every tool call that was ever in it."""
        for entry in self._entries:
            self._collect_call_ids(entry.message["content"])

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, turn: int, role: str, content: Sequence[Block], model: str | None = None) -> None:
        """Add a message, unless it is empty."""
        if content:
            self._entries.append(HistoryEntry(turn, {"role": role, "content": list(content)}, model))
            self._collect_call_ids(content)

    def _collect_call_ids(self, content: Sequence[Block]) -> None:
        self.call_ids.update(block["id"] for block in content if block.get("type") == "tool_use")

    def rewind(self, turn: int) -> None:
        """Take a turn and all after it out."""
        while self._entries and self._entries[-1].turn >= turn:
            self._entries.pop()

    def has_answer(self, turn: int) -> bool:
        """Whether the model answered in a turn."""
        return any(entry.turn == turn and entry.message["role"] == "assistant" for entry in reversed(self._entries))

    @property
    def has_thinking(self) -> bool:
        """Whether there is thinking in it."""
        return any(_is_thinking(block) for entry in self._entries for block in entry.message["content"])

    def to_messages(self, model: str, *, with_thinking: bool = True) -> list[Message]:
        """The history for a model, without the thinking of another one; without any unless `with_thinking`."""
        return repair_messages(
            entry.message
            if with_thinking and entry.model in (model, None)
            else {**entry.message, "content": [each for each in entry.message["content"] if not _is_thinking(each)]}
            for entry in self._entries
        )


def restore_entries(
    messages: Sequence[Message], turn: int, model: str | None, last_blocks: int = 0
) -> list[HistoryEntry]:
    """The entries of a conversation that is resumed: the last message of the person begins its last turn.

    Args:
        messages: The history, repaired.
        turn: The number of the last turn.
        model: The model that answered.
        last_blocks: How many blocks of the person's last message belong to that turn; 0 for all.
    """
    last = next((index for index in reversed(range(len(messages))) if _is_user_message(messages[index])), 0)
    entries: list[HistoryEntry] = []
    for index, message in enumerate(messages):
        content = message["content"]
        if index == last and message["role"] == "user":
            results = [block for block in content if block.get("type") == "tool_result"]
            if results:
                entries.append(HistoryEntry(turn - 1, {"role": "user", "content": results}))
            content = [block for block in content if block.get("type") != "tool_result"]
            if earlier := content[:-last_blocks]:
                entries.append(HistoryEntry(turn - 1, {"role": "user", "content": earlier}))
                content = content[-last_blocks:]
        who = model if message["role"] == "assistant" else None
        entries.append(
            HistoryEntry(turn if index >= last else turn - 1, {"role": message["role"], "content": content}, who)
        )
    return entries


def _is_user_message(message: Message) -> bool:
    return message["role"] == "user" and any(block.get("type") != "tool_result" for block in message["content"])


def _is_thinking(block: Mapping[str, Any]) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def build_tool_result(call_id: str, text: str, *, is_error: bool, image: Image | None = None) -> Block:
    """The answer to a tool call."""
    shown = sanitize_value(text)
    content = shown if image is None else build_content_blocks(shown, image)
    block: Block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, "is_error": True} if is_error else block


def sanitize_value(value: Any) -> Any:
    """A value without parts that have no form in a request: lone surrogates, numbers that are not finite."""
    match value:
        case str() if not value.isascii():
            return value.encode("utf-8", "replace").decode("utf-8")
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {sanitize_value(name): sanitize_value(each) for name, each in value.items()}
        case list():
            return [sanitize_value(each) for each in value]
    return value


# Attachments. A text goes as a document of its own: nothing in it can pretend to be the person's message.

IMAGES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
PDF = "application/pdf"
TEXT = "text/plain"

TEXT_BYTES = 1_000_000
IMAGE_BYTES = 5_000_000
PDF_BYTES = 20_000_000
"""Limits of attachments: the API takes no request over 32 MB, and no picture over 5 MB."""


class AttachmentError(Exception):
    """A file that cannot be attached, and why."""


def read_attachment(path: str | os.PathLike[str]) -> Attachment:
    """Read a file to attach. Its bytes tell its kind, not its name.

    Raises:
        AttachmentError: It is not there, is no file, is too large, or is of a kind that no model takes.
    """
    where = os.path.expanduser(os.fspath(path))
    name = os.path.basename(where) or where
    shown = to_one_line(name)
    try:
        # A FIFO or a device must not hold us up.
        fd = os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise AttachmentError(f"Not attached: {shown} cannot be read ({_format_error(error)}).") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise AttachmentError(f"Not attached: {shown} is not a file.")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(PDF_BYTES + 1)
    except OSError as error:
        raise AttachmentError(f"Not attached: {shown} cannot be read ({_format_error(error)}).") from error
    finally:
        os.close(fd)
    attachment = Attachment(name, detect_media_type(data), data)
    if problem := validate_attachment(attachment, None):
        raise AttachmentError(f"Not attached: {problem}")
    return attachment


def detect_media_type(data: bytes) -> str:
    """The media type of some bytes, of those that models take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    if data.startswith(b"%PDF-"):
        return PDF
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if "\0" in text else TEXT


def validate_attachment(attachment: Attachment, model: Model | None) -> str | None:
    """Why a model, where it is known, cannot be sent an attachment, as a sentence; `None` if it can."""
    name, size = to_one_line(attachment.name), len(attachment.data)
    who = "the model" if model is None else model.name or model.id
    if attachment.media_type in IMAGES:
        kind, limit, able = "an image", IMAGE_BYTES, model.sees_images if model else None
    elif attachment.media_type == PDF:
        kind, limit, able = "a PDF", PDF_BYTES, model.reads_pdf if model else None
    elif detect_media_type(attachment.data) == TEXT:
        kind, limit, able = "a text file", TEXT_BYTES, True
    else:
        return f"{name} is not a text, PNG, JPEG, GIF, WebP or PDF file."
    if able is False:
        return f"{name} is {kind}, which {who} does not accept."
    if not size:
        return f"{name} is empty."
    if size > limit:
        return f"{name} is too large: {size / 1e6:.1f} MB. The limit for {kind} is {limit / 1e6:g} MB."
    return None


def describe_moment(now: datetime) -> str:
    """Date, time and time zone, as a sentence: `It is Monday, 2026-11-23 09:17 CET (UTC+01:00).`"""
    offset = f"{now:%z}" or "+0000"
    name = to_one_line(now.tzname() or "")
    return f"It is {now:%A, %Y-%m-%d %H:%M} {name} (UTC{offset[:3]}:{offset[3:5]})."


def build_content(prompt: Prompt, notes: Sequence[str] = ()) -> list[Block]:
    """A message as the API takes it: the notes to the model, the attachments, the text."""
    blocks: list[Block] = []
    if notes:
        blocks.append({"type": "text", "text": "[A note from memtui, not from the user: " + " ".join(notes) + "]"})
    blocks += [_build_block(attachment) for attachment in prompt.attachments]
    if prompt.text.strip():
        blocks.append({"type": "text", "text": sanitize_value(prompt.text)})
    return blocks


def _build_block(attachment: Attachment) -> Block:
    kind, data = attachment.media_type, attachment.data
    if kind in IMAGES or kind == PDF:
        source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode("ascii")}
    else:
        source = {"type": "text", "media_type": TEXT, "data": sanitize_value(data.decode("utf-8", "replace"))}
    if kind in IMAGES:
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, "title": sanitize_value(to_one_line(attachment.name))}


def _format_error(error: Exception) -> str:
    return (os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)).lower()
