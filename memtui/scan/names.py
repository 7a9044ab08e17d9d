"""What in the name of a file deceives whoever reads it: letters of other alphabets, controls, blanks, two endings.

Only one name is judged here, or the names of one directory against each other; the files are not looked at.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import (
    NOT_IN_NAMES,
    escape_character,
    find_lookalikes,
    get_script,
    is_whole_script_confusable,
    skeleton,
    to_one_line,
)

_DECEPTIVE = re.compile(f"[{NOT_IN_NAMES}]")
_WORDS = re.compile(r"[^\W_]+")
_PADDED = re.compile(r"\s{8,}")
_KNOWN = frozenset(
    {"memory", "memories", "readme", "claude", "agents", "agent", "index", "notes", "note", "todo", "user", "feedback"}
    | {"project", "reference", "settings", "config", "instructions", "rules", "system", "skills", "people", "team"}
)
"""Names that somebody might pretend to be."""
_DOCUMENTS = frozenset({
    "md", "markdown", "txt", "text", "json", "jsonl", "yaml", "yml", "toml", "xml", "html", "csv", "pdf", "doc", "docx",
    "xls", "xlsx", "png", "jpg",
})  # fmt: skip
_PROGRAMS = frozenset({
    "exe", "com", "scr", "bat", "cmd", "pif", "js", "jse", "vbs", "vbe", "wsf", "ps1", "sh", "bash", "zsh", "command",
    "lnk", "jar", "msi", "hta", "app", "desktop", "dll", "so",
})  # fmt: skip
_USUAL = frozenset({
    ".gitignore", ".gitkeep", ".keep", ".gitattributes", ".DS_Store", ".localized", ".editorconfig", ".trash",
    ".vscode",
    ".markdownlint.json", ".prettierrc", ".stfolder", ".stignore", ".obsidian", ".git", ".nojekyll", ".directory",
    ".Trash", ".nomedia", ".clinerules", ".cursorrules", ".gitmodules", ".logseq", ".foam", ".dendron.yml", ".ignore",
    ".byterules", ".windsurfrules", ".roorules", ".roomodes", ".dreams", ".dockerignore", ".npmignore",
})  # fmt: skip
"""Hidden names that programs leave in a folder of notes."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """What is odd about a name."""

    rule: str
    words: str
    identity: str = ""  # what distinguishes it from others of its rule


def find_oddities(name: str) -> Iterator[Oddity]:
    """What is odd about one name, without the directories above it."""
    if not name.isascii():
        if found := _DECEPTIVE.search(name):
            seen = escape_character(found.group())
            yield Oddity("deceptive-name", f"the name “{to_one_line(name)}” has an invisible character, {seen}")
        for word in _WORDS.findall(name):
            if false := find_lookalikes(word):
                yield Oddity("mixed-script-name", _describe_lookalike(name, false[0]))
                break
            if not word.isascii() and is_whole_script_confusable(word) and skeleton(word) in _KNOWN:
                scripts = " and ".join(sorted({get_script(letter).capitalize() for letter in word} - {""}))
                what = f"the name “{to_one_line(name)}” reads “{skeleton(word)}”, but its letters are {scripts}"
                yield Oddity("mixed-script-name", what)
                break
    if name != name.strip() or _strip_extension(name) != _strip_extension(name).strip():
        yield Oddity("spaced-name", f"the name “{to_one_line(name)}” begins or ends with a blank")
    elif (" " * 8 in name or not name.isascii()) and _PADDED.search(name):
        yield Oddity("spaced-name", f"the name “{to_one_line(name)}” has a long run of blanks")
    parts = name.lower().rsplit(".", 2)
    if len(parts) == 3 and parts[0] and parts[1].strip() in _DOCUMENTS and parts[2] in _PROGRAMS:
        what = f"the name “{to_one_line(name)}” looks like a .{parts[1].strip()} file, but is a .{parts[2]} file"
        yield Oddity("double-extension", what)


def is_hidden(name: str) -> bool:
    """Whether a name is left out of listings, and is none of those that programs leave in a folder of notes."""
    return name.startswith(".") and name not in _USUAL


def is_usual_hidden(name: str) -> bool:
    """Whether a hidden name is one of those that programs leave; what is below it is not looked at."""
    return name in _USUAL


def find_twins(names: Iterable[str]) -> Iterator[tuple[str, Oddity]]:
    """Names of one directory that are taken for each other, and how: each but the first of its kind."""
    same: dict[str, str] = {}
    alike: dict[str, str] = {}
    for name in sorted(names):
        key = name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold())
        looks = skeleton(name)
        if key in same:
            yield name, Oddity("twin-names", _describe_twins(same[key], name), key)
        elif looks in alike:
            other = alike[looks]
            difference = _describe_difference(name, other)
            what = f"“{to_one_line(name)}” looks like “{to_one_line(other)}”, but is another name: {difference}"
            yield name, Oddity("mixed-script-name", what, looks)
        same.setdefault(key, name)
        alike.setdefault(looks, name)


def _describe_twins(one: str, other: str) -> str:
    both = f"“{to_one_line(one)}” and “{to_one_line(other)}” differ only by"
    if unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other):
        return f"{both} Unicode normalisation"
    if one.casefold() == other.casefold():
        return f"{both} case"
    return f"{both} case and Unicode normalisation"


def _describe_difference(name: str, other: str) -> str:
    odd = next((character for character in name if not character.isascii()), "")
    odd = odd or next((character for character in other if not character.isascii()), "")
    return f"U+{ord(odd):04X} {unicodedata.name(odd, '').lower()}".strip() if odd else "its letters differ"


def _describe_lookalike(name: str, letter: str) -> str:
    what = unicodedata.name(letter, "a letter of another alphabet").lower()
    return f"the name “{to_one_line(name)}” has a letter that only looks Latin: U+{ord(letter):04X} {what}"


def _strip_extension(name: str) -> str:
    return name.rpartition(".")[0] or name
