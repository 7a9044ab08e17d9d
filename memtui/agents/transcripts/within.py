"""Which files are in a memory folder, by the names that session files give them."""

import os

_MAX_NAME_BYTES, _MAX_PATH = 255, 4_000
_KEPT = 50_000
"""Directories whose real place is remembered: sessions write to the same ones again and again."""


class Within:
    """Tells where in a folder a file is.

    Args:
        folder: The folder, links resolved.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._top = folder.rstrip(os.sep) + os.sep
        self._real: dict[str, str] = {}

    def path_of(self, file: str) -> str | None:
        """Where a file is that was named in full, relative to the folder: `""` for the folder itself.

        Returns:
            `None` if it is not in the folder, or if no file can be called so.
        """
        if "\0" in file or not os.path.isabs(file):
            return None
        try:
            file.encode()
        except UnicodeEncodeError:
            return None  # half a character: no file is called so
        path = os.path.normpath(file)
        if path + os.sep == self._top:
            return ""
        if not path.startswith(self._top):
            above, name = os.path.split(path)
            path = os.path.join(self._real_of(above), name)
            if not path.startswith(self._top):
                return None
        relative = path[len(self._top) :]
        is_name = all(len(os.fsencode(name)) <= _MAX_NAME_BYTES for name in relative.split(os.sep))
        return relative if is_name and len(relative) <= _MAX_PATH else None

    def is_below(self, directory: str) -> bool:
        """Whether the folder is in a directory that was named in full."""
        return self._top.startswith(os.path.normpath(directory).rstrip(os.sep) + os.sep)

    def _real_of(self, directory: str) -> str:
        if (known := self._real.get(directory)) is None:
            known = os.path.realpath(directory)
            if len(self._real) < _KEPT:
                self._real[directory] = known
        return known
