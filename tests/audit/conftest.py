"""What the tests of audits share."""

from pathlib import Path

import pytest

from tests.conftest import fill


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty memory folder."""
    return fill(tmp_path / "memories", {})
