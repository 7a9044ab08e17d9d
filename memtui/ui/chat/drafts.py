"""What was typed and not sent, kept beside the sessions: a crash, a closed terminal or a hasty `q` loses none of it.

Each process has a file of its own, so that two chats over one folder do not overwrite each other's.
"""

import contextlib
import os
from pathlib import Path

from memtui.ui.kept import keep

_START = "draft-"
_END = ".txt"


class Drafts:
    """The drafts of one folder.

    Args:
        directory: Where they lie; it is made when there is something to keep.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._own = directory / f"{_START}{os.getpid()}{_END}"
        self._kept = ""

    def take(self) -> str:
        """What was left by processes that have ended; it is this one's from now on."""
        texts = []
        for path in sorted(self._directory.glob(f"{_START}*{_END}")):
            number = path.name.removeprefix(_START).removesuffix(_END)
            if number.isdecimal() and (int(number) == os.getpid() or not _runs(int(number))):
                with contextlib.suppress(OSError):
                    text = path.read_text(encoding="utf-8", errors="replace")
                    texts.append(text)
                    if path == self._own:
                        self._kept = text
                    else:
                        self.keep("\n\n".join(filter(None, texts)))
                        path.unlink()
        return "\n\n".join(filter(None, texts))

    def keep(self, text: str) -> None:
        """Keep a text in place of what was kept before; an empty one leaves nothing behind.

        Raises:
            OSError: It cannot be kept.
        """
        if text == self._kept:
            return
        if text:
            keep(self._own, text.encode("utf-8", "replace"))
        else:
            with contextlib.suppress(FileNotFoundError):
                self._own.unlink()
        self._kept = text


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
