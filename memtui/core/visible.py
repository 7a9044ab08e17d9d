"""Make hidden characters visible.

Text from files, names and agents is hostile: escape sequences drive a terminal, bidirectional controls
reorder what a person reads, zero-width and tag characters hide words from her. Every front end, plain or
full-screen, passes such text through `visible` before it shows it. Nothing is dropped: each character that
cannot be shown as itself becomes an escape that names it.
"""

import re

_ALWAYS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, fillers, Mongolian separators
    "\u200b\u200e\u200f\u202a-\u202e\u2028\u2029"  # zero-width space, marks and overrides, line separators
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"  # joiners, isolates, selectors, annotations
    "\ud800-\udfff"  # lone surrogates (undecodable names)
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # layout of hieroglyphs, music
    "\U000e0000-\U000e0fff"  # tags and variation selectors supplement
)
_JOINERS = "\u200c\u200d\ufe0e\ufe0f"  # needed by scripts and emoji, and a way to write bits between letters
HIDDEN = re.compile(
    f"[{_ALWAYS}{_JOINERS}]"
    # A joiner is hidden text where it joins nothing: at the start, after ASCII or after another joiner.
    f"(?:(?<![{_JOINERS}])"
    rf"|(?:(?<=\A.)|(?<=[\x00-\x22\x24-\x29\x2b-\x2f\x3a-\x7f{_JOINERS}].))(?=[\x00-\x7f{_JOINERS}]|\Z))",
    re.DOTALL,
)
"""Characters shown as an escape. U+200C, U+200D and U+FE0F stay where scripts and emoji need them."""


def escape(character: str) -> str:
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
    """The text with every hidden character replaced by its escape.

    Args:
        text: Any text; may hold control codes and lone surrogates.
        newline: What a line feed becomes; give `"\\\\n"` where the text must stay on one line.
        tab: What a tab becomes.
    """
    text = HIDDEN.sub(lambda match: escape(match.group()), text)
    if newline != "\n":
        text = text.replace("\n", newline)
    if tab != "\t":
        text = text.replace("\t", tab)
    return text


def visible_json(document: str) -> str:
    r"""A JSON document that says the same, with every hidden character named as JSON names it: `\u202e`."""
    return HIDDEN.sub(_named_in_json, document)


def _named_in_json(match: re.Match[str]) -> str:
    """A character as JSON escapes it: two halves beyond the Basic Multilingual Plane."""
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


def one_line(text: str) -> str:
    """The text on one line, for names, table cells and messages."""
    return visible(text, newline="\\n", tab="\\t")
