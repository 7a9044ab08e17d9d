"""Every text that a command answers with, in one table.

The texts follow the public documentation of the memory tool and, where that is silent, the Python SDK's
reference class: the model was trained on them. The `Error: ` prefix stands exactly where the documentation
has it. Two rows differ in the profile `sdk`. A text worded anywhere else would drift from this table unseen.
"""

from enum import Enum
from typing import TYPE_CHECKING, Literal

from memtui.core.unicode import visible

if TYPE_CHECKING:
    from memtui.core.events import Event

Profile = Literal["docs", "sdk"]

ERROR_LIMIT = 2_048
"""Characters: the longest error text that is ever sent to a model."""


class MessageKey(Enum):
    """The answers, as the tool's public documentation words them (the profile `docs`).

    Fields in braces. A second text is that of the profile `sdk`, the Python SDK's reference class.
    """

    # view
    VIEWED_DIRECTORY = (
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and "
        "node_modules:\n{listing}"
    )
    VIEWED_FILE = "Here's the content of {path} with line numbers:\n{lines}"
    VIEW_MISSING = "The path {path} does not exist. Please provide a valid path."
    TOO_MANY_LINES = "File {path} exceeds maximum line limit of 999,999 lines."
    UNSUPPORTED_TYPE = "Error: Unsupported file type for {path}"
    NOT_UTF8 = "Error: The file {path} is not valid UTF-8 text"
    GONE = "The file {path} no longer exists (may have been deleted or renamed concurrently)."
    BAD_VIEW_RANGE = (
        "Error: Invalid `view_range` parameter: {view_range}. It should be [start_line, end_line] within the range of "
        "lines of the file: [1, {n_lines}], or [start_line, -1]"
    )
    VIEW_CUT = "[Lines {first} to {last} of {n_lines} are shown. To go on, view with view_range [{next_line}, {end}]]"
    VIEW_LINE_CUT = (
        "[Line {first} has {length:,} characters; the first {shown:,} are shown. To see all of it, view with "
        "view_range [{first}, {first}]{more}]"
    )
    LISTING_CUT = "[{hidden:,} more entries are not shown. To go on, {directory}view with view_range [{next}, {end}]]"
    VIEWED_IMAGE = "Here's the image {path} ({width}x{height}, {size}):"
    NOT_AN_IMAGE = "Error: The file {path} is not an image that can be shown: {why}"
    TOO_LARGE_TO_READ = "Error: The file {path} is too large to read: {size}, the limit is {limit}"
    # create
    CREATED = "File created successfully at: {path}"
    EXISTS = "Error: File {path} already exists"
    CREATE_BELOW_FILE = "Error: Cannot create {path}: {parent} is a file, not a directory"
    # str_replace
    REPLACED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
    EDIT_MISSING = "Error: The path {path} does not exist. Please provide a valid path."
    NO_MATCH = "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
    SEVERAL_MATCHES = (
        "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. Please ensure it "
        "is unique"
    )
    EMPTY_OLD_STR = "Error: `old_str` must not be empty"
    # insert
    INSERTED = "The file {path} has been edited."
    INSERT_MISSING = (
        "Error: The path {path} does not exist",
        "The path {path} does not exist. Please provide a valid path.",
    )
    BAD_INSERT_LINE = (
        "Error: Invalid `insert_line` parameter: {insert_line}. It should be within the range of lines of the file: "
        "[0, {n_lines}]",
        "Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {n_lines}].",
    )
    # delete and rename
    DELETED = "Successfully deleted {path}"
    MISSING = "Error: The path {path} does not exist"
    DELETE_ROOT = "Error: Cannot delete the /memories directory itself"
    RENAMED = "Successfully renamed {old_path} to {new_path}"
    LINKS_BROKEN = "These links lead nowhere now: {places}"
    DESTINATION_EXISTS = "Error: The destination {path} already exists"
    RENAME_ROOT = "Error: Cannot rename the /memories directory itself"
    RENAME_INTO_ITSELF = "Error: Cannot rename {old_path} into itself: {new_path}"
    RENAME_BELOW_FILE = "Error: Cannot rename to {path}: {parent} is a file, not a directory"
    # paths
    OUTSIDE = "Error: Path must start with /memories, got: {path}"
    ESCAPES = "Error: Path {path} would escape /memories directory"
    ESCAPES_BY_LINK = "Error: Path {path} would escape /memories directory via symlink"
    BAD_CHARACTER = "Error: Path {path} contains a character that is not allowed"
    NAME_TOO_LONG = "Error: Path {path} has a name of over 255 bytes"
    PATH_TOO_LONG = "Error: Path {path} is over 1,024 bytes long"
    TOO_DEEP = "Error: Path {path} is more than 20 levels deep"
    # input
    NOT_A_MAPPING = "Error: the input must be an object with a `command`"
    UNKNOWN_COMMAND = "Error: unknown command {command}"
    FIELD_MISSING = "Error: `{field}` is required for {command}"
    NOT_A_STRING = "Error: `{field}` must be a string"
    NOT_AN_INTEGER = "Error: `{field}` must be an integer, got: {value}"
    NOT_UNICODE = "Error: `{field}` is not valid Unicode text"
    # limits and faults
    FILE_TOO_LARGE = (
        "Error: {path} would be {size}, over the limit of {limit} a file. Keep it shorter, or split it into several "
        "files"
    )
    FOLDER_TOO_LARGE = (
        "Error: The memory folder would hold {size}, over its limit of {limit}. Shorten or delete files first"
    )
    TOO_MANY_FILES = (
        "Error: The memory folder already holds {count:,} files, and its limit is {limit:,}. Merge or delete files "
        "first"
    )
    SYSTEM = "Error: could not {verb} {path}: {reason}"
    READ_ONLY = "Error: could not {verb} {path}: read-only"
    PROTECTED = (
        "Error: could not {verb} {path}: {protected} is protected by the user. It can be viewed but not changed. Write "
        "what is new to another file, or ask the user"
    )
    BUSY = "Error: could not {verb} {path}: the memory folder is busy. Nothing was changed; try again"
    SECRET_BLOCKED = (
        "Error: {path} was not written: it holds what looks like {what}. Store a reference instead of the value, for "
        "example the name of an environment variable."
    )
    UNCERTAIN = (
        "Error: {path} was changed, but the disk did not confirm that the change is kept. View it before going on"
    )
    UNKNOWN_OUTCOME = (
        "Error: the server went away before it answered, and it is not known whether {path} was changed. View it "
        "before going on"
    )
    UNRECORDED = "Error: could not {verb} {path}: the journal cannot be written ({reason}). Nothing was changed"
    FOLDER_GONE = "Error: The memory folder is not there"
    # what a person decided
    DECLINED = "Error: the user declined to {verb} {path}. Nothing was changed"
    DECLINED_WHY = "Error: the user declined to {verb} {path}. Nothing was changed. Their reason: {reason}"
    EDITED_FIRST = "The user edited this change before it was written. What was written is this:\n{view}"
    STOPPED = "Error: could not {verb} {path}: the user stopped before it was done. Nothing was changed"
    UNANSWERED = (
        "Error: could not {verb} {path}: the user has to approve it and did not answer within {seconds:g} seconds. "
        "Nothing was changed"
    )
    NOBODY_TO_ASK = (
        "Error: could not {verb} {path}: the user has to approve it and is not there to be asked. Nothing was changed"
    )
    NOT_ASKED = "Error: could not {verb} {path}: the user has to approve it, and asking failed. Nothing was changed"
    CLEARED = "All memory cleared"
    CLEARED_PARTLY = (
        "Error: only a part of {path} was cleared: {count:,} of its entries could not be deleted ({reason}). View it "
        "before going on"
    )
    # of the program that an agent runs in
    CLOSED = "Error: the memory is closed"
    FAULT = (
        "Error: the memory failed unexpectedly, and it is not known whether anything was changed. View it before going "
        "on"
    )

    def get_template(self, profile: Profile) -> str:
        if isinstance(self.value, tuple):
            return str(self.value[profile == "sdk"])
        return str(self.value)


def format_message(message: MessageKey, profile: Profile = "docs", /, **values: object) -> str:
    """Word an answer by the row and column (profile) of the table; `ERROR_LIMIT` may shorten `old_str`."""
    old_str = values.get("old_str")
    if isinstance(old_str, str) and len(old_str) > ERROR_LIMIT // 2:
        values = {**values, "old_str": _truncate(old_str, ERROR_LIMIT // 2)}
    return message.get_template(profile).format(**values)


def quote_value(value: object) -> str:
    """A refused value for an answer: on one line, no control characters, at most 256 characters.

    What is no text is quoted as the JSON that the model sent. A path that is not valid must not be able to forge a line
    of the answer that refuses it.
    """
    text = value if isinstance(value, str) else _to_json(value)
    return _truncate(visible(text, newline="\\n", tab="\\t"), 256)


def _to_json(value: object) -> str:
    import json  # noqa: PLC0415 - start-up: not before the first paint

    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)
    except Exception:  # a caller's object may do anything here; so do an endless list and a huge integer
        return f"<{type(value).__name__}>"


def _truncate(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}[... {len(text) - limit:,} more characters]"


# The reason of a refused event, in a few words.

_MOST = 80
_SHORT = (
    ("would escape", "outside /memories"),
    ("must start with", "outside /memories"),
    ("Multiple occurrences", "the text appears several times"),
    ("did not appear", "the text was not found"),
    ("does not exist", "does not exist"),
    ("already exists", "already exists"),
    ("contains a character that is not allowed", "a character that is not allowed"),
    ("not valid UTF-8", "not UTF-8 text"),
    ("Invalid `", "no such line"),
    ("is required", "a field is missing"),
    ("is protected by the user", "protected"),
    ("is too large to read", "too large to read"),
    ("is not an image that can be shown", "not an image that can be shown"),
    ("over the limit of", "over the limit of a file"),
    ("over its limit of", "the folder is full"),
    ("and its limit is", "the folder's file limit is reached"),
    ("it holds what looks like", "it holds a secret"),
    ("the user declined", "declined"),
    ("did not answer within", "nobody answered in time"),
    ("is not there to be asked", "nobody was there to ask"),
)


def summarize_refusal(event: "Event") -> str:
    """Why an event was refused, short, without the path."""
    answer = (event.answer or "").removeprefix("Error: ")
    for path in (event.path, event.new_path):
        answer = answer.replace(path, "…", 1) if path else answer  # what an agent calls a file is no reason
    for words, short in _SHORT:
        if words in answer:
            return short
    line = answer.split("\n", 1)[0]
    if line.startswith("could not "):
        line = line.partition(": ")[2] or line
    if len(line) > _MOST:
        line = line[: _MOST - 1].rstrip() + "…"
    return line.rstrip(".")
