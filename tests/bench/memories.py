"""Memory folders of any size, made once a run, with a state directory that memtui has or has not seen."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Self

from memtui.memory import open as open_memory

_A_DIRECTORY = 100
"""Files in each directory of a large folder."""


class Memories:
    """The scratch directory of a run. A context manager, which removes it."""

    def __init__(self) -> None:
        self.scratch = Path(tempfile.mkdtemp(prefix="memtui-bench-"))
        self._known: dict[int, Path] = {}
        self._states = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def empty(self, name: str) -> Path:
        """A new directory."""
        path = self.scratch / name
        path.mkdir(parents=True)
        return path

    def of_size(self, files: int) -> Path:
        """A folder of short notes, a hundred in each directory but for the first ten, which lie at the top."""
        folder = self.scratch / f"folder-{files}"
        if not folder.exists():
            folder.mkdir()
            for number in range(files):
                path = folder / place_of(number)
                if number % _A_DIRECTORY == 0 or number == 10:
                    path.parent.mkdir(parents=True, exist_ok=True)
                text = f"# Note {number}\n\nA line about {number}, of some length.\n\n- one\n- two\n"
                path.write_text(text, encoding="utf-8")
        return folder

    def new_state(self) -> Path:
        """A state directory of a folder that memtui never looked at."""
        self._states += 1
        return self.empty(f"state-{self._states}")

    def known_state(self, files: int) -> Path:
        """A state directory of the folder of that size, all of which is in the journal."""
        if files not in self._known:
            folder, state = self.of_size(files), self.new_state()
            open_memory(folder, state=state).close()
            self._known[files] = state
        return self._known[files]

    def learn_state(self, files: int, state: Path) -> None:
        """That state directory knows the folder of that size by now."""
        self._known.setdefault(files, state)

    def forget(self, files: int) -> None:
        """Remove a folder that was changed, or is not needed any more."""
        self._known.pop(files, None)
        with contextlib.suppress(OSError):
            shutil.rmtree(self.scratch / f"folder-{files}")


def place_of(number: int) -> str:
    """Where a note of a sized folder lies, relative to it."""
    if number < 10:
        return f"note-{number:06d}.md"
    outer, inner = number // (_A_DIRECTORY * 100), number // _A_DIRECTORY
    return os.path.join(f"area-{outer:02d}", f"topic-{inner:04d}", f"note-{number:06d}.md")
