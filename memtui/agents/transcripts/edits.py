"""The texts before and after a call, as far as its input, its result and earlier calls tell them."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memtui.agents.transcripts.parse import DELETE, SHELL, FolderMatcher, TranscriptCall, TranscriptResult
from memtui.agents.transcripts.patch import UnclearPatch, parse_patch
from memtui.agents.transcripts.shell import FileEffect, is_confirmed

_ORIGINAL = ("originalFile", "originalFileContents", "original_file")
"""Names of the text before in a result."""
LONGEST = 16_000_000
"""Characters of the longest text that is followed: edits may say that a text doubles, again and again."""
_MOST_COMPARED = 50_000_000
"""Lines of a text times lines of a patch that are compared at most."""


def find_texts(call: TranscriptCall, result: TranscriptResult, known: str | None) -> tuple[str | None, str | None]:
    """The texts of a file before and after a call; `None` where unknown, or for no file.

    Args:
        call: The call.
        result: Its result.
        known: The text after earlier calls.
    """
    details = result.details
    originals = [details[name] for name in _ORIGINAL if isinstance(details.get(name), str)]
    before: str | None = originals[0] if originals else None if details.get("type") == "create" else known
    if call.tool == "NotebookEdit":
        after = details.get("updated_file")
        return before, after if isinstance(after, str) else None
    if call.tool == "Write":
        content = details.get("content", call.given.get("content"))
        return before, content if isinstance(content, str) else None
    if call.tool == DELETE:
        return before, None
    if before is None:
        return None, None
    if isinstance(patch := call.given.get("patch"), str):
        return before, _apply_codex_patch(before, patch)
    patched = _apply_patch(before, details.get("structuredPatch"))
    if patched is None and details.get("structuredPatch") and not originals:
        return None, None  # another program wrote it meanwhile
    after = _apply_edits(before, call)
    if details.get("userModified") is True or after is None:
        return before, patched
    # A patch tells line ends and blanks at ends of lines; but tabs in it may be drawn as blanks.
    return before, after if patched is None or "\t" in before or "\t" in after else patched


def _apply_edits(before: str, call: TranscriptCall) -> str | None:
    edits = call.given.get("edits") if call.tool == "MultiEdit" else [call.given]
    if not isinstance(edits, list):
        return None
    after: str | None = before
    for edit in edits:
        after = _apply_replacement(after, edit) if after is not None and isinstance(edit, dict) else None
    return after


def _apply_replacement(text: str, edit: Mapping[str, Any]) -> str | None:
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    if old not in text:
        return None
    if not new and not old.endswith("\n") and f"{old}\n" in text:
        old += "\n"  # so Claude Code takes out the line and leaves no empty one
    times = text.count(old) if edit.get("replace_all") is True else 1
    if len(text) + times * (len(new) - len(old)) > LONGEST:
        return None
    return text.replace(old, new, times)


def _apply_patch(before: str, hunks: object) -> str | None:
    """A text with Claude Code's patch applied; `None` if it does not fit to the letter."""
    if not isinstance(hunks, list) or not hunks:
        return None
    old, new, at = before.split("\n"), list[str](), 0
    for hunk in hunks:
        start, lines = (hunk.get("oldStart"), hunk.get("lines")) if isinstance(hunk, dict) else (None, None)
        if type(start) is not int or not isinstance(lines, list) or not at <= (start := max(0, start - 1)) <= len(old):
            return None
        new += old[at:start]
        at = start
        for line in lines:
            sign, words = (line[:1], line[1:]) if isinstance(line, str) else ("", "")
            if sign == "\\":
                return None  # it is about the end of the last line, and may be about either text
            if sign not in ("+", "-", " ") or (sign != "+" and (at >= len(old) or old[at] != words)):
                return None
            if sign != "-":
                new.append(words)
            at += sign != "+"
    return "\n".join([*new, *old[at:]])


def _apply_codex_patch(before: str, patch: str) -> str | None:
    """A text with the first file of a patch of Codex applied; `None` if it does not fit to the letter."""
    if (before.count("\n") + 1) * (patch.count("\n") + 1) > _MOST_COMPARED:
        return None
    for each in parse_patch(patch):
        try:
            after = each.apply(before.encode("utf-8"))
        except (UnclearPatch, UnicodeEncodeError):
            return None
        return None if after is None else after.decode("utf-8", "replace")
    return None


class TranscriptChange(NamedTuple):
    """The change of one file by a call.

    Attributes:
        tool: The tool's name, or the shell command's.
        before: The text before; `None` for no file, or if unknown.
        after: The text after; `None` for no file, or if unknown.
        moved_from: Its path before a move to here; relative to the folder.
        moved_to: Its path after a move away.
    """

    tool: str
    before: str | None
    after: str | None
    is_deleted: bool = False
    moved_from: str = ""
    moved_to: str = ""


class TranscriptReplay:
    """Replays the calls in their order; what they made of files can often be told only from the calls before."""

    def __init__(self, within: FolderMatcher) -> None:
        self._within = within
        self._texts: dict[str, str | None] = {}
        """The files that are known to be there, with their texts where these are known."""

    def apply_call(self, call: TranscriptCall, result: TranscriptResult) -> dict[str, TranscriptChange]:
        """The changes of a call to files in the folder, by path."""
        if call.tool != SHELL:
            return dict(self._apply_write(call, result))
        changes: dict[str, TranscriptChange] = {}
        for effect in call.effects:
            if is_confirmed(effect, result.details):
                for path, changed in self._apply_effect(effect):
                    first = changes.get(path)
                    changes[path] = changed if first is None else changed._replace(before=first.before)
        return changes

    def _apply_write(self, call: TranscriptCall, result: TranscriptResult) -> Iterator[tuple[str, TranscriptChange]]:
        path, tool = self._within.to_relative(call.file), call.shown or call.tool
        target = self._within.to_relative(call.moved_to) if call.moved_to else path
        before, after = find_texts(call, result, self._texts.get(path) if path else None)
        if path and (call.tool == DELETE or target != path):
            moved_to = target or "" if call.tool != DELETE else ""
            yield self._store(path, TranscriptChange(tool, before, None, is_deleted=True, moved_to=moved_to))
        if target and call.tool != DELETE:
            was = before if target == path else self._texts.get(target)
            moved_from = path or "" if target != path else ""
            yield self._store(target, TranscriptChange(tool, was, after, moved_from=moved_from))

    def _apply_effect(self, effect: FileEffect) -> Iterator[tuple[str, TranscriptChange]]:
        if effect.verb == "rm":
            yield from self._apply_removal(effect)
        elif effect.source:
            yield from self._apply_move(effect)
        elif path := self._within.to_relative(effect.file):
            before, after = self._texts.get(path), effect.text
            if effect.is_added:
                is_told = before is not None and after is not None and len(before) + len(after) <= LONGEST
                after = f"{before}{after}" if is_told else None
            yield self._store(path, TranscriptChange(effect.verb, before, after))

    def _apply_removal(self, effect: FileEffect) -> Iterator[tuple[str, TranscriptChange]]:
        path = self._within.to_relative(effect.file)
        is_above = path is not None or self._within.is_folder_below(effect.file)
        below = self._list_below(path or "") if effect.is_deep and is_above else []
        # Without an ending it may be a directory of unknown contents.
        if path and not below and (not effect.is_deep or path in self._texts or "." in os.path.basename(path)):
            below = [path]
        for each in below:
            yield self._store(each, TranscriptChange(effect.verb, self._texts.get(each), None, is_deleted=True))

    def _apply_move(self, effect: FileEffect) -> Iterator[tuple[str, TranscriptChange]]:
        source, target = self._within.to_relative(effect.source), self._resolve_target(effect)
        is_move = effect.verb == "mv"
        if source and source not in self._texts and (below := self._list_below(source)):  # a directory: target unknown
            for path in below if is_move else ():
                yield self._store(path, TranscriptChange(effect.verb, self._texts[path], None, is_deleted=True))
            return
        text = self._texts.get(source) if source else None
        if target and target != source:
            moved_from = source or "" if is_move else ""
            yield self._store(
                target, TranscriptChange(effect.verb, self._texts.get(target), text, moved_from=moved_from)
            )
        if source and is_move and target != source:
            yield self._store(source, TranscriptChange(effect.verb, text, None, is_deleted=True, moved_to=target or ""))

    def _resolve_target(self, effect: FileEffect) -> str | None:
        """The target of a move or copy; `None` if it is outside, or not clear."""
        path = self._within.to_relative(effect.file)
        if path is None:
            return None
        name = os.path.basename(effect.source)
        if effect.is_into or not path or (path not in self._texts and self._list_below(path)):
            return self._within.to_relative(os.path.join(effect.file, name))
        # Without an ending it may be an unknown directory.
        return path if path in self._texts or "." in os.path.basename(path) else None

    def _list_below(self, directory: str) -> list[str]:
        return [path for path in self._texts if not directory or path.startswith(f"{directory}/")]

    def _store(self, path: str, change: TranscriptChange) -> tuple[str, TranscriptChange]:
        """Note a change of a file for later calls."""
        if change.is_deleted:
            self._texts.pop(path, None)
        else:
            self._texts[path] = change.after
        return path, change
