"""Many texts in memory, and which of them hold what is looked for.

Up to tens of megabytes no index is needed: looking through all texts takes as long as a screen waits for anyhow, and
nothing has to be kept up to date but the texts. Whoever types on narrows what was found before, so only that is looked
through again, with what changed since. Beyond the room that is allowed, texts are read anew for each search.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from memtui.search.stopping import Stop, Stopped, unless_stopped
from memtui.search.wanted import Group, Text, Wanted

_REMEMBERED = 12
"""Searches that are narrowed: those of a word that is typed, and taken back letter by letter."""
_A_RUN = 256
"""Texts that are looked through between two questions whether to give up."""
_CHANGES = 4_096
"""Changed texts that are looked at again beside an earlier search; if there are more, it is forgotten."""


@dataclass(slots=True)
class _Earlier:
    """What a search found."""

    groups: tuple[Group, ...]
    keys: list[str]
    changed: set[str]


class Shelf:
    """Texts by a key. Not for several threads at once.

    Args:
        read: Reads a text for which there is no room; `None` where it cannot be read any more.
        room: Bytes that the texts may take in memory.
    """

    def __init__(self, read: Callable[[str], bytes | None], *, room: int) -> None:
        self._read = read
        self._room = room
        self._texts: dict[str, Text | None] = {}
        self._taken = 0
        self._outside = 0
        """Texts for which there is no room."""
        self._earlier: deque[_Earlier] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    @property
    def keys(self) -> Collection[str]:
        """Of all texts."""
        return self._texts.keys()

    @property
    def taken(self) -> int:
        """Bytes that are taken in memory."""
        return self._taken

    def put(self, key: str, text: Text) -> None:
        """Keep a text, instead of an earlier one."""
        self._drop(key)
        if self._taken + text.weight <= self._room:
            self._taken += text.weight
            self._texts[key] = text
        else:
            self._outside += 1
            self._texts[key] = None
        self._note(key)

    def remove(self, key: str) -> None:
        """Forget a text; one that is not there does no harm."""
        if key in self._texts:
            self._drop(key)
            del self._texts[key]

    def get(self, key: str) -> Text | None:
        """A text; `None` if it is not here, or cannot be read any more."""
        text = self._texts.get(key)
        if text is not None or key not in self._texts:
            return text
        data = self._read(key)
        return None if data is None else Text(data)

    def holding(self, wanted: Wanted, stop: Stop) -> list[str]:
        """The keys of the texts that hold the words.

        Raises:
            Stopped: Nobody waits for it any more.
        """
        keys = self._candidates(wanted)
        plain = wanted.plain
        if plain is None:
            found = self._passing(keys, wanted.words_are_in, stop)
        else:
            found = keys
            for needle in plain:
                found = self._with_word(found, needle.word, stop, case=needle.case)
        self._remember(wanted, found)
        return found

    def _with_word(self, keys: Sequence[str], word: bytes, stop: Stop, *, case: bool = False) -> list[str]:
        """Those of some keys whose texts hold a word.

        Args:
            keys: Of which texts.
            word: As it stands in the folded texts, or with `case` in the texts themselves.
            stop: Asked now and then whether to give up.
            case: Whether capitals count.

        Raises:
            Stopped: It was given up.
        """
        if self._outside:
            return self._passing(keys, lambda text: word in (text.data if case else text.folded), stop)
        found: list[str] = []
        texts = self._texts
        for start in range(0, len(keys), _A_RUN):  # in runs and without objects: it is done at every key
            if stop():
                raise Stopped("The search was stopped.")
            run = keys[start : start + _A_RUN]
            if case:
                found += [key for key in run if word in texts[key].data]  # type: ignore[union-attr]  # none is outside
            else:
                found += [key for key in run if word in texts[key].folded]  # type: ignore[union-attr]
        return found

    def _passing(self, keys: Sequence[str], passes: Callable[[Text], bool], stop: Stop) -> list[str]:
        return [key for key in unless_stopped(keys, stop) if (text := self.get(key)) is not None and passes(text)]

    def _candidates(self, wanted: Wanted) -> list[str]:
        fitting = [earlier for earlier in self._earlier if wanted.narrows(earlier.groups)]
        if not fitting:
            return list(self._texts)
        least = min(fitting, key=lambda earlier: len(earlier.keys) + len(earlier.changed))
        keys = [key for key in least.keys if key in self._texts and key not in least.changed]
        return [*keys, *(key for key in least.changed if key in self._texts)]

    def _remember(self, wanted: Wanted, keys: list[str]) -> None:
        if wanted.groups:
            same = [each for each in self._earlier if each.groups == wanted.groups]
            for earlier in same:
                self._earlier.remove(earlier)
            self._earlier.append(_Earlier(wanted.groups, keys, set()))

    def _note(self, key: str) -> None:
        """A text changed: it may be found now where it was not."""
        for earlier in self._earlier:
            earlier.changed.add(key)
        if self._earlier and len(self._earlier[0].changed) > _CHANGES:
            self._earlier.clear()

    def _drop(self, key: str) -> None:
        if key not in self._texts:
            return
        text = self._texts[key]
        if text is None:
            self._outside -= 1
        else:
            self._taken -= text.weight
