"""Passwords that stand near their name and not behind it: in a column of a table, in the next line, in a sentence.

Here the name alone proves little, so only values are told that nobody would write for a word: of three kinds of
characters at least.
"""

import re
from collections.abc import Iterator
from itertools import islice

from memtui.notes.secrets.assignments import is_key, is_unmistakable
from memtui.notes.secrets.clues import places_of
from memtui.notes.spots import Spot

_NAME = (
    r"(?:pass(?:word|wd|phrase|wort|code)?|pwd|pw|kennwort|contraseña|senha|mot de passe|пароль|كلمة المرور|密码|密碼"
    r"|パスワード|비밀번호)"
)
_NAMES = ("pass", "pw", "kennwort", "senha")
_OTHER_NAMES = ("contraseña", "mot de passe", "пароль", "كلمة المرور", "密码", "密碼", "パスワード", "비밀번호")
"""How names begin; of those with letters of their own only where a text has such."""
_VALUE = r"(?P<value>[!-~]{8,64})"
_QUOTE = r"[\"'`*]{0,3}"
_NEAR = re.compile(
    rf"(?<![\w/-]){_NAME}{_QUOTE}(?:"
    rf"[ \t]{{0,3}}[:=：][ \t]{{0,3}}"
    rf"|[ \t]{{0,3}}[:：]?[*]{{0,2}}[ \t]{{0,3}}\r?\n[ \t]{{0,8}}(?:```[ \t\w]{{0,12}}\r?\n)?[ \t]{{0,8}}"
    rf"(?:[-*+][ \t])?"
    rf"|[ \t]{{1,3}}(?:(?:is |was |has been |wurde |ist )?(?:now |jetzt )?"
    rf"(?:changed|reset|set|rotated|geändert|gesetzt)[ ](?:to|auf)|lautet|→|->|=>)[ \t]{{1,3}}"
    rf"|[ \t]{{0,2}}[はが是为][ \t]{{0,2}}"
    rf"|[ \t]{{1,2}}){_QUOTE}{_VALUE}",
    re.IGNORECASE,
)
_PAIR = re.compile(
    rf"\b(?:login|log[ ]in|logins|credentials?|creds|zugang|zugangsdaten|anmeldung)\b[^\n]{{0,24}}?"
    rf"[ \t(`\"'][\w.@-]{{2,40}}[ \t]?[:/][ \t]?{_QUOTE}{_VALUE}",
    re.IGNORECASE,
)
_ACCOUNTS = ("login", "log in", "cred", "zugang", "anmeldung")
_COMMAND = re.compile(
    rf"\b(?:redis-cli[ \t][^\n|;]{{0,120}}?-a|docker[ \t]login[ \t][^\n|;]{{0,120}}?-p|sshpass[ \t]-p)[ \t]{{1,3}}"
    rf"{_QUOTE}{_VALUE}"
)
_STATEMENT = re.compile(r"pass[ \t]{0,3}\r?\n")
"""What in Python is none."""
_RULE = re.compile(
    r"^[ \t]{0,8}\|?[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}){1,40}\|?[ \t]{0,8}\r?$",
    re.MULTILINE,
)
"""The line between the head of a table and its rows."""
_IS_NAME = re.compile(rf"[ \t*`]*(?:[\w-]{{1,20}}[ ])?{_NAME}[ \t*`]*", re.IGNORECASE)
_VARIABLE = re.compile(
    r"(?<![\w-])(?P<name>[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){0,4}_KEY)[ ]?=[ ]?[\"']?"
    r"(?P<value>[A-Za-z0-9_-]{20,80})(?![\w-])"
)
_NOT_SECRET = frozenset(
    "PUBLIC ANON CACHE PUBLISHABLE SITE PRIMARY FOREIGN SORT PARTITION IDEMPOTENCY OBJECT STORAGE S3 ROUTING".split()  # noqa: SIM905
)
"""Words in the names of variables that hold keys of another kind."""
_MOST = 200
_ROWS = 200


def told(text: str, lowered: str, clues: frozenset[str]) -> Iterator[Spot]:
    """Passwords near their name.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
        clues: What of the words that name secrets is in it.
    """
    if not clues.isdisjoint(_NAMES) or not lowered.isascii():
        for found in _all(_NEAR, text, lowered, (*_NAMES, *(_OTHER_NAMES if not lowered.isascii() else ()))):
            if not _STATEMENT.match(text, found.start()):
                yield from _spot(text, *found.span("value"), found.start(), "a password beside its name")
        if "|" in text and "--" in text:
            yield from _in_tables(text)
    if not clues.isdisjoint(("log", "cred", "zugang", "anmeldung")):
        for found in _all(_PAIR, text, lowered, _ACCOUNTS):
            yield from _spot(text, *found.span("value"), found.start(), "a name with its password")
    if "_KEY" in text:
        for found in _VARIABLE.finditer(text):
            if is_key(found["value"]) and _NOT_SECRET.isdisjoint(found["name"].split("_")):
                words = "a key or a token behind its name"
                yield Spot("secret", "password-assignment", *found.span(), words, found.span("value"))
    if " -" in text and any(name in lowered for name in ("redis-cli", "docker login", "sshpass")):
        for found in _COMMAND.finditer(text):
            yield from _spot(text, *found.span("value"), found.start(), "a password on a command line")


def _all(pattern: re.Pattern[str], text: str, lowered: str, names: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """Where an expression that begins with a name is in a text, none over another."""
    end = 0
    for at in sorted(at for name in names for at in places_of(lowered, name)):
        found = pattern.match(text, at) if at >= end else None
        if found is not None:
            yield found
            end = found.end()


def _in_tables(text: str) -> Iterator[Spot]:
    """Cells of a column that is called a password."""
    for rule in islice(_RULE.finditer(text), _MOST):
        first = text.rfind("\n", max(0, rule.start() - 2_000), max(0, rule.start() - 1)) + 1
        head = text[first : max(first, rule.start() - 1)]
        columns = [number for number, cell in enumerate(head.split("|")) if _IS_NAME.fullmatch(cell)]
        if not columns:
            continue
        end = rule.end()
        for _ in range(_ROWS):
            at = end + 1
            if at >= len(text):
                break
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            row = text[at : min(end, at + 2_000)]
            if "|" not in row:
                break
            place = at
            for number, cell in enumerate(row.split("|")):
                value = cell.strip(" \t\r`*\"'")
                if number in columns and value:
                    start = text.index(value, place)
                    yield from _spot(text, start, start + len(value), start, "a password in a table")
                place += len(cell) + 1


def _spot(text: str, start: int, end: int, begin: int, words: str) -> Iterator[Spot]:
    value = text[start:end].rstrip("`'\"*.,;:)]|>}")
    if is_unmistakable(value):
        yield Spot("secret", "password-assignment", begin, start + len(value), words, (start, start + len(value)))
