"""The one table of characters that are not seen, or look like others, and how they are made visible.

Text from files, names and agents is hostile: escape sequences drive a terminal, bidirectional controls reorder what a
person reads, zero-width and tag characters hide words. The display, the check of new names, the scan of notes and the
terminal's filter all go by the table here: a character that one of them knows and another does not is a way in.

Letters that look like other letters follow Unicode Technical Standard 39, "Unicode Security Mechanisms": a skeleton for
comparing what is seen, and scripts that are mixed within one word. The pairs are Unicode's (`confusables.txt`). Styled
forms of a letter (fullwidth, mathematical, circled) are found by their compatibility decomposition.
"""

import os
import re
import unicodedata
from functools import cache, lru_cache

from memtui.core.lazy_regex import compile_lazily

# Each of these is the inside of a character class of a regular expression.
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""C0 without tab and newline, DEL, C1."""
BIDI = "\u202a-\u202e\u2066-\u2069"
"""Bidirectional embeddings, overrides and isolates."""
BIDI_MARKS = "\u061c\u200e\u200f"
JOINERS = "\u200c\u200d"
"""Zero-width joiner and non-joiner: needed by scripts and emoji, and a way to write bits between letters."""
SELECTORS = "\ufe00-\ufe0f"
TAGS = "\U000e0000-\U000e007f"
_EMOJI_SELECTORS = "\ufe0e\ufe0f"
_SEPARATORS = "\u2028\u2029"
_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"
_FORMAT = "\u00ad\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb"
"""Soft hyphen, zero-width space, word joiner, invisible operators, byte order mark, annotations."""
_LAYOUT = "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
"""Layout of hieroglyphs, shorthand and music."""
_SUPPLEMENT = "\U000e0080-\U000e0fff"
_BLANK_BRAILLE = "\u2800"
_UNSHOWN = f"{BIDI}{BIDI_MARKS}{_SEPARATORS}{_FILLERS}{_FORMAT}{_LAYOUT}{TAGS}{_SUPPLEMENT}\ufe00-\ufe0d"
UNSAFE = f"\x00-\x1f\x7f-\x9f\ud800-\udfff{_UNSHOWN}"
"""What never reaches the terminal. Joiners, emoji selectors and blank braille pass: scripts, emoji and pictures need
them."""
INVISIBLE = f"{_UNSHOWN}{JOINERS}{_EMOJI_SELECTORS}{_BLANK_BRAILLE}"
"""All that may be invisible, but for control codes. Some of it is usual where it stands."""
SPACES = "\u00a0\u2000-\u200a\u202f\u205f\u3000"
STYLED = "\ufb00-\ufb06\uff01-\uff5e\u2100-\u214f\u2460-\u24ff\U0001d400-\U0001d7ff\U0001f110-\U0001f189"
"""Ligatures, and wide, circled and mathematical letters."""
NOT_IN_NAMES = f"\x80-\x9f{BIDI}{BIDI_MARKS}{_SEPARATORS}{_FORMAT}{TAGS}\u180e\u3164{_BLANK_BRAILLE}"
"""What no new name may hold, and what makes one that is there deceptive (CONTRACT.md, section "Paths")."""

_CONTEXTUAL = JOINERS + _EMOJI_SELECTORS
HIDDEN = compile_lazily(
    f"[{CONTROLS}\ud800-\udfff{_UNSHOWN}{_CONTEXTUAL}{_BLANK_BRAILLE}]"
    # A joiner is hidden text where it joins nothing: at the start, after ASCII or after another joiner.
    f"(?:(?<![{_CONTEXTUAL}{_BLANK_BRAILLE}])"
    rf"|(?:(?<=\A.)|(?<=[\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f{_CONTEXTUAL}].))(?=[\x00-\x7f{_CONTEXTUAL}]|\Z)(?<!{_BLANK_BRAILLE})"
    # Blank braille is one where a run of it begins and ends beside no other braille.
    rf"|(?<={_BLANK_BRAILLE})(?<![\u2800-\u28ff].)(?!{_BLANK_BRAILLE}*[\u2801-\u28ff]))",
    re.DOTALL,
)
"""Characters shown as an escape. U+200C, U+200D, U+FE0F and U+2800 stay where scripts, emoji and pictures need them."""

_IGNORED = compile_lazily(f"[{INVISIBLE}]+")
"""What is not seen: it makes two names differ, and not look different."""
_SCRIPTS = frozenset({"latin", "cyrillic", "greek", "armenian", "cherokee"})
"""Scripts whose letters are taken for each other's."""
_STYLED_NAMES = frozenset(
    {"MATHEMATICAL", "FULLWIDTH", "CIRCLED", "NEGATIVE", "SQUARED", "PARENTHESIZED", "DOUBLE-STRUCK"}
)


def escape_character(character: str) -> str:
    r"""Name one hidden character: `\x1b` for control codes, `<U+202E>` for the rest.

    A surrogate that stands for an undecodable byte (PEP 383) becomes that byte: `\xff`.
    """
    code = ord(character)
    if code < 0xA0:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"<U+{code:04X}>"


def visible(text: str, *, newline: str = "\n", tab: str = "\t") -> str:
    r"""The text with every hidden character, lone surrogates too, replaced by its escape.

    `newline` and `tab` replace line feeds and tabs: give `"\\n"` where the text must stay on one line.
    """
    text = HIDDEN.sub(lambda match: escape_character(match.group()), text)
    if newline != "\n":
        text = text.replace("\n", newline)
    if tab != "\t":
        text = text.replace("\t", tab)
    return text


def visible_json(document: str) -> str:
    r"""A JSON document that says the same, with every hidden character named as JSON names it: `\u202e`."""
    return HIDDEN.sub(_escape_in_json, document)


def _escape_in_json(match: re.Match[str]) -> str:
    """A character as JSON escapes it: two halves beyond the Basic Multilingual Plane."""
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def to_one_line(text: str) -> str:
    """The text on one line, for names, table cells and messages."""
    return visible(text, newline="\\n", tab="\\t")


def skeleton(text: str) -> str:
    """A text's looks, in lower case and without hidden characters: two texts with one skeleton look the same."""
    if text.isascii():
        return text.lower()
    confusables = _load_confusables()
    plain = unicodedata.normalize("NFKC", _IGNORED.sub("", text).translate(confusables))
    return plain.translate(confusables).casefold()


@cache
def _load_confusables() -> dict[int, str]:
    with open(os.path.join(os.path.dirname(__file__), "confusables.txt"), encoding="utf-8") as file:
        rows = [line.split() for line in file if not line.startswith("# ")]
    return {int(code, 16): target for target, *codes in rows for code in codes}


@lru_cache(maxsize=4096)
def get_script(character: str) -> str:
    """The script of a letter in lower case, such as `cyrillic`; empty for what is no letter.

    By the first word of its Unicode name, which for the scripts that matter here is the script. Letters of one
    fullwidth, mathematical or circled alphabet are `styled`.
    """
    if not character.isalpha() and not unicodedata.category(character).startswith("So"):
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    if first in _STYLED_NAMES:
        return "styled" if unicodedata.normalize("NFKC", character)[:1].isascii() else ""
    return first.lower() if character.isalpha() else ""


def looks_latin(character: str) -> bool:
    """Whether a letter of another alphabet is taken for a Latin one."""
    return ord(character) in _load_confusables() and character.isalpha()


@cache
def load_lookalike_letters() -> str:
    """The letters of other alphabets that are taken for Latin ones, as the inside of a character class."""
    codes = sorted(_load_confusables())
    return "".join(chr(code) for code in codes if get_script(chr(code)) in _SCRIPTS - {"latin"})


def find_lookalikes(word: str) -> list[str]:
    """The letters of a word that pretend to be Latin: the word reads as a Latin one, and is none.

    Empty for a word of one script, for one that mixes scripts in plain sight (`Δt`, `gitлаб`), and for one whose
    letters are all of another script: that is a word of that script, unless it is compared with something.
    """
    if word.isascii():
        return []
    scripts = {get_script(character) for character in word} - {""}
    others = [character for character in word if not character.isascii() and _is_lookalike(character)]
    if not others or not skeleton(word).isascii():
        return []
    if any(unicodedata.name(character, "").startswith("MATHEMATICAL") for character in others):
        return others
    is_mixed = len(scripts & (_SCRIPTS | {"styled"})) > 1
    is_phonetic = "latin" in scripts and any(get_script(character) == "latin" for character in others)
    return others if is_mixed or is_phonetic else []


def is_whole_script_confusable(word: str) -> bool:
    """Whether all letters of a word are of other scripts than Latin, and it reads as a Latin word all the same."""
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and all(_is_lookalike(letter) for letter in letters) and skeleton(word).isascii()


def _is_lookalike(character: str) -> bool:
    return looks_latin(character) or get_script(character) == "styled"


def measure_cells(text: str) -> int:
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) != 0 for character in text)
