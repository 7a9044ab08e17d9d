"""From words to a verb and its options.

The words are read in two steps: the options that all verbs share, up to the first word; then, if that word is
a verb, the rest with that verb's own parser. Only one verb's parser is ever built.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from memtui.cli import help as help_text
from memtui.cli.exits import Exit, Failure
from memtui.cli.verb import Options, Parser, Verb
from memtui.cli.verbs import GROUPS
from memtui.cli.words import closest, insist_on_folder


class Parsed(NamedTuple):
    """What a command line asks for: a verb with its arguments, or the browser, with a folder or without."""

    options: Options
    verb: Verb | None
    arguments: argparse.Namespace
    word: str | None = None
    """The first word, where it is no verb."""


class Asked(Exception):
    """The command line asks for a text and nothing else.

    Attributes:
        text: Help or version.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def parse(words: Sequence[str], verbs: Mapping[str, Verb], version: str) -> Parsed:
    """Read a command line.

    Args:
        words: All of it but the program's name.
        verbs: The verbs there are.
        version: Of memtui.

    Raises:
        Asked: Help or the version was asked for.
        Failure: It cannot be understood.
    """
    first = _Strict("memtui")
    add_common(first)
    first.add_argument("-V", "--version", action="store_true")
    first.add_argument("words", nargs=argparse.REMAINDER)
    given = argparse.Namespace()
    _, unknown = first.parse_known_args(words, given)
    rest: list[str] = given.words
    verb = verbs.get(rest[0]) if rest else None
    if hasattr(given, "help") or rest[:1] == ["help"]:
        named = verbs.get(rest[1]) if rest[:1] == ["help"] and len(rest) > 1 else verb
        raise Asked(help_text.of_verb(parser_of(named)) if named else help_text.overall(GROUPS))
    if given.version:
        raise Asked(f"memtui {version}")
    if unknown:
        raise _unknown(unknown[0], first, verb)
    if verb is None:
        if rest and not rest[0].startswith("-"):
            insist_on_folder(rest[0], verbs)
        own = _Strict("memtui")
        add_common(own)
        own.add_argument("word", nargs="?")
        _finish(own, rest, given)
        if hasattr(given, "help"):
            raise Asked(help_text.overall(GROUPS))
        return Parsed(_options(given), None, given, given.word)
    _finish(parser_of(verb), rest[1:], given)
    if hasattr(given, "help"):
        raise Asked(help_text.of_verb(parser_of(verb)))
    return Parsed(_options(given), verb, given)


def parser_of(verb: Verb) -> "VerbParser":
    """The parser of a verb's words, with the options that all verbs take."""
    return VerbParser(verb)


def add_common(parser: Parser) -> None:
    """Declare the options that all verbs take. None has a default, so that either place can say it."""
    absent = argparse.SUPPRESS
    parser.add_argument("-C", "--dir", metavar="DIR", dest="directory", default=absent, help="the memory folder")
    parser.add_argument("--state", metavar="DIR", default=absent, help="where the journal is kept")
    parser.add_argument("--read-only", action="store_true", default=absent, help="change and record nothing")
    parser.add_argument("--json", action="store_true", default=absent, help="answer for programs")
    parser.add_argument("--no-color", action="store_true", default=absent, help="no colors, as NO_COLOR=1")
    parser.add_argument("--debug", action="store_true", default=absent, help="tracebacks with errors")
    parser.add_argument("--config", metavar="FILE", default=absent, help="another file of settings")
    parser.add_argument("--no-config", action="store_true", default=absent, help="no file of settings")
    parser.add_argument("--screen-reader", action="store_true", default=absent, help="sentences, numbered menus")
    parser.add_argument("-q", "--quiet", action="store_true", default=absent, help="no messages but errors")
    parser.add_argument("-h", "--help", action="store_true", default=absent, help="this help")


class _Strict(Parser):
    def error(self, message: str) -> NoReturn:
        raise Failure(Exit.USAGE, f"{self.prog}: {message}. See: {self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = [] if action.choices is None else [str(each) for each in action.choices]
        nearest = None if action.choices is None or value in action.choices else closest(str(value), known)
        if nearest is not None:
            told = ", ".join(map(repr, known))
            words = f"invalid choice: {value!r}, did you mean {nearest!r}? (choose from {told})"
            raise argparse.ArgumentError(action, words)
        super()._check_value(action, value)


class VerbParser(_Strict):
    """The parser of one verb.

    Attributes:
        verb: Which one.
    """

    def __init__(self, verb: Verb) -> None:
        super().__init__(f"memtui {verb.name}")
        self.verb = verb
        verb.arguments(self)
        self.own = len(self.declared)
        """How many of the declared arguments are the verb's own."""
        add_common(self)


def _finish(parser: Parser, words: Sequence[str], given: argparse.Namespace) -> None:
    if {"-h", "--help"} & set(words[: words.index("--")] if "--" in words else words):
        given.help = True  # before what else is missing or wrong is complained about
        return
    takes_all = any(action.nargs == argparse.REMAINDER for action in parser.words)
    # Options may stand between the words: `memtui rm a -C DIR b`.
    read = parser.parse_known_args if takes_all else parser.parse_known_intermixed_args
    _, unknown = read(words, given)
    if unknown:
        raise _unknown(unknown[0], parser, None)


def _unknown(word: str, parser: Parser, verb: Verb | None) -> Failure:
    if not word.startswith("-"):
        return Failure(Exit.USAGE, f"{parser.prog}: one word too many: {word!r}. See: {parser.prog} --help")
    name = word.split("=", maxsplit=1)[0]
    own = [option for action in VerbParser(verb).options for option in action.option_strings] if verb else []
    if verb and name in own:
        hint = f"It goes behind the verb: memtui {verb.name} {name}"
    else:
        nearest = closest(name, (option for action in parser.options for option in action.option_strings))
        hint = f"Did you mean {nearest!r}?" if nearest else f"See: {parser.prog} --help"
    return Failure(Exit.USAGE, f"{parser.prog}: no option {name!r}. {hint}")


def _options(given: argparse.Namespace) -> Options:
    read_only = os.environ.get("MEMTUI_READ_ONLY", "").lower() not in ("", "0", "no", "false")
    if hasattr(given, "no_color"):
        os.environ["NO_COLOR"] = "1"  # where Textual looks for it
    config = getattr(given, "config", None)
    if config is not None and hasattr(given, "no_config"):
        raise Failure(Exit.USAGE, "memtui: --config and --no-config do not go together. Leave one of them out.")
    if config == "":
        raise Failure(Exit.USAGE, "memtui: the name of the file of settings is empty. Nothing was opened.")
    return Options(
        directory=getattr(given, "directory", None),
        state=getattr(given, "state", None),
        read_only=read_only or hasattr(given, "read_only"),
        json=hasattr(given, "json"),
        debug=hasattr(given, "debug"),
        quiet=hasattr(given, "quiet"),
        config=config,
        no_config=hasattr(given, "no_config"),
        screen_reader=hasattr(given, "screen_reader"),
    )
