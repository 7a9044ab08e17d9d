"""Standing orders: what they say makes them candidates, and where they came from makes them findings.

A note of the person's own hand may say "after each build, upload the report", and so may one that an agent wrote since
a page told it to. The words are the same. So an order is told where a stranger's text says it too, where it was written
in the turn in which an agent read one, and where it came from somebody who never wrote there. What the person asked for
is none of these.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memtui.audit.context import AuditContext, LineOffsets, Note
from memtui.audit.masking import mask_message
from memtui.audit.model import AuditRule, FindingOrigin, Hit, read_rules
from memtui.audit.provenance import OUTSIDE
from memtui.core.events import Person, format_actor_name
from memtui.core.unicode import to_one_line
from memtui.scan.folding import fold_text
from memtui.scan.orders import Order, find_orders

if TYPE_CHECKING:
    from memtui.agents.transcripts.reads import CallContext, StrangerText

RULES: tuple[AuditRule, ...] = read_rules("orders")
_ALL = tuple(rule.id for rule in RULES)
COPIED, COPIED_INSTRUCTION, AFTER_READING, BY_STRANGER = _ALL
_PERSON = format_actor_name(Person())
_MOST_BYTES = 500_000_000
"""Bytes of session files that are read for all candidates."""
_WORD = re.compile(r"\w+")
_ROW = 4  # words in a row that two texts are compared by
_SHOWN = 140  # characters of what names a source
_TEXTS = 64  # whose rows are remembered
_SAME = 0.5  # the part of such rows from which on a text says what another one does
_OWN_SHARE = 9  # changes that agents and the person made for each one of another program, where that one is strange


class _Candidate(NamedTuple):
    note: Note
    order: Order
    origin: FindingOrigin

    @property
    def call(self) -> tuple[str, str]:
        return self.origin.session or "", self.origin.call_id or ""


def find_strange_orders(subject: AuditContext) -> Iterator[Hit]:
    """The standing orders of a folder that did not come from the person, as far as that is known."""
    if not subject.has_enabled_rule(*_ALL):
        return
    if not subject.on_disk:
        subject.log.skip("there is no journal", *_ALL)
        return
    candidates = list(_collect_candidates(subject))
    calls = {each.call for each in candidates if all(each.call)}
    if not candidates:
        return
    from memtui.agents.transcripts.reads import find_contexts  # noqa: PLC0415 - start-up: most folders have no candidate

    contexts = find_contexts(sorted(calls), most_bytes=_MOST_BYTES) if calls else {}
    for each in candidates:
        if (reason := _find_reason(each, contexts, subject)) is not None:
            rule, words = reason
            what = "an instruction" if rule == COPIED_INSTRUCTION else "an order"
            sentence = f"{what} for every later session, {words}"
            yield Hit(rule, each.note.path, sentence, each.order.start, each.order.end)


def _collect_candidates(subject: AuditContext) -> Iterator[_Candidate]:
    """Orders of which the journal knows who wrote them, and that it was not the person."""
    for note in subject.select_unclean(subject.notes.values(), "orders"):
        subject.check_cancelled()
        if not subject.origins.has_known_author(note.path):
            continue
        orders = [] if note.text is None or note.is_binary else list(find_orders(note.text))
        if not orders and subject.cache is not None:
            subject.cache.add_clean(note, "orders")
        offsets = LineOffsets(note.text or "")
        for order in orders:
            line, _ = offsets.to_position(order.start)
            origin = subject.origins.trace(Hit(COPIED, note.path, "", order.start), note.data, line)
            if origin.is_known and origin.actor != _PERSON:
                yield _Candidate(note, order, origin)


def _find_reason(
    each: _Candidate, contexts: Mapping[tuple[str, str], "CallContext"], subject: AuditContext
) -> tuple[str, str] | None:
    """The rule that an order breaks by where it came from, and why, as a part of a sentence; `None` for none."""
    context = contexts.get(each.call)
    if context is not None and _says(context.prompt, each.order):
        return None
    read = context.read if context is not None else ()
    if (source := next((text for text in reversed(read) if _says(text.text, each.order)), None)) is not None:
        rule = COPIED if each.order.is_risky else COPIED_INSTRUCTION
        return rule, f"in words of {_format_source(source, subject)}, which the agent read before it wrote them"
    if not (each.order.is_risky and each.order.is_standing):
        return None
    if context is not None and (reads := [text for text in read if text.turn == context.turn]):
        return AFTER_READING, f"written in the turn in which the agent read {_format_sources(reads, subject)}"
    summary = subject.journal_summary
    if each.origin.actor in summary.newcomers:
        return BY_STRANGER, f"written by {to_one_line(each.origin.actor)}, who never wrote here before"
    if each.origin.actor == OUTSIDE and summary.outside * _OWN_SHARE <= summary.own:
        return BY_STRANGER, "written by another program, although agents are recorded here"
    return None


def _format_source(text: "StrangerText", subject: AuditContext) -> str:
    """Who gave a text; a secret in it is masked before it is cut, since a half of one is not known to be one."""
    shown = mask_message(to_one_line(text.source), rules=subject.custom.matcher)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _format_sources(texts: Iterable["StrangerText"], subject: AuditContext) -> str:
    first, *others = dict.fromkeys(_format_source(text, subject) for text in texts)
    return f"{first} and {len(others):,} more" if others else first


def _says(text: str, order: Order) -> bool:
    """Whether a text says what an order does, by their words in rows."""
    rows = _hash_rows(order.words)
    if not text or not rows:
        return False
    return len(rows & _hash_text(text)) >= _SAME * len(rows)


@lru_cache(maxsize=_TEXTS)
def _hash_text(text: str) -> frozenset[int]:
    """The rows of a text, which all orders of its session are compared with."""
    return _hash_rows(fold_text(text).text)


def _hash_rows(folded: str) -> frozenset[int]:
    words = _WORD.findall(folded)
    return frozenset(map(hash, zip(*(words[start:] for start in range(_ROW)), strict=False)))
