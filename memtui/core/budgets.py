"""How much of what a folder may hold is used: one value for each limit, for a meter, a summary or a rule."""

from dataclasses import dataclass

from memtui.core.audit_settings import AuditSettings
from memtui.core.listing import human_size
from memtui.core.settings import Settings

_NEAR = 0.8
"""The share from which on a budget is as good as used up."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a limit is used.

    Attributes:
        name: What is counted: `bytes`, `files` or `tokens`.
        used: How many there are.
        of: How many there may be; never 0.
        setting: The setting that says so, such as `memory.max_total_bytes`.
    """

    name: str
    used: int
    of: int
    setting: str

    @property
    def share(self) -> float:
        """Which part is used: 1.0 is all of it, and it may be more."""
        return self.used / self.of

    @property
    def is_over(self) -> bool:
        """Whether there is more than there may be."""
        return self.used > self.of

    @property
    def is_near(self) -> bool:
        """Whether it is used up, or nearly."""
        return self.share >= _NEAR

    @property
    def percent(self) -> str:
        """The share as people read it: `41%`, `under 1%`; never `100%` of one that is not all used."""
        if 0 < self.share < 0.01:
            return "under 1%"
        return f"{int(self.share * 100):,}%"

    @property
    def words(self) -> str:
        """The same as a few words: `41M of 95M bytes, 43%`, `~8,200 of 10,000 tokens, 82%`."""
        match self.name:
            case "bytes":
                return f"{human_size(self.used)} of {human_size(self.of)}, {self.percent}"
            case "tokens":
                return f"~{self.used:,} of {self.of:,} tokens, {self.percent}"
            case _:
                return f"{self.used:,} of {self.of:,} {self.name}, {self.percent}"


def budgets_of(
    *, files: int, bytes: int, tokens: int | None, memory: Settings, audit: AuditSettings | None = None
) -> tuple[Budget, ...]:
    """The budgets of a folder. A limit that is off is no budget.

    Args:
        files: How many files there are.
        bytes: Of all of them.
        tokens: Of all notes, estimated; `None` where nobody counted them.
        memory: The limits that bind agents.
        audit: The limits that an audit looks at.
    """
    of_tokens = audit.max_total_tokens if audit is not None else 0
    found = [
        Budget("bytes", bytes, memory.max_total_bytes, "memory.max_total_bytes") if memory.max_total_bytes else None,
        Budget("files", files, memory.max_files, "memory.max_files") if memory.max_files else None,
        Budget("tokens", tokens, of_tokens, "audit.max_total_tokens") if of_tokens and tokens is not None else None,
    ]
    return tuple(budget for budget in found if budget is not None)
