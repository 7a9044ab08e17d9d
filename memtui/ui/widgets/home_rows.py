"""The rows of the home: each folder on one line, with its project, its agent, and what is known of it."""

import time
from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from memtui.core.unicode import to_one_line
from memtui.core.wording import format_age, format_count, format_short_count, format_size
from memtui.flows.home import FolderFacts
from memtui.places.folders import MemoryLocation, format_owner, format_project_or_path
from memtui.ui.theme import to_content, truncate_apart, truncate_middle

KEYS = 9
"""Folders that a number opens."""
INDENT = 5
"""Cells before the names of the folders."""
_GAP = 2
_OWNER_WIDTH = 20
_NAME_WIDTH = 20
"""Least cells of the name of a project or a folder."""
_FACTS_WIDTHS = 22, 62
"""Least and most cells of what is known of a folder."""
_WRITER_WIDTH = 18
_NO_FACTS = FolderFacts()


class HomeRows:
    """Each folder on one line: its number key, its project or else its path, its agent, its files, age and news.

    No two of them are cut to the same words. What has no room is left out, the least urgent first.

    Args:
        places: The folders, as they are listed.
        width: The cells of a row.
    """

    def __init__(self, places: Sequence[MemoryLocation], width: int) -> None:
        owners = [truncate_middle(format_owner(place), _OWNER_WIDTH) for place in places]
        gone = ["  (missing)" if place.project_exists is False else "" for place in places]
        names = [format_project_or_path(each) for each in places]
        owner_width = max(map(cell_len, owners), default=0)
        room = max(width - INDENT - owner_width - 2 * _GAP, 0)
        widest = max((cell_len(name + words) for name, words in zip(names, gone, strict=True)), default=0)
        least, most = _FACTS_WIDTHS
        facts_width = min(max(least, room - max(widest, _NAME_WIDTH), room // 2), most)
        name_width = min(max(room - facts_width, _NAME_WIDTH), max(widest, _NAME_WIDTH))
        self._facts_width = max(room - name_width, least)
        gap = " " * _GAP
        texts = _cut_names(names, gone, name_width)
        self._starts = [
            f"{_fill(text, name_width)}{gap}{_fill(owner, owner_width)}{gap}"
            for text, owner in zip(texts, owners, strict=True)
        ]

    def format(self, number: int, place: MemoryLocation, facts: FolderFacts | None) -> Content:
        """The row of the folder at a place in the list, from 0."""
        key = number + 1 if number < KEYS else " "
        words = describe_home_folder(place, facts or _NO_FACTS, self._facts_width)
        return Content.assemble(
            (f"  {key}  ", "bold $text-accent"), to_content(self._starts[number]), to_content(words)
        )


def _cut_names(names: Sequence[str], gone: Sequence[str], width: int) -> list[str]:
    """Names with what is said behind some of them, at most so wide, and no two of them alike."""
    texts: dict[tuple[str, str], str] = {}
    for words in set(gone):
        some = [name for name, behind in zip(names, gone, strict=True) if behind == words]
        cut = truncate_apart(some, max(width - cell_len(words), 1))
        texts |= {(name, words): short + words for name, short in zip(some, cut, strict=True)}
    return [texts[each] for each in zip(names, gone, strict=True)]


def _fill(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def describe_home_folder(place: MemoryLocation, facts: FolderFacts, width: int) -> str:
    """`12 files, 41K, 3h ago by Claude, 2 unseen, 1 failure`, as much of it as has room."""
    if not place.responds:
        return "does not answer"
    if place.closed:
        return "cannot be read"
    count = f"{place.files:,}{'' if place.is_counted else '+'} {'file' if place.files == 1 else 'files'}"
    age = f"{format_age(time.time() - place.changed_ns / 1e9)} ago" if place.changed_ns else ""
    writer = to_one_line(facts.get_writer(place))
    words = {
        "files": count if place.files else "empty",
        "size": format_size(place.size) if place.files else "",
        "age": age,
        "writer": f"by {truncate_middle(writer, _WRITER_WIDTH)}" if writer and age else "",
        "unseen": f"{format_short_count(facts.unseen)} unseen" if facts.unseen else "",
        "failures": format_count(facts.failures, "failure") if facts.failures else "",
    }
    shown = dict.fromkeys(words, "")
    for name in ("files", "age", "unseen", "failures", "writer", "size"):
        tried = {**shown, name: words[name]}
        if cell_len(_join(tried)) <= width:
            shown = tried
    return _join(shown)


def _join(words: Mapping[str, str]) -> str:
    age = f"{words['age']} {words['writer']}".strip()
    return ", ".join(filter(None, (words["files"], words["size"], age, words["unseen"], words["failures"])))
