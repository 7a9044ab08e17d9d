"""Mounts of a test's own: what is mounted is seen by nobody else, and is gone when the test's process is."""

import shutil
import subprocess

import pytest

_APART = ["unshare", "--user", "--map-root-user", "--mount"]


def apart(script: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a shell script where it may mount.

    Args:
        script: What is run; it ends with the first command that fails.
        words: What it is given as `$1` and so on.
    """
    return subprocess.run(
        [*_APART, "sh", "-ec", script, "sh", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def _can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = [*_APART, "sh", "-ec", "mount -t tmpfs none /tmp"]
    return subprocess.run(tried, capture_output=True, timeout=60, check=False).returncode == 0


needs_mounts = pytest.mark.skipif(not _can_mount(), reason="nothing can be mounted here")
