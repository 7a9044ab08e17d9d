"""The command line: from words to a verb, and from results and errors to an exit code.

The verbs here are plain: they print and end, and load nothing but the core. Textual is loaded by the browser
and the demo only.
"""

import sys
from collections.abc import Sequence

import memtui
from memtui.cli import output
from memtui.cli.options import parse_plain_command_line
from memtui.cli.output import ExitCode, Failure, OutputClosed
from memtui.core.errors import FolderMissing, LockTimeout, MemtuiError, StateUnusable, SymlinkEscape


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process without the program's name; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    output.prepare_streams()
    try:
        code = _dispatch(words, own_process=argv is None)
        output.flush()
        return code
    except KeyboardInterrupt:
        return _discard_output(ExitCode.INTERRUPTED)
    except OutputClosed:
        return _discard_output(ExitCode.PIPE)
    except MemtuiError as error:
        return _discard_output(_report_error(error, words))
    except MemoryError as error:
        error.__traceback__ = None  # lets go of what it was at work on: even a sentence needs some memory
        output.print_message("memtui stopped: out of memory. Raise its limit, or open a smaller folder.")
        return _discard_output(ExitCode.INTERNAL)
    except Exception as error:  # the last one to see it: it is kept in full, and its name is said
        return _discard_output(_report_crash(error, words))


def _dispatch(words: Sequence[str], *, own_process: bool) -> int:
    if words[:1] == ["hook"]:
        from memtui.cli import hook_call  # noqa: PLC0415 - start-up: an agent waits

        if (code := hook_call.answer_plain_call(words[1:])) is not None:
            return code
    if (plain := parse_plain_command_line(words)) is not None:
        from memtui.cli import browser  # noqa: PLC0415 - start-up: only for screens

        return browser.run_browser(*plain)
    if words[:1] == ["chat"] and (plain := parse_plain_command_line(words[1:])) is not None:
        from memtui.cli import chat_screen  # noqa: PLC0415 - start-up: only for screens

        if (code := chat_screen.run_plain_chat(*plain)) is not None:
            return code
    if words[:1] == ["audit"] and (plain := parse_plain_command_line(words[1:])) is not None:
        from memtui.cli import audit_screen  # noqa: PLC0415 - start-up: only for screens

        if (code := audit_screen.run_plain_audit(*plain)) is not None:
            return code
    from memtui.cli import parsing  # noqa: PLC0415 - start-up: not for a hook, nor to browse a folder
    from memtui.cli.verbs import VERBS  # noqa: PLC0415 - start-up: as above

    try:
        parsed = parsing.parse_command_line(words, VERBS, memtui.__version__)
    except parsing.InfoRequested as asked:
        output.print_line(asked.text)
        return ExitCode.OK
    if parsed.verb is None:
        from memtui.cli import browser  # noqa: PLC0415 - start-up: only for screens

        if parsed.options.read_only and own_process:
            _confine(network=True)  # a conversation can be begun there
        return browser.run_browser(parsed.options, parsed.word)
    if parsed.options.read_only and own_process and not parsed.verb.keeps_rights:
        _confine(network=parsed.verb.needs_network)
    return parsed.verb.run(parsed.options, parsed.arguments)


def _confine(*, network: bool) -> None:
    """Have the kernel enforce `--read-only`, where it can."""
    from memtui.fs.landlock import restrict_writes  # noqa: PLC0415 - start-up: only with --read-only

    restrict_writes(network=network)


def _report_error(error: MemtuiError, words: Sequence[str]) -> ExitCode:
    """Print an error, and return its exit code."""
    if "--debug" in words:
        output.print_traceback(error)
    output.print_message(str(error))
    match error:
        case Failure():
            return error.code
        case FolderMissing() | StateUnusable():
            return ExitCode.MISSING
        case SymlinkEscape():
            return ExitCode.REFUSED
        case LockTimeout():
            return ExitCode.CONFLICT
        case _:
            return _get_write_code(error)


def _get_write_code(error: MemtuiError) -> ExitCode:
    """The exit code of a file that could not be written; another error is a fault of ours."""
    from memtui.fs.exports import WriteFailed, WriteFailureReason  # noqa: PLC0415 - start-up: only for an error

    if not isinstance(error, WriteFailed):
        return ExitCode.INTERNAL
    return {
        WriteFailureReason.NAME: ExitCode.USAGE,
        WriteFailureReason.FORBIDDEN: ExitCode.REFUSED,
        WriteFailureReason.EXISTS: ExitCode.CONFLICT,
        WriteFailureReason.FAILED: ExitCode.OUTPUT,
    }[error.reason]


def _report_crash(error: Exception, words: Sequence[str]) -> ExitCode:
    if "--debug" in words:
        output.print_traceback(error)
    output.print_message(f"memtui stopped because of a bug: {type(error).__name__}. {output.write_crash_log(error)}")
    return ExitCode.INTERNAL


def _discard_output(code: ExitCode) -> ExitCode:
    """Drop pending output, so that Python does not complain about it at exit."""
    try:
        output.flush()
    except (Failure, OutputClosed, OSError, ValueError):
        output.discard_stream(1)
    return code
