"""Characters of a note that are not seen: what reorders it, what hides words in it, what drives a terminal.

Rules for bidirectional text after Unicode Standard Annex 9 and "Trojan Source" (CVE-2021-42574): what is ordinary in a
text of right-to-left letters is left alone, and what makes a line read otherwise than it is stored is not.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from memtui.core.unicode import BIDI, HIDDEN, INVISIBLE, SELECTORS, TAGS, escape_character, visible
from memtui.notes.spans import find_line_start
from memtui.scan.spots import Spot

_CONTROL = re.compile("\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]+")
_ANY_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NO_CONTROLS = bytes((9, 10, *range(32, 127)))
_ESCAPE = re.compile(
    "(?:\x1b\\[|\x9b)(?P<csi>[0-?]{0,64}[ -/]{0,8}[@-~])"
    "|(?:\x1b(?P<string>[\\]PX^_])|(?P<c1>[\x9d\x90\x98\x9e\x9f]))(?P<content>[^\x07\x1b\x9c\n]{0,4096})(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]{0,8}[0-~]"
)
_INTRODUCERS = "\x90\x98\x9b\x9d\x9e\x9f"
_COLOUR = re.compile("[0-9;:]*m")
_CONCEALED = re.compile("(?:^|[;:])8(?:$|[;:])")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")  # Runs of what may be invisible. Which of it is usual is judged run by run.
_SELECTOR = re.compile(f"[{SELECTORS}\U000e0100-\U000e01ef]")
_TAG = re.compile(f"[{TAGS}]")
_FLAG_TAGS = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""The flags of England, Scotland, Wales and other regions, which are written with tag characters (UTS 51)."""
_BIDI = re.compile(f"[{BIDI}]")
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_OPENING = {"\u202a": "\u202c", "\u202b": "\u202c", "\u202d": "\u202c", "\u202e": "\u202c"}
_OPENING |= {"\u2066": "\u2069", "\u2067": "\u2069", "\u2068": "\u2069"}
_OVERRIDES = "\u202d\u202e"
_RIGHT_TO_LEFT = "\u202b\u2067"
_MARKS = "\u200e\u200f\u061c"
_BREAKS = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\ua980-\ua9df\uaa60-\uaa7f]")
"""Scripts written without spaces, in which U+200B says where a line may end."""
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9A-Fa-f]{2,6})|([0-9]{2,7}))|(lrm|rlm|zwj|zwnj|shy|ZeroWidthSpace|NoBreak));")
_FEWEST_SELECTORS = 4
"""Variation selectors one behind the other, or behind letters that have no variants, that hold no picture any more."""
_MOST_STRAYS = 8  # selectors that emojis left behind; more could be a text, by where they stand
_MOST = 500  # spots of one kind that are yielded; a note of more is not looked through one by one
_SHOWN = 160  # characters that are shown of words that were hidden


def find_control_codes(text: str) -> Iterator[Spot]:
    """Control codes and escape sequences, in order."""
    if text.isascii():  # a quick test, since this runs on every note
        has_controls = bool(text.encode().translate(None, _NO_CONTROLS))
    else:
        has_controls = "\r" in text or _ANY_CONTROL.search(text) is not None
    if has_controls:
        yield from islice(_find_controls(text), _MOST)


def _find_controls(text: str) -> Iterator[Spot]:
    at = 0
    while (found := _CONTROL.search(text, at)) is not None:
        start, at = found.span()
        # A C1 code behind another one is no command, but an apostrophe that was decoded wrongly.
        escaped = start if text[start] in _INTRODUCERS else text.find("\x1b", start, at)
        sequence = _ESCAPE.match(text, escaped) if escaped >= 0 else None
        if sequence is None:
            codes = found.group()
            if codes == "\x0c" and (not start or text[start - 1] == "\n"):
                continue  # a new page, as it stands in old texts
            many = f" and {len(codes) - 1} more" if len(codes) > 1 else ""
            yield Spot("hidden", "control-code", start, at, f"a control code, {escape_character(codes[0])}{many}")
        else:
            at = max(sequence.end(), escaped + 1)
            harm = _describe_harm(sequence)
            rule = "escape-sequence" if harm else "control-code"
            words = f"an escape sequence that {harm or 'colours text'}, {_shorten(sequence.group(), 40)}"
            yield Spot("hidden", rule, escaped, at, words)


def _describe_harm(sequence: re.Match[str]) -> str:
    """What an escape sequence does to a terminal; empty if it only colours text."""
    if (csi := sequence["csi"]) is not None:
        if not _COLOUR.fullmatch(csi):
            return "moves, erases or asks the terminal"
        return "conceals text" if _CONCEALED.search(csi[:-1]) else ""
    kind = sequence["string"] or {"\x9d": "]", "\x90": "P"}.get(sequence["c1"] or "", sequence["c1"])
    if kind is None:
        return "resets or switches the terminal"
    if kind == "]":
        number = sequence["content"].partition(";")[0]
        effects = {"0": "sets the title", "1": "sets the title", "2": "sets the title", "8": "makes a link"}
        return "writes the clipboard" if number == "52" else effects.get(number, "commands the terminal")
    return "commands the terminal"


def find_invisible(text: str) -> Iterator[Spot]:
    """What is not seen, but for control codes, by rule, not in order. ASCII holds none."""
    if "&" in text:
        yield from islice(_find_references(text), _MOST)
    if text.isascii():
        return
    count = strays = 0
    has_bidi = False
    lone: list[int] = []
    for found in _INVISIBLE.finditer(text):
        run = found.group()
        if run == "\ufe0f" and not HIDDEN.match(text, found.start()):
            continue  # an emoji
        if run == "\ufe0f" and strays < _MOST_STRAYS and _stands_alone(text, found):
            strays += 1  # what is left where an emoji was taken away
            continue
        has_bidi = has_bidi or _BIDI.search(run) is not None
        if len(run) == 1 and "\U000e0100" <= run <= "\U000e01ef" and not _is_variant(text, found.start()):
            lone.append(found.start())
        for spot in _judge_run(text, found):
            yield spot
            count += 1
        if count >= _MOST:
            break
    if len(lone) >= _FEWEST_SELECTORS:
        hidden = _decode_selectors("".join(text[at] for at in lone[:_SHOWN]))
        words = f"{len(lone)} variation selectors after letters without variants; they contain {hidden}"
        yield Spot("hidden", "variation-selectors", lone[0], lone[-1] + 1, words)
    if has_bidi:
        yield from islice(_find_bidirectional(text), _MOST)


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Whether neither a letter nor a digit is beside it."""
    start, end = found.span()
    return not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum()


def _judge_run(text: str, found: re.Match[str]) -> Iterator[Spot]:
    """What is wrong with one run of what may be invisible."""
    run, start, end = found.group(), *found.span()
    if tags := _TAG.findall(run):
        flag = _FLAG_TAGS.match(text, start - 1) if start else None
        if flag is None or flag.end() < end:
            yield _make_tag_spot(tags, start, end)
        return
    selectors = _SELECTOR.findall(run)
    if len(selectors) >= _FEWEST_SELECTORS:
        held = _decode_selectors("".join(selectors))
        words = f"{len(selectors)} variation selectors in a row; they contain {held}"
        yield Spot("hidden", "variation-selectors", start, end, words)
        return
    unusual = [at for at in range(start, min(end, start + _SHOWN)) if not _is_usual(text, at, start, end)]
    if unusual:
        first, last = unusual[0], unusual[-1] if end - start <= _SHOWN else end - 1
        yield Spot("hidden", "invisible-character", first, last + 1, _describe_invisible(text[first : last + 1]))


def _make_tag_spot(tags: list[str], start: int, end: int) -> Spot:
    hidden = "".join(chr(ord(tag) - 0xE0000) for tag in tags if "\U000e0020" <= tag <= "\U000e007e")
    words = f"hidden text in tag characters: {_quote(hidden)}"
    words = words if hidden else f"a tag character, {escape_character(tags[0])}"
    return Spot("hidden", "tag-character", start, end, words)


def _decode_selectors(selectors: str) -> str:
    """What variation selectors hold, one byte each, as a text or in hexadecimal."""
    values = [ord(one) - 0xFE00 if one <= "\ufe0f" else ord(one) - 0xE0100 + 16 for one in selectors]
    data = bytes(values)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if text and all(character.isprintable() or character in "\n\t" for character in text):
        return _quote(text)
    return f"the bytes {data[:16].hex(' ')}{' and more' if len(data) > 16 else ''}"


def _describe_invisible(run: str) -> str:
    if len(run) == 1:
        name = unicodedata.name(run, "").lower()
        return f"an invisible character, {escape_character(run)}{f' ({name})' if name else ''}"
    bits = _decode_bits(run)
    many = f"{len(run)} invisible characters in a row, {escape_character(run[0])} first"
    return f"{many}; read as bits they say {bits}" if bits else many


def _decode_bits(run: str) -> str:
    """What two kinds of zero-width characters say as bits, eight to a letter; empty if that is no text."""
    kinds = sorted(set(run))
    if len(kinds) != 2 or len(run) < 16 or len(run) % 8:
        return ""
    for zero in kinds:
        bits = "".join("0" if one == zero else "1" for one in run[: _SHOWN * 8])
        data = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))
        if data.isascii() and data.decode().isprintable():
            return _quote(data.decode())
    return ""


def _is_usual(text: str, at: int, start: int, end: int) -> bool:
    """Whether a character that may be invisible has its usual work where it stands."""
    character = text[at]
    before, after = text[start - 1] if start else "", text[end] if end < len(text) else ""
    if _BIDI.match(character):
        return True  # judged line by line
    if character in _MARKS:
        return end - start <= 2 and _line_has_rtl(text, at)
    match character:
        case "\ufeff":
            return at == 0
        case "\u200c" | "\u200d" | "\ufe0e" | "\ufe0f":
            return HIDDEN.match(text, at) is None and (end - start == 1 or text[start:end] == "\ufe0f\u200d")
        case "\u00ad":
            return _is_hyphenated(text, at)
        case "\u200b":
            return end - start == 1 and bool(_BREAKS.match(before) or _BREAKS.match(after))
    if _SELECTOR.match(character):
        return _is_variant(text, at)
    return _is_beside_script(character, before, after, end - start)


def _is_beside_script(character: str, before: str, after: str, count: int) -> bool:
    """Whether one of a run of characters stands beside the script or the notation that it is a part of."""
    match character:
        case "\u2800":
            return "\u2800" <= before <= "\u28ff" or "\u2800" <= after <= "\u28ff"
        case "\u115f" | "\u1160":
            return count <= 2 and ("\u1100" <= before <= "\u11ff" or "\u1100" <= after <= "\u11ff")
        case "\u180b" | "\u180c" | "\u180d" | "\u180e" | "\u180f":
            return count <= 2 and "\u1800" <= before <= "\u18af"
    if "\U00013430" <= character <= "\U0001345f":
        return "\U00013000" <= before <= "\U0001342f"
    return "\U0001d173" <= character <= "\U0001d17a" and "\U0001d100" <= (before or after) <= "\U0001d1ff"


def _is_variant(text: str, at: int) -> bool:
    """Whether what stands before a variation selector has variants: ideographs, symbols, and what emoji are made of."""
    before = text[at - 1] if at else ""
    if not before or before.isascii():
        return before != "" and before in "#*0123456789" and text[at] in "\ufe0e\ufe0f"
    if "\u3400" <= before <= "\u9fff" or "\uf900" <= before <= "\ufaff" or "\U00020000" <= before <= "\U0003ffff":
        return True
    if text[at] > "\ufe0f":
        return False
    return unicodedata.category(before) in ("So", "Sm", "Po", "Ps", "Pe") or "\u1000" <= before <= "\u109f"


def _is_hyphenated(text: str, at: int) -> bool:
    """Whether a soft hyphen parts a long word where a line may end, as text from books and pages has it."""
    around = text[max(0, at - 2) : at], text[at + 1 : at + 3]
    return all(len(side) == 2 and side.isalpha() for side in around)


def _line_has_rtl(text: str, at: int) -> bool:
    """Whether there are right-to-left letters near a place, in its line."""
    start = find_line_start(text, at, 200)
    end = text.find("\n", at, at + 200)
    return _RTL.search(text, start, at + 200 if end < 0 else end) is not None


def _find_bidirectional(text: str) -> Iterator[Spot]:
    """Lines that read otherwise than they are stored."""
    start = 0
    while (found := _BIDI.search(text, start)) is not None:
        end = text.find("\n", found.start())
        end = len(text) if end < 0 else end
        problem = _judge_line(text, found.start(), end)
        if problem is not None:
            at, rule, words = problem
            yield Spot("hidden", rule, at, at + 1, words)
        start = end


def _judge_line(text: str, first: int, end: int) -> tuple[int, str, str] | None:
    """What the bidirectional controls of a line do that they should not: where, the rule, and in words."""
    opened: list[tuple[str, int]] = []
    needless: int | None = None
    before = text.rfind("\n", 0, first) + 1
    last_rtl = first if _RTL.search(text, before, first) else -1
    """Where there were right-to-left letters last, as far as that matters: behind which control."""
    before = first
    for found in _BIDI.finditer(text, first, end):
        character, at = found.group(), found.start()
        if _RTL.search(text, before, at):
            last_rtl = at
        before = at
        if character in _OVERRIDES:
            way = "left to right" if character == "\u202d" else "right to left"
            words = f"a bidirectional override, {escape_character(character)}: the text after it is shown {way}"
            return at, "bidi-control", words
        if character in _OPENING:
            opened.append((character, at))
            continue
        if not opened or _OPENING[opened[-1][0]] != character:
            return at, "bidi-control", f"a bidirectional control that closes nothing, {escape_character(character)}"
        opening, where = opened.pop()
        has_rtl = last_rtl > where
        if opening in _RIGHT_TO_LEFT and not has_rtl and at - where > 1:
            words = f"text that is shown right to left but not written so, {escape_character(opening)}"
            return where, "bidi-control", words
        if opening not in _RIGHT_TO_LEFT and not has_rtl and needless is None:
            needless = where
    if opened:
        opening, where = opened[-1]
        words = f"a bidirectional control that is not closed in its line, {escape_character(opening)}"
        return where, "bidi-control", words
    if needless is not None and last_rtl < 0 and not _RTL.search(text, before, end):
        words = f"a bidirectional control without effect, {escape_character(text[needless])}"
        return needless, "invisible-character", words
    return None


def _find_references(text: str) -> Iterator[Spot]:
    """Invisible characters that are written as references: `&#x202e;`."""
    for found in _REFERENCE.finditer(text):
        code = int(found[1], 16) if found[1] else int(found[2]) if found[2] else None
        if code is None:
            continue  # by their names they are usual on pages
        character = chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
        if not character or character in "\t\n\r\xad" or not HIDDEN.match(character):
            continue
        is_tag = _TAG.match(character) is not None
        rule = "bidi-control" if _BIDI.match(character) else "tag-character" if is_tag else "invisible-character"
        words = f"an invisible character that is written as a reference, {found.group()}"
        yield Spot("hidden", rule, *found.span(), words)


def _quote(words: str) -> str:
    return f"“{_shorten(words, _SHOWN)}”"


def _shorten(words: str, most: int) -> str:
    cut = visible(words[:most], newline="\\n", tab="\\t")
    return f"{cut}…" if len(words) > most else cut
