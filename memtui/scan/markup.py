"""Imitations of the markup between a model and its tools: what pretends to come from the system, and is a note."""

import re
from collections.abc import Iterator
from functools import partial

from memtui.scan.ruleset import load_pattern

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
            yield "a result of a tool that no tool gave", *found.span()
    if (
        "respo" in heads
        and (asked := _get_pattern("alpaca").search(text))
        and _get_pattern("answer").search(text, asked.end())
    ):
        yield "headings that part the turns of a conversation with a model", *asked.span()
    if "tool_" in text or "function_call_output" in text:
        for found in _get_pattern("result").finditer(text):
            yield "a result of a tool that no tool gave", *found.span()
    if '"role"' in text:
        for found in _get_pattern("said").finditer(text):
            yield "a message of the system that the system did not write", *found.span()


def _find_tags(text: str, heads: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    for found in (
        _get_pattern("turns").finditer(text)
        if "<|" in text or "inst]" in text or ">>" in text or "_of_" in text
        else ()
    ):
        yield "markup that parts the turns of a conversation with a model", *found.span()
    if not _TAG_HEADS.isdisjoint(heads):
        for found in _get_pattern("tags").finditer(text):
            yield "a tag that only the system or a tool writes", *found.span()
    for found in _get_pattern("closed").finditer(text) if "</" in text else ():
        yield "tags that end what a model is shown, and go on as somebody else", *found.span()


def _find_turns(text: str) -> Iterator[tuple[str, int, int]]:
    if (human := _get_pattern("human").search(text)) and (answer := _get_pattern("assistant").search(text)):
        again = _get_pattern("assistant").search(text, human.end()) or answer
        if abs(again.start() - human.start()) < 4_000:
            yield "turns of a conversation that pretend to have been said", human.start(), human.end()


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
