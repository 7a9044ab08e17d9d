"""What a shell command did to files, where its words alone tell it.

Claude Code deletes and moves memories with its shell tool. Only plain commands are understood: names that stand there
as they are, joined by `&&`, `;` and line feeds. A command with a variable or a pattern among its names is left alone,
and the whole call where there is a substitution, a loop or a condition: what is told of a memory is so, or not told.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_LONGEST = 1_000_000
"""Characters of the longest command that is looked at."""
_MOST = 20_000
"""Words and signs of it, at most."""
_TOKEN = re.compile(
    r"(?P<blank>(?:[ \t]|\\\n)++)"
    r"|(?P<comment>(?<![^\s;&|])#[^\n]*+)"
    r"|(?P<silent>(?:2>>?|&>>?)[ \t]*+/dev/null(?![^\s;&|]))"
    r"|(?P<merged>2>&1(?![^\s;&|]))"
    r"|(?P<here><<[ \t]*+(?:'(?P<exact>[\w.-]++)'|\"(?P<also_exact>[\w.-]++)\"|(?P<loose>\w[\w.-]*+))(?![^\s;&|>]))"
    r"|(?P<to>(?<![0-9&])>>?(?![>&|(]))"
    r"|(?P<join>&&|;(?!;)|\n|\|(?![|&]))"
    r"|(?P<word>(?:[\w./:=@%+,^~*?\[\]{}!-]++|'[^']*+'|\\[^\n\w]|\$(?:\w++|\{\w++\}|\?)"
    r"|\"(?:[^\"$`\\]++|\$(?:\w++|\{\w++\})|\\[\"$`\\])*+\")++)",
)
_CHANGED = re.compile(r"[$*?\[\]{}!]")
"""What the shell may make something else of, where it is not quoted."""
_HOME = re.compile(r"(\"?)\$(?:HOME|\{HOME\})(?=[/'\"]|\Z)|~(?=/|\Z)")
"""How a word begins that begins with the home directory."""
_PIECE = re.compile(r"'([^']*+)'|\"((?:[^\"\\]++|\\.)*+)\"|\\(.)|([^'\"\\]++)", re.DOTALL)
_UNCLEAR, _WANTED = "\0", "\0>"
"""Stand for a word that cannot be told, and for the file's name behind `>`; no name holds such a character."""
_NOT_PLAIN = frozenset({
    _UNCLEAR, ".", "[[", "alias", "builtin", "case", "command", "coproc", "do", "done", "elif", "else", "env", "esac",
    "eval", "exec", "exit", "fi", "for", "function", "if", "nohup", "popd", "pushd", "select", "set", "shopt",
    "source", "sudo", "then", "time", "trap", "until", "while", "xargs",
})  # fmt: skip
"""Words at the beginning of a command by which what follows may mean another thing, or not be done."""
_SPEAKING = frozenset({"cd", "rm", "mv", "cp", "cat", "tee", "mkdir", "echo", "ls", "pwd"})
"""Commands that say so when they fail."""
_FLAGS = {"rm": "dfrRv", "mv": "fv", "cp": "afprRv"}
_FAILED = re.compile(r"(?:rm|mv|cp|cd|ls|cat|tee|mkdir|bash|zsh|sh): |\(eval\):")
"""What stands in the output where one of them failed."""
_ECHO_FLAGS = re.compile(r"-[neE]++")
_UNSURE = ("interrupted", "backgroundTaskId", "returnCodeInterpretation", "persistedOutputPath")
"""What is noted beside a result that does not tell what became of every command."""
PRINTED = ("stdout", "stderr", *_UNSURE)
"""What of that which is noted beside a result tells what became of a command."""
_LONG = {"--force": "f", "--recursive": "r", "--verbose": "v"}


class Effect(NamedTuple):
    """What a command did to a file.

    Attributes:
        verb: Which command: `rm`, `mv`, `cp`, `cat`, `tee` or `echo`; another one that wrote what it printed.
        file: The file, in full; for `mv` and `cp` the one that was made.
        source: The file that was moved or copied, in full.
        is_into: Whether `file` is the directory into which it was moved or copied.
        is_deep: Whether directories are meant with all that is in them.
        text: What was written; `None` if it is not told.
        is_added: Whether it was written behind what was there.
        is_joined: Whether the call as a whole would have failed, had this failed; else only its output tells.
    """

    verb: str
    file: str
    source: str = ""
    is_into: bool = False
    is_deep: bool = False
    text: str | None = None
    is_added: bool = False
    is_joined: bool = True


@dataclass(slots=True)
class _Step:
    """One command of several.

    Attributes:
        words: Its name and what follows.
        join: What stands behind it: `&&`, `|`, or `;` for the next one whatever becomes of it.
        target: The file to which its output goes; `None` for none.
        is_added: Whether it goes behind what is there.
        text: The here-document that it reads; `None` for none.
        is_silent: Whether what it says of its failing is thrown away.
    """

    words: list[str] = field(default_factory=list)
    join: str = ";"
    target: str | None = None
    is_added: bool = False
    text: str | None = None
    is_silent: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is no command."""
        return not self.words and self.target is None

    @property
    def is_speaking(self) -> bool:
        """Whether it would have said so, had it failed."""
        return bool(self.words) and self.words[0] in _SPEAKING and not self.is_silent


def effects_of(command: str, where: str | None) -> list[Effect]:
    """What a command does to files, in order; empty where it is not plain.

    Args:
        command: As it was given to the shell.
        where: The directory in which it was run; `None` if that is not known.
    """
    steps = _steps(command) if len(command) <= _LONGEST else None
    if steps is None or any(step.words and step.words[0] in _NOT_PLAIN for step in steps):
        return []
    effects: list[Effect] = []
    last = max((index for index, step in enumerate(steps[:-1]) if step.join == ";"), default=-1)
    start, is_speaking = 0, True
    """Where the steps begin that `&&` joins with this one, and whether each would have said that it failed."""
    entered, is_entered = -1, True
    """Which step changed the directory last, and whether it is sure to have."""
    for index, step in enumerate(steps):
        before = steps[index - 1].join if index else ";"
        if before == ";":
            start, is_speaking = index, True
        is_speaking = is_speaking and step.is_speaking
        if "|" in (step.join, before):
            continue  # a process of its own, and what it says goes to the next one
        if step.words[:1] == ["cd"]:
            where, entered, is_entered = _entered(step.words[1:], where), index, is_entered and is_speaking
        is_joined = index > last and (entered < 0 or entered >= start)
        if is_joined or (is_speaking and is_entered):
            effects += (effect._replace(is_joined=is_joined) for effect in _effects(step, where))
    return effects


def holds(effect: Effect, told: Mapping[str, object]) -> bool:
    """Whether an effect came about, by what is noted beside the result of a call that is not said to have failed.

    Args:
        effect: Which.
        told: What Claude Code notes: what was printed, and what the exit code means if it is not 0.
    """
    if not told or any(told.get(name) for name in _UNSURE):
        return False
    printed = [told.get(name) for name in ("stdout", "stderr")]
    return effect.is_joined or all(isinstance(words, str) and not _FAILED.search(words) for words in printed)


def _steps(command: str) -> list[_Step] | None:
    """The commands one by one; `None` if they are not plain."""
    at, tokens, step = 0, 0, _Step()
    steps, reading = [step], list[tuple[_Step, re.Match[str]]]()
    while at < len(command):
        found = _TOKEN.match(command, at)
        tokens += 1
        if found is None or tokens > _MOST:
            return None
        at = found.end()
        match found.lastgroup:
            case "word" if step.target == _WANTED:
                step.target = _plain(found[0])
            case "word":
                step.words.append(_plain(found[0]))
            case "to" if step.target is None:
                step.target, step.is_added = _WANTED, found[0] == ">>"
            case "here" if not reading and step.text is None:
                reading.append((step, found))
            case "silent":
                step.is_silent = True
            case "join":
                if found[0] == "\n" and reading:
                    owner, here = reading.pop()
                    if (body := _body(command, at, here)) is None:
                        return None
                    owner.text, at = body
                if step.target == _WANTED or (step.is_empty and found[0] != "\n"):
                    return None
                if not step.is_empty:
                    step.join, step = ";" if found[0] == "\n" else found[0], _Step()
                    steps.append(step)
            case "blank" | "comment" | "merged":
                pass
            case _:
                return None
    if reading or step.target == _WANTED:
        return None
    return steps[:-1] if step.is_empty else steps


def _body(command: str, at: int, here: re.Match[str]) -> tuple[str, int] | None:
    """The text of a here-document, and where the command goes on; `None` if the shell would change it."""
    exact = here["exact"] or here["also_exact"]
    end = f"{exact or here['loose']}\n"
    text = f"{command[at:]}\n"
    stop = 0 if text.startswith(end) else text.find(f"\n{end}") + 1
    if not text.startswith(end, stop):
        return None
    body = text[:stop]
    if exact is None and any(sign in body for sign in "$`\\"):
        return None
    return body, min(at + stop + len(end), len(command))


def _plain(word: str) -> str:
    """A word without its quotes; `_UNCLEAR` if the shell may make something else of it."""
    start = ""
    if (home := _HOME.match(word)) is not None:
        start, word = os.path.expanduser("~"), (home[1] or "") + word[home.end() :]
    elif word.startswith("~"):
        return _UNCLEAR
    pieces = _PIECE.findall(word)
    if any(_CHANGED.search(bare) or "$" in quoted or "\\" in quoted for _, quoted, _, bare in pieces):
        return _UNCLEAR
    return start + "".join(map("".join, pieces))


def _entered(names: Sequence[str], where: str | None) -> str | None:
    """The directory after `cd`; `None` if that is not known."""
    return _in_full(names[0] if names else os.path.expanduser("~"), where) if len(names) < 2 else None


def _in_full(name: str, where: str | None) -> str | None:
    if not name or name == "-" or "\0" in name:
        return None
    if os.path.isabs(name):
        return os.path.normpath(name)
    return None if where is None else os.path.normpath(os.path.join(where, name))


def _effects(step: _Step, where: str | None) -> Iterator[Effect]:
    verb, arguments = (step.words[0], step.words[1:]) if step.words else ("", [])
    is_clear = _UNCLEAR not in arguments
    if step.target is not None and (file := _in_full(step.target, where)) is not None:
        yield Effect(verb or "sh", file, text=_printed(verb, arguments, step.text), is_added=step.is_added)
    if verb == "tee" and is_clear:
        names = [name for name in arguments if name != "-a"]
        if len(names) == 1 and not names[0].startswith("-") and (file := _in_full(names[0], where)) is not None:
            yield Effect(verb, file, text=step.text, is_added=len(arguments) > 1)
    elif verb in _FLAGS and is_clear:
        flags, names = _sorted(arguments)
        if flags <= set(_FLAGS[verb]):
            yield from _moved(verb, names, where, is_deep=verb == "mv" or not flags.isdisjoint("arR"))


def _moved(verb: str, names: Sequence[str], where: str | None, *, is_deep: bool) -> Iterator[Effect]:
    are_dots = [name.rpartition("/")[2] in (".", "..") for name in names]
    files = [_in_full(name, where) for name in names]
    into = files.pop() if verb != "rm" and names else None
    for file, is_dots in zip(files, are_dots, strict=False):
        if file is None or is_dots:
            continue
        if verb == "rm":
            yield Effect(verb, file, is_deep=is_deep)
        elif into is not None:
            is_into = len(files) > 1 or names[-1].endswith("/") or are_dots[-1]
            yield Effect(verb, into, file, is_into=is_into, is_deep=is_deep)


def _sorted(arguments: Sequence[str]) -> tuple[set[str], list[str]]:
    """The letters of the flags, and the names."""
    flags, names = set[str](), list[str]()
    for at, argument in enumerate(arguments):
        if argument == "--":
            return flags, [*names, *arguments[at + 1 :]]
        if argument.startswith("--"):
            flags.add(_LONG.get(argument, "?"))
        elif argument.startswith("-") and len(argument) > 1:
            flags.update(argument[1:])
        else:
            names.append(argument)
    return flags, names


def _printed(verb: str, arguments: Sequence[str], given: str | None) -> str | None:
    """What a command writes to its output; `None` where that is not told."""
    if verb == "cat" and not arguments:
        return given
    if (
        verb == "echo"
        and arguments
        and not _ECHO_FLAGS.fullmatch(arguments[0])
        and not any("\\" in word or word == _UNCLEAR for word in arguments)
    ):
        return " ".join(arguments) + "\n"  # shells differ in what a backslash is to them
    return None
