"""`memtui completion`: scripts for shells, made from the declarations of the verbs."""

import argparse
import shlex
from collections.abc import Iterable, Sequence

from memtui.cli import output
from memtui.cli.options import Options
from memtui.cli.output import ExitCode
from memtui.cli.parsing import Parser, Verb, VerbParser
from memtui.cli.verbs import VERBS


def add_completion_options(parser: Parser) -> None:
    parser.add_value("shell", "SHELL", ", ".join(_SHELLS), choices=tuple(_SHELLS))


_BASH = """\
# bash completion for memtui. To keep it: save it as
# ~/.local/share/bash-completion/completions/memtui
_memtui() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
    local verb="" words="" kind="" i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "${COMP_WORDS[i]}" in
            @VALUED@) ((i++)) ;;
            -*) ;;
            *) verb="${COMP_WORDS[i]}"; break ;;
        esac
    done
    case "$verb" in
@CASES@
    esac
    COMPREPLY=()
    if [[ -n $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"); fi
    case "$kind" in
        directory) compopt -o filenames; words=-d ;;
        file) compopt -o filenames; words=-f ;;
        *) return ;;
    esac
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$words" -- "$word")
}
complete -F _memtui memtui"""


def _generate_bash(parsers: Sequence[VerbParser]) -> Iterable[str]:
    common = _get_common_options(parsers)
    cases = [*_generate_bash_case('""', common, [parser.verb.name for parser in parsers], "directory")]
    for parser in parsers:
        word = parser.positionals[0] if parser.positionals else None
        cases += _generate_bash_case(parser.verb.name, parser.options, _list_choices(word), _get_value_kind(word))
    valued = "|".join(_list_option_names(action for action in common if action.nargs != 0))
    return [_BASH.replace("@VALUED@", valued).replace("@CASES@", "\n".join(cases))]


def _generate_bash_case(
    verb: str, options: Sequence[argparse.Action], words: Sequence[str], kind: str
) -> Iterable[str]:
    """The completions behind a verb: its options, its word, and the values of its options."""
    yield f"        {verb})"
    yield f'            if [[ $word == -* ]]; then words="{" ".join(_list_option_names(options))}"'
    yield f'            else words="{" ".join(words)}" kind="{kind}"; fi'
    yield '            case "$before" in'
    for option in options:
        if option.nargs != 0:
            values = f'words="{" ".join(_list_choices(option))}" kind="{_get_value_kind(option)}"'
            yield f"                {'|'.join(option.option_strings)}) {values} ;;"
    yield "            esac ;;"


def _generate_zsh(parsers: Sequence[VerbParser]) -> Iterable[str]:
    yield "#compdef memtui"
    yield "# zsh completion for memtui: put it into a directory of $fpath, as _memtui"
    yield "_memtui() {"
    yield "    local curcontext=$curcontext state line"
    yield "    typeset -A opt_args"
    yield "    _arguments -C \\"
    for action in _get_common_options(parsers):
        yield f"        {_format_zsh_option(action)} \\"
    yield "        '1: :->verb' '*:: :->rest' && return"
    yield "    case $state in"
    yield "        verb)"
    yield "            local -a verbs=("
    for parser in parsers:
        name, summary = parser.verb.name, parser.verb.summary
        yield f"                {shlex.quote(f'{name}:{summary}')}"
    yield "            )"
    yield "            _describe -t commands command verbs"
    yield "            _files -/ ;;"
    yield "        rest)"
    yield "            case $line[1] in"
    for parser in parsers:
        yield f"                {parser.verb.name}) _arguments \\"
        for action in parser.options:
            yield f"                    {_format_zsh_option(action)} \\"
        for word in parser.positionals:
            yield f"                    {shlex.quote(f'1:{word.metavar}:{_format_zsh_values(word)}')} \\"
        yield "                    ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _memtui ]]; then _memtui "$@"; else compdef _memtui memtui; fi'


def _format_zsh_option(action: argparse.Action) -> str:
    """One option as `add_completion_options` wants it: several names exclude each other and share what follows."""
    said = (action.help or "").replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = "" if action.nargs == 0 else f":{action.metavar}:{_format_zsh_values(action)}"
    names = action.option_strings
    rest = shlex.quote(f"[{said}]{value}")
    if len(names) == 1:
        return names[0] + rest
    return f"'({' '.join(names)})'{{{','.join(names)}}}{rest}"


def _format_zsh_values(action: argparse.Action) -> str:
    if action.choices:
        return f"({' '.join(action.choices)})"
    return {"directory": "_files -/", "file": "_files"}.get(_get_value_kind(action), " ")


def _generate_fish(parsers: Sequence[VerbParser]) -> Iterable[str]:
    verbs = " ".join(parser.verb.name for parser in parsers)
    yield "# fish completion for memtui: put it into ~/.config/fish/completions/memtui.fish"
    yield "complete -c memtui -f"
    yield "complete -c memtui -n __fish_use_subcommand -a '(__fish_complete_directories)'"
    for action in _get_common_options(parsers):
        yield f"complete -c memtui {_format_fish_option(action)}"
    for parser in parsers:
        name, summary = parser.verb.name, parser.verb.summary
        anew = f"-n 'not __fish_seen_subcommand_from {verbs}'"
        yield f"complete -c memtui {anew} -a {name} -d {shlex.quote(summary)}"
        here = f"-n '__fish_seen_subcommand_from {name}'"
        for action in parser.options[: -len(_get_common_options(parsers))]:
            yield f"complete -c memtui {here} {_format_fish_option(action)}"
        for word in parser.positionals:
            if word.choices:
                yield f"complete -c memtui {here} -a {shlex.quote(' '.join(word.choices))}"
            elif _get_value_kind(word):
                values = {"directory": "-a '(__fish_complete_directories)'", "file": "-F"}[_get_value_kind(word)]
                yield f"complete -c memtui {here} {values}"


def _format_fish_option(action: argparse.Action) -> str:
    names = (f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in action.option_strings)
    value = ""
    if action.nargs != 0:
        value = {"directory": " -x -a '(__fish_complete_directories)'", "file": " -r -F"}.get(
            _get_value_kind(action), " -x"
        )
    return f"{' '.join(names)}{value} -d {shlex.quote(action.help or '')}"


def _get_common_options(parsers: Sequence[VerbParser]) -> list[argparse.Action]:
    return parsers[0].declared[parsers[0].own :]


def _list_option_names(actions: Iterable[argparse.Action]) -> list[str]:
    return [name for action in actions for name in action.option_strings]


def _list_choices(action: argparse.Action | None) -> list[str]:
    return [str(choice) for choice in (action.choices or ())] if action else []


def _get_value_kind(action: argparse.Action | None) -> str:
    """The kind of completion for a value, by its name in the help."""
    name = str(action.metavar) if action and not action.choices else ""
    return {"DIR": "directory", "COMMAND.json": "file", "FILE": "file"}.get(name, "")


_SHELLS = {"bash": _generate_bash, "zsh": _generate_zsh, "fish": _generate_fish}


def render_completion(shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`."""
    return "".join(f"{line}\n" for line in _SHELLS[shell]([VerbParser(verb) for verb in VERBS.values()]))


def run_completion(options: Options, arguments: argparse.Namespace) -> int:  # noqa: ARG001 - it is told what all verbs are told
    output.print_line(render_completion(arguments.shell).removesuffix("\n"))
    return ExitCode.OK


COMPLETION_VERB = Verb("completion", add_completion_options, run_completion)
