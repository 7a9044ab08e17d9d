"""A tool call in words: what it asks for, what came of it, and the lines that it takes out and puts in.

Its input comes from a model and may be anything, cut off anywhere: nothing here trusts a field to be what it
should be.
"""

from collections.abc import Iterator
from typing import NamedTuple

from memtui.core.diffs import Difference, Pair, Range, changed_words, compare, counts, lines_of
from memtui.core.edits import count_lines
from memtui.core.events import Event, Result
from memtui.core.refusals import reason
from memtui.ui.chat.items import Call, Stage
from memtui.ui.wording import relative

TOOL = "memory"
"""The name of our tool: of others, the name is shown in place of a command."""
WRITTEN = {"create": ("file_text",), "insert": ("insert_text", "new_str"), "str_replace": ("new_str",)}
"""The fields that hold what a command writes, by command."""
_WORDS = {"declined": "declined", "stopped": "not run", "not approved": "not run"}
"""Results by the note of what was recorded in place of a change."""
_NOT_RUN, _NOTHING = "Error: not run: ", ". Nothing was changed"
"""How the model is told that a call was not carried out, and how that sentence goes on."""
_TAIL = 4_000
"""Characters of a text that streams in of which the end is looked at."""


class Outcome(NamedTuple):
    """What came of a call."""

    word: str
    """`ok`, `REFUSED`, `declined`, `edited by you`, `not run`, `running`, `asks you`, `coming`."""
    role: str
    """How the word looks."""
    added: int | None = None
    removed: int | None = None
    note: str = ""
    """`23 entries`."""
    why: str = ""
    """Why it was not done; empty where it was."""


class Line(NamedTuple):
    """One line of what a call changes."""

    sign: str
    """`+`, `-` or a space."""
    text: str
    words: tuple[Range, ...] = ()
    """Where it differs from the line that it was, or becomes."""


def verb(call: Call) -> str:
    """What is asked for, in one word."""
    command = call.fields.get("command")
    if call.name and call.name != TOOL:
        return call.name
    return command if isinstance(command, str) and command else call.name or TOOL


def target(call: Call) -> tuple[str, str]:
    """Which memory is meant, and what it is to be called where it is renamed; both may be hostile."""
    fields = call.fields
    if verb(call) == "rename":
        old = fields.get("old_path", fields.get("path"))
        return _path(old), _path(fields.get("new_path"))
    path = _path(fields.get("path"))
    span = fields.get("view_range")
    if isinstance(span, list) and len(span) == 2 and all(isinstance(each, int) for each in span):
        path += f":{span[0]}-{span[1]}" if span[1] != -1 else f":{span[0]}-"
    return path, ""


def _path(value: object) -> str:
    return relative(value) if isinstance(value, str) else ""


def outcome(call: Call) -> Outcome:
    """What came of it, or how far it has come."""
    match call.stage:
        case Stage.COMING:
            text = written(call)
            return Outcome(Stage.COMING.value, "live", count_lines(text) if text else None)
        case Stage.RUNNING:
            return Outcome(Stage.RUNNING.value, "live")
        case Stage.ASKED:
            return Outcome(Stage.ASKED.value, "asks", *_planned(call))
        case Stage.NOT_RUN:
            return Outcome(Stage.NOT_RUN.value, "not-done", why="the turn ended before it was carried out")
    event = call.event
    if call.is_error:
        return _not_done(call, event)
    if call.edit is not None:
        return Outcome("edited by you", "edited", call.edit.added, call.edit.removed)
    if event is None:
        return Outcome("ok", "ok", *_planned(call), note=_shown(call))
    note = f"to {relative(event.new_path)}" if event.new_path and verb(call) != "rename" else event.note
    word = "same" if event.no_change else "ok"
    return Outcome(word, "ok", event.added, event.removed, note or _shown(call))


def _not_done(call: Call, event: Event | None) -> Outcome:
    from memtui.agents.chat.sessions.restored import NOT_RUN  # deferred: loads json, which is not for the first paint

    if call.text.startswith(_NOT_RUN):
        return Outcome("not run", "not-done", why=_first_line(call.text[len(_NOT_RUN) :]).removesuffix(_NOTHING))
    if call.text == NOT_RUN:
        return Outcome("UNSURE", "bad", why="memtui ended before the answer was recorded; look at the file")
    if event is None:
        return Outcome("REFUSED", "bad", why=_first_line(call.text))
    if event.result in (Result.UNCERTAIN, Result.ABORTED):
        return Outcome("UNSURE" if event.result is Result.UNCERTAIN else "ABORTED", "bad", why=_first_line(call.text))
    word = _WORDS.get(event.note)
    if word is None:
        return Outcome("REFUSED", "bad", why=_because(event, call.text))
    _, told, why = call.text.partition("Their reason: ")
    if event.note == "declined":
        return Outcome(word, "not-done", why=f"you said: {why}" if told else "")
    return Outcome(word, "not-done", why="you stopped it" if event.note == "stopped" else "nobody approved it")


def _because(event: Event, text: str) -> str:
    if text.endswith(": read-only"):
        return "the session is read-only"
    return reason(event) if event.answer else _first_line(text)


def _first_line(text: str) -> str:
    return text.removeprefix("Error: ").split("\n", 1)[0][:300].rstrip(". ")


def _planned(call: Call) -> tuple[int | None, int | None]:
    """Lines that it adds and removes, as its input says."""
    fields = call.fields
    match verb(call):
        case "create" | "insert":
            return count_lines(written(call)), 0
        case "str_replace":
            found = counts(_text(fields.get("old_str")), written(call))
            return found.added, found.removed
    return None, None


def _shown(call: Call) -> str:
    """How much a view showed."""
    if verb(call) != "view" or not call.text:
        return ""
    lines = max(1, count_lines(call.text) - 1)
    return f"{lines:,} line{'' if lines == 1 else 's'}"


def written(call: Call) -> str:
    """The text that it writes, as far as it is here."""
    for name in WRITTEN.get(verb(call), ()):
        if isinstance(text := call.fields.get(name), str):
            return text
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def last_lines(call: Call, count: int) -> list[Line]:
    """The newest lines of what is being written: those that go, then those that come."""
    removed = [] if verb(call) != "str_replace" else _end(_text(call.fields.get("old_str")), count)
    added = _end(written(call), count)
    lines = [*(Line("-", text) for text in removed), *(Line("+", text) for text in added)]
    return lines[-count:]


def _end(text: str, count: int) -> list[str]:
    return text[-_TAIL:].removesuffix("\n").split("\n")[-count:] if text else []


def changed(call: Call) -> Iterator[Line]:
    """The lines that it takes out and puts in, with the words that differ."""
    match verb(call):
        case "create" | "insert":
            for line in lines_of(written(call)):
                yield Line("+", line.removesuffix("\n"))
        case "str_replace":
            yield from _difference(compare(_text(call.fields.get("old_str")), written(call)))
        case _:
            pass


def _difference(difference: Difference) -> Iterator[Line]:
    at = 0
    old, new = difference.old, difference.new
    for hunk, side in zip(difference.hunks, difference.sides(), strict=True):
        yield from (Line(" ", line.removesuffix("\n")) for line in old[at : hunk.old_start])
        marks = {pair: changed_words(old[pair[0]], new[pair[1]]) for pair in _both(side)}
        of_old = {pair[0]: tuple(words[0]) for pair, words in marks.items()}
        of_new = {pair[1]: tuple(words[1]) for pair, words in marks.items()}
        for number in range(hunk.old_start, hunk.old_end):
            yield Line("-", old[number].removesuffix("\n"), of_old.get(number, ()))
        for number in range(hunk.new_start, hunk.new_end):
            yield Line("+", new[number].removesuffix("\n"), of_new.get(number, ()))
        at = hunk.old_end
    yield from (Line(" ", line.removesuffix("\n")) for line in old[at:])


def _both(side: list[Pair]) -> Iterator[tuple[int, int]]:
    for old, new in side:
        if old is not None and new is not None:
            yield old, new


def copied(call: Call) -> str:
    """What a person wants of it who copies it: the text that it writes, else what it was answered."""
    return written(call) or call.text
