"""From words to a verb and its options.

The words are read in two steps: the options that all verbs share, up to the first word; then, if that word is
a verb, the rest with that verb's own parser. Only one verb's parser is ever built.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from memtui.cli.options import Options
from memtui.cli.output import Failure, NotFound, UsageError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import NO_FOLDER
from memtui.core.suggestion import find_nearest, format_suggestion

# Help texts, made from the declarations of the verbs; each fits on a screen of 24 lines and 80 columns.

_OVERALL = """\
memtui: see what an AI agent remembers, as it remembers it.

  memtui ~/app/memories             browse a memory folder, live
  memtui audit ~/app/memories       find problems, review what changed
  memtui log --follow               print events as they happen

Usage: memtui [DIR], or memtui VERB [OPTIONS]
       memtui VERB --help lists the options, memtui help the manual's pages

{verbs}

  -C, --dir DIR   or MEMTUI_DIR          --json      JSON output
  --read-only     change nothing         --state, --config, --no-color, --quiet
Exit: 0 ok, 1 no or differs, 2 usage, 3 not found, 4 refused, 5 conflict, 6 API"""

_WIDEST = 20
"""Wider names of options push their help aside."""


def format_main_help(groups: Mapping[str, Sequence[str]]) -> str:
    """The help of memtui, with the names of the verbs by group."""
    width = max(map(len, groups))
    return _OVERALL.format(verbs="\n".join(f"  {name:<{width}}  {'  '.join(groups[name])}" for name in groups))


def format_verb_help(parser: "VerbParser") -> str:
    """The help of a verb."""
    verb = parser.verb
    declared = parser.declared[: parser.own]
    own = [action for action in declared if action.help]
    common = [*(action for action in declared if not action.help), *parser.declared[parser.own :]]
    words = " ".join(_format_argument(action) for action in parser.positionals)
    width = max(len(command) for command, shows in verb.examples if shows)
    lines = [
        f"memtui {verb.name}: {verb.summary}",
        "",
        *(_format_row(command, shows, width) for command, shows in verb.examples),
        "",
        f"Usage: memtui {verb.name} [OPTIONS] {words}".rstrip(),
    ]
    if own:
        wide = max(16, *(len(names) for action in own if len(names := _format_names(action)) <= _WIDEST))
        lines += ["", *(_format_row(_format_names(action), action.help or "", wide) for action in own)]
    if verb.notes:
        lines += ["", *verb.notes]
    return "\n".join([*lines, "", *_format_short_options(common)])


def _format_row(left: str, right: str, width: int) -> str:
    return f"  {left.ljust(width)}  {right}".rstrip()


def _format_argument(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest.upper())
    return {"?": f"[{name}]", "*": f"[{name}...]"}.get(str(action.nargs), name)


def _format_names(action: argparse.Action) -> str:
    if not action.option_strings:
        return _format_argument(action)
    if isinstance(action, argparse.BooleanOptionalAction):
        return f"--[no-]{action.option_strings[0].removeprefix('--')}"
    value = f" {_format_argument(action)}" if action.nargs != 0 and action.metavar else ""
    return ", ".join(action.option_strings) + value


def _format_short_options(actions: Iterable[argparse.Action]) -> list[str]:
    """Options that are explained elsewhere: their names only, in as few lines as hold them."""
    lines = ["Also:"]
    for action in actions:
        names = _format_names(action)
        if len(lines[-1]) + 2 + len(names) > 78:
            lines.append("     ")
        lines[-1] += "  " + names
    return lines


# A verb is one value in one file. Help, completion and dispatch are made from the same values, so a verb cannot
# be listed in one of them and missing in another.


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb. Its help text is in `verb_help.toml`."""

    name: str
    add_options: Callable[["Parser"], None]
    """Declares the options besides those of all verbs."""
    run: Callable[[Options, argparse.Namespace], int]
    """Returns the exit code."""
    keeps_rights: bool = False
    """Whether its process has to write elsewhere, or to reach the network, even with `--read-only`: the others give up
    the right to, where the kernel takes it."""
    needs_network: bool = False
    """Whether it keeps the right to reach the network with `--read-only`: a conversation can be begun there."""

    @property
    def summary(self) -> str:
        """A few words, beginning with a small letter."""
        return str(_load_help_texts()[self.name]["summary"])

    @property
    def examples(self) -> Sequence[tuple[str, str]]:
        """Command lines that work, each with its effect."""
        return [(command, shows) for command, shows in _load_help_texts()[self.name]["examples"]]

    @property
    def notes(self) -> Sequence[str]:
        """Further lines for its help."""
        return list(_load_help_texts()[self.name].get("notes", ()))


@cache
def _load_help_texts() -> dict[str, Any]:
    import tomllib  # noqa: PLC0415 - start-up: only for help and completion

    with open(os.path.join(os.path.dirname(__file__), "verb_help.toml"), "rb") as file:
        return tomllib.load(file)


class _Formatter(argparse.HelpFormatter):
    """Of a fixed width: argparse makes one for each argument, and loads all that compresses to find the width."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class Parser(argparse.ArgumentParser):
    """An argument parser that keeps its declarations for help and completion."""

    def __init__(self, prog: str) -> None:
        self.declared: list[argparse.Action] = []
        super().__init__(prog=prog, allow_abbrev=False, add_help=False, formatter_class=_Formatter)

    def add_argument(self, *names: Any, **given: Any) -> argparse.Action:
        """As argparse has it."""
        action = super().add_argument(*names, **given)
        self.declared.append(action)
        return action

    def add_value(self, names: str, metavar: str, help: str | None = None, **given: Any) -> None:
        """Declare an argument, or an option with a value; names are separated by spaces."""
        self.add_argument(*names.split(), metavar=metavar, help=help, **given)

    def add_flag(self, names: str, help: str | None = None) -> None:
        """Declare an option without a value."""
        self.add_argument(*names.split(), action="store_true", help=help)

    @property
    def options(self) -> list[argparse.Action]:
        return [action for action in self.declared if action.option_strings]

    @property
    def positionals(self) -> list[argparse.Action]:
        return [action for action in self.declared if not action.option_strings]


def make_count_parser(noun: str, *, least: int = 0, most: int = 999_999_999) -> Callable[[str], int]:
    """The type of an argument that is a whole number, for argparse; `noun` is such as `number of events`."""

    def parse_count(given: str) -> int:
        if not (given.isascii() and given.isdecimal() and len(given) < 10 and least <= int(given) <= most):
            raise argparse.ArgumentTypeError(f"{given!r} is not a {noun}")
        return int(given)

    return parse_count


def make_number_parser(noun: str, *, most: float = sys.float_info.max, zero: bool = True) -> Callable[[str], float]:
    """The type of an argument that is a number from 0, or above it, for argparse."""

    def parse_number(given: str) -> float:
        try:
            number = float(given)
        except ValueError:
            number = -1.0
        if not (0 <= number <= most) or (number == 0 and not zero):
            raise argparse.ArgumentTypeError(f"{given!r} is not a {noun}")
        return number

    return parse_number


parse_event_count = make_count_parser("number of events")


class OpenChoices(tuple[str, ...]):
    """Values that completion offers for an argument whose verb judges it itself, and says more than argparse does."""

    __slots__ = ()

    def __contains__(self, value: object) -> bool:
        return True


class VerbRegistry(Mapping[str, Verb]):
    """The verbs by name, in the order of help; the module of a verb is imported when it is asked for.

    Args:
        groups: The names by purpose.
        modules: The modules in `memtui.cli` that are not named as their verb, by verb.
    """

    def __init__(self, groups: Mapping[str, tuple[str, ...]], modules: Mapping[str, str]) -> None:
        self.groups = groups
        self._modules = modules
        self._names = tuple(name for names in groups.values() for name in names)

    def __getitem__(self, name: str) -> Verb:
        if name not in self._names:
            raise KeyError(name)
        stem = name.replace("-", "_")
        verb: Verb = getattr(import_module(f"memtui.cli.{self._modules.get(name, stem)}"), f"{stem.upper()}_VERB")
        return verb

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


# First words that are no verb: a folder to browse, a slip of the finger, or a verb of another version.

_LATER = "import version watch"
RESERVED = frozenset(_LATER.split())
"""Names of future verbs, so that none of them takes the name of a person's folder."""


def require_folder(word: str, verbs: Iterable[str]) -> None:
    """Raise `Failure` for a first word that is neither a verb, nor a folder, nor written as a path."""
    if word in RESERVED:
        hint = f" To open the folder of that name: memtui ./{word}" if os.path.isdir(word) else ""
        raise UsageError(f"'{word}' is not part of this version of memtui.{hint}")
    if not word or os.sep in word or word[0] in "~." or word.startswith(NO_FOLDER) or os.path.isdir(word):
        return
    if os.path.exists(word):
        raise NotFound(f"{word} is a file, not a folder. Nothing was opened. Browse a folder: memtui DIR")
    known = [*verbs, *_list_folders()]
    hint = format_suggestion(word, known, "To list the commands: memtui --help", shown="'{}'")
    raise UsageError(f"No command or folder called '{word}'. {hint}")


def _list_folders() -> list[str]:
    try:
        with os.scandir() as entries:
            return [entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
    except OSError:
        return []


class ParsedCommandLine(NamedTuple):
    """A verb with its arguments, or the browser, with a folder or without."""

    options: Options
    verb: Verb | None
    arguments: argparse.Namespace
    word: str | None = None
    """The first word, where it is no verb."""


class InfoRequested(Exception):
    """The command line asks for help or version, which is `text`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def parse_command_line(words: Sequence[str], verbs: VerbRegistry, version: str) -> ParsedCommandLine:
    """Parse the words of a command line. Raises `InfoRequested` for help and version, `Failure` for a usage error."""
    first = _StrictParser("memtui")
    add_common_options(first)
    first.add_argument("-V", "--version", action="store_true")
    first.add_argument("words", nargs=argparse.REMAINDER)
    given = argparse.Namespace()
    _, unknown = first.parse_known_args(words, given)
    rest: list[str] = given.words
    verb = verbs.get(rest[0]) if rest else None
    if hasattr(given, "help"):
        raise InfoRequested(format_verb_help(build_parser(verb)) if verb else format_main_help(verbs.groups))
    if given.version:
        raise InfoRequested(f"memtui {version}")
    if unknown:
        raise _make_unknown_failure(unknown[0], first, verb)
    if verb is None:
        if rest and not rest[0].startswith("-"):
            require_folder(rest[0], verbs)
        own = _StrictParser("memtui")
        add_common_options(own)
        own.add_argument("word", nargs="?")
        _parse_remaining(own, rest, given)
        if hasattr(given, "help"):
            raise InfoRequested(format_main_help(verbs.groups))
        return ParsedCommandLine(_build_options(given), None, given, given.word)
    _parse_remaining(build_parser(verb), rest[1:], given)
    if hasattr(given, "help"):
        raise InfoRequested(format_verb_help(build_parser(verb)))
    return ParsedCommandLine(_build_options(given), verb, given)


def build_parser(verb: Verb) -> "VerbParser":
    """The parser of a verb's words, with the options that all verbs take."""
    return VerbParser(verb)


def add_common_options(parser: Parser) -> None:
    """Declare the options that all verbs take. None has a default, so that either place can say it."""
    absent = argparse.SUPPRESS
    parser.add_argument("-C", "--dir", metavar="DIR", dest="directory", default=absent, help="the memory folder")
    parser.add_argument("--state", metavar="DIR", default=absent, help="where the journal is kept")
    parser.add_argument("--read-only", action="store_true", default=absent, help="change and record nothing")
    parser.add_argument("--json", action="store_true", default=absent, help="JSON output")
    parser.add_argument("--no-color", action="store_true", default=absent, help="no colors, as NO_COLOR=1")
    parser.add_argument("--debug", action="store_true", default=absent, help="tracebacks with errors")
    parser.add_argument("--config", metavar="FILE", default=absent, help="another settings file")
    parser.add_argument("--no-config", action="store_true", default=absent, help="no settings file")
    parser.add_argument("--screen-reader", action="store_true", default=absent, help="sentences, numbered menus")
    parser.add_argument("-q", "--quiet", action="store_true", default=absent, help="errors only")
    parser.add_argument("-h", "--help", action="store_true", default=absent, help="this help")


class _StrictParser(Parser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{self.prog}: {message}. See: {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = [] if action.choices is None else [str(each) for each in action.choices]
        nearest = None if action.choices is None or value in action.choices else find_nearest(str(value), known)
        if nearest is not None:
            choices = ", ".join(map(repr, known))
            words = f"invalid choice: {value!r}, did you mean {nearest!r}? (choose from {choices})"
            raise argparse.ArgumentError(action, words)
        super()._check_value(action, value)


class VerbParser(_StrictParser):
    """The parser of one verb; `own` is the number of its own arguments among `declared`."""

    def __init__(self, verb: Verb) -> None:
        super().__init__(f"memtui {verb.name}")
        self.verb = verb
        verb.add_options(self)
        self.own = len(self.declared)
        """How many of the declared arguments are the verb's own."""
        add_common_options(self)


def _parse_remaining(parser: Parser, words: Sequence[str], given: argparse.Namespace) -> None:
    if {"-h", "--help"} & set(words[: words.index("--")] if "--" in words else words):
        given.help = True  # before what else is missing or wrong is complained about
        return
    takes_all = any(action.nargs == argparse.REMAINDER for action in parser.positionals)
    # Options may stand between the words: `memtui rm a -C DIR b`.
    read = parser.parse_known_args if takes_all else parser.parse_known_intermixed_args
    _, unknown = read(words, given)
    if unknown:
        raise _make_unknown_failure(unknown[0], parser, None)


def _make_unknown_failure(word: str, parser: Parser, verb: Verb | None) -> Failure:
    if not word.startswith("-"):
        return UsageError(f"{parser.prog}: unexpected argument {word!r}. See: {parser.prog} --help")
    name = word.split("=", maxsplit=1)[0]
    own = [option for action in VerbParser(verb).options for option in action.option_strings] if verb else []
    if verb and name in own:
        hint = f"Put it after the verb: memtui {verb.name} {name}"
    else:
        known = (option for action in parser.options for option in action.option_strings)
        hint = format_suggestion(name, known, f"See: {parser.prog} --help", shown="'{}'")
    return UsageError(f"{parser.prog}: unknown option {name!r}. {hint}")


def _build_options(given: argparse.Namespace) -> Options:
    read_only = os.environ.get("MEMTUI_READ_ONLY", "").lower() not in ("", "0", "no", "false")
    if hasattr(given, "no_color"):
        os.environ["NO_COLOR"] = "1"  # where Textual looks for it
    config = getattr(given, "config", None)
    if config is not None and hasattr(given, "no_config"):
        raise UsageError("memtui: --config and --no-config do not go together. Leave one of them out.")
    if config == "":
        raise UsageError("memtui: the name of the settings file is empty. Nothing was opened.")
    return Options(
        directory=getattr(given, "directory", None),
        state=getattr(given, "state", None),
        read_only=read_only or hasattr(given, "read_only"),
        config=config,
        **{name: hasattr(given, name) for name in ("json", "debug", "quiet", "no_config", "screen_reader")},
    )
