"""Letters that look like other letters, and the scripts that letters belong to.

Made after Unicode Technical Standard 39, "Unicode Security Mechanisms": a skeleton for comparing what is seen, and
scripts that are mixed within one word. The table is our own and small: letters of Cyrillic, Greek, Armenian, Cherokee
and of phonetic writing that a person takes for Latin ones. What Unicode itself calls a styled form of a letter
(fullwidth, mathematical, circled) is found by its compatibility decomposition and needs no table.
"""

import re
import unicodedata
from functools import lru_cache

_PAIRS = (
    # Cyrillic
    "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ѵv ӏl ԍg ҽe ԚQ ԜW "
    "АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT УY ХX ҮY ӀI ԌG З3 Ԁd ԐE "
    # Greek
    "οo νv αa ιi κk ρp υu γy ϲc ϳj ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ϹC ͿJ "
    # Armenian and Cherokee
    "օo սu ոn հh ցg զq ՕO ՍU ՏS ԼL "
    "ᎪA ᏴB ᏟC ᎠD ᎬE ᏀG ᎻH ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏚS ᎢT ᏙV ᎳW ᎩY ᏃZ "
    # Latin letters of phonetic writing, and small capitals
    "ɑa ɡg ɩi ɪi ʏy ᴀa ʙb ᴄc ᴅd ᴇe ɢg ʜh ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ᴢz "
    # Marks
    "‐- ‑- ‒- –- —- −- ⁃- ˗- ․. ⁄/ ∕/ ꞉: ː: ∶: "
)
_ALIKE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""What is not seen: it makes two names differ, and not look different."""
_SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
"""Scripts whose letters are taken for each other's."""
_STYLED = frozenset({"MATHEMATICAL", "FULLWIDTH", "CIRCLED", "NEGATIVE", "SQUARED", "PARENTHESIZED", "DOUBLE-STRUCK"})


def skeleton(text: str) -> str:
    """What a text looks like, for comparing: two texts with one skeleton are taken for each other.

    Case is told apart no more, and what is not seen is left out.
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", _IGNORED.sub("", text).translate(_ALIKE))
    return plain.translate(_ALIKE).casefold()


@lru_cache(maxsize=4096)
def script_of(character: str) -> str:
    """The script of a letter in lower case, such as `cyrillic`; empty for what is no letter.

    By the first word of its Unicode name, which for the scripts that matter here is the script. Letters of one
    fullwidth, mathematical or circled alphabet are `styled`.
    """
    if not character.isalpha() and not unicodedata.category(character).startswith("So"):
        return ""
    first = unicodedata.name(character, "").partition(" ")[0]
    if first in _STYLED:
        return "styled" if unicodedata.normalize("NFKC", character)[:1].isascii() else ""
    return first.lower() if character.isalpha() else ""


def looks_latin(character: str) -> bool:
    """Whether a letter of another alphabet is taken for a Latin one."""
    return ord(character) in _ALIKE and character.isalpha()


def lookalikes(word: str) -> list[str]:
    """The letters of a word that pretend to be Latin: the word reads as a Latin one, and is none.

    Empty for a word of one script, for one that mixes scripts in plain sight (`Δt`, `gitлаб`), and for one whose
    letters are all of another script: that is a word of that script, unless it is compared with something.
    """
    if word.isascii():
        return []
    scripts = {script_of(character) for character in word} - {""}
    others = [character for character in word if not character.isascii() and _pretends(character)]
    if not others or not skeleton(word).isascii():
        return []
    if any(unicodedata.name(character, "").startswith("MATHEMATICAL") for character in others):
        return others
    is_mixed = len(scripts & (_LOWER | {"styled"})) > 1
    is_phonetic = "latin" in scripts and any(script_of(character) == "latin" for character in others)
    return others if is_mixed or is_phonetic else []


def is_whole_script(word: str) -> bool:
    """Whether all letters of a word are of other scripts than Latin, and it reads as a Latin word all the same."""
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and all(_pretends(letter) for letter in letters) and skeleton(word).isascii()


def _pretends(character: str) -> bool:
    return looks_latin(character) or script_of(character) == "styled"


_LOWER = frozenset(script.lower() for script in _SCRIPTS)
