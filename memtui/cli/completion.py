"""`memtui completion`: scripts for shells, made from the verbs and what they declare."""

import argparse
import shlex
from collections.abc import Iterable, Sequence

from memtui.cli import output
from memtui.cli.exits import Exit
from memtui.cli.parsing import VerbParser
from memtui.cli.verb import Options, Parser, Verb
from memtui.cli.verbs import VERBS


def _arguments(parser: Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=tuple(_SHELLS), help=", ".join(_SHELLS))


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


def _bash(parsers: Sequence[VerbParser]) -> Iterable[str]:
    common = _common(parsers)
    cases = [*_bash_case('""', common, [parser.verb.name for parser in parsers], "directory")]
    for parser in parsers:
        word = parser.words[0] if parser.words else None
        cases += _bash_case(parser.verb.name, parser.options, _choices(word), _kind(word))
    valued = "|".join(_names(action for action in common if action.nargs != 0))
    return [_BASH.replace("@VALUED@", valued).replace("@CASES@", "\n".join(cases))]


def _bash_case(verb: str, options: Sequence[argparse.Action], words: Sequence[str], kind: str) -> Iterable[str]:
    """What is offered behind a verb: its options, its word, and the values of its options."""
    yield f"        {verb})"
    yield f'            if [[ $word == -* ]]; then words="{" ".join(_names(options))}"'
    yield f'            else words="{" ".join(words)}" kind="{kind}"; fi'
    yield '            case "$before" in'
    for option in options:
        if option.nargs != 0:
            values = f'words="{" ".join(_choices(option))}" kind="{_kind(option)}"'
            yield f"                {'|'.join(option.option_strings)}) {values} ;;"
    yield "            esac ;;"


def _zsh(parsers: Sequence[VerbParser]) -> Iterable[str]:
    yield "#compdef memtui"
    yield "# zsh completion for memtui: put it into a directory of $fpath, as _memtui"
    yield "_memtui() {"
    yield "    local curcontext=$curcontext state line"
    yield "    typeset -A opt_args"
    yield "    _arguments -C \\"
    for action in _common(parsers):
        yield f"        {_zsh_option(action)} \\"
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
            yield f"                    {_zsh_option(action)} \\"
        for word in parser.words:
            yield f"                    {shlex.quote(f'1:{word.metavar}:{_zsh_values(word)}')} \\"
        yield "                    ;;"
    yield "            esac ;;"
    yield "    esac"
    yield "}"
    yield 'if [[ $funcstack[1] == _memtui ]]; then _memtui "$@"; else compdef _memtui memtui; fi'


def _zsh_option(action: argparse.Action) -> str:
    """One option as `_arguments` wants it: several names exclude each other and share what follows."""
    said = (action.help or "").replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = "" if action.nargs == 0 else f":{action.metavar}:{_zsh_values(action)}"
    names = action.option_strings
    rest = shlex.quote(f"[{said}]{value}")
    if len(names) == 1:
        return names[0] + rest
    return f"'({' '.join(names)})'{{{','.join(names)}}}{rest}"


def _zsh_values(action: argparse.Action) -> str:
    if action.choices:
        return f"({' '.join(action.choices)})"
    return {"directory": "_files -/", "file": "_files"}.get(_kind(action), " ")


def _fish(parsers: Sequence[VerbParser]) -> Iterable[str]:
    verbs = " ".join(parser.verb.name for parser in parsers)
    yield "# fish completion for memtui: put it into ~/.config/fish/completions/memtui.fish"
    yield "complete -c memtui -f"
    yield "complete -c memtui -n __fish_use_subcommand -a '(__fish_complete_directories)'"
    for action in _common(parsers):
        yield f"complete -c memtui {_fish_option(action)}"
    for parser in parsers:
        name, summary = parser.verb.name, parser.verb.summary
        anew = f"-n 'not __fish_seen_subcommand_from {verbs}'"
        yield f"complete -c memtui {anew} -a {name} -d {shlex.quote(summary)}"
        here = f"-n '__fish_seen_subcommand_from {name}'"
        for action in parser.options[: -len(_common(parsers))]:
            yield f"complete -c memtui {here} {_fish_option(action)}"
        for word in parser.words:
            if word.choices:
                yield f"complete -c memtui {here} -a {shlex.quote(' '.join(word.choices))}"
            elif _kind(word):
                values = {"directory": "-a '(__fish_complete_directories)'", "file": "-F"}[_kind(word)]
                yield f"complete -c memtui {here} {values}"


def _fish_option(action: argparse.Action) -> str:
    names = (f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in action.option_strings)
    value = ""
    if action.nargs != 0:
        value = {"directory": " -x -a '(__fish_complete_directories)'", "file": " -r -F"}.get(_kind(action), " -x")
    return f"{' '.join(names)}{value} -d {shlex.quote(action.help or '')}"


def _common(parsers: Sequence[VerbParser]) -> list[argparse.Action]:
    return parsers[0].declared[parsers[0].own :]


def _names(actions: Iterable[argparse.Action]) -> list[str]:
    return [name for action in actions for name in action.option_strings]


def _choices(action: argparse.Action | None) -> list[str]:
    return [str(choice) for choice in (action.choices or ())] if action else []


def _kind(action: argparse.Action | None) -> str:
    """What a shell should offer for a value, by what help calls it."""
    name = str(action.metavar) if action and not action.choices else ""
    return {"DIR": "directory", "COMMAND.json": "file", "FILE": "file"}.get(name, "")


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}


def _run(options: Options, arguments: argparse.Namespace) -> int:  # noqa: ARG001 - it is told what all verbs are told
    for line in _SHELLS[arguments.shell]([VerbParser(verb) for verb in VERBS.values()]):
        output.line(line)
    return Exit.OK


VERB = Verb(
    "completion",
    "print a script for a shell",
    (("source <(memtui completion bash)", "for now; the script says how to keep it"),),
    _arguments,
    _run,
)
