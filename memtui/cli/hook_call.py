"""`memtui hook` as an agent runs it, which waits for it: the command line's own parser takes as long as the answer."""

import os
import sys
from collections.abc import Sequence

from memtui.agents.hooks.hook import HookOptions, answer_hook
from memtui.agents.hooks.prefilter import parse_options, read_input
from memtui.cli import output
from memtui.cli.output import ExitCode
from memtui.core.settings import Settings
from memtui.fs.state import get_config_path

SECONDS = 300.0
"""For which an answer is waited where nothing else is said."""


def answer_plain_call(words: Sequence[str]) -> int | None:
    """Answer a call with the options that `memtui hook install` writes; `None` where the command line has to judge."""
    options = parse_options(list(words))
    if options is None or os.environ.get("MEMTUI_READ_ONLY") or sys.stdin is None or sys.stdin.isatty():
        return None
    return answer_call(
        HookOptions(
            asks="--ask" in options,
            is_strict="--strict" in options,
            seconds=float(options.get("--wait", SECONDS)),
            directory=options.get("--dir"),
            state=options.get("--state"),
            settings=_load_settings,
        )
    )


def answer_call(given: HookOptions, *, read_only: bool = False) -> int:
    """Answer the call on standard input, which is read in any case; returns the exit code."""
    data = read_input() if sys.stdin is not None else b""
    if read_only:
        return ExitCode.OK
    answer = answer_hook(data, given, output.write_crash_log)
    if answer.problem:
        output.print_message(answer.problem)
    if answer.output:
        output.print_line(answer.output)
    return ExitCode.OK


def _load_settings(folder: str) -> Settings:
    """The settings of a memory. No variable of the environment is about them: without a file they are the defaults."""
    if not os.path.lexists(get_config_path()):
        return Settings()
    from memtui.config import load_config  # noqa: PLC0415 - start-up: 4 ms

    return load_config(folder=folder).config.memory
