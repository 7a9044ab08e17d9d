"""Every text that a command answers with, in one table.

The texts follow the public documentation of the memory tool and, where that is silent, the Python SDK's
reference class: the model was trained on them. The `Error: ` prefix stands exactly where the documentation
has it. Two rows differ in the profile `sdk`. A text worded anywhere else would drift from this table unseen.
"""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Literal

from memtui.core.visible import visible

Profile = Literal["docs", "sdk"]

ERROR_LIMIT = 2_048
"""Characters: the longest error text that is ever sent to a model."""


class Message(Enum):
    """The names of the answers."""

    # view
    VIEWED_DIRECTORY = auto()
    VIEWED_FILE = auto()
    VIEW_MISSING = auto()
    TOO_MANY_LINES = auto()
    UNSUPPORTED_TYPE = auto()
    NOT_UTF8 = auto()
    GONE = auto()
    BAD_VIEW_RANGE = auto()
    VIEW_CUT = auto()
    VIEW_LINE_CUT = auto()
    LISTING_CUT = auto()
    TOO_LARGE_TO_READ = auto()
    # create
    CREATED = auto()
    EXISTS = auto()
    CREATE_BELOW_FILE = auto()
    # str_replace
    REPLACED = auto()
    EDIT_MISSING = auto()
    NO_MATCH = auto()
    SEVERAL_MATCHES = auto()
    EMPTY_OLD_STR = auto()
    # insert
    INSERTED = auto()
    INSERT_MISSING = auto()
    BAD_INSERT_LINE = auto()
    # delete and rename
    DELETED = auto()
    MISSING = auto()
    DELETE_ROOT = auto()
    RENAMED = auto()
    DESTINATION_EXISTS = auto()
    RENAME_ROOT = auto()
    RENAME_INTO_ITSELF = auto()
    RENAME_BELOW_FILE = auto()
    # paths
    OUTSIDE = auto()
    ESCAPES = auto()
    ESCAPES_BY_LINK = auto()
    BAD_CHARACTER = auto()
    NAME_TOO_LONG = auto()
    PATH_TOO_LONG = auto()
    TOO_DEEP = auto()
    # input
    NOT_A_MAPPING = auto()
    UNKNOWN_COMMAND = auto()
    FIELD_MISSING = auto()
    NOT_A_STRING = auto()
    NOT_AN_INTEGER = auto()
    NOT_UNICODE = auto()
    # limits and faults
    FILE_TOO_LARGE = auto()
    FOLDER_TOO_LARGE = auto()
    TOO_MANY_FILES = auto()
    SYSTEM = auto()
    READ_ONLY = auto()
    PROTECTED = auto()
    BUSY = auto()
    UNCERTAIN = auto()
    UNRECORDED = auto()
    FOLDER_GONE = auto()
    # what a person decided
    DECLINED = auto()
    DECLINED_WHY = auto()
    EDITED_FIRST = auto()
    STOPPED = auto()
    UNANSWERED = auto()
    NOBODY_TO_ASK = auto()
    NOT_ASKED = auto()
    CLEARED = auto()
    CLEARED_PARTLY = auto()
    # of the program that an agent runs in
    CLOSED = auto()
    FAULT = auto()


DOCS: Mapping[Message, str] = {
    Message.VIEWED_DIRECTORY: "Here're the files and directories up to 2 levels deep in {path}, "
    "excluding hidden items and node_modules:\n{listing}",
    Message.VIEWED_FILE: "Here's the content of {path} with line numbers:\n{lines}",
    Message.VIEW_MISSING: "The path {path} does not exist. Please provide a valid path.",
    Message.TOO_MANY_LINES: "File {path} exceeds maximum line limit of 999,999 lines.",
    Message.UNSUPPORTED_TYPE: "Error: Unsupported file type for {path}",
    Message.NOT_UTF8: "Error: The file {path} is not valid UTF-8 text",
    Message.GONE: "The file {path} no longer exists (may have been deleted or renamed concurrently).",
    Message.BAD_VIEW_RANGE: "Error: Invalid `view_range` parameter: {view_range}. It should be [start_line, end_line] "
    "within the range of lines of the file: [1, {n_lines}], or [start_line, -1]",
    Message.VIEW_CUT: "[Lines {first} to {last} of {n_lines} are shown. To go on, view with view_range "
    "[{next_line}, {end}]]",
    Message.VIEW_LINE_CUT: "[Line {first} has {length:,} characters; the first {shown:,} are shown.{more}]",
    Message.LISTING_CUT: "[{hidden:,} more entries are not shown. To go on, view one of the directories above]",
    Message.TOO_LARGE_TO_READ: "Error: The file {path} is too large to read: {size}, the limit is {limit}",
    Message.CREATED: "File created successfully at: {path}",
    Message.EXISTS: "Error: File {path} already exists",
    Message.CREATE_BELOW_FILE: "Error: Cannot create {path}: {parent} is a file, not a directory",
    Message.REPLACED: "The memory file has been edited. Here is the snippet showing the change "
    "(with line numbers):\n{snippet}",
    Message.EDIT_MISSING: "Error: The path {path} does not exist. Please provide a valid path.",
    Message.NO_MATCH: "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.",
    Message.SEVERAL_MATCHES: "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
    "{lines}. Please ensure it is unique",
    Message.EMPTY_OLD_STR: "Error: `old_str` must not be empty",
    Message.INSERTED: "The file {path} has been edited.",
    Message.INSERT_MISSING: "Error: The path {path} does not exist",
    Message.BAD_INSERT_LINE: "Error: Invalid `insert_line` parameter: {insert_line}. It should be within the range of "
    "lines of the file: [0, {n_lines}]",
    Message.DELETED: "Successfully deleted {path}",
    Message.MISSING: "Error: The path {path} does not exist",
    Message.DELETE_ROOT: "Error: Cannot delete the /memories directory itself",
    Message.RENAMED: "Successfully renamed {old_path} to {new_path}",
    Message.DESTINATION_EXISTS: "Error: The destination {path} already exists",
    Message.RENAME_ROOT: "Error: Cannot rename the /memories directory itself",
    Message.RENAME_INTO_ITSELF: "Error: Cannot rename {old_path} into itself: {new_path}",
    Message.RENAME_BELOW_FILE: "Error: Cannot rename to {path}: {parent} is a file, not a directory",
    Message.OUTSIDE: "Error: Path must start with /memories, got: {path}",
    Message.ESCAPES: "Error: Path {path} would escape /memories directory",
    Message.ESCAPES_BY_LINK: "Error: Path {path} would escape /memories directory via symlink",
    Message.BAD_CHARACTER: "Error: Path {path} contains a character that is not allowed",
    Message.NAME_TOO_LONG: "Error: Path {path} has a name of over 255 bytes",
    Message.PATH_TOO_LONG: "Error: Path {path} is over 1,024 bytes long",
    Message.TOO_DEEP: "Error: Path {path} is more than 20 levels deep",
    Message.NOT_A_MAPPING: "Error: the input must be an object with a `command`",
    Message.UNKNOWN_COMMAND: "Error: unknown command {command}",
    Message.FIELD_MISSING: "Error: `{field}` is required for {command}",
    Message.NOT_A_STRING: "Error: `{field}` must be a string",
    Message.NOT_AN_INTEGER: "Error: `{field}` must be an integer, got: {value}",
    Message.NOT_UNICODE: "Error: `{field}` is not valid Unicode text",
    Message.FILE_TOO_LARGE: "Error: {path} would be {size}, over the limit of {limit} a file. "
    "Keep it shorter, or split it into several files",
    Message.FOLDER_TOO_LARGE: "Error: The memory folder would hold {size}, over its limit of {limit}. "
    "Shorten or delete files first",
    Message.TOO_MANY_FILES: "Error: The memory folder already holds {count:,} files, and its limit is {limit:,}. "
    "Merge or delete files first",
    Message.SYSTEM: "Error: could not {verb} {path}: {reason}",
    Message.READ_ONLY: "Error: could not {verb} {path}: read-only",
    Message.PROTECTED: "Error: could not {verb} {path}: {protected} is protected by the user. It can be viewed but not "
    "changed. Write what is new to another file, or ask the user",
    Message.BUSY: "Error: could not {verb} {path}: the memory folder is busy. Nothing was changed; try again",
    Message.UNCERTAIN: "Error: {path} was changed, but the disk did not confirm that the change is kept. "
    "View it before going on",
    Message.UNRECORDED: "Error: could not {verb} {path}: the journal cannot be written ({reason}). Nothing was changed",
    Message.FOLDER_GONE: "Error: could not {verb} {path}: the memory folder is not there any more",
    Message.DECLINED: "Error: the user declined to {verb} {path}. Nothing was changed",
    Message.DECLINED_WHY: "Error: the user declined to {verb} {path}. Nothing was changed. Their reason: {reason}",
    Message.EDITED_FIRST: "The user edited this change before it was written. What was written is this:\n{view}",
    Message.STOPPED: "Error: could not {verb} {path}: the user stopped before it was done. Nothing was changed",
    Message.UNANSWERED: "Error: could not {verb} {path}: the user has to approve it and did not answer within "
    "{seconds:g} seconds. Nothing was changed",
    Message.NOBODY_TO_ASK: "Error: could not {verb} {path}: the user has to approve it and is not there to be asked. "
    "Nothing was changed",
    Message.NOT_ASKED: "Error: could not {verb} {path}: the user has to approve it, and asking failed. "
    "Nothing was changed",
    Message.CLEARED: "All memory cleared",
    Message.CLEARED_PARTLY: "Error: only a part of {path} was cleared: {count:,} of its entries could not be deleted "
    "({reason}). View it before going on",
    Message.CLOSED: "Error: the memory is closed",
    Message.FAULT: "Error: the memory failed unexpectedly, and it is not known whether anything was changed. "
    "View it before going on",
}
"""The profile `docs`: the tool's public documentation. Fields in braces; `⏎` and `⇥` are real characters."""

SDK: Mapping[Message, str] = {
    **DOCS,
    Message.INSERT_MISSING: "The path {path} does not exist. Please provide a valid path.",
    Message.BAD_INSERT_LINE: "Invalid `insert_line` parameter: {insert_line}. It should be within the range "
    "[0, {n_lines}].",
}
"""The profile `sdk`: as the Python SDK's reference class words the two messages of insert."""


def say(message: Message, profile: Profile = "docs", /, **values: object) -> str:
    """Word an answer.

    Args:
        message: Which row.
        profile: Which column.
        **values: What the fields hold. Text given as `old_str` is shortened as far as `ERROR_LIMIT` asks.
    """
    template = (SDK if profile == "sdk" else DOCS)[message]
    old_str = values.get("old_str")
    if isinstance(old_str, str) and len(old_str) > ERROR_LIMIT // 2:
        values = {**values, "old_str": _shortened(old_str, ERROR_LIMIT // 2)}
    return template.format(**values)


def quoted(value: object) -> str:
    """How a refused value is named in an answer: on one line, no control characters, at most 256 characters.

    A path that could not be judged must not be able to forge a line of the answer that refuses it.
    """
    text = value if isinstance(value, str) else _repr(value)
    return _shortened(visible(text, newline="\\n", tab="\\t"), 256)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # a caller's object may do anything here; so do an endless list and a huge integer
        return f"<{type(value).__name__}>"


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}[... {len(text) - limit:,} more characters]"
