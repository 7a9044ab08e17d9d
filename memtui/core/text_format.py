"""The text of a file without its byte-level format: how lines end, a byte order mark.

An editor knows one kind of line end. Without the format of the file, a person who corrects one word would rewrite every
line of a note from another system, and its history would show nothing but that.
"""

from collections import Counter
from dataclasses import field

from memtui.core import diffs
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass

_BOM = b"\xef\xbb\xbf"
_OTHER_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_NAMES = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}


class NotText(MemtuiError):
    """A file that cannot be edited as text; `offset` is its first wrong byte, from 0, `None` if there is none."""

    def __init__(self, words: str, offset: int | None = None) -> None:
        super().__init__(words)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class TextFormat:
    r"""A text, and how it was kept.

    A lone carriage return ends a line only in a text that has no line feed at all: the agent's own view and every diff
    count lines by line feeds. Anywhere else it is a character like any other.

    Attributes:
        text: The text; its lines end in `\n`.
        bom: Whether a byte order mark stood before it.
        ends: How each of its lines ended, where they did not all end alike; else empty.
        end: How lines end; of several kinds, the commonest.
    """

    text: str
    bom: bool = False
    ends: tuple[str, ...] = field(default=(), repr=False)
    end: str = ""

    @property
    def line_ending(self) -> str:
        """`LF`, `CRLF`, `CR` or `mixed`; empty where there is no line end in it."""
        return "mixed" if self.ends else _NAMES.get(self.end, "")

    @property
    def has_final_newline(self) -> bool:
        """Whether the last line is ended, too."""
        return self.text.endswith("\n")

    def encode(self, text: str) -> bytes:
        """A text's bytes; unchanged lines end as they did, new ones as most do. `NotText` for half a character."""
        if self.ends:
            text = self._restore_line_endings(text)
        elif self.end not in ("", "\n"):
            text = text.replace("\n", self.end)
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise NotText(
                f"Line {line:,} holds half a character (U+{ord(text[error.start]):04X}), which no file in UTF-8 can "
                "hold. Delete it, then save again."
            ) from error
        return _BOM + data if self.bom else data

    def _restore_line_endings(self, text: str) -> str:
        if text == self.text:
            return "".join(line + end for line, end in zip(text.split("\n"), (*self.ends, ""), strict=True))
        old, new = self.text.split("\n"), text.split("\n")
        ends = [self.end] * len(new)
        ends[-1] = ""
        for number, was in _match_lines(old, new):
            if number < len(new) - 1 and was < len(self.ends):
                ends[number] = self.ends[was]
        return "".join(line + end for line, end in zip(new, ends, strict=True))


@dataclass(frozen=True, slots=True)
class DecodedText:
    """What a file says, whatever its encoding is, as far as that can be known.

    Attributes:
        text: All of it. Of a binary file control characters are blanks.
        encoding: What it was read as: `UTF-8`, `UTF-16`, `UTF-32`, `Windows-1252`.
        wrong_at: The first byte, from 0, that is not UTF-8; `None` where all of it is.
        is_binary: Whether it holds NULs, and is neither UTF-8 nor UTF-16.
    """

    text: str
    encoding: str = "UTF-8"
    wrong_at: int | None = None
    is_binary: bool = False

    @property
    def has_byte_lines(self) -> bool:
        """Whether its lines end where the file has a line feed."""
        return self.encoding not in ("UTF-16", "UTF-32")


PLAIN = TextFormat("", end="\n")
"""Of a note that is new."""


def parse_text(data: bytes) -> TextFormat:
    """A file's text and format; raises `NotText` if it is not UTF-8, or binary."""
    for mark, name in _OTHER_BOMS.items():
        if data.startswith(mark):
            raise NotText(f"It is not UTF-8 text: it begins with the byte order mark of {name}.", 0)
    bom = data.startswith(_BOM)
    try:
        text = data[len(_BOM) * bom :].decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start + len(_BOM) * bom
        line = data.count(b"\n", 0, at) + 1
        raise NotText(f"It is not UTF-8 text: byte {at + 1:,}, in line {line:,}, is not valid.", at) from None
    if (at := data.find(b"\0")) >= 0:
        raise NotText(f"It is binary, not text: byte {at + 1:,} is a NUL.", at)
    if "\r" not in text:
        return TextFormat(text, bom, end="\n" if "\n" in text else "")
    if "\n" not in text:
        return TextFormat(text.replace("\r", "\n"), bom, end="\r")
    ends = tuple("\r\n" if line.endswith("\r\n") else "\n" for line in diffs.split_lines(text) if line.endswith("\n"))
    end = Counter(ends).most_common(1)[0][0]
    plain = text.replace("\r\n", "\n")
    return TextFormat(plain, bom, ends if len(set(ends)) > 1 else (), end)


_LATIN = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}
_LATIN |= {code: chr(code - 0xDC00) for code, character in _LATIN.items() if character == "\ufffd"}
"""Bytes that are not UTF-8, as Windows-1252 has them; what that leaves open as Latin-1."""
_CONTROLS = {code: " " for code in range(32) if chr(code) not in "\t\n\r"}
_FEWEST_WIDE = 16
_SHARE_OF_NUL = 4  # where more than one byte of so many is a NUL, it may be UTF-16


def decode_text(data: bytes) -> DecodedText:
    """What a file says: nobody may hide words from a reader by one wrong byte.

    What is not UTF-8 is read by its mark, or by where its NULs are; else each byte that fits nowhere is a character of
    Windows-1252.
    """
    for mark, name in _OTHER_BOMS.items():
        if data.startswith(mark):
            return DecodedText(data.decode(name, "replace"), name, 0)
    if (wide := _detect_wide(data)) is not None:
        return DecodedText(data.decode(wide, "replace"), "UTF-16", 0)
    try:
        return DecodedText(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "surrogateescape").translate(_LATIN)
        is_binary = "\0" in text
        return DecodedText(text.translate(_CONTROLS) if is_binary else text, "Windows-1252", error.start, is_binary)


def _detect_wide(data: bytes) -> str | None:
    """The codec of UTF-16 without its mark, most of which is ASCII; `None` for anything else."""
    nulls = data.count(0)
    if len(data) < _FEWEST_WIDE or nulls * _SHARE_OF_NUL <= len(data):
        return None
    first = data[::2].count(0)
    if first * 20 <= nulls:
        return "utf-16-le"
    return "utf-16-be" if first * 20 >= nulls * 19 else None


def _match_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Of the new lines, which old ones they are or take the place of: pairs of `(new, old)`."""
    difference = diffs.TextDiff(old, new, tuple(diffs.find_hunks(old, new)))
    pairs: list[tuple[int, int]] = []
    old_at = new_at = 0
    for hunk, side in zip(difference.hunks, difference.pair_lines(), strict=True):
        pairs += zip(range(new_at, hunk.new_start), range(old_at, hunk.old_start), strict=True)
        pairs += ((now, was) for was, now in side if was is not None and now is not None)
        old_at, new_at = hunk.old_end, hunk.new_end
    pairs += zip(range(new_at, len(new)), range(old_at, len(old)), strict=True)
    return pairs
