"""Payloads: text in base64, hexadecimal, percent signs or rot13 that decodes to orders, unreadable blobs, and
floods of one word.

Pictures, hashes, certificates and lock files are full of such text and say nothing.
"""

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from operator import eq
from urllib.parse import unquote_to_bytes

from memtui.notes.spans import (
    find_line_start,
    find_long_words,
    has_hex_pairs,
    has_hex_run,
    has_mark,
    make_numeric_outline,
)
from memtui.scan.ruleset import load_pattern

_get_pattern = partial(load_pattern, "injection")
_MOST, _MOST_WORDS = 400, 5_000
"""Pieces of each kind that are decoded of one word or text, and long words that are looked into, of one note."""
_SHORTEST, _BYTES, _LONG_LINE, _LONGEST = 24, 20, 60, 20_000
"""Characters without a blank that a piece has at least, its bytes, a line of several, and what is decoded at most."""
_BLOB = 600  # characters in a row that nobody reads
_TURNED = frozenset({
    "vtabe", "qvfer", "sbetr", "birev", "vafge", "cebzc", "nffvf", "rkrph", "cnffj", "perqr", "frper", "pbair", "hfre",
})  # fmt: skip
"""The first letters of these words."""
_PICTURES = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"%PDF",
    b"wOFF",
    b"wOF2",
    b"\x00\x00\x01\x00",
    b"OTTO",
    b"<svg",
    b"PK\x03\x04",
)
_ROW = re.compile(
    rb"00[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}"
)
"""Eight numbers of two or three digits one behind the other, in a numeric outline."""
_PERIOD, _FLOOD, _FEW = 12, 80, 3
"""Words behind which they come again, how many do in a row in a flood of words, and how many different ones it has."""
_WORD = re.compile(r"\S+")
_BLOBS = frozenset({"base64", "lines"})  # patterns whose long matches are reported also if they cannot be decoded


def find_payloads(
    text: str, heads: frozenset[str], is_order: Callable[[str], bool]
) -> Iterator[tuple[str, str, int, int]]:
    """Payloads in a text: the rule, why it is found, and where it stands.

    Args:
        text: Not folded: base64 needs the case of letters.
        is_order: Whether decoded text gives an order to a model.
    """
    for kind, decode, name, first, last in _find_kinds(text):
        for found in islice(_get_pattern(kind).finditer(text, first, last), _MOST):
            start, end = found.span()
            if kind == "base64" and _is_plain(found.group()):
                continue
            data = decode(found.group()[:_LONGEST])
            decoded = _read_text(data)
            if kind == "link":
                is_payload = bool(decoded) and is_order(decoded) and not is_order(found.group().lower())
            else:
                is_payload = bool(decoded) and _is_payload(decoded, is_order)
            is_blob = (
                kind in _BLOBS and end - start >= _BLOB and data and not decoded and not data.startswith(_PICTURES)
            )
            if not (is_payload or is_blob) or _is_other(text, start):
                continue
            if is_payload:
                what = "a command" if _get_pattern("shell").search(decoded) else "text for a model"
                yield "encoded-payload", f"text in {name} that decodes to {what}", start, end
            else:
                yield "opaque-blob", f"{end - start:,} characters in {name} that are unreadable", start, end
    yield from _find_flood(text)
    if not _TURNED.isdisjoint(heads):
        yield from _find_rot13(text.lower(), is_order)


def _find_kinds(text: str) -> Iterator[tuple[str, Callable[[str], bytes], str, int, int]]:
    """What a text may hold, and from where to where: of most notes nothing, and then nothing is searched."""
    has_hex = has_hex_run(text, _BYTES)
    has_lines = False
    for start, end in islice(find_long_words(text, _SHORTEST), _MOST_WORDS):
        word = text[start:end]
        has_lines = has_lines or (
            end - start >= _LONG_LINE and _get_pattern("end_of_line").match(text, end - _LONG_LINE) is not None
        )
        if not word.islower() and not word.isupper():
            yield "base64", _decode_base64, "base64", start, end
        if has_hex and end - start >= 2 * _BYTES:
            yield "hex", _decode_hexadecimal, "hexadecimal", start, end
        elif end - start >= _SHORTEST + 8 and word.isupper():
            yield "base32", _decode_base32, "base32", start, end
        if "%" in word:
            yield "link", _decode_percent, "percent signs", start, end
            if word.count("%") >= _SHORTEST // 3:
                yield "percent", _decode_percent, "percent signs", start, end
    if has_lines:
        yield "lines", _decode_base64, "base64", 0, len(text)
    for kind, decode, name in _find_text_kinds(text):
        yield kind, decode, name, 0, len(text)


def _find_text_kinds(text: str) -> Iterator[tuple[str, Callable[[str], bytes], str]]:
    """The encodings that are searched in all of a text."""
    yield "short_lines", _decode_base64, "base64"
    if ("+" in text and ("+ " in text or "+'" in text or '+"' in text)) or has_mark(text, '" . "'):
        yield "joined", _decode_joined, "base64"
    if ("\\" in text and ("\\x" in text or "\\u00" in text or "\\1" in text)) or has_mark(text, "&#"):
        yield "escaped", _decode_escapes, "escapes"
    outline = make_numeric_outline(text)
    if b"00000000 00000000" in outline or b"0" * 64 in outline:
        yield "bits", _decode_bits, "bits"
    if _ROW.search(outline):
        yield "numbers", _decode_numbers, "numbers"
    if has_hex_pairs(text, _BYTES) and sum([len(word) == 2 for word in text.split()]) >= _BYTES:
        yield "spaced", _decode_hexadecimal, "hexadecimal"


def _find_flood(text: str) -> Iterator[tuple[str, str, int, int]]:
    """The same few words so often that they push out of a model's context what stands before them."""
    words = text.split()
    if sum(map(eq, words[::_PERIOD], words[_PERIOD::_PERIOD])) < _FLOOD // _PERIOD:
        return
    spans = [found.span() for found in _WORD.finditer(text)]
    first = 0
    for number, is_same in enumerate(chain(map(eq, words, words[_PERIOD:]), [False])):
        if is_same:
            continue
        few = set(words[first : first + _PERIOD])
        if number - first >= _FLOOD and len(few) <= _FEW and _get_pattern("flood").search(" ".join(few)):
            last = number + _PERIOD - 1
            yield "opaque-blob", f"the same words {last - first + 1} times", spans[first][0], spans[last][1]
        first = number + 1


def _is_payload(decoded: str, is_order: Callable[[str], bool]) -> bool:
    """Whether decoded text is a command, or speaks to a model."""
    return (
        _get_pattern("shell").search(decoded) is not None
        or is_order(decoded)
        or len(set(_get_pattern("order").findall(decoded))) > 1
    )


def _is_other(text: str, start: int) -> bool:
    """Whether what stands before it says that it is a picture, a hash, a certificate or the like."""
    before = text[max(0, start - 80) : start]
    return _get_pattern("other_data").search(before) is not None and _get_pattern("document").search(before) is None


def _find_rot13(lowered: str, is_order: Callable[[str], bool]) -> Iterator[tuple[str, str, int, int]]:
    """Lines in rot13."""
    seen = 0
    for found in islice(_get_pattern("rot13").finditer(lowered), _MOST):
        if found.start() < seen:
            continue
        start = find_line_start(lowered, found.start(), 200)
        seen = found.end() + 200
        decoded = codecs.encode(lowered[start:seen].partition("\n")[0], "rot13")
        if is_order(decoded) or len(_get_pattern("order").findall(decoded)) > 1:
            yield "encoded-payload", "text in rot13 that decodes to text for a model", *found.span()


def _is_plain(written: str) -> bool:
    """Whether it is a long word, a path or a name rather than base64: of one case, or without digits and capitals."""
    letters = [letter for letter in written[:200] if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    return not letters or capitals <= len(letters) // 12 or capitals == len(letters)


def _decode_base64(written: str) -> bytes:
    joined = "".join(written.split()).rstrip("=").replace("-", "+").replace("_", "/")
    joined = joined[: len(joined) // 4 * 4] if len(joined) % 4 == 1 else joined
    try:
        return _unpack(base64.b64decode(joined + "=" * (-len(joined) % 4)))
    except (binascii.Error, ValueError):
        return b""


def _decode_percent(written: str) -> bytes:
    return unquote_to_bytes(written.encode("utf-8", "surrogatepass"))


def _decode_joined(written: str) -> bytes:
    return _decode_base64("".join(re.findall(r"[\"'`]([A-Za-z0-9+/]{4,400}={0,2})[\"'`]", written)))


def _decode_base32(written: str) -> bytes:
    bare = written.rstrip("=")
    try:
        return base64.b32decode(bare + "=" * (-len(bare) % 8))
    except (binascii.Error, ValueError):
        return b""


def _decode_bits(written: str) -> bytes:
    bits = re.sub("[^01]", "", written)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def _decode_numbers(written: str) -> bytes:
    values = [int(value) for value in re.findall(r"\d+", written)]
    return bytes(values) if all(9 <= value < 127 for value in values) else b""


def _unpack(data: bytes) -> bytes:
    """What was packed into data by gzip or zlib, as far as it is looked at; the data itself if it is not packed."""
    if not data.startswith((b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")):
        return data
    try:
        return zlib.decompressobj(wbits=47).decompress(data, _LONGEST) or data
    except zlib.error:
        return data


def _decode_hexadecimal(written: str) -> bytes:
    try:
        return bytes.fromhex(written.replace(":", "").replace(" ", ""))
    except ValueError:
        return b""


def _decode_escapes(written: str) -> bytes:
    if written.startswith("&"):
        codes = [int(code[1:], 16) if code[:1] in "xX" else int(code) if code.isdecimal() else 0
                 for code in re.findall(r"&#([xX]?[0-9a-fA-F]+);", written)]  # fmt: skip
        return bytes(code for code in codes if 0 < code < 256)
    if written[1] in "01":
        return bytes(int(code, 8) for code in written[1:].split("\\"))
    return bytes.fromhex(written.replace("\\x", "").replace("\\u00", ""))


def _read_text(data: bytes) -> str:
    """What it says, in lower case; empty if it is no text."""
    if len(data) < 8:
        return ""
    if data[1:200:2].count(0) > 0.9 * len(data[1:200:2]):
        data = data[: len(data) // 2 * 2].decode("utf-16-le", "ignore").encode()  # as PowerShell takes it
    try:
        decoded = data.decode()
    except UnicodeDecodeError:
        if len(data) < 40 or sum(32 <= byte < 127 for byte in data) < 0.95 * len(data):
            return ""
        decoded = data.decode("ascii", "ignore")
    printable = sum(character.isprintable() or character in "\n\t\r" for character in decoded)
    return decoded.lower() if printable >= 0.95 * len(decoded) else ""
