"""First words that are no verb: a folder to browse, a slip of the finger, or a verb of another version."""

import os
from collections.abc import Iterable

from memtui.cli.exits import Exit, Failure

_LATER = "import serve version watch"
RESERVED = frozenset(_LATER.split())
"""Kept for verbs to come, so that none of them will ever take the name of somebody's folder."""


def insist_on_folder(word: str, verbs: Iterable[str]) -> None:
    """Judge a word that is no verb.

    A word that is written as a path may name a folder that is missing; that is for others to say.

    Raises:
        Failure: It is no folder either.
    """
    if word in RESERVED:
        hint = f" To open the folder of that name: memtui ./{word}" if os.path.isdir(word) else ""
        raise Failure(Exit.USAGE, f"'{word}' is not part of this version of memtui.{hint}")
    if not word or os.sep in word or word[0] in "~." or os.path.isdir(word):
        return
    if os.path.exists(word):
        raise Failure(Exit.MISSING, f"{word} is a file, not a folder. Nothing was opened. Browse a folder: memtui DIR")
    nearest = closest(word, [*verbs, *_folders_here()])
    hint = f"Did you mean '{nearest}'?" if nearest else "The commands are listed by: memtui --help"
    raise Failure(Exit.USAGE, f"No command or folder called '{word}'. {hint}")


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that a mistyped word is likely to mean."""
    import difflib  # for start-up cost: only the mistaken need it

    found = difflib.get_close_matches(word, list(candidates), n=1, cutoff=0.6)
    return found[0] if found else None


def _folders_here() -> list[str]:
    try:
        with os.scandir() as entries:
            return [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []
