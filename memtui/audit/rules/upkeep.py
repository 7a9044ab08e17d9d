"""Upkeep: notes that nobody reads, say the same twice, contradict each other, lead nowhere, or are too long to load."""

from collections.abc import Iterator

from memtui.audit.context import AuditContext, Note, is_hidden, is_prose
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.outside import NoteUses, collect_uses
from memtui.audit.pruning import compute_age, find_auto_loaded, find_unrecorded_changes
from memtui.audit.rules import contradictions, duplicates, links
from memtui.core.settings import compute_budgets
from memtui.core.wording import estimate_token_count, format_count
from memtui.notes.memory_index import is_index, is_team_note

RULES: tuple[AuditRule, ...] = read_rules("upkeep")


def check_note(note: Note, subject: AuditContext) -> Iterator[Hit]:
    """Notes that are long or empty. The loaded part of an index has rules of its own."""
    if is_hidden(note.path) or not is_prose(note.path) or (text := note.text) is None:
        return
    if not text.strip("\ufeff \t\r\n"):
        yield Hit("empty-note", note.path, "says nothing", identity="")
        return
    tokens, most = estimate_token_count(text), subject.audit.max_note_tokens
    if most and tokens > most and not is_index(note.path):
        words = f"~{tokens:,} tokens, where {most:,} are the most"
        limit = subject.memory.view_char_limit
        if limit and len(text) > limit:
            words += f"; an agent that views it is shown the first {limit:,} characters of {len(text):,}"
        yield Hit("long-note", note.path, words, facts={"tokens": tokens, "characters": len(text)}, identity="")


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """What is found in the folder as a whole."""
    if subject.has_enabled_rule("stale"):
        yield from _find_stale_notes(subject)
    if subject.has_enabled_rule(*duplicates.IDS):
        yield from duplicates.find_duplicates(subject)
    if subject.has_enabled_rule(*contradictions.IDS):
        yield from contradictions.find_contradictions(subject)
    if subject.has_enabled_rule(*links.IDS):
        linked = links.collect_links(subject)
        yield from links.check_links(subject, linked)
        yield from links.check_indexes(subject, linked)
    yield from _check_folder_size(subject)


def _find_stale_notes(subject: AuditContext) -> Iterator[Hit]:
    """Which notes are stale. What every session loads unasked is never seen to be read, and is none."""
    days, judged = subject.audit.stale_days, 0
    if not days:
        subject.log.skip("stale_days is 0", "stale")
        return
    uses = collect_uses(subject.observer, until=subject.on_disk) if subject.on_disk else NoteUses()
    unrecorded = find_unrecorded_changes(subject.observer, subject.on_disk)
    loaded = find_auto_loaded(subject.notes.keys(), lambda path: subject.notes[path].text)
    for note in subject.notes.values():
        path = note.path
        if not note.size or path in subject.pins or is_hidden(path) or path in loaded:
            continue
        if is_team_note(path):
            continue  # who reads it elsewhere is not known
        judged += 1
        mtime_us, is_recorded = note.mtime_ns // 1_000, path not in unrecorded
        age = compute_age(path, uses, mtime_us=mtime_us, now_us=subject.now_us, is_recorded=is_recorded)
        if age.days >= days:
            yield Hit("stale", path, age.description, facts={"days": age.days, "known": age.basis}, identity="")
    left = len(subject.notes) - judged
    words = f"{format_count(judged, 'file was', 'files were')} read or changed in the last {days} days"
    subject.log.counted["stale"] = words + (
        f"; {left:,} empty, hidden, pinned, a team's or always loaded" if left else ""
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
