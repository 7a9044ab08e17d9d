"""The hook in Claude Code's settings: put in and taken out, while everything else stays as it is.

Pure but for reading and writing one file. A file whose content could not be kept, such as comments, is not rewritten.
"""

import json
import os
import re
import shlex
import stat
from typing import Any

from memtui.agents.hooks.payload import AFTER, BEFORE, MATCHER
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.fs.atomic import write_atomic

_EVENTS = (BEFORE, AFTER)
_SPARE_SECONDS = 15
"""How much longer Claude Code waits for the hook than the hook for a person."""
_PLAIN_SECONDS = 15
_INDENT = re.compile(r"\A\ufeff?\s*\{\r?\n([ \t]+)")
_LIMIT = 8_000_000


class HookSettingsError(MemtuiError):
    """The settings cannot be read or written; the message says why, and that nothing was written."""


@dataclass(frozen=True, slots=True)
class HookSettings:
    """A settings file: its path as it was named, its text (`None` where there is no file), and its parsed value.

    `matcher` names the tools that the hook is for.
    """

    path: str
    text: str | None
    value: dict[str, Any]
    matcher: str = MATCHER

    @property
    def commands(self) -> list[str]:
        """The commands of our hooks in it, one for each event."""
        return [command for _, command in _find_own_hooks(self.value)]

    @property
    def is_complete(self) -> bool:
        """Whether our hooks are in it for every event and every tool."""
        hooks = self.value.get("hooks", {})
        return all(
            any(
                _covers_all_tools(group, self.matcher) and any(map(_is_own_hook, _get_hooks(group)))
                for group in hooks.get(event, ())
            )
            for event in _EVENTS
        )


def load_hook_settings(path: str, matcher: str = MATCHER) -> HookSettings:
    """Read a settings file.

    Raises:
        HookSettingsError: It is not in Claude Code's format, or holds parts that would be lost.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
            data = file.read(_LIMIT + 1)
    except FileNotFoundError:
        return HookSettings(path, None, {}, matcher)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise HookSettingsError(f"{path} cannot be read: {reason}. Nothing was written.") from error
    if len(data) > _LIMIT:
        raise HookSettingsError(f"{path} is too large for a settings file. Nothing was written.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HookSettingsError(f"{path} is not UTF-8 text. Nothing was written.") from error
    if not text.removeprefix("\ufeff").strip():
        return HookSettings(path, text, {}, matcher)
    return HookSettings(path, text, _parse_settings(path, text), matcher)


def add_hooks(settings: HookSettings, command: str, *, seconds: float | None) -> str:
    """The text with our hook in it, once for each event, in place of an older one of ours.

    Args:
        settings: The file.
        command: The command line of the hook.
        seconds: How long it may wait for a person; `None` where it asks nobody.

    Raises:
        HookSettingsError: The hooks in it are not as Claude Code declares them.
    """
    timeout = _PLAIN_SECONDS if seconds is None else int(seconds) + _SPARE_SECONDS
    ours = {"type": "command", "command": command, "timeout": timeout}
    value = json.loads(json.dumps(settings.value))
    hooks = value.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise _make_format_error(settings)
    for event in _EVENTS:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise _make_format_error(settings)
        mine = dict(ours) if event == BEFORE else {**ours, "timeout": _PLAIN_SECONDS}
        places = [(group, at) for group in groups for at, hook in enumerate(_get_hooks(group)) if _is_own_hook(hook)]
        if len(places) == 1 and places[0][0].get("matcher") == settings.matcher:
            group, at = places[0]
            group["hooks"][at] = mine
            continue
        _remove_own_hooks(groups)
        groups.append({"matcher": settings.matcher, "hooks": [mine]})
    return settings.text or "" if value == settings.value else _serialize_settings(settings, value)


def remove_hooks(settings: HookSettings) -> str:
    """The text without our hooks, and without the lists that held nothing else."""
    value = json.loads(json.dumps(settings.value))
    if not _find_own_hooks(value):
        return settings.text or ""
    hooks = value["hooks"]
    for event in [event for event in hooks if isinstance(hooks[event], list)]:
        if _remove_own_hooks(hooks[event]) and not hooks[event]:
            del hooks[event]
    if not hooks:
        del value["hooks"]
    return _serialize_settings(settings, value)


def save_hook_settings(settings: HookSettings, text: str) -> None:
    """Replace a settings file, in one step; its mode stays, and a link stays a link.

    Raises:
        HookSettingsError: It cannot be written, or has changed since it was read. Nothing was written.
    """
    target = os.path.realpath(settings.path)
    try:
        if load_hook_settings(settings.path).text != settings.text:
            raise HookSettingsError(f"{settings.path} was changed by another program. Nothing was written. Try again.")
        mode = _get_mode(settings.path, target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_atomic(target, text.encode("utf-8"), mode=mode)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise HookSettingsError(f"{settings.path} cannot be written: {reason}. Nothing was written.") from error


def _get_mode(path: str, target: str) -> int:
    try:
        seen = os.lstat(target)
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(seen.st_mode):
        raise HookSettingsError(f"{path} is not a file. Nothing was written.")
    if seen.st_uid != os.geteuid():
        raise HookSettingsError(f"{path} belongs to another user. Nothing was written.")
    return stat.S_IMODE(seen.st_mode)


def _parse_settings(path: str, text: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise HookSettingsError(f"{path} has a duplicate key: one value would be lost. Nothing was written.")
        return dict(pairs)

    try:
        value = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        if text.removeprefix("\ufeff")[error.pos : error.pos + 2] in ("//", "/*"):
            raise HookSettingsError(
                f"{path} has a comment in line {error.lineno}, which would be lost. Nothing was written. Take the "
                "comments out, or add the hook by hand: memtui hook install --json prints it."
            ) from error
        where = f"{error.msg.lower()} in line {error.lineno}, column {error.colno}"
        raise HookSettingsError(f"{path} is not JSON: {where}. Nothing was written. Fix it first.") from error
    except (ValueError, RecursionError) as error:
        raise HookSettingsError(f"{path} cannot be read as JSON. Nothing was written. Fix it first.") from error
    if isinstance(value, dict) and not _is_serializable(value):
        raise HookSettingsError(f"{path} holds a number that would be lost. Nothing was written. Fix it first.")
    if not isinstance(value, dict):
        raise HookSettingsError(f"{path} is not a JSON object. Nothing was written. Fix it first.")
    return value


def _is_serializable(value: dict[str, Any]) -> bool:
    """Whether JSON has a form for all of it: `1e999` is read as infinity, which has none."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _serialize_settings(settings: HookSettings, value: dict[str, Any]) -> str:
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


def _find_own_hooks(value: dict[str, Any]) -> list[tuple[str, str]]:
    """The events and commands of our hooks."""
    hooks = value.get("hooks")
    if not isinstance(hooks, dict):
        return []
    return [
        (event, hook["command"])
        for event, groups in hooks.items()
        if isinstance(groups, list)
        for group in groups
        for hook in _get_hooks(group)
        if _is_own_hook(hook)
    ]


def _covers_all_tools(group: object, wanted: str) -> bool:
    matcher = group.get("matcher") if isinstance(group, dict) else None
    return matcher in (None, "", "*") or (
        isinstance(matcher, str) and set(wanted.split("|")) <= set(matcher.split("|"))
    )


def _get_hooks(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_own_hook(hook: object) -> bool:
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


def _remove_own_hooks(groups: list[Any]) -> bool:
    """Remove our hooks from the groups of an event, and groups that hold nothing else; whether there was one."""
    found = False
    for group in tuple(groups):
        hooks = _get_hooks(group)
        others = [hook for hook in hooks if not _is_own_hook(hook)]
        if len(others) < len(hooks):
            found = True
            hooks[:] = others
            if not others:
                groups.remove(group)
    return found


def _make_format_error(settings: HookSettings) -> HookSettingsError:
    return HookSettingsError(f"The hooks in {settings.path} do not have Claude Code's format. Nothing was written.")
