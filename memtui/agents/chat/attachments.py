"""Files that go with a message: read once, carefully, and put into the form that the API takes.

What is in a file is not what the person says, so a text goes as a document of its own: nothing in it can pretend to be
her message.
"""

import base64
import os
import stat
from collections.abc import Sequence

from memtui.agents.chat.events import Attachment, Model, Prompt
from memtui.agents.chat.history import Block, sendable
from memtui.core.visible import one_line

IMAGES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP"}
PDF = "application/pdf"
TEXT = "text/plain"

TEXT_BYTES = 1_000_000
IMAGE_BYTES = 5_000_000
PDF_BYTES = 20_000_000
"""What is attached at most: the API takes no request over 32 MB, and no picture over 5 MB."""


class NotAttached(Exception):
    """A file that cannot go with a message; the words say why."""


def attached(path: str | os.PathLike[str]) -> Attachment:
    """Read a file that the person wants to attach. What kind it is, its bytes tell, and not its name.

    Raises:
        NotAttached: It is not there, is no file, is too large, or is of a kind that no model takes.
    """
    where = os.path.expanduser(os.fspath(path))
    name = os.path.basename(where) or where
    shown = one_line(name)
    try:
        # A FIFO or a device must not hold us up.
        fd = os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise NotAttached(f"Not attached: {shown} cannot be read ({_reason(error)}).") from error
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise NotAttached(f"Not attached: {shown} is not a file.")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(PDF_BYTES + 1)
    except OSError as error:
        raise NotAttached(f"Not attached: {shown} cannot be read ({_reason(error)}).") from error
    finally:
        os.close(fd)
    attachment = Attachment(name, kind_of(data), data)
    if problem := problem_with(attachment, None):
        raise NotAttached(f"Not attached: {problem}")
    return attachment


def kind_of(data: bytes) -> str:
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


def problem_with(attachment: Attachment, model: Model | None) -> str | None:
    """Why an attachment cannot be sent, as a sentence; `None` if it can.

    Args:
        attachment: The file.
        model: Who is to read it; `None` where it is not known yet.
    """
    name, size = one_line(attachment.name), len(attachment.data)
    who = "the model" if model is None else model.name or model.id
    if attachment.media_type in IMAGES:
        kind, limit, able = "a picture", IMAGE_BYTES, model.sees_images if model else None
    elif attachment.media_type == PDF:
        kind, limit, able = "a PDF", PDF_BYTES, model.reads_pdf if model else None
    elif kind_of(attachment.data) == TEXT:
        kind, limit, able = "a text", TEXT_BYTES, True
    else:
        return f"{name} is neither text, PNG, JPEG, GIF, WebP nor PDF."
    if able is False:
        return f"{name} is {kind}, which {who} does not take."
    if not size:
        return f"{name} is empty."
    if size > limit:
        return f"{name} is too large: {size / 1e6:.1f} MB, and {kind} may have {limit / 1e6:g} MB."
    return None


def content_of(prompt: Prompt, notes: Sequence[str] = ()) -> list[Block]:
    """A message as the API takes it: what the model is to be told first, then the files, then what the person says.

    Args:
        prompt: The message.
        notes: What happened meanwhile, in sentences.
    """
    blocks: list[Block] = []
    if notes:
        blocks.append({"type": "text", "text": "[A note from memtui, not from the user: " + " ".join(notes) + "]"})
    blocks += [_block(attachment) for attachment in prompt.attachments]
    if prompt.text.strip():
        blocks.append({"type": "text", "text": sendable(prompt.text)})
    return blocks


def _block(attachment: Attachment) -> Block:
    if attachment.media_type in IMAGES:
        return {"type": "image", "source": _base64(attachment)}
    if attachment.media_type == PDF:
        return {"type": "document", "source": _base64(attachment), "title": sendable(one_line(attachment.name))}
    source = {"type": "text", "media_type": TEXT, "data": sendable(attachment.data.decode("utf-8", "replace"))}
    return {"type": "document", "source": source, "title": sendable(one_line(attachment.name))}


def _base64(attachment: Attachment) -> Block:
    data = base64.b64encode(attachment.data).decode("ascii")
    return {"type": "base64", "media_type": attachment.media_type, "data": data}


def _reason(error: Exception) -> str:
    return (os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)).lower()
