"""The header says how much of a budget is used where somebody set one, or where it is nearly used up."""

import pytest

from memtui.core.settings import AuditSettings, Settings
from memtui.ui.frame import build_budget_items

OFF = Settings(max_total_bytes=0, max_files=0)


@pytest.mark.parametrize(
    ("files", "size", "memory", "audit", "said"),
    [
        (1, None, Settings(), AuditSettings(), ""),
        (1, 100, OFF, AuditSettings(), ""),
        (1, 100, Settings(), AuditSettings(), ""),
        (1, 2_000, OFF, AuditSettings(max_total_tokens=1_000), "[###---] 50% of 1k tok"),
        (1, 8_000, OFF, AuditSettings(max_total_tokens=1_000), "[######] over 1k tok"),
        (1_900, 100, Settings(max_files=2_000), AuditSettings(), "[######] 95% of 2,000 files"),
        (10, 900, Settings(max_total_bytes=1_024), AuditSettings(max_total_tokens=100_000), "[#####-] 87% of 1.0K"),
    ],
)
def test_the_worst_budget_is_shown(
    files: int, size: int | None, memory: Settings, audit: AuditSettings, said: str
) -> None:
    assert " ".join(word.text for word in build_budget_items(files, size, memory, audit)) == said
