"""Facts about a note from the folder and the record, and the texts that links are resolved in."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memtui.core import wording
from memtui.core.events import Agent, EntryKind, Event, format_actor_in_sentence, format_actor_name, sha256
from memtui.core.history import PathVersion
from memtui.core.paths import ROOT_NAME, format_path
from memtui.core.unicode import to_one_line
from memtui.notes.formats import get_note_type
from memtui.notes.links import Backlink, LinkTargets, find_backlinks, find_tags, get_note_names
from memtui.scan.flags import FLAGS, find_flags
from memtui.ui.key_names import label_key

if TYPE_CHECKING:
    from memtui.engine import Engine
    from memtui.search.finder import Finder


_PAGE = 5_000
_PROMPT = 300
"""Characters of a prompt that are shown."""
_VIEW = b'"command":"view"'

Stop = Callable[[], bool]


class NoteFact(NamedTuple):
    """A name of a word or two, and its value."""

    name: str
    value: str


def collect_facts(
    engine: "Engine", path: str, *, folder: str, marks: Sequence[str] = (), now_us: int
) -> list[NoteFact]:
    """The facts about a path; from a thread.

    Args:
        path: Relative to the folder.
        folder: The folder's path.
        marks: Words such as `pinned` and `protected`.
        now_us: The time, in microseconds since 1970.
    """
    seen = engine.inspect_path(path)
    facts = [NoteFact("path", f"{ROOT_NAME}/{path}"), NoteFact("file", format_path(f"{folder}/{path}"))]
    node = seen.node
    if node is None:
        facts.append(NoteFact("now", "not in the folder"))
    elif node.kind is EntryKind.DIRECTORY:
        below = sum(
            entry.kind is not EntryKind.DIRECTORY and entry.path.startswith(f"{path}/") for entry in engine.iter_names()
        )
        facts.append(NoteFact("folder", f"{wording.format_count(below, 'file')} below it"))
    elif node.kind is EntryKind.FILE:
        facts += _list_text_facts(path, seen.data, node.size)
    else:
        facts.append(NoteFact("kind", f"{node.kind.value}; memtui does not follow or open it"))
    if seen.problem:
        facts.append(NoteFact("problem", seen.problem))
    if node is not None and node.mtime_ns:
        facts.append(NoteFact("file time", _format_time(node.mtime_ns // 1_000, now_us)))
    from memtui.places.file_rules import describe_rule  # noqa: PLC0415 - start-up: for details only

    if words := describe_rule(engine.dialect.title, engine.dialect.get_rule(path)):
        facts.append(NoteFact("to its agent", words))
    if marks:
        facts.append(NoteFact("marks", ", ".join(marks)))
    if node is None or node.kind is not EntryKind.DIRECTORY:
        versions = engine.history.versions_of(path, imported=True)
        facts += _list_version_facts(versions, now_us)
        facts += _list_origin_facts(engine, versions)
    if seen.data is not None:
        facts.append(NoteFact("sha-256", sha256(seen.data)))
    return facts


def count_reads(engine: "Engine", path: str, now_us: int, *, stop: Stop = lambda: False) -> NoteFact:
    """How often agents read a note; from a thread, and slow: all events are passed through."""
    needle = b'"path":' + json.dumps(f"{ROOT_NAME}/{path}").encode()
    head, after, count, last = engine.get_head()[0], 0, 0, 0
    while after < head and not stop():
        for seq, body in engine.history.iter_bodies(after, limit=_PAGE):
            if _VIEW in body and needle in body and b'"is_error"' not in body:
                count, last = count + 1, seq
        after += _PAGE
    event = engine.history.get_event(last) if last else None
    if event is None:
        return NoteFact("read by agents", "never (in the history)")
    times = "once" if count == 1 else f"{count:,} times"
    return NoteFact("read by agents", f"{times}, last {_format_authorship(event, event.at_us, now_us)}")


def _list_text_facts(path: str, data: bytes | None, size: int) -> list[NoteFact]:
    if data is None:
        return [NoteFact("size", wording.format_size(size))]
    facts = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        facts.append(NoteFact("size", _format_size(len(data))))
        facts.append(NoteFact("text", f"not UTF-8 (first at byte {error.start:,})"))
        text = ""
    else:
        lines = text.count("\n") + (not text.endswith("\n") if text else 0)
        words = len(text.split())
        counts = f"{wording.format_count(lines, 'line')}, {wording.format_count(words, 'word')}"
        tokens = wording.estimate_tokens(text).removesuffix(" tok")
        facts.append(NoteFact("size", f"{_format_size(len(data))}, {counts}"))
        facts.append(NoteFact("tokens", f"{tokens}, estimated"))
        facts.append(NoteFact("type", get_note_type(path, text)))
        if tags := find_tags(text):
            facts.append(NoteFact("tags", " ".join(f"#{tag}" for tag in sorted(tags))))
    if flags := find_flags(data, path):
        facts.append(NoteFact("warnings", "; ".join(f"{flag}: {FLAGS[flag]}" for flag in sorted(flags))))
    return facts


def _format_size(count: int) -> str:
    """Bytes, also rounded where they are many."""
    exact = wording.format_count(count, "byte")
    return exact if count < 1_000 else f"{wording.format_size(count)} ({exact})"


def _list_version_facts(versions: Sequence[PathVersion], now_us: int) -> list[NoteFact]:
    if not versions:
        return [NoteFact("history", "none recorded")]
    changed, made = versions[0].event, versions[-1].event
    facts = [NoteFact("changed", _format_authorship(changed, versions[0].at_us, now_us))]
    if made is not changed:
        name = "first seen" if made.command in ("found", "began") else "created"
        facts.append(NoteFact(name, _format_authorship(made, versions[-1].at_us, now_us)))
    shows = f"{label_key('browse.history')} shows {'it' if len(versions) == 1 else 'them'}"
    facts.append(NoteFact("versions", f"{len(versions):,}; {shows}"))
    if changed.call_id:
        facts.append(NoteFact("last call", changed.call_id))
    return facts


def _list_origin_facts(engine: "Engine", versions: Sequence[PathVersion]) -> list[NoteFact]:
    """The conversation and the prompt of the last change, as far as they are known."""
    from memtui.agents.origin import find_prompt  # noqa: PLC0415 - start-up: for details only

    newest = next((row for row in versions if row.event.call_id or row.imported is not None), None)
    if newest is None:
        return []
    event = newest.imported_by or newest.event
    facts = []
    if newest.imported is not None:
        name = "deleted by" if newest.imported.is_gone and newest.moved_to is None else "written by"
        facts.append(NoteFact(name, to_one_line(f"{format_actor_name(event.actor)}, {newest.imported.tool}")))
    if isinstance(event.actor, Agent) and event.actor.session:
        facts.append(NoteFact("session", to_one_line(event.actor.session)))
    directory = engine.journal.files.directory
    if newest.imported is not None:
        prompt, source = newest.imported.prompt, newest.imported.origin
    else:
        prompt, source = find_prompt(event, Path(directory) if directory is not None else None)
    if prompt:
        words = " ".join(prompt.split())
        facts.append(NoteFact("prompt", to_one_line(words if len(words) <= _PROMPT else f"{words[:_PROMPT]}...")))
    if source:
        facts.append(NoteFact("source", to_one_line(source)))
    return facts


def _format_authorship(event: Event, at_us: int, now_us: int) -> str:
    """Actor, age and event: `Claude, 14s ago (10:14:03, str_replace, #41)`."""
    ago = wording.format_age(max(0, now_us - at_us) / 1e6)
    when = wording.format_event_time(replace(event, at_us=at_us), now_us)
    return to_one_line(f"{format_actor_in_sentence(event.actor)}, {ago} ago ({when}, {event.command}, #{event.seq})")


def _format_time(at_us: int, now_us: int) -> str:
    at = datetime.fromtimestamp(at_us / 1e6)
    return f"{wording.format_age(max(0, now_us - at_us) / 1e6)} ago ({at:%Y-%m-%d %H:%M:%S})"


class FolderTexts:
    """The texts of a folder, as a finder has them in memory. Every method may block: call it from a thread."""

    def __init__(self, finder: "Finder") -> None:
        self._finder = finder

    def read_text(self, path: str) -> str | None:
        """The text of a note; `None` if it is no text, or not there."""
        data = self._finder.get_note(path)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def index_notes(self, with_names: bool) -> LinkTargets:
        """The paths of the notes, and optionally their own names, for which all notes are read."""
        if with_names:
            return self._read_all(lambda: False)[0]
        return LinkTargets(entry.path for entry in self._finder.engine.iter_names() if entry.kind is EntryKind.FILE)

    def find_backlinks(self, path: str, stop: Stop = lambda: False) -> list[Backlink]:
        """The links in other notes that lead to one."""
        places, texts = self._read_all(stop)
        return find_backlinks(path, texts.items(), places, stop=stop)

    def _read_all(self, stop: Stop) -> tuple[LinkTargets, dict[str, str]]:
        self._finder.refresh(stop=stop)
        paths = sorted(self._finder.paths)
        readable = takewhile(lambda _: not stop(), paths)
        texts = {path: text for path in readable if (text := self.read_text(path)) is not None}
        return LinkTargets(paths, {path: get_note_names(text) for path, text in texts.items()}), texts
