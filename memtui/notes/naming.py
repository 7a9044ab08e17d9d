"""What in the name of a file deceives whoever reads it: letters of other alphabets, controls, blanks, two endings.

Only one name is judged here, or the names of one directory against each other; the files are not looked at.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memtui.core.confusables import is_whole_script, lookalikes, script_of, skeleton
from memtui.core.visible import escape, one_line

_DECEPTIVE = re.compile("[\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
_WORDS = re.compile(r"[^\W_]+")
_PADDED = re.compile(r"\s{8,}")
_KNOWN = frozenset(
    {"memory", "memories", "readme", "claude", "agents", "agent", "index", "notes", "note", "todo", "user", "feedback"}
    | {"project", "reference", "settings", "config", "instructions", "rules", "system", "skills", "people", "team"}
)
"""Names that somebody might pretend to be."""
_DOCUMENTS = frozenset(
    {
        "md",
        "markdown",
        "txt",
        "text",
        "json",
        "jsonl",
        "yaml",
        "yml",
        "toml",
        "xml",
        "html",
        "csv",
        "pdf",
        "doc",
        "docx",
    }
    | {"xls", "xlsx", "png", "jpg"}
)
_PROGRAMS = frozenset(
    {"exe", "com", "scr", "bat", "cmd", "pif", "js", "jse", "vbs", "vbe", "wsf", "ps1", "sh", "bash", "zsh", "command"}
    | {"lnk", "jar", "msi", "hta", "app", "desktop", "dll", "so"}
)
_USUAL = frozenset({".gitignore", ".gitkeep", ".keep", ".gitattributes", ".DS_Store", ".localized", ".editorconfig"})
_USUAL |= {".markdownlint.json", ".prettierrc", ".stfolder", ".stignore", ".obsidian", ".git", ".trash", ".vscode"}
_USUAL |= {".nojekyll", ".directory", ".Trash", ".nomedia", ".logseq", ".foam", ".dendron.yml", ".ignore"}
"""Hidden names that programs leave in a folder of notes."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """What is odd about a name.

    Attributes:
        rule: What exactly, such as `twin-names`.
        words: What it is, for a person.
        identity: What tells it from others of its rule.
    """

    rule: str
    words: str
    identity: str = ""


def oddities(name: str) -> Iterator[Oddity]:
    """What is odd about one name, without the directories above it."""
    if not name.isascii():
        if found := _DECEPTIVE.search(name):
            what = f"the name “{one_line(name)}” holds a character that is not seen, {escape(found.group())}"
            yield Oddity("deceptive-name", what)
        for word in _WORDS.findall(name):
            if false := lookalikes(word):
                yield Oddity("mixed-script-name", _false_words(name, false[0]))
                break
            if not word.isascii() and is_whole_script(word) and skeleton(word) in _KNOWN:
                what = f"the name “{one_line(name)}” reads “{skeleton(word)}”, and its letters are {_scripts(word)}"
                yield Oddity("mixed-script-name", what)
                break
    if name != name.strip() or _stem(name) != _stem(name).strip():
        yield Oddity("spaced-name", f"the name “{one_line(name)}” begins or ends with a blank")
    elif (" " * 8 in name or not name.isascii()) and _PADDED.search(name):
        yield Oddity("spaced-name", f"the name “{one_line(name)}” holds a long run of blanks")
    parts = name.lower().rsplit(".", 2)
    if len(parts) == 3 and parts[0] and parts[1].strip() in _DOCUMENTS and parts[2] in _PROGRAMS:
        what = f"the name “{one_line(name)}” looks like a .{parts[1].strip()} file, and is a .{parts[2]} file"
        yield Oddity("double-extension", what)


def is_hidden(name: str) -> bool:
    """Whether a name is left out of listings, and is none of those that programs leave in a folder of notes."""
    return name.startswith(".") and name not in _USUAL


def is_usual_hidden(name: str) -> bool:
    """Whether a hidden name is one of those that programs leave; what is below it is not looked at."""
    return name in _USUAL


def twins(names: Iterable[str]) -> Iterator[tuple[str, Oddity]]:
    """Names of one directory that are taken for each other, and how: each but the first of its kind."""
    same: dict[str, str] = {}
    alike: dict[str, str] = {}
    for name in sorted(names):
        key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold())
        looks = skeleton(name)
        if key in same:
            yield name, Oddity("twin-names", _twin_words(same[key], name), key)
        elif looks in alike:
            other = alike[looks]
            what = f"“{one_line(name)}” looks like “{one_line(other)}”, and is another name: {_difference(name, other)}"
            yield name, Oddity("mixed-script-name", what, looks)
        same.setdefault(key, name)
        alike.setdefault(looks, name)


def _twin_words(one: str, other: str) -> str:
    both = f"“{one_line(one)}” and “{one_line(other)}” differ only by"
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return f"{both} how their letters are put together (Unicode normalisation)"
    if one.casefold() == other.casefold():
        return f"{both} case"
    return f"{both} case and how their letters are put together"


def _difference(name: str, other: str) -> str:
    odd = next((character for character in name if not character.isascii()), "")
    odd = odd or next((character for character in other if not character.isascii()), "")
    return f"U+{ord(odd):04X} {unicodedata.name(odd, '').lower()}".strip() if odd else "its letters differ"


def _false_words(name: str, letter: str) -> str:
    what = unicodedata.name(letter, "a letter of another alphabet").lower()
    return f"the name “{one_line(name)}” holds a letter that only looks Latin: U+{ord(letter):04X} {what}"


def _scripts(word: str) -> str:
    return " and ".join(sorted({script_of(letter).capitalize() for letter in word} - {""}))


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
