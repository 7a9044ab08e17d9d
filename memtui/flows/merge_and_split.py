"""Merge two notes, or split one: what is asked first, and which sentence is reported."""

from collections.abc import Mapping

from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.flows import link_rewriting, rearranging
from memtui.flows.dialog import Choice, Dialog, FlowOutcome, Phrases
from memtui.flows.files import LEAVE, REWRITE, FileFlowOutcome, make_outcome
from memtui.flows.rearranging import Rearranged, RearrangingRefused

_NOT_MERGED = "Nothing was merged."
_NOT_SPLIT = "Nothing was split."


async def choose_kept(dialog: Dialog, one: str, other: str) -> tuple[str, str] | None:
    """Ask which of two notes stays. Returns the one that goes and the one that stays; `None` to go back."""
    choices = [Choice("1", to_one_line(one), one), Choice("2", to_one_line(other), other)]
    kept = await dialog.choose("Merge two notes: which one stays?", choices)
    if kept is None:
        return None
    return (other, one) if kept == one else (one, other)


async def merge(dialog: Dialog, engine: Engine, merged: str, into: str) -> FileFlowOutcome:
    """Put a note into another one, once the person has said so, and what becomes of links.

    Args:
        dialog: Where it is asked.
        engine: Of the folder.
        merged: The path of the note that goes.
        into: The path of the note that stays.
    """
    phrases = dialog.phrases
    try:
        planned = await dialog.call(lambda: rearranging.plan_merge(engine, merged, into), "Checking links")
    except RearrangingRefused as refusal:
        return _refuse("merged", refusal)
    names = f"{to_one_line(merged)} into {to_one_line(into)}"
    if planned.links.rewritten:
        answer = await dialog.choose(f"Merge {names}?", _list_ways(planned))
    else:
        undo = f"{phrases.name_action('browse.undo')} restores both."
        answer = LEAVE if await dialog.confirm(f"Merge {names}? {undo}") else None
    if answer is None:
        return FileFlowOutcome(FlowOutcome(_NOT_MERGED))
    rewrites = answer == REWRITE
    result, done = await dialog.run(
        f"Merging {names}",
        lambda step: rearranging.merge(engine, merged, into, planned, rewrites=rewrites, progress=step),
        can_stop=False,
    )
    links = rearranging.format_links(done if rewrites else planned, is_rewritten=rewrites)
    words = rearranging.format_merged(merged, into)
    return make_outcome(phrases, result, words, _format_undo(phrases), path=into, links=links)


async def split(dialog: Dialog, engine: Engine, path: str) -> FileFlowOutcome:
    """Make a note of each section of one, at the headings that the person chooses by the names of the new notes.

    Args:
        dialog: Where it is asked.
        engine: Of the folder.
        path: The path of the note.
    """
    phrases = dialog.phrases
    try:
        planned = await dialog.call(lambda: rearranging.plan_split_levels(engine, path), "Checking links")
    except RearrangingRefused as refusal:
        return _refuse("split", refusal)
    chosen = await dialog.choose(f"Split {to_one_line(path)} into", _list_levels(planned))
    if chosen is None:
        return FileFlowOutcome(FlowOutcome(_NOT_SPLIT))
    level = int(chosen)
    result, done = await dialog.run(
        f"Splitting {to_one_line(path)}",
        lambda step: rearranging.split(engine, path, planned[level], level=level, progress=step),
        can_stop=False,
    )
    links = rearranging.format_links(done, is_rewritten=True)
    return make_outcome(phrases, result, rearranging.format_split(done), _format_undo(phrases), path=path, links=links)


def _list_ways(planned: Rearranged) -> list[Choice]:
    """What can become of the links to a note that goes."""
    links = planned.links.rewritten
    count, places = link_rewriting.format_count_of_links(links), link_rewriting.format_places(links)
    return [
        Choice("y", f"yes, and rewrite {count}: {places}", REWRITE),
        Choice("l", f"yes, and leave {'it' if len(links) == 1 else 'them'} broken", LEAVE),
    ]


def _list_levels(planned: Mapping[int, Rearranged]) -> list[Choice]:
    """What can be chosen: the levels of headings, each with the names of the new notes."""
    return [
        Choice(
            str(level),
            f"{format_count(len(each.parts), 'note')}, at level {level}: {rearranging.format_parts(each)}",
            str(level),
        )
        for level, each in planned.items()
    ]


def _refuse(verb: str, refusal: RearrangingRefused) -> FileFlowOutcome:
    return FileFlowOutcome(FlowOutcome(f"Not {verb}: {refusal}.", is_warning=True))


def _format_undo(phrases: Phrases) -> str:
    return f"{phrases.name_action('browse.undo')} undoes all of it."
