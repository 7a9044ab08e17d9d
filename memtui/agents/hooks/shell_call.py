"""The changes that a shell command, or a patch of Codex, makes to memory files, as far as they can be told beforehand.

Claude Code has no tool to delete or to move a file but its shell.
"""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import islice
from typing import NamedTuple

from memtui.agents.hooks.payload import PATCH, HookCall, MemoryFileLocation
from memtui.agents.hooks.recorder import LARGEST, read_file
from memtui.agents.transcripts.patch import FilePatch, UnclearPatch, parse_patch
from memtui.agents.transcripts.shell import FileEffect, foresee_effects
from memtui.core.lazy_dataclass import dataclass

_MANY = 200
"""Files that one command may change; of more, each is not asked about and announced."""
_VISITED = 5_000
"""Entries below a directory that are looked at."""
_WORD = re.compile(r"[^\s'\"()<>;|&=`]++")
_PATH = re.compile(r"[/.~]|memor", re.IGNORECASE)
_PATTERN = re.compile(r"[*?\[{$]")
_LONGEST, _WORDS = 100_000, 500
"""Characters and words of a command in which names of memories are looked for."""

Locate = Callable[[str], MemoryFileLocation | None]


class ShellChange(NamedTuple):
    """One memory file that a command changes.

    Attributes:
        place: The file.
        before: Its content before; `None` for no file.
        after: Its content after; `None` for no file.
        moved_to: Where it is moved to in its folder; empty for nowhere.
        verb: The command's name, such as `rm`.
        is_link: Whether it is a link, and `before` what it leads to.
    """

    place: MemoryFileLocation
    before: bytes | None
    after: bytes | None
    moved_to: str
    verb: str
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class ShellPlan:
    """What a command does to memories.

    Attributes:
        folder: A memory folder that it touches; `None` for none.
        changes: The changes, one for each file; none where they cannot be told.
        is_clear: Whether the changes are all that it may do to memories.
        is_all: Whether it does nothing else at all.
    """

    folder: MemoryFileLocation | None = None
    changes: tuple[ShellChange, ...] = ()
    is_clear: bool = True
    is_all: bool = False


class _UnclearEffect(Exception):
    """What a file will hold, or which files are meant, cannot be told."""


def plan_shell_call(call: HookCall, locate: Locate, locate_entry: Locate) -> ShellPlan:
    """What a call of the shell does to memories; nothing is changed.

    Args:
        call: The call.
        locate: Finds the memory folder of a file, links followed.
        locate_entry: The same, without the last link.
    """
    command = call.given.get("command")
    if not isinstance(command, str):
        return ShellPlan()
    if call.tool == PATCH:
        return _plan_patch(call, command, locate, locate_entry)
    foreseen = foresee_effects(command, call.directory)
    if foreseen is None:
        folder = _find_named_folder(command, call.directory, locate)
        return ShellPlan(folder, is_clear=folder is None)
    files = _FutureFiles(locate, locate_entry)
    try:
        for effect in foreseen.effects:
            files.apply(effect)
    except (_UnclearEffect, OSError):
        folder = next(iter(files.places.values()), None) or _find_named_folder(command, call.directory, locate)
        return ShellPlan(folder, is_clear=folder is None)
    return _build_plan(files, is_writing=foreseen.is_writing)


def _build_plan(files: "_FutureFiles", *, is_writing: bool) -> ShellPlan:
    changes = files.list_changes()
    folder = changes[0].place if changes else None
    if len({each.place.folder for each in changes}) > 1:
        return ShellPlan(folder, is_clear=False)
    return ShellPlan(folder, changes, is_all=is_writing and not files.has_others)


def locate_patched_files(call: HookCall, patch: str) -> Iterator[tuple[FilePatch, list[str]]]:
    """The files of a patch, each with its path, and behind it the path that it is moved to."""
    for each in parse_patch(patch):
        names = [each.path, each.moved_to] if each.moved_to else [each.path]
        if all(name and "\0" not in name and (call.directory or os.path.isabs(name)) for name in names):
            yield each, [os.path.normpath(os.path.join(call.directory or "/", name)) for name in names]


def _plan_patch(call: HookCall, patch: str, locate: Locate, locate_entry: Locate) -> ShellPlan:
    """The same for a patch of Codex."""
    files = _FutureFiles(locate, locate_entry)
    touched: MemoryFileLocation | None = None
    try:
        for each, paths in locate_patched_files(call, patch):
            source = paths[0] if each.verb == "delete" else os.path.realpath(paths[0])  # a link itself is deleted
            target = source if len(paths) == 1 else os.path.realpath(paths[-1])
            place = locate_entry(source) or locate_entry(target)
            if place is None:
                files.has_others = True
                continue
            touched = touched or place
            after = None if each.verb == "delete" else each.apply(files.read(source))
            files.put(target, after, each.verb)
            if target != source:
                files.put(source, None, each.verb, moved_to=target)
    except (_UnclearEffect, UnclearPatch, OSError):
        return ShellPlan(touched, is_clear=touched is None)
    return _build_plan(files, is_writing=True)


def _find_named_folder(command: str, directory: str | None, locate: Locate) -> MemoryFileLocation | None:
    """A memory folder that a command names, or that it is run in."""
    words = (found[0] for found in _WORD.finditer(command[:_LONGEST]) if _PATH.search(found[0]))
    for word in dict.fromkeys((directory or "", *islice(words, _WORDS))):
        name = os.path.expanduser(word.replace("${HOME}", "~").replace("$HOME", "~"))
        if (cut := _PATTERN.search(name)) is not None:
            name = name[: cut.start()]
        if not name or "\0" in name or not (os.path.isabs(name) or directory):
            continue
        # a name below it finds the folder itself, too
        if (found := locate(os.path.join(directory or "/", name, "_"))) is not None:
            return found
    return None


@dataclass(slots=True)
class _FutureFiles:
    """The files that a command changes, as they would be after each of its steps."""

    locate: Locate
    locate_entry: Locate
    places: dict[str, MemoryFileLocation] = field(default_factory=dict)
    before: dict[str, bytes | None] = field(default_factory=dict)
    after: dict[str, bytes | None] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    verbs: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)
    has_others: bool = False
    """Whether files that are no memories would change."""

    def apply(self, effect: FileEffect) -> None:
        named = (effect.file, effect.source or effect.file)
        self.has_others = self.has_others or any(self.locate_entry(path) is None for path in named)
        match effect.verb:
            case "rm":
                for path in self._list_files(effect.file, is_deep=effect.is_deep):
                    self.put(path, None, effect.verb)
            case "mv" | "cp" if effect.source:
                self._apply_move(effect)
            case _:
                self._apply_write(effect)

    def _apply_write(self, effect: FileEffect) -> None:
        path = os.path.realpath(effect.file)  # a shell writes through links
        if self.locate(path) is None:
            return
        self.places.setdefault(path, self._locate(path))
        if effect.text is None:
            raise _UnclearEffect
        text = effect.text.encode("utf-8", "surrogateescape")
        self.put(path, (self.read(path) or b"") + text if effect.is_added else text, effect.verb)

    def _apply_move(self, effect: FileEffect) -> None:
        target = effect.file
        if effect.is_into or os.path.isdir(target):
            target = os.path.join(target, os.path.basename(effect.source))
        for path in self._list_files(effect.source, is_deep=effect.is_deep):
            new = target + path[len(effect.source) :]
            if self.locate_entry(path) is None and self.locate_entry(new) is None:
                self.has_others = True
                continue
            text = self.read(path)
            if text is None:
                raise _UnclearEffect
            self.put(new, text, effect.verb)
            if effect.verb == "mv":
                self.put(path, None, effect.verb, moved_to=new)

    def _list_files(self, path: str, *, is_deep: bool) -> Iterator[str]:
        """The files at and below a path, as they would be by now."""
        if path in self.after:
            if self.after[path] is not None:
                yield path
            return
        if os.path.islink(path) or not os.path.isdir(path):
            if os.path.lexists(path):
                yield path
            return
        if not is_deep:
            return  # the command refuses
        seen = 0
        for directory, _, names in os.walk(path):
            seen += 1 + len(names)
            if seen > _VISITED:
                raise _UnclearEffect
            for name in names:
                each = os.path.join(directory, name)
                if self.after.get(each, b"") is not None:
                    yield each

    def _locate(self, path: str) -> MemoryFileLocation:
        place = self.locate_entry(path)
        assert place is not None
        return place

    def read(self, path: str) -> bytes | None:
        """The content of a file by now; a link is no file."""
        if path in self.after:
            return self.after[path]
        if os.path.islink(path):
            raise _UnclearEffect
        return read_file(path)

    def put(self, path: str, text: bytes | None, verb: str, *, moved_to: str = "") -> None:
        place = self.locate_entry(path)
        if place is None:
            self.has_others = True
            self.after[path] = text
            return
        self.places[path] = place
        if path not in self.before:
            self.before[path] = os.fsencode(os.readlink(path)) if os.path.islink(path) else read_file(path)
            if os.path.islink(path):
                self.links.add(path)
        if text is not None and len(text) > LARGEST:
            raise _UnclearEffect
        self.after[path], self.verbs[path] = text, verb
        self.moves.pop(path, None)
        if moved_to:
            self.moves[path] = moved_to
        if len(self.after) > _MANY:
            raise _UnclearEffect

    def list_changes(self) -> tuple[ShellChange, ...]:
        """The memory files that would change."""
        return tuple(
            ShellChange(
                place,
                self.before[path],
                self.after[path],
                self._get_new_path(path),
                self.verbs[path],
                path in self.links,
            )
            for path, place in self.places.items()
            if path in self.before and self.before[path] != self.after[path]
        )

    def _get_new_path(self, path: str) -> str:
        new = self.places.get(self.moves.get(path, ""))
        return new.path if new is not None and new.folder == self.places[path].folder else ""
