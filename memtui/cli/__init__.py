"""The command line: from words to a verb, and from what happened to an exit code.

The verbs here are plain: they print and end, and load nothing but the core. Textual is loaded by the browser
and the demo only.
"""

import os
import sys
import traceback
from collections.abc import Sequence

import memtui
from memtui.cli import output, parsing
from memtui.cli.exits import Exit, Failure
from memtui.cli.verbs import VERBS
from memtui.core.errors import Busy, FolderMissing, LeavesRoot, MemtuiError, StateUnusable
from memtui.outgoing import NotWritten, Why

_NOT_WRITTEN = {
    Why.NAME: Exit.USAGE,
    Why.FORBIDDEN: Exit.REFUSED,
    Why.EXISTS: Exit.CONFLICT,
    Why.FAILED: Exit.OUTPUT,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what a command line says.

    Args:
        argv: Its words without the program's name; those of the process if not given.

    Returns:
        The exit code.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    output.prepare()
    try:
        code = _dispatch(words, own_process=argv is None)
        output.flush()
        return code
    except KeyboardInterrupt:
        return _ended(Exit.INTERRUPTED)
    except BrokenPipeError:
        return _ended(Exit.PIPE)
    except MemtuiError as error:
        return _ended(_failed(error, words))
    except MemoryError as error:
        error.__traceback__ = None  # lets go of what it was at work on: even a sentence needs some memory
        output.message("memtui stopped: the system gives it no more memory. Raise its limit, or name a smaller folder.")
        return _ended(Exit.INTERNAL)
    except Exception as error:  # the last one to see it: it is kept in full, and its name is said
        return _ended(_stopped(error, words))


def _dispatch(words: Sequence[str], *, own_process: bool) -> int:
    try:
        parsed = parsing.parse(words, VERBS, memtui.__version__)
    except parsing.Asked as asked:
        output.line(asked.text)
        return Exit.OK
    if parsed.verb is None:
        from memtui.cli import browse  # for start-up cost, like every verb

        if parsed.options.read_only and own_process:
            _confine(network=True)  # a conversation can be begun there
        return browse.run(parsed.options, parsed.word)
    if parsed.options.read_only and own_process and not parsed.verb.keeps_rights:
        _confine(network=False)
    return parsed.verb.run(parsed.options, parsed.arguments)


def _confine(*, network: bool) -> None:
    """Have the kernel keep what `--read-only` promises, where it can."""
    from memtui.confinement import give_up_writing  # for start-up cost: seldom is anything only looked at

    give_up_writing(network=network)


def _failed(error: MemtuiError, words: Sequence[str]) -> Exit:
    """Say what is wrong with what was asked, or with the place where it was."""
    if "--debug" in words:
        output.trace(traceback.format_exception(error))
    output.message(str(error))
    match error:
        case Failure():
            return error.code
        case FolderMissing() | StateUnusable():
            return Exit.MISSING
        case LeavesRoot():
            return Exit.REFUSED
        case Busy():
            return Exit.CONFLICT
        case NotWritten():
            return _NOT_WRITTEN[error.why]
        case _:
            return Exit.INTERNAL


def _stopped(error: Exception, words: Sequence[str]) -> Exit:
    if "--debug" in words:
        output.trace(traceback.format_exception(error))
    from memtui.cli import crash  # for start-up cost: it is seldom needed

    output.message(f"memtui stopped because of a bug: {type(error).__name__}. {crash.keep(error)}")
    return Exit.INTERNAL


def _ended(code: Exit) -> Exit:
    """End without what is still to be written, and without Python complaining about it on its way out."""
    try:
        output.flush()
    except (Failure, OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return code
