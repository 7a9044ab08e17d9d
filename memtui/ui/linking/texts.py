"""What links need to know of a folder: which notes there are, what they call themselves, and what links to one."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memtui.core.snapshot import Kind
from memtui.notes.links import Backlink, Places, backlinks, names_of

if TYPE_CHECKING:
    from memtui.search.finder import Finder

Stop = Callable[[], bool]


class Texts:
    """The texts of a folder, by whoever keeps them. Every method may block: call it from a thread.

    Args:
        finder: Who keeps them.
    """

    def __init__(self, finder: "Finder") -> None:
        self._finder = finder

    def text_of(self, path: str) -> str | None:
        """What a note says; `None` if it is no text, or not there."""
        data = self._finder.note(path)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def places(self, with_names: bool) -> Places:
        """The notes there are, by their paths, and also by what they call themselves, for which all are read."""
        if with_names:
            return self._gathered(lambda: False)[0]
        return Places(entry.path for entry in self._finder.engine.names() if entry.kind is Kind.FILE)

    def backlinks(self, path: str, stop: Stop = lambda: False) -> list[Backlink]:
        """The links in other notes that lead to one."""
        places, texts = self._gathered(stop)
        return backlinks(path, texts.items(), places, stop=stop)

    def _gathered(self, stop: Stop) -> tuple[Places, dict[str, str]]:
        self._finder.refresh(stop=stop)
        paths = sorted(self._finder.paths)
        texts: dict[str, str] = {}
        for path in paths:
            if stop():
                break
            text = self.text_of(path)
            if text is not None:
                texts[path] = text
        return Places(paths, {path: names_of(text) for path, text in texts.items()}), texts
