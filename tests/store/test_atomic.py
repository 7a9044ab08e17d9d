"""Files that are written whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from memtui.fs import atomic
from memtui.fs.atomic import write_atomic


@pytest.fixture(params=["nameless", "named"], autouse=True)
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With files that have no name until they are whole, and without."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_NAMELESS", 0)


@pytest.mark.parametrize("sync", [True, False])
def test_a_file_takes_the_place_of_another_with_its_mode_and_times(tmp_path: Path, sync: bool) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")
    write_atomic(path, (part for part in (b"n", b"ew")), mode=0o640, sync=sync, times_ns=(1_000, 2_000))
    seen = path.stat()
    assert (path.read_bytes(), stat.S_IMODE(seen.st_mode), seen.st_mtime_ns) == (b"new", 0o640, 2_000)
    write_atomic(path, b"", sync=sync)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"", 0o600)
    assert os.listdir(tmp_path) == ["f"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"target")
    (tmp_path / "f").symlink_to("target")
    write_atomic(tmp_path / "f", b"new")
    assert not (tmp_path / "f").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"target"


def test_what_stands_there_stays_where_it_is_not_to_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_atomic(path, b"old", replace=False)
    with pytest.raises(FileExistsError):
        write_atomic(path, b"new", replace=False)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("call", ["fsync", "replace", "fchmod"])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(atomic.os, call, fail)
    with pytest.raises(OSError, match="no space"):
        write_atomic(path, b"new", mode=0o644)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]
