"""The first look at a call of the hook: most files that an agent writes are no memories, and must cost it nothing.

Only what is certain is decided here; everything else goes to `memtui.agents.hooks.hook`. Nothing else of memtui is
loaded, and little of Python.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FLAGS, _VALUES = frozenset({"--ask", "--strict"}), frozenset({"--wait", "--dir", "--state"})
_MARKS = frozenset({"memory", "agent-memory", "agent-memory-local"})
"""Names of directories in which Claude Code keeps memories."""
_EVENTS = ("PreToolUse", "PostToolUse")
_SIGNS = str.maketrans(dict.fromkeys("'\"()<>;|&=`{},\\", " "))
_PATTERN = frozenset("$*?[")
_WORDS = 100
"""Words of a command that are looked at; a longer one is not decided here."""
_LIMIT = 64_000_001
"""Bytes that are read: one more than a call may have."""
_HASH = 13
"""Characters of a hash behind the name of a state directory."""


def _refuse_constant(word: str) -> object:
    raise ValueError(word)


_SCANNING = type(
    "_Scanning",
    (),
    {
        **{"strict": True, "memo": {}, "object_hook": None, "object_pairs_hook": None},
        **{"parse_float": float, "parse_int": int, "parse_constant": staticmethod(_refuse_constant)},
    },
)
"""How JSON is read, for the scanner below the module `json`, which takes as long to load as Python to start."""

_input: bytes | None = None


def read_input() -> bytes:
    """What standard input holds, read once."""
    global _input  # noqa: PLW0603 - the rest of a process reads what the first look has read
    if _input is None:
        with open(0, "rb", closefd=False) as stdin:
            _input = stdin.read(_LIMIT)
    return _input


def parse_options(words: list[str]) -> "dict[str, str] | None":
    """The options of a hook, empty for one without a value; `None` where the command line has to read them."""
    options, left = dict[str, str](), iter(words)
    for word in left:
        value = next(left, "") if word in _VALUES else None
        if value is None and word not in _FLAGS:
            return None
        if value is not None and (not value or value[0] == "-" or (word == "--wait" and not _is_wait(value))):
            return None
        options[word] = value or ""
    return options


def _is_wait(value: str) -> bool:
    return value.isascii() and value.isdecimal() and 1 <= int(value[:9]) <= 3_600 and len(value) < 10


def is_done(words: list[str]) -> bool:
    """Whether a hook with these options has nothing to do for the call on standard input."""
    options = parse_options(words)
    try:
        return options is not None and not os.isatty(0) and is_foreign_call(read_input(), options.get("--dir"))
    except (OSError, ValueError, RecursionError):
        return False


def _parse_json(data: bytes) -> "dict[str, Any]":
    """An object from JSON.

    Raises:
        ValueError: It is none, or this Python has no such scanner.
        RecursionError: It is too deep.
    """
    try:
        from _json import make_scanner  # noqa: PLC0415 - CPython's own; without it this module decides nothing

        text = data.decode("utf-8").strip()
        value, end = make_scanner(_SCANNING)(text, 0)  # type: ignore[arg-type] # any object with these attributes
    except (ImportError, StopIteration, AttributeError, TypeError) as error:
        raise ValueError("not JSON") from error
    if end != len(text) or not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def is_foreign_call(data: bytes, directory: str | None = None) -> bool:
    """Whether a call certainly has nothing to do with a memory; `directory` is a memory folder of the options."""
    fields = _parse_json(data) if len(data) < _LIMIT else {}
    given = fields.get("tool_input")
    if not isinstance(given, dict) or fields.get("hook_event_name") not in _EVENTS:
        return False
    named = directory and os.path.realpath(os.path.expanduser(directory))
    match fields.get("tool_name"):
        case "Write" | "Edit" | "MultiEdit":
            path = given.get("file_path")
            return isinstance(path, str) and path.startswith("/") and not _may_be_memory(path, named, _list_known())
        case "apply_patch":
            patch, where = given.get("command"), fields.get("cwd")
            if isinstance(patch, str) and isinstance(where, str) and where.startswith("/"):
                return not any(_may_be_memory(path, named, _list_known()) for path in _list_patched(patch, where))
        case "Bash":
            command, where = given.get("command"), fields.get("cwd")
            if isinstance(command, str) and isinstance(where, str) and where.startswith("/"):
                return _is_foreign_command(command, where, named)
    return False


def _list_patched(patch: str, where: str) -> "list[str]":
    """The files of a patch of Codex, whose lines are `*** Add File: path` and the like."""
    marked = [line[4:].partition(": ")[2].strip() for line in patch.split("\n") if line.startswith("*** ")]
    return [os.path.join(where, path) for path in marked if path]


def _is_foreign_command(command: str, where: str, named: str | None) -> bool:
    words = command.translate(_SIGNS).split()
    if len(words) > _WORDS:
        return False
    paths = [os.path.join(where, os.path.expanduser(word)) for word in words]
    if ("rm" in words or "mv" in words) and any(_PATTERN.intersection(path) or os.path.isdir(path) for path in paths):
        return False  # a memory may be below
    known = _list_known()
    lower = command.lower()
    if "memor" in lower or any(name in command for name in known) or (named and os.path.basename(named) in command):
        return False
    return not any("$" not in path and _may_be_memory(path, named, known) for path in (where, *paths))


def _may_be_memory(path: str, named: str | None, known: frozenset[str]) -> bool:
    real = os.path.realpath(path)
    parts = frozenset(real.split("/"))
    return bool((named and f"{real}/".startswith(f"{named}/")) or "root" in known or parts & _MARKS or parts & known)


def _list_known() -> frozenset[str]:
    """The names of the folders with a state directory (see `memtui.fs.state`)."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    try:
        return frozenset(name[:-_HASH] for name in os.listdir(f"{base}/memtui/stores"))
    except FileNotFoundError:
        return frozenset()
