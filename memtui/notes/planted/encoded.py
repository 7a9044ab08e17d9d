"""Text in base64, hexadecimal, percent signs or rot13 that is decoded to orders, and blobs that nobody can read.

Pictures, hashes, certificates and lock files are full of such text and say nothing.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import unquote_to_bytes

from memtui.notes.outline import has_long_word, has_pairs

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,80}\r?\n){1,400}[A-Za-z0-9+/]{1,80}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}:?){20,2000}")
_SPACED = re.compile(r"\b[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2}){19,2000}\b")
_ESCAPED = re.compile(
    r"(?:\\x[0-9a-fA-F]{2}){8,4000}|(?:\\u00[0-9a-fA-F]{2}){8,4000}|(?:&#x?[0-9a-fA-F]{2,4};){8,2000}"
)
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
_ROT13 = re.compile(r"\b(?:vtaber|qvfertneq|bireevqr|vafgehpgvbaf?|cebzcg|nffvfgnag|rkrphgr)\b")
_TURNED = ("vtaber", "qvfertneq", "bireevqr", "vafgehpgvba", "cebzcg", "nffvfgnag", "rkrphgr")
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
_DOCUMENT = re.compile(r"data:(?:text|application/(?:javascript|json|x-sh|xhtml))[^,\s]{0,60};base64,\Z", re.IGNORECASE)


def encoded(text: str, is_order: Callable[[str], bool]) -> Iterator[tuple[str, str, int, int]]:
    """What in a text is encoded: the rule, why it is told, and where it stands.

    Args:
        text: The text, not folded: base64 is told apart by case.
        is_order: Whether decoded text calls on a model to do something.
    """
    for pattern, decode, name, first, last in _kinds(text):
        for found in islice(pattern.finditer(text, first, last), _MOST):
            start, end = found.span()
            if pattern is _BASE64 and _is_plain(found.group()):
                continue
            data = decode(found.group()[:_LONGEST])
            said = _readable(data)
            is_payload = said and (_SHELL.search(said) or is_order(said) or len(set(_ORDER.findall(said))) > 1)
            is_blob = name == "base64" and end - start >= _BLOB and data and not said and not data.startswith(_PICTURES)
            if not (is_payload or is_blob) or _is_other(text, start):
                continue
            if is_payload:
                what = "a command" if _SHELL.search(said) else "words for a model"
                yield "encoded-payload", f"text in {name} that is decoded to {what}", start, end
            else:
                yield "opaque-blob", f"{end - start:,} characters in {name} that nobody can read", start, end
    yield from _turned(text, is_order)


def _kinds(text: str) -> Iterator[tuple[re.Pattern[str], Callable[[str], bytes], str, int, int]]:
    """What a text may hold, and from where to where: of most notes nothing, and then nothing is searched."""
    words = [word for word in text.split() if len(word) >= _SHORTEST] if has_long_word(text, _SHORTEST) else []
    at = 0
    for word in words[: _MOST_WORDS + 1]:
        at = text.index(word, at)
        end = at + len(word)
        yield _BASE64, _base64, "base64", at, end
        if len(word) >= 2 * _BYTES:
            yield _HEX, _hexadecimal, "hexadecimal", at, end
        if word.count("%") >= _SHORTEST // 3:
            yield _PERCENT, unquote_to_bytes, "percent signs", at, end
        at = end
    if words and max(map(len, words)) >= _LONG_LINE:
        yield _LINES, _base64, "base64", 0, len(text)
    if "\\x" in text or "\\u00" in text or "&#" in text:
        yield _ESCAPED, _escapes, "escapes", 0, len(text)
    if has_pairs(text, _BYTES) and sum([len(word) == 2 for word in text.split()]) >= _BYTES:
        yield _SPACED, _hexadecimal, "hexadecimal", 0, len(text)


def _is_other(text: str, start: int) -> bool:
    """Whether what stands before it says that it is a picture, a hash, a certificate or the like."""
    before = text[max(0, start - 80) : start]
    return _OTHER_DATA.search(before) is not None and _DOCUMENT.search(before) is None


def _turned(text: str, is_order: Callable[[str], bool]) -> Iterator[tuple[str, str, int, int]]:
    """Lines in rot13."""
    lowered = text.lower()
    if not any([hint in lowered for hint in _TURNED]):  # noqa: C419 - a list is twice as fast here
        return
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
        return base64.b64decode(joined + "=" * (-len(joined) % 4))
    except (binascii.Error, ValueError):
        return b""


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
    return bytes.fromhex(written.replace("\\x", "").replace("\\u00", ""))


def _readable(data: bytes) -> str:
    """What it says, in lower case; empty if it is no text."""
    if len(data) < 8:
        return ""
    try:
        said = data.decode()
    except UnicodeDecodeError:
        if len(data) < 40 or sum(32 <= byte < 127 for byte in data) < 0.95 * len(data):
            return ""
        said = data.decode("ascii", "ignore")
    printable = sum(character.isprintable() or character in "\n\t\r" for character in said)
    return said.lower() if printable >= 0.95 * len(said) else ""
