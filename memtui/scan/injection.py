"""Instructions in a note that may have been injected for the model that reads it. Heuristics: each says why.

A note is read by an agent as its own memory, so whoever can write one can give orders. Notes are full of orders that
are meant to be there: to use a tool, never to do this, to ignore a directory. What is found here is another kind: to
drop what the model was told before, to be somebody else, to keep things from the person it works for, to send away
what is private, to write itself into further notes. It helps a reviewer to find the place, and is no gate: published
attacks pass all filters of patterns.

The rules are in `rules/injection.toml`: phrases with a regex, and combinations of stems from a lexicon.
"""

import re
from collections.abc import Iterator
from functools import partial

from memtui.core.unicode import to_one_line
from memtui.notes.formats import detect_format
from memtui.notes.spans import blank_code
from memtui.scan.folding import fold_text
from memtui.scan.payloads import find_payloads
from memtui.scan.phrases import collect_heads, find_phrases, split_pieces
from memtui.scan.ruleset import load_pattern
from memtui.scan.spots import Spot

_QUOTED = 60  # characters of what was found that are quoted in the words about it
_LINE = 600  # characters of a line that may be a sentence about an attack
_PROSE = frozenset({"md", "txt", "html"})  # formats in which tags are no data


def find_injections(text: str, path: str) -> Iterator[Spot]:
    """What in a text may have been injected, by rule, not in order. The words of each say why it is found."""
    fold = fold_text(text)
    pieces = split_pieces(fold.text)
    heads = collect_heads(pieces)
    for phrase, start, end in find_phrases(fold.text, pieces):
        if _is_mention(fold.text, start, end):
            continue
        yield _make_spot(phrase.rule, phrase.description, text, *fold.locate(start, end))
    for rule, why, start, end in find_payloads(text, heads, _is_order):
        yield Spot("planted", rule, start, end, why)
    if detect_format(path) in _PROSE and next(find_imitations(fold.text, heads), None):
        for why, start, end in find_imitations(blank_code(fold.text), heads):
            yield _make_spot("tool-imitation", why, text, *fold.locate(start, end))


def _is_mention(text: str, start: int, end: int) -> bool:
    """Whether a line quotes what was found, and says around the quotation what kind of attack it is."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    line = text[first : last if last >= 0 else len(text)]
    if len(line) > _LINE or "\n" in text[start:end]:
        return False
    quotes = [found.span() for found in _get_pattern("quoted").finditer(line)]
    if not any(begin + first < end and start < stop + first for begin, stop in quotes):
        return False
    return _get_pattern("attack").search(_get_pattern("quoted").sub(" ", line)) is not None


def _is_order(decoded: str) -> bool:
    """Whether decoded text calls on a model to do something."""
    return next(find_phrases(decoded, split_pieces(decoded)), None) is not None


def _make_spot(rule: str, why: str, text: str, start: int, end: int) -> Spot:
    quoted = text[start : min(end, start + _QUOTED)].strip()
    more = "…" if end - start > _QUOTED else ""
    return Spot("planted", rule, start, end, f"{why}: “{to_one_line(quoted)}{more}”")


# Imitations of the markup between a model and its tools: what pretends to come from the system, and is a note.

_get_pattern = partial(load_pattern, "injection")
_WHO = ("system", "admin", "developer", "anthropic", "openai", "root")
_WHO_HEADS = frozenset({"syste", "admin", "devel", "anthr", "opena", "root"})
_TAG_HEADS = _WHO_HEADS | {
    "assis", "human", "funct", "fnr", "tool", "invok", "antml", "instr", "user", "comma", "local", "bash",
}  # fmt: skip
_GIVEN_HEADS = frozenset({"resul", "outpu", "respo"})
_PREFIX = 12  # characters before the first word of a line, at most


def find_imitations(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """What in a folded text, its code left out, imitates a conversation or a tool: why, and where it stands.

    Args:
        heads: The first letters of its words.
    """
    if "<" in text or "inst]" in text:
        yield from _find_tags(text, heads)
    if "assis" in heads:
        yield from _find_turns(text)
    if not _WHO_HEADS.isdisjoint(heads):
        for found in _match_lines((_get_pattern("system_line"), _get_pattern("headed")), text, _WHO):
            yield "a line that pretends to come from the system", *found.span()
    if "user" in heads and not _GIVEN_HEADS.isdisjoint(heads):
        for found in _match_lines((_get_pattern("given"),), text, ("tool ", "function ", "bash ", "command ", "hook ")):
            yield "a tool result that no tool returned", *found.span()
    if (
        "respo" in heads
        and (asked := _get_pattern("alpaca").search(text))
        and _get_pattern("answer").search(text, asked.end())
    ):
        yield "headings that mark the turns of a conversation with a model", *asked.span()
    if "tool_" in text or "function_call_output" in text:
        for found in _get_pattern("result").finditer(text):
            yield "a tool result that no tool returned", *found.span()
    if '"role"' in text:
        for found in _get_pattern("said").finditer(text):
            yield "a fake system message", *found.span()


def _find_tags(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    for found in (
        _get_pattern("turns").finditer(text)
        if "<|" in text or "inst]" in text or ">>" in text or "_of_" in text
        else ()
    ):
        yield "markup that marks the turns of a conversation with a model", *found.span()
    if not _TAG_HEADS.isdisjoint(heads):
        for found in _get_pattern("tags").finditer(text):
            yield "a tag that only the system or a tool writes", *found.span()
    for found in _get_pattern("closed").finditer(text) if "</" in text else ():
        yield "tags that end the text shown to a model and continue as another speaker", *found.span()


def _find_turns(text: str) -> Iterator[tuple[str, int, int]]:
    """Turns of a conversation, but not in what says of itself that it keeps one."""
    if (human := _get_pattern("human").search(text)) and (answer := _get_pattern("assistant").search(text)):
        if _get_pattern("kept_turns").search(text, 0, human.start()):
            return
        again = _get_pattern("assistant").search(text, human.end()) or answer
        if abs(again.start() - human.start()) < 4_000:
            yield "fake turns of a conversation", human.start(), human.end()


def _match_lines(patterns: tuple[re.Pattern[str], ...], text: str, words: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """What expressions find at the beginnings of lines that begin with a word, or nearly."""
    starts = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", max(0, at - _PREFIX), at) + 1
            if start or at <= _PREFIX:
                starts.add(start)
            at = text.find(word, at + len(word))
    for start in sorted(starts):
        for pattern in patterns:
            if found := pattern.match(text, start):
                yield found
