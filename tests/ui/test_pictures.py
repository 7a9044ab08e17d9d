"""Every screen looks as it did when somebody last looked. `python -m tests.ui.portraits` keeps how it looks now."""

import difflib
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import pytest

from screenshots.make import Picture
from tests.ui.portraits import DRAWN_WITH, KEPT, SIZES, portrait, portraits

_LINES = 40
"""Of a difference that are shown."""
PORTRAITS: Mapping[str, Picture] = {picture.name: picture for picture in portraits()}
SCENES = tuple(dict.fromkeys(name.rpartition("-")[0] for name in PORTRAITS))


@pytest.mark.sweep(keep=18)
@pytest.mark.parametrize("size", [f"{width}x{height}" for width, height in SIZES])
@pytest.mark.parametrize("shown", SCENES)
async def test_a_screen_looks_as_it_did(shown: str, size: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    picture = PORTRAITS[f"{shown}-{size}"]
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "VISUAL", "EDITOR"):
        monkeypatch.setenv(name, str(tmp_path))  # the scene has its own, and this gives back what was there
    kept = (KEPT / f"{picture.name}.txt").read_text(encoding="utf-8")
    if kept.split("\n", 1)[0] != f"textual {DRAWN_WITH}":
        pytest.skip("drawn with another version of Textual")
    now = await portrait(picture)
    if now != kept:
        changes = difflib.unified_diff(kept.splitlines(), now.splitlines(), "as kept", "now", n=0, lineterm="")
        pytest.fail("it looks another way:\n" + "\n".join(islice(changes, _LINES)), pytrace=False)


def test_no_picture_is_kept_of_what_is_not_drawn_any_more() -> None:
    assert {path.stem for path in KEPT.iterdir()} == PORTRAITS.keys()
