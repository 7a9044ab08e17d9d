"""Why an event was refused, in a few words."""

from memtui.core.events import Event

_MOST = 80
_SHORT = (
    ("would escape", "outside /memories"),
    ("must start with", "outside /memories"),
    ("Multiple occurrences", "the text stands there several times"),
    ("did not appear", "the text is not there"),
    ("does not exist", "does not exist"),
    ("already exists", "already exists"),
    ("contains a character that is not allowed", "a character that is not allowed"),
    ("not valid UTF-8", "not UTF-8 text"),
    ("Invalid `", "no such line"),
    ("is required", "a field is missing"),
    ("is protected by the user", "protected"),
    ("is too large to read", "too large to read"),
    ("over the limit of", "over the limit of a file"),
    ("over its limit of", "the folder is full"),
    ("and its limit is", "the folder has as many files as it may"),
    ("the user declined", "declined"),
    ("did not answer within", "nobody answered in time"),
    ("is not there to be asked", "nobody was there to be asked"),
)


def reason(event: Event) -> str:
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
