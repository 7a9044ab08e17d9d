"""The hook in Claude Code's settings: put in and taken out, while everything else stays as it stands there.

Pure but for reading and writing one file. The settings are somebody else's: what cannot be kept as it is, such as
comments, is not rewritten at all.
"""

import contextlib
import json
import os
import re
import shlex
import stat
from dataclasses import dataclass
from typing import Any

from memtui.agents.hooks.calls import AFTER, BEFORE, MATCHER
from memtui.core.errors import MemtuiError

_EVENTS = (BEFORE, AFTER)
_SPARE_SECONDS = 15
"""How much longer Claude Code waits for the hook than the hook for a person."""
_PLAIN_SECONDS = 15
_INDENT = re.compile(r"\A\ufeff?\s*\{\r?\n([ \t]+)")
_LIMIT = 8_000_000


class Unreadable(MemtuiError):
    """The settings cannot be read or written; the words say why, and that nothing was written."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A settings file as it stands.

    Attributes:
        path: As it was named.
        text: All of it; `None` where there is no file.
        value: What it means.
    """

    path: str
    text: str | None
    value: dict[str, Any]

    @property
    def commands(self) -> list[str]:
        """The commands of ours that stand in it, one for each event."""
        return [command for _, command in _ours(self.value)]

    @property
    def is_complete(self) -> bool:
        """Whether ours stand in it for every event that they are for."""
        return {event for event, _ in _ours(self.value)} == set(_EVENTS)


def load(path: str) -> Settings:
    """Read a settings file.

    Raises:
        Unreadable: It is not what Claude Code reads, or holds what would be lost.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            data = file.read(_LIMIT + 1)
    except FileNotFoundError:
        return Settings(path, None, {})
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise Unreadable(f"{path} cannot be read: {reason}. Nothing was written.") from error
    if len(data) > _LIMIT:
        raise Unreadable(f"{path} is too large for a settings file. Nothing was written.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not UTF-8 text. Nothing was written.") from error
    if not text.removeprefix("\ufeff").strip():
        return Settings(path, text, {})
    return Settings(path, text, _parsed(path, text))


def with_ours(settings: Settings, command: str, *, seconds: float | None) -> str:
    """The text with our hook in it, once for each event, in the place of an older one of ours.

    Args:
        settings: What stands there.
        command: The command line of the hook.
        seconds: For how long it may wait for a person; `None` where it asks nobody.

    Raises:
        Unreadable: The hooks in it are not as Claude Code declares them.
    """
    timeout = _PLAIN_SECONDS if seconds is None else int(seconds) + _SPARE_SECONDS
    ours = {"type": "command", "command": command, "timeout": timeout}
    value = json.loads(json.dumps(settings.value))
    hooks = value.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise _odd(settings)
    for event in _EVENTS:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise _odd(settings)
        mine = dict(ours) if event == BEFORE else {**ours, "timeout": _PLAIN_SECONDS}
        places = [(group, at) for group in groups for at, hook in enumerate(_hooks_of(group)) if _is_ours(hook)]
        if len(places) == 1 and places[0][0].get("matcher") == MATCHER:
            group, at = places[0]
            group["hooks"][at] = mine
            continue
        _without(groups)
        groups.append({"matcher": MATCHER, "hooks": [mine]})
    return settings.text or "" if value == settings.value else _written(settings, value)


def without_ours(settings: Settings) -> str:
    """The text without our hook, and without what only stood there for it."""
    value = json.loads(json.dumps(settings.value))
    if not _ours(value):
        return settings.text or ""
    hooks = value["hooks"]
    for event in [event for event in hooks if isinstance(hooks[event], list)]:
        if _without(hooks[event]) and not hooks[event]:
            del hooks[event]
    if not hooks:
        del value["hooks"]
    return _written(settings, value)


def save(settings: Settings, text: str) -> None:
    """Put a text in the place of a settings file, in one step; its mode stays, and a link stays a link.

    Raises:
        Unreadable: It cannot be written, or has changed since it was read. Nothing was written.
    """
    target = os.path.realpath(settings.path)
    passing = f"{target}.memtui-{os.getpid()}"
    try:
        if load(settings.path).text != settings.text:
            raise Unreadable(f"{settings.path} has changed meanwhile. Nothing was written. Try again.")
        mode = _mode_of(settings.path, target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with open(os.open(passing, flags, 0o600), "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(passing, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(passing)
        reason = os.strerror(error.errno or 0).lower()
        raise Unreadable(f"{settings.path} cannot be written: {reason}. Nothing was written.") from error


def _mode_of(path: str, target: str) -> int:
    try:
        seen = os.lstat(target)
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(seen.st_mode):
        raise Unreadable(f"{path} is no file. Nothing was written.")
    if seen.st_uid != os.geteuid():
        raise Unreadable(f"{path} belongs to somebody else. Nothing was written.")
    return stat.S_IMODE(seen.st_mode)


def _parsed(path: str, text: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise Unreadable(f"{path} names something twice, of which one would be lost. Nothing was written.")
        return dict(pairs)

    try:
        value = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        if text.removeprefix("\ufeff")[error.pos : error.pos + 2] in ("//", "/*"):
            raise Unreadable(
                f"{path} has a comment in line {error.lineno}, which would be lost. Nothing was written. Take the "
                "comments out, or put the hook in by hand: memtui hook install --json prints it."
            ) from error
        where = f"{error.msg.lower()} in line {error.lineno}, column {error.colno}"
        raise Unreadable(f"{path} is not JSON: {where}. Nothing was written. Mend it first.") from error
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} cannot be read as JSON. Nothing was written. Mend it first.") from error
    if isinstance(value, dict) and not _is_writable(value):
        raise Unreadable(f"{path} holds a number that would be lost. Nothing was written. Mend it first.")
    if not isinstance(value, dict):
        raise Unreadable(f"{path} holds no JSON object. Nothing was written. Mend it first.")
    return value


def _is_writable(value: dict[str, Any]) -> bool:
    """Whether JSON has all of it: a number such as `1e999` is read as an infinite one, which it has not."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _written(settings: Settings, value: dict[str, Any]) -> str:
    """A value as text, indented and ended as the file was."""
    text = settings.text or ""
    found = _INDENT.match(text)
    indent: str | int | None = found.group(1) if found else None if text.strip() and "\n" not in text.strip() else 2
    written = json.dumps(value, indent=indent, ensure_ascii=text.isascii() and "\\u" in text)
    if not text or text.endswith("\n"):
        written += "\n"
    if "\r\n" in text:
        written = written.replace("\n", "\r\n")
    return ("\ufeff" if text.startswith("\ufeff") else "") + written


def _ours(value: dict[str, Any]) -> list[tuple[str, str]]:
    """Our hooks, each with its event."""
    hooks = value.get("hooks")
    if not isinstance(hooks, dict):
        return []
    return [
        (event, hook["command"])
        for event, groups in hooks.items()
        if isinstance(groups, list)
        for group in groups
        for hook in _hooks_of(group)
        if _is_ours(hook)
    ]


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: object) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if len(words) > 3 and words[1:4] == ["-m", "memtui", "hook"]:
        return True
    return len(words) > 1 and os.path.basename(words[0]) == "memtui" and words[1] == "hook"


def _without(groups: list[Any]) -> bool:
    """Take our hooks out of the groups of an event, and groups that hold nothing else; tells whether there was one."""
    found = False
    for group in tuple(groups):
        hooks = _hooks_of(group)
        kept = [hook for hook in hooks if not _is_ours(hook)]
        if len(kept) < len(hooks):
            found = True
            hooks[:] = kept
            if not kept:
                groups.remove(group)
    return found


def _odd(settings: Settings) -> Unreadable:
    return Unreadable(f"The hooks in {settings.path} are not as Claude Code declares them. Nothing was written.")
