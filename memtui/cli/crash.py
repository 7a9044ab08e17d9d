"""What is kept of a bug: its traceback, where its finder can send it from."""

import os
import time
import traceback

from memtui.places import short


def keep(error: BaseException) -> str:
    """Write the traceback to a file that only its owner can read.

    Returns:
        What to tell a person, as a sentence.
    """
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    directory = os.path.join(base, "memtui", "log")
    path = os.path.join(directory, f"{time.strftime('%Y-%m-%dT%H%M%S')}-{os.getpid()}.log")
    text = "".join(traceback.format_exception(error))
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return "No log could be written; see it with --debug."
    return f"Log: {short(path)}"
