"""Images that a model can be shown, known by their first bytes: their sizes are read, and nothing is decoded."""

import base64
import struct
from collections.abc import Callable

from memtui.core.lazy_dataclass import dataclass

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
MAX_BYTES = 3_750_000
"""Bytes of the largest image that the API takes: in base64 they are five million."""
MAX_PIXELS = 8_000
"""Pixels of a side that the API takes at most."""
_BROKEN = "it is broken or cut off"


class UnusableImage(Exception):
    """An image that cannot be shown; the message says why, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image as a file holds it."""

    data: bytes
    media_type: str
    width: int
    height: int


def is_image_name(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def parse_image(data: bytes) -> Image | None:
    """The image that a file is; `None` if it is none by its first bytes. Raises `UnusableImage`."""
    for media_type, starts, measure in _KINDS:
        if data.startswith(starts) and (media_type != "image/webp" or data[8:12] == b"WEBP"):
            if len(data) > MAX_BYTES:
                raise UnusableImage(f"it has {len(data):,} bytes, and {MAX_BYTES:,} are the most")
            try:
                width, height = measure(data)
            except (struct.error, IndexError):
                raise UnusableImage(_BROKEN) from None
            if not width or not height:
                raise UnusableImage(_BROKEN)
            if max(width, height) > MAX_PIXELS:
                raise UnusableImage(f"it has {width}x{height} pixels, and {MAX_PIXELS:,} are the most on a side")
            return Image(data, media_type, width, height)
    return None


def build_content_blocks(text: str, image: Image) -> list[dict[str, object]]:
    """A text and an image as the API takes them."""
    data = base64.b64encode(image.data).decode("ascii")
    source = {"type": "base64", "media_type": image.media_type, "data": data}
    return [{"type": "text", "text": text}, {"type": "image", "source": source}]


def _measure_png(data: bytes) -> tuple[int, int]:
    """W3C PNG, 11.2.1: the first chunk is the header; the last one ends the file."""
    if data[12:16] != b"IHDR" or data.rfind(b"IEND") < 0:
        raise UnusableImage(_BROKEN)
    return struct.unpack_from(">II", data, 16)


def _measure_gif(data: bytes) -> tuple[int, int]:
    """GIF89a, 18: the logical screen; 27: the trailer."""
    if not data.rstrip(b"\0").endswith(b";"):
        raise UnusableImage(_BROKEN)
    return struct.unpack_from("<HH", data, 6)


def _measure_jpeg(data: bytes) -> tuple[int, int]:
    """ITU-T T.81, B.2: segments up to the header of the frame."""
    if data.rfind(b"\xff\xd9") < 0:
        raise UnusableImage(_BROKEN)
    at = 2
    while data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        elif kind in (0xD9, 0xDA):
            break
        else:
            at += 2 + max(2, struct.unpack_from(">H", data, at + 2)[0])
    raise UnusableImage(_BROKEN)


def _measure_webp(data: bytes) -> tuple[int, int]:
    """RFC 9649, 2: a lossy, lossless or extended header."""
    if struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        raise UnusableImage(_BROKEN)
    match data[12:16]:
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L" if data[20] == 0x2F:
            bits = struct.unpack_from("<I", data, 21)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(data) >= 30:
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    raise UnusableImage(_BROKEN)


_KINDS: tuple[tuple[str, tuple[bytes, ...], Callable[[bytes], tuple[int, int]]], ...] = (
    ("image/png", (b"\x89PNG\r\n\x1a\n",), _measure_png),
    ("image/jpeg", (b"\xff\xd8\xff",), _measure_jpeg),
    ("image/gif", (b"GIF87a", b"GIF89a"), _measure_gif),
    ("image/webp", (b"RIFF",), _measure_webp),
)
"""Media types, how each begins, and how its width and height are read."""
