"""What the numbers were taken on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path


def line(scratch: Path) -> str:
    """One line on processor, versions, kernel and file system."""
    return (
        f"Measured on {os.cpu_count()} cores ({_processor()}), {platform.system()} {platform.release()}, "
        f"{_file_system(scratch)}, Python {platform.python_version()}, Textual {version('textual')}, "
        f"anthropic {version('anthropic')}; load {os.getloadavg()[0]:.1f}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    models = [text.partition(":")[2].strip() for text in lines if text.startswith("model name")]
    return models[0] if models else platform.machine()


def _file_system(path: Path) -> str:
    """The type of the mount that holds a path, which decides what a sync costs."""
    try:
        mounts = [text.split() for text in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    except OSError:
        return "file system unknown"
    real = os.path.realpath(path)
    holding = [mount for mount in mounts if (real + "/").startswith(mount[1].rstrip("/") + "/")]
    return max(holding, key=lambda mount: len(mount[1]))[2] if holding else "file system unknown"
