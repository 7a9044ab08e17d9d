"""`memtui` and `python -m memtui`."""

import gc
import os
import sys

from memtui import __version__

_NEW_OBJECTS = 50_000
"""How many more objects there are each time before the collector of cycles looks: while modules are loaded it finds
none, and took a tenth of the start."""


def main() -> int:
    """Run a command line; returns the exit code."""
    gc.set_threshold(_NEW_OBJECTS, 20, 20)
    if sys.argv[1:] in (["--version"], ["-V"]) and _print_version():
        return 0
    if sys.argv[1:2] == ["hook"]:
        from memtui.agents.hooks import prefilter  # noqa: PLC0415 - start-up: an agent waits

        if prefilter.is_done(sys.argv[2:]):
            return 0
    from memtui.cli import main as run_command_line  # noqa: PLC0415 - start-up: most hooks end above

    code = run_command_line()
    gc.disable()
    gc.freeze()  # the process ends: to look for cycles among all that was loaded takes a tenth of a short command
    return code


def _print_version() -> bool:
    """Print the version without loading the command line; `False` where that has to say why it cannot be printed."""
    try:
        os.write(1, f"memtui {__version__}\n".encode())
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
