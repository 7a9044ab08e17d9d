"""The man page, made from the parsers and the help of the commands."""

import argparse
from collections.abc import Iterable, Iterator

import memtui
from memtui.cli.output import ExitCode
from memtui.cli.parsing import Parser, VerbParser, add_common_options, build_parser
from memtui.cli.verbs import VERBS
from memtui.config.settings import list_settings

_EXIT = {
    ExitCode.OK: "Success.",
    ExitCode.FINDINGS: "Findings, differences, no match, or a check that failed.",
    ExitCode.USAGE: "The command line is wrong, or there is no terminal.",
    ExitCode.MISSING: "A folder or file was not found or cannot be read.",
    ExitCode.REFUSED: "Read-only, or outside the memory folder.",
    ExitCode.CONFLICT: "Another process changed it, or is changing it.",
    ExitCode.API: "The API or the network.",
    ExitCode.INTERNAL: "A bug in memtui; standard error names the log file.",
    ExitCode.OUTPUT: "The output could not be written.",
}
_FILES = (
    ("$XDG_CONFIG_HOME/memtui/config.toml", "The settings; ~/.config/memtui/config.toml if the variable is not set."),
    (
        "$XDG_STATE_HOME/memtui/stores/",
        "The journals and drafts of all folders; ~/.local/state/memtui/stores/ if the variable is not set.",
    ),
)


def render_man_page() -> str:
    """The page memtui(1) in troff."""
    common = Parser("memtui")
    add_common_options(common)
    lines = [
        f'.TH MEMTUI 1 "" "memtui {memtui.__version__}" "User Commands"',
        ".SH NAME",
        "memtui \\- see what an AI agent remembers, as it remembers it",
        ".SH SYNOPSIS",
        ".B memtui\n[\\fIDIR\\fR]\n.br\n.B memtui\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]",
        ".SH DESCRIPTION",
        "memtui shows the memory folder of an AI agent in a terminal, live: the files, the note under the cursor, and",
        "every change with its author. Every version of every text is kept in a journal outside the folder.",
        "Without a command it opens",
        ".I DIR",
        "in the browser.",
        ".SH COMMANDS",
        *(line for name in VERBS for line in _render_command(build_parser(VERBS[name]))),
        ".SH COMMON OPTIONS",
        *_render_options(common.declared),
        ".SH EXIT STATUS",
        *(line for code, words in _EXIT.items() for line in (".TP", f".B {int(code)}", words)),
        ".SH ENVIRONMENT",
        *(
            line
            for setting in list_settings().values()
            for name in setting.before
            for line in (".TP", f".B {name}", f"Sets {_escape(setting.name)}.")
        ),
        ".TP",
        ".B NO_COLOR",
        "No colors.",
        ".SH FILES",
        *(line for path, words in _FILES for line in (".TP", f".I {path}", words)),
        ".SH SEE ALSO",
        "The manual is shown by",
        '.BR "memtui help" .',
    ]
    return "\n".join(lines) + "\n"


def _render_command(parser: VerbParser) -> Iterator[str]:
    words = "".join(f" [\\fI{_escape(_name(action))}\\fR]" for action in parser.positionals)
    yield from (
        f'.SS "memtui {_escape(parser.verb.name)}"',
        f"\\fBmemtui {_escape(parser.verb.name)}\\fR [\\fIOPTIONS\\fR]{words}",
    )
    yield from (".PP", f"{_escape(parser.verb.summary[0].upper() + parser.verb.summary[1:])}.")
    yield from _render_options(action for action in parser.declared[: parser.own] if action.option_strings)
    if parser.verb.notes:
        yield from (".PP", *(_escape(note) for note in parser.verb.notes))
    for command, shows in parser.verb.examples:
        yield from (".PP", ".nf", f"    {_escape(command)}", ".fi")
        if shows:
            yield from (".RS", f"{_escape(shows)}", ".RE")


def _render_options(actions: Iterable[argparse.Action]) -> Iterator[str]:
    for action in actions:
        value = f" \\fI{_escape(_name(action))}\\fR" if action.nargs != 0 and action.metavar else ""
        names = ", ".join(f"\\fB{_escape(name)}\\fR" for name in action.option_strings)
        yield from (".TP", names + value, _escape(action.help or "See the help of the command."))


def _name(action: argparse.Action) -> str:
    return str(action.metavar or action.dest.upper())


def _escape(text: str) -> str:
    """A text of one line for troff: no escapes, no requests, and hyphens that can be copied."""
    shown = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return f"\\&{shown}" if shown.startswith((".", "\\(aq")) else shown
