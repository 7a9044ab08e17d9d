"""Upkeep: notes that nobody reads, say the same twice, contradict each other, lead nowhere, or are too long to load."""

from collections.abc import Iterator

from memtui.audit.context import DATED, AuditContext, LineOffsets, Note, is_dated_note, is_hidden, is_prose
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.outside import collect_uses
from memtui.audit.pruning import compute_age, find_auto_loaded, find_unrecorded_changes
from memtui.audit.rules import contradictions, duplicates, links, schemas
from memtui.core.settings import compute_budgets
from memtui.core.wording import estimate_token_count, format_count
from memtui.notes.memory_index import is_index, is_team_note
from memtui.places.checks import find_refusal

RULES: tuple[AuditRule, ...] = read_rules("upkeep")

_MAY_BE_EMPTY = frozenset({"inbox", "outbox", "queue", "todo", "todos", "scratch", "scratchpad", "drafts", "backlog"})
"""Names of notes that are meant to be emptied."""
_OWN_READER = 5
"""Times what memtui's tool shows of a note at once, as Claude Code's own tool reads (25,000 tokens at most)."""


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """Notes that are long or empty. The loaded part of an index has rules of its own."""
    if is_hidden(note.path) or not is_prose(note.path) or (text := note.text) is None:
        return
    if not text.strip("\ufeff \t\r\n"):
        if note.path.rpartition("/")[2].partition(".")[0].casefold() in _MAY_BE_EMPTY:
            return
        yield Hit("empty-note", note.path, "says nothing", identity="")
        return
    rule = subject.dialect.get_rule(note.path)
    if subject.dialect.name and (refusal := find_refusal(subject.dialect, note.path, text)) is not None:
        start = LineOffsets(text).to_offset(max(refusal.line, 1))
        words = f"{subject.dialect.title} refuses it: {refusal.words}"
        yield Hit("agent-refuses", note.path, words, start=start, end=start, identity="")
    # Agents without memtui read with tools of their own, which take more at once.
    most = subject.audit.max_note_tokens * (1 if subject.on_disk else _OWN_READER)
    tokens = estimate_token_count(text)
    is_read = not rule.loads and rule.kept is None and not is_index(note.path)
    if most and tokens > most and is_read and not is_dated_note(note.path):
        words = f"~{tokens:,} tokens, over the limit of {most:,}"
        limit = subject.memory.view_char_limit
        if subject.on_disk and limit and len(text) > limit:
            words += f"; an agent that views it is shown the first {limit:,} characters of {len(text):,}"
        yield Hit("long-note", note.path, words, facts={"tokens": tokens, "characters": len(text)}, identity="")


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """What is found in the folder as a whole."""
    if subject.has_enabled_rule("stale"):
        yield from _find_stale_notes(subject)
    if subject.has_enabled_rule(*duplicates.IDS):
        yield from subject.find_in_all("duplicates", duplicates.find_duplicates)
    if subject.has_enabled_rule(*contradictions.IDS):
        yield from subject.find_in_all("contradictions", contradictions.find_contradictions)
    if subject.has_enabled_rule(*links.IDS):
        yield from links.find_broken(subject) if subject.repo else subject.find_in_all("links", links.find_broken)
    if subject.has_enabled_rule(schemas.ID):
        yield from subject.find_in_all("schemas", schemas.find_mismatches)
    yield from _check_folder_size(subject)


def _find_stale_notes(subject: AuditContext) -> Iterator[Hit]:
    """Which notes are stale. What every session loads unasked is never seen to be read, and is none."""
    days, judged = subject.audit.stale_days, 0
    if not days:
        subject.log.skip("stale_days is 0", "stale")
        return
    if not subject.on_disk:
        subject.log.skip("without a journal it is unknown what was read", "stale")
        return
    uses = collect_uses(subject.observer, until=subject.on_disk)
    unrecorded = find_unrecorded_changes(subject.observer, subject.on_disk)
    loaded = find_auto_loaded(subject.notes.keys(), lambda path: subject.notes[path].text, subject.dialect)
    for note in subject.notes.values():
        path = note.path
        if not note.size or path in subject.pins or is_hidden(path) or path in loaded:
            continue
        if is_team_note(path) or subject.dialect.get_rule(path).kept or DATED.search(path.rpartition("/")[2]):
            continue  # who reads a team's is not known, and a diary is not out of date
        judged += 1
        mtime_us, is_recorded = note.mtime_ns // 1_000, path not in unrecorded
        age = compute_age(path, uses, mtime_us=mtime_us, now_us=subject.now_us, is_recorded=is_recorded)
        if age.days >= days:
            yield Hit("stale", path, age.description, facts={"days": age.days, "known": age.basis}, identity="")
    left = len(subject.notes) - judged
    words = f"{format_count(judged, 'file was', 'files were')} read or changed in the last {days} days"
    subject.log.counted["stale"] = words + (
        f"; {left:,} empty, hidden, pinned, dated, a team's or always loaded" if left else ""
    )


def _check_folder_size(subject: AuditContext) -> Iterator[Hit]:
    """Whether the folder is full."""
    notes, tokens = subject.notes.values(), None
    if subject.audit.max_total_tokens:
        tokens = sum(map(estimate_token_count, subject.iter_texts()))
    total = sum(note.size for note in notes)
    for budget in compute_budgets(
        files=len(notes), bytes=total, tokens=tokens, memory=subject.memory, audit=subject.audit
    ):
        if budget.is_over or (budget.name != "tokens" and budget.used >= budget.limit):
            facts = {"used": budget.used, "of": budget.limit, "share": round(budget.share, 4)}
            words = f"the folder is full: {budget.summary} ({budget.setting})"
            yield Hit("over-budget", "", words, facts=facts, identity=budget.name)
