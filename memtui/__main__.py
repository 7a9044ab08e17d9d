"""`memtui` and `python -m memtui`."""

import sys


def main() -> int:
    """Run a command line; returns the exit code."""
    if sys.argv[1:2] == ["hook"]:
        from memtui.agents.hooks import prefilter  # noqa: PLC0415 - start-up: an agent waits

        if prefilter.is_done(sys.argv[2:]):
            return 0
    from memtui.cli import main as run_command_line  # noqa: PLC0415 - start-up: most hooks end above

    return run_command_line()


if __name__ == "__main__":
    sys.exit(main())
