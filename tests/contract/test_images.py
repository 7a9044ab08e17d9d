"""CONTRACT.md, section "view": images are shown where the door can, and are a line of text elsewhere."""

import base64
import contextlib
import struct
import zlib
from typing import Any

import pytest

from memtui.agents.chat.history import build_tool_result
from memtui.agents.claude import MemoryTool
from memtui.core.images import MAX_BYTES, UnusableImage, parse_image


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_png(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * (width + 1) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def make_jpeg(width: int, height: int) -> bytes:
    application = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9
    return b"\xff\xd8" + application + b"\xff\xc0" + struct.pack(">HBHHB", 8, 8, height, width, 0) + b"\xff\xd9"


def make_gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def make_webp(kind: bytes, data: bytes) -> bytes:
    body = b"WEBP" + kind + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def make_lossy(width: int, height: int) -> bytes:
    return make_webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\0\0")


def make_lossless(width: int, height: int) -> bytes:
    return make_webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\0")


def make_extended(width: int, height: int) -> bytes:
    size = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return make_webp(b"VP8X", b"\0\0\0\0" + size)


MAKERS: dict[str, tuple[Any, str, str]] = {
    "png": (make_png, "a.png", "image/png"),
    "png by its bytes": (make_png, "a.JPEG", "image/png"),
    "jpeg": (make_jpeg, "a.jpg", "image/jpeg"),
    "gif": (make_gif, "a.gif", "image/gif"),
    "lossy": (make_lossy, "a.webp", "image/webp"),
    "lossless": (make_lossless, "a.webp", "image/webp"),
    "extended": (make_extended, "a.webp", "image/webp"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_an_image_is_a_line_and_its_bytes(world: Any, kind: str) -> None:
    make, name, media_type = MAKERS[kind]
    data = make(12, 34)
    world.put(name, data)
    answer = world.ask(command="view", path=f"/memories/{name}", view_range=[5, 6])
    assert (answer.is_error, answer.text) == (False, f"Here's the image /memories/{name} (12x34, {len(data)}B):")
    assert answer.event.viewed.size == len(data)
    blocks = [
        {"type": "text", "text": answer.text},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()},
        },
    ]
    assert MemoryTool(world.main).call({"command": "view", "path": f"/memories/{name}"}) == blocks
    assert build_tool_result("c", answer.text, is_error=False, image=answer.image)["content"] == blocks


@pytest.mark.parametrize("kind", MAKERS)
def test_a_cut_off_image_is_refused_or_shown_but_never_raises(kind: str) -> None:
    make, _, _ = MAKERS[kind]
    data = make(12, 34)
    for end in range(len(data)):
        with contextlib.suppress(UnusableImage):
            parse_image(data[:end])
    for at in range(len(data)):
        with contextlib.suppress(UnusableImage):
            parse_image(data[:at] + b"\xff" + data[at + 1 :])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (make_gif(1, 1).ljust(MAX_BYTES + 1, b"\0"), "it has 3,750,001 bytes, and 3,750,000 are the most"),
        (make_gif(8_001, 2), "it has 8001x2 pixels, and 8,000 are the most on a side"),
        (make_gif(0, 2), "it is broken or cut off"),
        (make_png(3, 3)[:30], "it is broken or cut off"),
    ],
    ids=["large", "wide", "nothing", "cut"],
)  # fmt: skip
def test_an_image_that_cannot_be_shown_says_why(world: Any, data: bytes, why: str) -> None:
    world.put("a.png", data)
    answer = world.ask(command="view", path="/memories/a.png")
    assert (answer.is_error, answer.image) == (True, None)
    assert answer.text == f"Error: The file /memories/a.png is not an image that can be shown: {why}"


def test_what_is_named_so_and_is_none_is_a_file_like_any_other(world: Any) -> None:
    world.put("a.png", "text\n")
    world.put("b.png", b"\xff\xfe")
    world.put("c.md", make_png(1, 1))
    assert world.ask(command="view", path="/memories/a.png").text.endswith("     1\ttext\n     2\t")
    for path in ("b.png", "c.md"):
        text = world.ask(command="view", path=f"/memories/{path}").text
        assert text == f"Error: The file /memories/{path} is not valid UTF-8 text"
