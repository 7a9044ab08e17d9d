"""A diff that takes seconds to compare, once for all tests."""

import pytest

from memtui.core.diffs import compare_texts
from memtui.ui.widgets.diff.layout import DiffComparison


@pytest.fixture(scope="session")
def hundred_thousand_lines() -> DiffComparison:
    lines = [f"{number} x" for number in range(100_000)]
    return DiffComparison(compare_texts("\n".join(lines), "\n".join(f"{line} y" for line in lines)))
