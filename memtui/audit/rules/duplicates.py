"""Notes that say the same as another one, wholly or nearly.

Comparing every note with every other one takes a day for a large folder. So each gets a short signature of its word
pairs, made so that notes which are alike are likely to agree in a part of it (minwise hashing with locality-sensitive
bands: Broder, "On the resemblance and containment of documents", 1997; one permutation: Li, Owen and Zhang, 2012). Only
those that agree are compared in full, so what is reported is exact; and each only with a few, however many agree.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from operator import add
from zlib import crc32

from memtui.audit.context import AuditContext, Note, get_body, is_dated_note, is_hidden, is_prose
from memtui.audit.model import Hit
from memtui.core.events import sha256
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count

_DUPLICATE = "duplicate"
_NEAR = "near-duplicate"
IDS = (_DUPLICATE, _NEAR)

_FEWEST_CHARACTERS = 40  # shorter notes may well be the same by chance
_FEWEST_WORDS = 25  # of shorter notes, one word decides; they are only compared as a whole
_BANDS = 12
_ROWS = 4
_BINS = _BANDS * _ROWS
_LARGEST = 1 << 28
"""A pair of words is one number below this and twice another: such sums are quickly compared and sorted."""


def _compute_threshold(share: float) -> int:
    """The number below which a share of all such sums lies."""
    if share < 0.25:
        return round(_LARGEST * 2 * math.sqrt(share))
    if share < 0.75:
        return round(_LARGEST * (2 * share + 0.5))
    return round(_LARGEST * (3 - 2 * math.sqrt(1 - share)))


_EDGES = tuple(_compute_threshold(at / _BINS) for at in range(1, _BINS))
_EVERY = 50  # after so many notes it is asked whether anybody still waits
_COMPARED = 4  # with how many of those that agree in a band a note is compared
_BACKUP = re.compile(r"(?:^|/)backups?/|\.(?:bak|orig|old|backup)(?:[./]|$)|~$", re.IGNORECASE)
"""What is a copy on purpose, by its name."""
_WORD = re.compile(r"\w+")
_PARTED = bytes(byte if _WORD.match(chr(byte)) else 32 for byte in range(128)) + bytes(128)
"""A blank for each ASCII character that is part of no word."""
_BLANKS = bytes(byte for byte in range(128) if chr(byte).isspace())


def find_duplicates(subject: AuditContext) -> Iterator[Hit]:
    """Which notes repeat others. Of each group, the first by its place is the original."""
    alike: dict[int, list[str]] = {}
    compared = 0
    for note in subject.notes.values():
        if (number := _hash_letters(note)) is not None:
            compared += 1
            alike.setdefault(number, []).append(note.path)
    same: dict[str, list[str]] = {}
    for path in (path for paths in alike.values() if len(paths) > 1 for path in paths):
        text = _normalize_text(subject.notes[path])
        same.setdefault(sha256(text.encode("utf-8", "surrogatepass")), []).append(path)
    repeated: set[str] = set()
    for paths in same.values():
        original, *copies = sorted(paths, key=_get_original_order)
        for path in copies:
            if is_dated_note(path) and is_dated_note(original):
                continue  # on two quiet days a program writes the same
            repeated.add(path)
            words = f"says the same as {to_one_line(original)}"
            yield Hit(_DUPLICATE, path, words, facts={"of": original}, identity=original)
    del same
    if not 0 < subject.audit.near_duplicate < 1:
        subject.log.skip(f"near_duplicate is {subject.audit.near_duplicate:g}", _NEAR)
    elif subject.has_enabled_rule(_NEAR):
        yield from _find_near_duplicates(subject, repeated)
    left = len(subject.notes) - compared
    words = f"none of {format_count(compared, 'note')} says the same as another"
    subject.log.counted["duplicates"] = words + (f"; {left:,} too short, hidden, copies or not text" if left else "")


def _hash_letters(note: Note) -> int | None:
    """A number that notes which say the same share; `None` for one that is too short or no text."""
    text = note.text
    if (
        text is None
        or note.is_binary
        or len(text) < _FEWEST_CHARACTERS
        or is_hidden(note.path)
        or _BACKUP.search(note.path)
    ):
        return None
    if not is_prose(note.path):
        return hash(text)
    body = get_body(text).casefold()
    letters = body.encode().translate(None, _BLANKS) if body.isascii() else "".join(body.split())
    is_short = len(letters) < _FEWEST_CHARACTERS and len(_normalize_text(note)) < _FEWEST_CHARACTERS
    return None if is_short else hash(letters)


def _normalize_text(note: Note) -> str:
    """What a note says, without what makes no difference: only in sentences spaces and front matter make none."""
    text = note.text or ""
    return " ".join(get_body(text).casefold().split()) if is_prose(note.path) else text


def _get_original_order(path: str) -> tuple[int, int, str]:
    """The original is the one that stands further up, under a shorter name."""
    return path.count("/"), len(path), path


def _find_near_duplicates(subject: AuditContext, repeated: set[str]) -> Iterator[Hit]:
    least = subject.audit.near_duplicate
    notes = [
        note
        for note in subject.notes.values()
        if is_prose(note.path)
        and note.path not in repeated
        and not _BACKUP.search(note.path)
        and not is_dated_note(note.path)  # a program's reports of two days are alike, and nobody mistakes them
    ]
    notes.sort(key=lambda note: _get_original_order(note.path))
    hashes = _WordHashes()
    found: dict[str, tuple[str, float]] = {}
    bands: list[dict[int, tuple[str, ...]]] = [{} for _ in range(_BANDS)]

    @lru_cache(maxsize=256)
    def pairs_of(path: str) -> frozenset[int]:
        return frozenset(hashes.list_pairs(subject.notes[path].text or ""))

    for number, note in enumerate(notes):
        if number % _EVERY == 0:
            subject.check_cancelled()
        pairs = hashes.list_pairs(note.text) if note.text is not None else []
        if len(pairs) < _FEWEST_WORDS:
            continue
        pairs.sort()
        signature = iter(_compute_signature(pairs))
        others: list[str] = []
        for band, rows in zip(bands, zip(*[signature] * _ROWS, strict=True), strict=True):
            key = hash(rows)
            those = band.get(key, ())
            others += those
            if len(those) < _COMPARED:
                band[key] = (*those, note.path)
        best: tuple[float, str] | None = None
        mine = frozenset(pairs) if others else frozenset()
        for other in dict.fromkeys(others):
            alike = _compute_similarity(mine, pairs_of(other), least)
            if alike >= least and (best is None or alike > best[0]):
                best = alike, other
        if best is not None:
            found[note.path] = (best[1], best[0])
    for path, (original, alike) in sorted(found.items()):
        words = f"says nearly the same as {to_one_line(original)}: {min(int(alike * 100), 99)}% of it"
        yield Hit(_NEAR, path, words, facts={"of": original, "alike": round(alike, 3)}, identity=original)


def _compute_similarity(one: frozenset[int], other: frozenset[int], least: float) -> float:
    """Which share of both is in both (Dice, 1945); 0 for too few, and for those that cannot be alike enough."""
    size, theirs = len(one), len(other)
    if min(size, theirs) < _FEWEST_WORDS or 2 * min(size, theirs) < least * (size + theirs):
        return 0.0
    return 2 * len(one & other) / (size + theirs)


class _WordHashes(dict[str, int]):
    """A number below `_LARGEST` for each word: its checksum, mixed."""

    def list_pairs(self, text: str) -> list[int]:
        """The pairs of words that follow each other in a text, front matter left out: the same numbers in every run."""
        numbers = list(map(self.__getitem__, _split_words(get_body(text).casefold())))
        following = numbers[1:]
        return list(map(add, numbers, map(add, following, following)))

    def __missing__(self, word: str) -> int:
        checksum = crc32(word.encode("utf-8", "surrogatepass"))
        self[word] = number = (checksum * 0x9E3779B1 >> 9) % _LARGEST
        return number


def _split_words(text: str) -> list[str]:
    """The words of a text, as `_WORD` finds them; ASCII is parted by way of bytes, which is several times as fast."""
    if text.isascii():
        return text.encode().translate(_PARTED).decode().split()
    return _WORD.findall(text)


def _compute_signature(pairs: Sequence[int]) -> list[int]:
    """The least of the pairs in each of ranges that are as likely; an empty range takes that of the next one."""
    cuts = [0, *map(partial(bisect_left, pairs), _EDGES), len(pairs)]
    found = [0] * _BINS
    following = pairs[0]
    for at in range(_BINS - 1, -1, -1):
        if cuts[at] < cuts[at + 1]:
            following = pairs[cuts[at]]
        found[at] = following
    return found
