"""The effects of a shell command on files, where its words alone tell them.

Claude Code deletes and moves memories with its shell tool. Only plain commands are understood: literal names, joined by
`&&`, `;` and line feeds. A command with a variable or a pattern among its names is ignored, and the whole call where
there is a substitution, a loop or a condition: an effect is certain, or not told.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memtui.core.lazy_dataclass import dataclass, field

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
    r"|\"(?:[^\"$`\\]++|\$(?:\w++|\{\w++\})|\\[\"$`\\])*+\")++)"
)
_CHANGED = re.compile(r"[$*?\[\]{}!]")
"""Characters with a meaning for the shell, where they are not quoted."""
_HOME = re.compile(r"(\"?)\$(?:HOME|\{HOME\})(?=[/'\"]|\Z)|~(?=/|\Z)")
"""The home directory at the beginning of a word."""
_PIECE = re.compile(r"'([^']*+)'|\"((?:[^\"\\]++|\\.)*+)\"|\\(.)|([^'\"\\]++)", re.DOTALL)
_UNCLEAR, _WANTED = "\0", "\0>"
"""Stand for an unknown word, and for the file's name behind `>`; no name holds such a character."""
_NOT_PLAIN = frozenset({
    _UNCLEAR, ".", "[[", "alias", "builtin", "case", "command", "coproc", "do", "done", "elif", "else", "env", "esac",
    "eval", "exec", "exit", "fi", "for", "function", "if", "nohup", "popd", "pushd", "select", "set", "shopt",
    "source", "sudo", "then", "time", "trap", "until", "while", "xargs",
})  # fmt: skip
"""First words of a command by which the rest may have another meaning, or not be run."""
_SPEAKING = frozenset({"cd", "rm", "mv", "cp", "cat", "tee", "mkdir", "echo", "ls", "pwd"})
"""Commands that print an error when they fail."""
_READING = frozenset({
    "[", "basename", "cat", "cmp", "cut", "diff", "dirname", "du", "echo", "false", "grep", "head", "ls", "nl",
    "printf", "pwd", "readlink", "realpath", "sleep", "stat", "tail", "test", "tr", "true", "wc", "which",
})  # fmt: skip
"""Commands that change no file, whatever their arguments are."""
_FIND_ACTIONS = ("-delete", "-exec", "-ok", "-fprint", "-fls")
_FLAGS = {"rm": "dfrRv", "mv": "fv", "cp": "afprRv"}
_FAILED = re.compile(r"(?:rm|mv|cp|cd|ls|cat|tee|mkdir|bash|zsh|sh): |\(eval\):")
"""The output of one of them that failed."""
_ECHO_FLAGS = re.compile(r"-[neE]++")
_UNSURE = ("interrupted", "backgroundTaskId", "returnCodeInterpretation", "persistedOutputPath")
"""Notes beside a result that does not tell the outcome of every command."""
PRINTED = ("stdout", "stderr", *_UNSURE)
"""Notes beside a result that tell the outcome of a command."""
_LONG = {"--force": "f", "--recursive": "r", "--verbose": "v"}


class FileEffect(NamedTuple):
    """The effect of a command on a file.

    Attributes:
        verb: `rm`, `mv`, `cp`, `cat`, `tee` or `echo`; another one whose output was written.
        file: The file, absolute; for `mv` and `cp` the target.
        source: The file that was moved or copied, absolute.
        is_into: Whether `file` is the directory into which it was moved or copied.
        is_deep: Whether directories are meant with their contents.
        text: The written text; `None` if unknown.
        is_added: Whether it was appended.
        is_joined: Whether the whole call would have failed with this command; else only its output tells.
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
class _ShellCommand:
    """One command of several.

    Attributes:
        words: Its name and arguments.
        join: The sign behind it: `&&`, `|`, or `;` for the next one in any case.
        target: The file of its output; `None` for none.
        is_added: Whether the output is appended.
        text: The here-document that it reads; `None` for none.
        is_silent: Whether its error messages are thrown away.
    """

    words: list[str] = field(default_factory=list)
    join: str = ";"
    target: str | None = None
    is_added: bool = False
    text: str | None = None
    is_silent: bool = False

    @property
    def verb(self) -> str:
        """Its name; empty for none."""
        return self.words[0] if self.words else ""

    @property
    def is_empty(self) -> bool:
        """Whether there is no command."""
        return not self.words and self.target is None

    @property
    def is_verbose_on_failure(self) -> bool:
        """Whether its failure would be in the output."""
        return self.verb in _SPEAKING and not self.is_silent

    def add_word(self, word: str) -> None:
        """Add a word, which is the file's name behind `>`."""
        if self.target == _WANTED:
            self.target = word
        else:
            self.words.append(word)

    def may_end(self, sign: str) -> bool:
        """Whether a sign may end it."""
        return self.target != _WANTED and (not self.is_empty or sign == "\n")


def parse_effects(command: str, where: str | None) -> list[FileEffect]:
    """The effects of a command on files, in order; empty where it is not plain.

    Args:
        command: As it was given to the shell.
        where: The working directory; `None` if unknown.
    """
    steps = _split_commands(command) if len(command) <= _LONGEST else None
    if steps is None or not _NOT_PLAIN.isdisjoint(step.verb for step in steps):
        return []
    effects: list[FileEffect] = []
    last = max((index for index, step in enumerate(steps[:-1]) if step.join == ";"), default=-1)
    start, is_speaking = 0, True
    """The first of the steps that `&&` joins with this one, and whether the failure of each would be in the output."""
    entered, is_entered = -1, True
    """The last step that changed the directory, and whether that is certain."""
    for index, step in enumerate(steps):
        before = steps[index - 1].join if index else ";"
        if before == ";":
            start, is_speaking = index, True
        is_speaking = is_speaking and step.is_verbose_on_failure
        if "|" in (step.join, before):
            continue  # a process of its own, whose output goes to the next one
        if step.verb == "cd":
            where, entered, is_entered = _resolve_cd(step.words[1:], where), index, is_entered and is_speaking
        is_joined = index > last and (entered < 0 or entered >= start)
        if is_joined or (is_speaking and is_entered):
            effects += (effect._replace(is_joined=is_joined) for effect in _find_effects(step, where))
    return effects


class ForeseenEffects(NamedTuple):
    """What a command may do.

    Attributes:
        effects: On files.
        is_writing: Whether it does nothing else, such as reading files aloud.
    """

    effects: list[FileEffect]
    is_writing: bool


def foresee_effects(command: str, where: str | None) -> ForeseenEffects | None:
    """All effects that a command may have on files, before it is run; `None` where its words do not tell them.

    Args:
        command: As it is given to the shell.
        where: The working directory; `None` if unknown.
    """
    steps = _split_commands(command) if len(command) <= _LONGEST else None
    if steps is None:
        return None
    effects, is_writing = list[FileEffect](), True
    for step in steps:
        verb, arguments = step.verb, step.words[1:]
        if verb == "cd":
            where = _resolve_cd(arguments, where) if step.join == "&&" else None
        elif not _is_understood(verb, arguments):
            return None
        found = list(_find_effects(step, where))
        wanted = (step.target is not None) + _count_named_files(verb, arguments)
        if len(found) != wanted:
            return None
        effects += found
        is_writing = is_writing and (bool(found) or verb in ("cd", "mkdir", ""))
    if any(step.verb == "mkdir" for step in steps) and any(each.source and not each.is_into for each in effects):
        return None  # the target may be a directory by then
    return ForeseenEffects(effects, is_writing)


def _is_understood(verb: str, arguments: Sequence[str]) -> bool:
    """Whether a command changes no other files than those that `_find_effects` finds."""
    if verb == "find":
        return not any(word.startswith(_FIND_ACTIONS) or word == _UNCLEAR for word in arguments)
    return verb in _READING or verb in _FLAGS or verb in ("tee", "mkdir", "")


def _count_named_files(verb: str, arguments: Sequence[str]) -> int:
    """How many files a command names that it removes or writes."""
    if verb == "tee":
        return sum(word != "-a" for word in arguments)
    if verb not in _FLAGS:
        return 0
    _, names = _split_arguments(arguments)
    return max(len(names) - (verb != "rm"), 0)


def is_confirmed(effect: FileEffect, details: Mapping[str, object]) -> bool:
    """Whether an effect came about, by the notes beside the result of a call without an error.

    Args:
        effect: The effect.
        details: Claude Code's notes: the output, and the meaning of an exit code that is not 0.
    """
    if not details or any(details.get(name) for name in _UNSURE):
        return False
    printed = [details.get(name) for name in ("stdout", "stderr")]
    return effect.is_joined or all(isinstance(words, str) and not _FAILED.search(words) for words in printed)


def _split_commands(command: str) -> list[_ShellCommand] | None:
    """The commands one by one; `None` if they are not plain."""
    at, tokens, step = 0, 0, _ShellCommand()
    steps, reading = [step], list[tuple[_ShellCommand, re.Match[str]]]()
    while at < len(command):
        found = _TOKEN.match(command, at)
        tokens += 1
        if found is None or tokens > _MOST:
            return None
        at = found.end()
        match found.lastgroup:
            case "word":
                step.add_word(_unquote_word(found[0]))
            case "to" if step.target is None:
                step.target, step.is_added = _WANTED, found[0] == ">>"
            case "here" if not reading and step.text is None:
                reading.append((step, found))
            case "silent":
                step.is_silent = True
            case "join":
                if found[0] == "\n" and reading:
                    owner, here = reading.pop()
                    if (body := _parse_heredoc(command, at, here)) is None:
                        return None
                    owner.text, at = body
                if not step.may_end(found[0]):
                    return None
                if not step.is_empty:
                    step.join, step = ";" if found[0] == "\n" else found[0], _ShellCommand()
                    steps.append(step)
            case "blank" | "comment" | "merged":
                pass
            case _:
                return None
    if reading or step.target == _WANTED:
        return None
    return steps[:-1] if step.is_empty else steps


def _parse_heredoc(command: str, at: int, here: re.Match[str]) -> tuple[str, int] | None:
    """The text of a here-document, and the offset behind it; `None` if the shell would change it."""
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


def _unquote_word(word: str) -> str:
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


def _resolve_cd(names: Sequence[str], where: str | None) -> str | None:
    """The directory after `cd`; `None` if unknown."""
    return _resolve_path(names[0] if names else os.path.expanduser("~"), where) if len(names) < 2 else None


def _resolve_path(name: str, where: str | None) -> str | None:
    if not name or name == "-" or "\0" in name:
        return None
    if os.path.isabs(name):
        return os.path.normpath(name)
    return None if where is None else os.path.normpath(os.path.join(where, name))


def _find_effects(step: _ShellCommand, where: str | None) -> Iterator[FileEffect]:
    verb, arguments = step.verb, step.words[1:]
    is_clear = _UNCLEAR not in arguments
    if step.target is not None and (file := _resolve_path(step.target, where)) is not None:
        yield FileEffect(verb or "sh", file, text=_get_output(verb, arguments, step.text), is_added=step.is_added)
    if verb == "tee" and is_clear:
        names = [name for name in arguments if name != "-a"]
        if len(names) == 1 and not names[0].startswith("-") and (file := _resolve_path(names[0], where)) is not None:
            yield FileEffect(verb, file, text=step.text, is_added=len(arguments) > 1)
    elif verb in _FLAGS and is_clear:
        flags, names = _split_arguments(arguments)
        if flags <= set(_FLAGS[verb]):
            yield from _find_moves(verb, names, where, is_deep=verb == "mv" or not flags.isdisjoint("arR"))


def _find_moves(verb: str, names: Sequence[str], where: str | None, *, is_deep: bool) -> Iterator[FileEffect]:
    are_dots = [name.rpartition("/")[2] in (".", "..") for name in names]
    files = [_resolve_path(name, where) for name in names]
    into = files.pop() if verb != "rm" and names else None
    for file, is_dots in zip(files, are_dots, strict=False):
        if file is None or is_dots:
            continue
        if verb == "rm":
            yield FileEffect(verb, file, is_deep=is_deep)
        elif into is not None:
            is_into = len(files) > 1 or names[-1].endswith("/") or are_dots[-1]
            yield FileEffect(verb, into, file, is_into=is_into, is_deep=is_deep)


def _split_arguments(arguments: Sequence[str]) -> tuple[set[str], list[str]]:
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


def _get_output(verb: str, arguments: Sequence[str], given: str | None) -> str | None:
    """The output of a command; `None` where unknown."""
    if verb == "cat" and not arguments:
        return given
    if verb != "echo" or not arguments or _ECHO_FLAGS.fullmatch(arguments[0]):
        return None
    if any("\\" in word or word == _UNCLEAR for word in arguments):  # shells differ in the meaning of a backslash
        return None
    return " ".join(arguments) + "\n"
