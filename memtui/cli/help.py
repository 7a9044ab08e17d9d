"""Help texts, made from what the verbs declare; each fits on a screen of 24 lines and 80 columns."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtui.cli.parsing import VerbParser

_OVERALL = """\
memtui: see what an AI agent remembers, as it remembers it.

  memtui ~/app/memories             browse a memory folder, live
  memtui audit ~/app/memories       what is wrong in it, and what changed
  memtui log --follow               print what happens, as it happens

Usage: memtui [DIR], or memtui VERB [OPTIONS]; memtui VERB --help says more

{verbs}

  -C, --dir DIR   else MEMTUI_DIR        --json      answer for programs
  --read-only     change nothing         --state, --config, --no-color, --quiet
Exit: 0 ok, 1 no or differs, 2 usage, 3 not found, 4 refused, 5 conflict, 6 API"""

_WIDEST = 20
"""Names of options that are wider push what is said of them aside."""


def overall(groups: Mapping[str, Sequence[str]]) -> str:
    """The help of memtui itself.

    Args:
        groups: The names of the verbs by what they are for.
    """
    width = max(map(len, groups))
    return _OVERALL.format(verbs="\n".join(f"  {name:<{width}}  {'  '.join(groups[name])}" for name in groups))


def of_verb(parser: "VerbParser") -> str:
    """The help of a verb."""
    verb = parser.verb
    declared = parser.declared[: parser.own]
    own = [action for action in declared if action.help]
    common = [*(action for action in declared if not action.help), *parser.declared[parser.own :]]
    words = " ".join(_word(action) for action in parser.words)
    width = max(len(command) for command, shows in verb.examples if shows)
    lines = [
        f"memtui {verb.name}: {verb.summary}",
        "",
        *(_row(command, shows, width) for command, shows in verb.examples),
        "",
        f"Usage: memtui {verb.name} [OPTIONS] {words}".rstrip(),
    ]
    if own:
        wide = max(16, *(len(names) for action in own if len(names := _names(action)) <= _WIDEST))
        lines += ["", *(_row(_names(action), action.help or "", wide) for action in own)]
    if verb.notes:
        lines += ["", *verb.notes]
    return "\n".join([*lines, "", *_short(common)])


def _row(left: str, right: str, width: int) -> str:
    return f"  {left.ljust(width)}  {right}".rstrip()


def _word(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    return f"[{name}]" if action.nargs == "?" else name


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return _word(action)
    if isinstance(action, argparse.BooleanOptionalAction):
        return f"--[no-]{action.option_strings[0].removeprefix('--')}"
    value = f" {_word(action)}" if action.nargs != 0 and action.metavar else ""
    return ", ".join(action.option_strings) + value


def _short(actions: Iterable[argparse.Action]) -> list[str]:
    """Options that are explained elsewhere: their names only, in as few lines as hold them."""
    lines = ["Also:"]
    for action in actions:
        names = _names(action)
        if len(lines[-1]) + 2 + len(names) > 78:
            lines.append("     ")
        lines[-1] += "  " + names
    return lines
