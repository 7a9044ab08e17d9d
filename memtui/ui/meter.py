"""How much of a folder's budget is used, as the header says it: only where somebody set one, or where it is near."""

from memtui.core.audit_settings import AuditSettings
from memtui.core.budgets import Budget, budgets_of
from memtui.core.listing import human_size
from memtui.core.settings import Settings
from memtui.core.tokens import of_characters
from memtui.ui.frame import Word

_CELLS = 6


def meter(files: int, size: int | None, memory: Settings, audit: AuditSettings) -> tuple[Word, ...]:
    """The budget that is used up most, of those worth a word; nothing if there is none.

    Args:
        files: How many files there are.
        size: Their bytes; `None` while they are not known. Tokens are estimated from them.
        memory: The limits that bind agents.
        audit: The limits that an audit looks at.
    """
    if size is None:
        return ()
    budgets = budgets_of(files=files, bytes=size, tokens=of_characters(size), memory=memory, audit=audit)
    shown = [budget for budget in budgets if budget.is_near or budget.name == "tokens"]
    if not shown:
        return ()
    worst = max(shown, key=lambda budget: budget.share)
    filled = "#" * round(min(worst.share, 1.0) * _CELLS)
    style = "$text-error bold" if worst.is_over else "$text-warning" if worst.is_near else ""
    return (Word(f"[{filled:-<{_CELLS}}] {worst.percent} of {_limit(worst)}", style, 1),)


def _limit(budget: Budget) -> str:
    match budget.name:
        case "bytes":
            return human_size(budget.of)
        case "tokens":
            return f"{budget.of / 1_000:.1f}k tok".replace(".0k", "k") if budget.of >= 1_000 else f"{budget.of} tok"
        case _:
            return f"{budget.of:,} {budget.name}"
