"""Text in base64, hexadecimal, percent signs or rot13 that is decoded to orders, and blobs that nobody can read.

Pictures, hashes, certificates and lock files are full of such text and say nothing.
"""

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import unquote_to_bytes

from memtui.notes.outline import has_hexadecimal, has_pairs, long_words, numeric

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,80}\r?\n){1,400}[A-Za-z0-9+/]{1,80}={0,2}")
_END_OF_LINE = re.compile(r"[A-Za-z0-9+/]{60}\r?\n")
_SHORT_LINES = re.compile(r"\n(?:[A-Za-z0-9+/]{12,80}\r?\n){2,400}[A-Za-z0-9+/]{1,80}={0,2}")
_JOINED = re.compile(
    r"[\"'`][A-Za-z0-9+/]{12,400}[\"'`](?:\s{0,4}[+.]\s{0,8}[\"'`][A-Za-z0-9+/]{4,400}={0,2}[\"'`]){1,50}"
)
_BASE32 = re.compile(r"[A-Z2-7]{32,4000}={0,6}")
_BITS = re.compile(r"\b[01]{8}(?:[ ,]{0,2}[01]{8}){7,2000}\b")
_NUMBERS = re.compile(r"\b\d{2,3}(?:[ ,]{1,2}\d{2,3}){15,2000}\b")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}:?){20,2000}")
_SPACED = re.compile(r"\b[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2}){19,2000}\b")
_ESCAPED = re.compile(
    r"(?:\\x[0-9a-fA-F]{2}){8,4000}|(?:\\u00[0-9a-fA-F]{2}){8,4000}|(?:\\[01][0-7]{2}){8,4000}"
    r"|(?:&#x?[0-9a-fA-F]{2,4};){8,2000}"
)
_LINK = re.compile(r"\S{12,4000}")
_PERCENT = re.compile(r"(?:[A-Za-z0-9.~_-]{0,6}%[0-9a-fA-F]{2}){8,2000}[A-Za-z0-9.~_-]{0,40}")
_MOST, _MOST_WORDS = 400, 5_000
"""Pieces of each kind that are decoded of one word or text, and long words that are looked into, of one note."""
_SHORTEST, _BYTES, _LONG_LINE, _LONGEST = 24, 20, 60, 20_000
"""Characters without a blank that a piece has at least, its bytes, a line of several, and what is decoded at most."""
_BLOB = 600
"""Characters in a row that nobody reads."""

_SHELL = re.compile(
    r"\b(?:curl|wget)\s+\S|\b(?:ba|z)?sh\s+-[ci]\b|\brm\s+-rf\b|\bchmod\s+\+x|\bpowershell\b|\biex\b|/dev/tcp/|\bnc\s+-"
    r"|\beval\b\s*[\(\"'$]"
    r"|\bexec\(|\bos\.system\b|\bsubprocess\b|\bimport os\b|\brequests\.(?:get|post)\b|\bsudo\s+\w|\bcrontab\b|\|\s*"
    r"(?:ba)?sh\b"
)
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override|you must|you are now|do not tell|don't tell|always (?:run|send|execute"
    r"|include)|send (?:the|all|your)|execute|"
    r"system prompt|instructions?|assistant|exfiltrate|api key|password|credentials)\b"
)
_ROT13 = re.compile(
    r"\b(?:vtaber|qvfertneq|sbetrg|bireevqr|vafgehpgvbaf?|cebzcg|nffvfgnag|rkrphgr|cnffjbeqf?|perqragvnyf?|frpergyl"
    r"|pbairefngvba"
    r"|hfre)\b"
)
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
_OTHER_DATA = re.compile(
    r"(?:base64,|sha(?:1|256|384|512)[-:=]|ssh-(?:rsa|ed25519|dss)\s|ecdsa-sha2-\w+\s|-----\s?|integrity\W{1,4}|h1:"
    r"|SHA256:|certificate[\w-]*[\"']?\s?[:=]\s?[\"']?"
    r"|signature[\"']?\s?[:=]\s?[\"']?|ca[-_]?(?:data|bundle)[\"']?\s?[:=]\s?[\"']?|mappings\"\s?:\s?\""
    r"|sourceMappingURL=\S{0,60}|fingerprint\W{1,4})\Z",
    re.IGNORECASE,
)
_ROW = re.compile(
    rb"00[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}000?[ x]{1,2}"
)
"""Eight numbers of two or three digits one behind the other, in a numeric outline."""
_BLOBS = frozenset({_BASE64, _LINES})
_DOCUMENT = re.compile(r"data:(?:text|application/(?:javascript|json|x-sh|xhtml))[^,\s]{0,60};base64,\Z", re.IGNORECASE)


def encoded(text: str, heads: frozenset[str], is_order: Callable[[str], bool]) -> Iterator[tuple[str, str, int, int]]:
    """What in a text is encoded: the rule, why it is told, and where it stands.

    Args:
        text: The text, not folded: base64 is told apart by case.
        heads: The first letters of its words.
        is_order: Whether decoded text calls on a model to do something.
    """
    for pattern, decode, name, first, last in _kinds(text):
        for found in islice(pattern.finditer(text, first, last), _MOST):
            start, end = found.span()
            if pattern is _BASE64 and _is_plain(found.group()):
                continue
            data = decode(found.group()[:_LONGEST])
            said = _readable(data)
            if pattern is _LINK:
                is_payload = bool(said) and is_order(said)
            else:
                is_payload = bool(said) and _is_payload(said, is_order)
            is_blob = (
                pattern in _BLOBS and end - start >= _BLOB and data and not said and not data.startswith(_PICTURES)
            )
            if not (is_payload or is_blob) or _is_other(text, start):
                continue
            if is_payload:
                what = "a command" if _SHELL.search(said) else "words for a model"
                yield "encoded-payload", f"text in {name} that is decoded to {what}", start, end
            else:
                yield "opaque-blob", f"{end - start:,} characters in {name} that nobody can read", start, end
    if not _TURNED.isdisjoint(heads):
        yield from _turned(text.lower(), is_order)


def _kinds(text: str) -> Iterator[tuple[re.Pattern[str], Callable[[str], bytes], str, int, int]]:
    """What a text may hold, and from where to where: of most notes nothing, and then nothing is searched."""
    has_hex = has_hexadecimal(text, _BYTES)
    has_lines = False
    for start, end in islice(long_words(text, _SHORTEST), _MOST_WORDS):
        word = text[start:end]
        has_lines = has_lines or (end - start >= _LONG_LINE and _END_OF_LINE.match(text, end - _LONG_LINE) is not None)
        if not word.islower() and not word.isupper():
            yield _BASE64, _base64, "base64", start, end
        if has_hex and end - start >= 2 * _BYTES:
            yield _HEX, _hexadecimal, "hexadecimal", start, end
        elif end - start >= _SHORTEST + 8 and word.isupper():
            yield _BASE32, _base32, "base32", start, end
        if "%" in word:
            yield _LINK, _percent, "percent signs", start, end
            if word.count("%") >= _SHORTEST // 3:
                yield _PERCENT, _percent, "percent signs", start, end
    if has_lines:
        yield _LINES, _base64, "base64", 0, len(text)
    yield _SHORT_LINES, _base64, "base64", 0, len(text)
    if "+ " in text or "+'" in text or '+"' in text or '" . "' in text:
        yield _JOINED, _joined, "base64", 0, len(text)
    if "\\x" in text or "\\u00" in text or "&#" in text or "\\1" in text:
        yield _ESCAPED, _escapes, "escapes", 0, len(text)
    outline = numeric(text)
    if b"00000000 00000000" in outline or b"0" * 64 in outline:
        yield _BITS, _bits, "bits", 0, len(text)
    if _ROW.search(outline):
        yield _NUMBERS, _numbers, "numbers", 0, len(text)
    if has_pairs(text, _BYTES) and sum([len(word) == 2 for word in text.split()]) >= _BYTES:
        yield _SPACED, _hexadecimal, "hexadecimal", 0, len(text)


def _is_payload(said: str, is_order: Callable[[str], bool]) -> bool:
    """Whether decoded text is a command, or speaks to a model."""
    return _SHELL.search(said) is not None or is_order(said) or len(set(_ORDER.findall(said))) > 1


def _is_other(text: str, start: int) -> bool:
    """Whether what stands before it says that it is a picture, a hash, a certificate or the like."""
    before = text[max(0, start - 80) : start]
    return _OTHER_DATA.search(before) is not None and _DOCUMENT.search(before) is None


def _turned(lowered: str, is_order: Callable[[str], bool]) -> Iterator[tuple[str, str, int, int]]:
    """Lines in rot13."""
    seen = 0
    for found in islice(_ROT13.finditer(lowered), _MOST):
        if found.start() < seen:
            continue
        start = lowered.rfind("\n", max(0, found.start() - 200), found.start()) + 1 or max(0, found.start() - 200)
        seen = found.end() + 200
        said = codecs.encode(lowered[start:seen].partition("\n")[0], "rot13")
        if is_order(said) or len(_ORDER.findall(said)) > 1:
            yield "encoded-payload", "text in rot13 that is decoded to words for a model", *found.span()


def _is_plain(written: str) -> bool:
    """Whether it is a long word, a path or a name rather than base64: of one case, or without digits and capitals."""
    letters = [letter for letter in written[:200] if letter.isalpha()]
    capitals = sum(letter.isupper() for letter in letters)
    return not letters or capitals <= len(letters) // 12 or capitals == len(letters)


def _base64(written: str) -> bytes:
    joined = "".join(written.split()).rstrip("=").replace("-", "+").replace("_", "/")
    joined = joined[: len(joined) // 4 * 4] if len(joined) % 4 == 1 else joined
    try:
        return _unpacked(base64.b64decode(joined + "=" * (-len(joined) % 4)))
    except (binascii.Error, ValueError):
        return b""


def _percent(written: str) -> bytes:
    return unquote_to_bytes(written.encode("utf-8", "surrogatepass"))


def _joined(written: str) -> bytes:
    return _base64("".join(re.findall(r"[\"'`]([A-Za-z0-9+/]{4,400}={0,2})[\"'`]", written)))


def _base32(written: str) -> bytes:
    bare = written.rstrip("=")
    try:
        return base64.b32decode(bare + "=" * (-len(bare) % 8))
    except (binascii.Error, ValueError):
        return b""


def _bits(written: str) -> bytes:
    bits = re.sub("[^01]", "", written)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def _numbers(written: str) -> bytes:
    values = [int(value) for value in re.findall(r"\d+", written)]
    return bytes(values) if all(9 <= value < 127 for value in values) else b""


def _unpacked(data: bytes) -> bytes:
    """What was packed into data by gzip or zlib, as far as it is looked at; the data itself if it is not packed."""
    if not data.startswith((b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")):
        return data
    try:
        return zlib.decompressobj(wbits=47).decompress(data, _LONGEST) or data
    except zlib.error:
        return data


def _hexadecimal(written: str) -> bytes:
    try:
        return bytes.fromhex(written.replace(":", "").replace(" ", ""))
    except ValueError:
        return b""


def _escapes(written: str) -> bytes:
    if written.startswith("&"):
        codes = [int(code[1:], 16) if code[:1] in "xX" else int(code) if code.isdecimal() else 0
                 for code in re.findall(r"&#([xX]?[0-9a-fA-F]+);", written)]  # fmt: skip
        return bytes(code for code in codes if 0 < code < 256)
    if written[1] in "01":
        return bytes(int(code, 8) for code in written[1:].split("\\"))
    return bytes.fromhex(written.replace("\\x", "").replace("\\u00", ""))


def _readable(data: bytes) -> str:
    """What it says, in lower case; empty if it is no text."""
    if len(data) < 8:
        return ""
    if data[1:200:2].count(0) > 0.9 * len(data[1:200:2]):
        data = data[: len(data) // 2 * 2].decode("utf-16-le", "ignore").encode()  # as PowerShell takes it
    try:
        said = data.decode()
    except UnicodeDecodeError:
        if len(data) < 40 or sum(32 <= byte < 127 for byte in data) < 0.95 * len(data):
            return ""
        said = data.decode("ascii", "ignore")
    printable = sum(character.isprintable() or character in "\n\t\r" for character in said)
    return said.lower() if printable >= 0.95 * len(said) else ""
