"""Notes that are too long or empty, and a folder that is full."""

from collections.abc import Iterator

from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import is_hidden, is_prose
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Subject
from memtui.core.budgets import budgets_of
from memtui.core.tokens import estimate
from memtui.notes.index import is_index

_LONG = Rule(
    id="long-note",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="a note that is too long to be read at once",
    why="It costs every session that reads it, and an agent that views it may be shown only its beginning.",
    do="Split it by what it is about, or shorten it.",
    bad="A note of 20,000 characters, about 5,000 tokens.",
    good="A note of 2,000 characters.",
    settings=("max_note_tokens",),
)
_EMPTY = Rule(
    id="empty-note",
    family=Family.UPKEEP,
    severity=Severity.INFO,
    title="a note that says nothing",
    why="A name without a text is read for nothing, and may be what a failed write left.",
    do="Look at its history for a text that was lost (memtui diff PATH), or delete it.",
    bad="A note of blank lines.",
    good="A note of one line.",
)
_BUDGET = Rule(
    id="over-budget",
    family=Family.UPKEEP,
    severity=Severity.WARN,
    title="a folder that is full",
    why="Past its limits an agent's writes are refused, and what it wanted to remember is lost.",
    do="Let old notes go (memtui prune), or raise the limit.",
    bad="A folder of 2,000 files, where memory.max_files is 2,000.",
    good="A folder of 40 files.",
    settings=("max_total_tokens",),
)
RULES = (_LONG, _EMPTY, _BUDGET)


def in_note(note: Note, subject: Subject) -> Iterator[Hit]:
    """Whether a note is long or empty. What is loaded of an index is told by other findings."""
    if is_hidden(note.path) or not is_prose(note.path) or (text := note.text) is None:
        return
    if not text.strip("\ufeff \t\r\n"):
        yield Hit(rule=_EMPTY.id, path=note.path, words="says nothing", identity="")
        return
    tokens, most = estimate(text), subject.audit.max_note_tokens
    if most and tokens > most and not is_index(note.path):
        words = f"~{tokens:,} tokens, where {most:,} are the most"
        limit = subject.memory.view_char_limit
        if limit and len(text) > limit:
            words += f"; an agent that views it is shown the first {limit:,} characters of {len(text):,}"
        yield Hit(
            rule=_LONG.id, path=note.path, words=words, facts={"tokens": tokens, "characters": len(text)}, identity=""
        )


def across(subject: Subject) -> Iterator[Hit]:
    """Whether the folder is full."""
    tokens = None
    if subject.audit.max_total_tokens:
        tokens = sum(estimate(note.text) for note in subject.notes.values() if note.text is not None)
    total = sum(note.size for note in subject.notes.values())
    for budget in budgets_of(
        files=len(subject.notes), bytes=total, tokens=tokens, memory=subject.memory, audit=subject.audit
    ):
        if budget.is_over or (budget.name != "tokens" and budget.used >= budget.of):
            facts: dict[str, str | int | float] = {
                "used": budget.used,
                "of": budget.of,
                "share": round(budget.share, 4),
            }
            words = f"the folder is full: {budget.words} ({budget.setting})"
            yield Hit(rule=_BUDGET.id, path="", words=words, facts=facts, identity=budget.name)
