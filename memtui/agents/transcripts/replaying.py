"""What files held, call by call: what a call made of them can often be told only from the calls before it."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.agents.transcripts.calls import SHELL, Asked, Came
from memtui.agents.transcripts.edited import LONGEST, texts_of
from memtui.agents.transcripts.shell import Effect, holds
from memtui.agents.transcripts.within import Within


class Changed(NamedTuple):
    """What a call made of one file.

    Attributes:
        tool: The tool's name, or the shell command's.
        before: The text that stood there before; `None` for nothing, or if it cannot be told.
        after: The text that stood there afterwards; `None` for nothing, or if it cannot be told.
        is_gone: Whether nothing stood there afterwards.
        moved_from: What it was called before, if it was moved here; relative to the folder.
        moved_to: What it is called since, if it was moved away.
    """

    tool: str
    before: str | None
    after: str | None
    is_gone: bool = False
    moved_from: str = ""
    moved_to: str = ""


class Replay:
    """Goes through the calls in the order in which they were made.

    Args:
        within: Tells which files are in the folder.
    """

    def __init__(self, within: Within) -> None:
        self._within = within
        self._held: dict[str, str | None] = {}
        """The files that are told to be there, with their texts where these are told."""

    def changes(self, asked: Asked, came: Came) -> dict[str, Changed]:
        """What a call made of files in the folder, by path."""
        if asked.tool != SHELL:
            path = self._within.path_of(asked.file)
            if not path:
                return {}
            before, after = texts_of(asked, came, self._held.get(path))
            self._held[path] = after
            return {path: Changed(asked.tool, before, after)}
        changes: dict[str, Changed] = {}
        for effect in asked.effects:
            if holds(effect, came.told):
                for path, changed in self._done(effect):
                    first = changes.get(path)
                    changes[path] = changed if first is None else changed._replace(before=first.before)
        return changes

    def _done(self, effect: Effect) -> Iterator[tuple[str, Changed]]:
        if effect.verb == "rm":
            yield from self._removed(effect)
        elif effect.source:
            yield from self._moved(effect)
        elif path := self._within.path_of(effect.file):
            before, after = self._held.get(path), effect.text
            if effect.is_added:
                is_told = before is not None and after is not None and len(before) + len(after) <= LONGEST
                after = f"{before}{after}" if is_told else None
            yield path, self._put(path, Changed(effect.verb, before, after))

    def _removed(self, effect: Effect) -> Iterator[tuple[str, Changed]]:
        path = self._within.path_of(effect.file)
        is_above = path is not None or self._within.is_below(effect.file)
        below = self._below(path or "") if effect.is_deep and is_above else []
        # Without an ending it may be a directory of which nobody told what was in it.
        if path and not below and (not effect.is_deep or path in self._held or "." in os.path.basename(path)):
            yield path, self._put(path, Changed(effect.verb, self._held.get(path), None, is_gone=True))
        for each in below:
            yield each, self._put(each, Changed(effect.verb, self._held[each], None, is_gone=True))

    def _moved(self, effect: Effect) -> Iterator[tuple[str, Changed]]:
        source, target = self._within.path_of(effect.source), self._target(effect)
        if source and source not in self._held and (below := self._below(source)):  # a directory: where to is not told
            for path in below if effect.verb == "mv" else ():
                yield path, self._put(path, Changed(effect.verb, self._held[path], None, is_gone=True))
            return
        text = self._held.get(source) if source else None
        if target and target != source:
            was = source or "" if effect.verb == "mv" else ""
            yield target, self._put(target, Changed(effect.verb, self._held.get(target), text, moved_from=was))
        if source and effect.verb == "mv" and target != source:
            yield source, self._put(source, Changed(effect.verb, text, None, is_gone=True, moved_to=target or ""))

    def _target(self, effect: Effect) -> str | None:
        """What a file was moved or copied to; `None` if that is outside, or not clear."""
        path = self._within.path_of(effect.file)
        if path is None:
            return None
        name = os.path.basename(effect.source)
        if effect.is_into or not path or (path not in self._held and self._below(path)):
            return self._within.path_of(os.path.join(effect.file, name))
        # Without an ending it may be a directory that nobody told of.
        return path if path in self._held or "." in os.path.basename(path) else None

    def _below(self, directory: str) -> list[str]:
        return [path for path in self._held if not directory or path.startswith(f"{directory}/")]

    def _put(self, path: str, changed: Changed) -> Changed:
        if changed.is_gone:
            self._held.pop(path, None)
        else:
            self._held[path] = changed.after
        return changed
