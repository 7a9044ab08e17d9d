"""The tools as clients list them: names, fields and what a model is told of them."""

from typing import Any

import mcp_types as types

from memtui.core.commands import FIELDS

MEMORY, SEARCH, ACTIVITY, HISTORY = "memory", "search_memory", "recent_activity", "memory_history"

_PROTOCOL = """\
Notes that outlast this conversation: text files below /memories. They belong to the user, who sees each change as it \
happens, with your name on it, and can take it back.

View /memories before you begin: earlier work may have left something there. Write down what later work will need, \
while you work: it may end at any moment. Keep notes short and current: change or delete what is no longer true \
rather than adding to it. Never write down secrets.

- view: `path`; of a file also `view_range` [first, last], where last may be -1. Lists a directory two levels deep.
- create: `path`, `file_text`. Makes the file and its directories, or overwrites it.
- str_replace: `path`, `old_str`, `new_str`. `old_str` must stand in the file exactly once; no `new_str` deletes it.
- insert: `path`, `insert_line`, `insert_text`. Behind that line; 0 is the top.
- delete: `path`, a file or a directory with all in it.
- rename: `old_path`, `new_path`, which must be free."""
_READ_ONLY = "\n\nThis memory is read-only: everything but view is refused."
_ASK = "\n\nEach change waits for the user to approve it, and may be declined or edited: read the answer."
_PATH = "A path from /memories on, such as /memories/notes/today.md"


def tools(*, read_only: bool, asks: bool) -> list[types.Tool]:
    """All tools.

    Args:
        read_only: Whether every change is refused.
        asks: Whether a person is asked before a change.
    """
    return [_memory(read_only=read_only, asks=asks), _search(), _activity(), _history()]


def _memory(*, read_only: bool, asks: bool) -> types.Tool:
    string: dict[str, Any] = {"type": "string"}
    properties: dict[str, Any] = {
        "command": {"type": "string", "enum": list(FIELDS), "description": "What to do"},
        "path": {**string, "description": f"{_PATH}; for every command but rename"},
        "view_range": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "view: the first and last line to show, from 1; -1 for the end",
        },
        "file_text": {**string, "description": "create: the whole text of the file"},
        "old_str": {**string, "description": "str_replace: the text to replace, exactly as it stands in the file"},
        "new_str": {**string, "description": "str_replace: what to put in its place"},
        "insert_line": {"type": "integer", "description": "insert: the line behind which to insert; 0 for the top"},
        "insert_text": {**string, "description": "insert: the text to insert"},
        "old_path": {**string, "description": "rename: what to rename"},
        "new_path": {**string, "description": "rename: the new path"},
    }
    return types.Tool(
        name=MEMORY,
        title="Memory",
        description=_PROTOCOL + (_READ_ONLY if read_only else _ASK if asks else ""),
        input_schema={"type": "object", "properties": properties, "required": ["command"]},
        annotations=types.ToolAnnotations(
            title="Memory",
            read_only_hint=read_only,
            destructive_hint=not read_only,
            idempotent_hint=False,
            open_world_hint=False,
        ),
    )


def _search() -> types.Tool:
    return _looking(
        SEARCH,
        "Search memory",
        "Find notes by their names and lines, or with `scope` past what they once said, deleted notes too: which line, "
        "who wrote it and who took it away. All words of the query have to be in a note, anywhere, each as a part of a "
        'word; case matters only for a word with a capital in it. Beside words: "two words" side by side, !word not '
        "there, a | b, re:expression, and filters by:NAME since:2d in:folder/ tag:x type:json. Answers with path, line "
        "number and line, the best first.",
        {
            "query": {"type": "string", "description": "What to look for, on one line"},
            "scope": {
                "type": "string",
                "enum": ["now", "names", "text", "past"],
                "description": "names, lines (text), or both (now, if not given); past for all earlier versions",
            },
            "limit": _limit("How many matches to show; 50 if not given", 200),
        },
        ["query"],
        _object(
            matches=_array(
                _object(path=_STRING, uri=_STRING, line={"type": ["integer", "null"]}, text=_STRING),
            ),
            past=_array({"type": "object"}),
            more=_INTEGER,
            notes=_INTEGER,
            searched=_INTEGER,
            complete={"type": "boolean"},
        ),
    )


def _activity() -> types.Tool:
    return _looking(
        ACTIVITY,
        "Recent activity",
        "What happened to the memory last, oldest first: who viewed or changed what, when, and with what result; also "
        "changes by the user and by other programs.",
        {
            "limit": _limit("How many events; 20 if not given", 200),
            "path": {"type": "string", "description": f"Only what touched this file or directory. {_PATH}"},
        },
        [],
        _object(events=_array({"type": "object"})),
    )


def _history() -> types.Tool:
    return _looking(
        HISTORY,
        "History of a memory",
        "What one note has been through, also if it was renamed or deleted since: when, who and what. With `from` (and "
        "`to`), numbers of events, a diff of what it held after the one and after the other.",
        {
            "path": {"type": "string", "description": _PATH},
            "limit": _limit("How many versions to list; 20 if not given", 200),
            "from": {"type": "integer", "minimum": 1, "description": "Compare from after this event"},
            "to": {"type": "integer", "minimum": 1, "description": "up to after this one; now if not given"},
        },
        ["path"],
        {
            "type": "object",
            "properties": {
                "versions": _array({"type": "object"}),
                "more": {"type": "boolean"},
                "from": _INTEGER,
                "to": _INTEGER,
                "added": _INTEGER,
                "removed": _INTEGER,
                "diff": _STRING,
            },
        },
    )


_STRING: dict[str, Any] = {"type": "string"}
_INTEGER: dict[str, Any] = {"type": "integer"}


def _limit(description: str, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "description": description}


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _looking(
    name: str,
    title: str,
    description: str,
    properties: dict[str, Any],
    required: list[str],
    output: dict[str, Any],
) -> types.Tool:
    """A tool that changes nothing."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return types.Tool(
        name=name,
        title=title,
        description=description,
        input_schema={**schema, "required": required} if required else schema,
        output_schema=output,
        annotations=types.ToolAnnotations(
            title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
