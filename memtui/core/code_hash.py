"""The hash of code as it is installed, for what is kept between two runs and counts for this code only."""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def hash_packages(packages: tuple[str, ...]) -> str:
    """The hash of code and data of packages of memtui, and of the Python that runs them, in hexadecimal."""
    hashed = hashlib.sha256(sys.version.encode())
    hashed.update(files("memtui").joinpath("__init__.py").read_bytes())  # has the version
    for path, data in _iter_packages(packages):
        hashed.update(f"\0{path}\0{len(data)}\0".encode())
        hashed.update(data)
    return hashed.hexdigest()


def _iter_packages(packages: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for package in packages:
        yield from iter_files(files(f"memtui.{package}"), package)


def iter_files(directory: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    """The files below a directory, compiled code left out, in order: paths, which begin with `path`, and bytes."""
    for each in sorted(directory.iterdir(), key=lambda each: each.name):
        if each.is_dir() and each.name != "__pycache__":
            yield from iter_files(each, f"{path}/{each.name}")
        elif each.is_file() and not each.name.endswith(".pyc"):
            yield f"{path}/{each.name}", each.read_bytes()
