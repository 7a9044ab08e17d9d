"""What there is to say of one note, gathered from the folder and from the record."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memtui.core.actors import shown_name
from memtui.core.events import Agent, Event, sha256
from memtui.core.history import PathVersion
from memtui.core.paths import ROOT_NAME
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.notes.flags import FLAGS, flags_of
from memtui.notes.kinds import type_of
from memtui.notes.tags import tags_of
from memtui.ui import wording

if TYPE_CHECKING:
    from memtui.engine import Engine

_PAGE = 5_000
_PROMPT = 300
"""Characters of a prompt that are shown."""
_VIEW = b'"command":"view"'

Stop = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to say of a note.

    Attributes:
        name: What it is, in a word or two.
        value: What is the case.
    """

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Reads:
    """How often agents looked at a note.

    Attributes:
        count: How often.
        last: When the last time was, and who it was; empty if there was none.
    """

    count: int
    last: str = ""

    @property
    def fact(self) -> Fact:
        """In words."""
        if not self.count:
            return Fact("read by agents", "never, as far as it is recorded")
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return Fact("read by agents", f"{times}, last {self.last}")


def facts_of(engine: "Engine", path: str, *, folder: str, marks: Sequence[str] = (), now_us: int) -> list[Fact]:
    """What there is to say of what stands at a path; from a thread.

    Args:
        engine: The open memory.
        path: Relative to the folder.
        folder: Where the folder is.
        marks: Words such as `pinned` and `protected`.
        now_us: The time, in microseconds since 1970.
    """
    seen = engine.look(path)
    facts = [Fact("path", f"{ROOT_NAME}/{path}"), Fact("file", _from_home(f"{folder}/{path}"))]
    node = seen.node
    if node is None:
        facts.append(Fact("now", "nothing is there any more"))
    elif node.kind is Kind.DIRECTORY:
        below = sum(entry.kind is not Kind.DIRECTORY and entry.path.startswith(f"{path}/") for entry in engine.names())
        facts.append(Fact("folder", f"{below:,} {'file' if below == 1 else 'files'} below it"))
    elif node.kind is Kind.FILE:
        facts += _of_text(path, seen.data, node.size)
    else:
        facts.append(Fact("kind", f"{node.kind.value}; memtui does not follow or open it"))
    if seen.problem:
        facts.append(Fact("problem", seen.problem))
    if node is not None and node.mtime_ns:
        facts.append(Fact("file time", _when(node.mtime_ns // 1_000, now_us)))
    if marks:
        facts.append(Fact("marks", ", ".join(marks)))
    if node is None or node.kind is not Kind.DIRECTORY:
        versions = engine.history.versions_of(path, told=True)
        facts += _of_versions(versions, now_us)
        facts += _of_origin(engine, versions)
    return facts


def reads_of(engine: "Engine", path: str, now_us: int, *, stop: Stop = lambda: False) -> Reads:
    """How often agents looked at a note; from a thread. All events are passed through, so that it may take a while."""
    quoted = json.dumps(f"{ROOT_NAME}/{path}").encode()
    needle = b'"path":' + quoted
    head, after, count, last = engine.head()[0], 0, 0, 0
    while after < head and not stop():
        for seq, body in engine.history.bodies(after, limit=_PAGE):
            if _VIEW in body and needle in body and b'"is_error"' not in body:
                count, last = count + 1, seq
        after += _PAGE
    event = engine.history.event(last) if last else None
    return Reads(count, _by(event, event.at_us, now_us) if event else "")


def _from_home(path: str) -> str:
    """A path as a person writes it: from her own directory on, where it is in there."""
    own = os.path.expanduser("~").rstrip("/")
    return f"~{path.removeprefix(own)}" if own and path.startswith(f"{own}/") else path


def _of_text(path: str, data: bytes | None, size: int) -> list[Fact]:
    if data is None:
        return [Fact("size", wording.size(size))]
    facts = []
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        facts.append(Fact("size", _size(len(data))))
        facts.append(Fact("text", f"not UTF-8, from byte {error.start:,} on"))
        text = ""
    else:
        lines = text.count("\n") + (not text.endswith("\n") if text else 0)
        words = len(text.split())
        counted = ", ".join(
            f"{count:,} {name if count != 1 else name[:-1]}" for count, name in ((lines, "lines"), (words, "words"))
        )
        tokens = wording.tokens(text).removesuffix(" tok")
        facts.append(Fact("size", f"{_size(len(data))}, {counted}"))
        facts.append(Fact("tokens", f"{tokens}, estimated from its characters"))
        facts.append(Fact("type", type_of(path, text)))
        if tags := tags_of(text):
            facts.append(Fact("tags", " ".join(f"#{tag}" for tag in sorted(tags))))
    if flags := flags_of(data, path):
        facts.append(Fact("look at", "; ".join(f"{flag}: {FLAGS[flag]}" for flag in sorted(flags))))
    facts.append(Fact("sha-256", sha256(data)))
    return facts


def _size(count: int) -> str:
    """Bytes, also rounded where they are many."""
    exact = f"{count:,} {'byte' if count == 1 else 'bytes'}"
    return exact if count < 1_000 else f"{wording.size(count)} ({exact})"


def _of_versions(versions: Sequence[PathVersion], now_us: int) -> list[Fact]:
    if not versions:
        return [Fact("history", "nothing has been recorded of it")]
    changed, made = versions[0].event, versions[-1].event
    facts = [Fact("changed", _by(changed, versions[0].at_us, now_us))]
    if made is not changed:
        name = "first seen" if made.command in ("found", "began") else "made"
        facts.append(Fact(name, _by(made, versions[-1].at_us, now_us)))
    count = len(versions)
    facts.append(Fact("versions", f"{count:,}; V shows {'it' if count == 1 else 'them'}"))
    if changed.call_id:
        facts.append(Fact("last call", changed.call_id))
    return facts


def _of_origin(engine: "Engine", versions: Sequence[PathVersion]) -> list[Fact]:
    """In which conversation, and what for, it was written last, as far as anything tells it."""
    from memtui.agents.origin import prompt_of  # deferred: only where details are asked for

    newest = next((row for row in versions if row.event.call_id or row.told is not None), None)
    if newest is None:
        return []
    event = newest.told_by or newest.event
    facts = []
    if newest.told is not None:
        name = "removed by" if newest.told.is_gone and newest.moved_to is None else "written by"
        facts.append(Fact(name, one_line(f"{shown_name(event.actor)}, {newest.told.tool}")))
    if isinstance(event.actor, Agent) and event.actor.session:
        facts.append(Fact("session", one_line(event.actor.session)))
    path = engine.journal.path
    if newest.told is not None:
        prompt, source = newest.told.prompt, f"{newest.told.source}:{newest.told.line}"
    else:
        prompt, source = prompt_of(event, Path(path).parent if path is not None else None)
    if prompt:
        words = " ".join(prompt.split())
        facts.append(Fact("asked for", one_line(words if len(words) <= _PROMPT else f"{words[:_PROMPT]}...")))
    if source:
        facts.append(Fact("told in", one_line(source)))
    return facts


def _by(event: Event, at_us: int, now_us: int) -> str:
    """Who, when and how: `Claude, 14s ago (10:14:03, str_replace, #41)`."""
    ago = wording.age(max(0, now_us - at_us) / 1e6)
    when = wording.when(replace(event, at_us=at_us), now_us)
    return one_line(f"{shown_name(event.actor)}, {ago} ago ({when}, {event.command}, #{event.seq})")


def _when(at_us: int, now_us: int) -> str:
    at = datetime.fromtimestamp(at_us / 1e6)
    return f"{wording.age(max(0, now_us - at_us) / 1e6)} ago ({at:%Y-%m-%d %H:%M:%S})"
