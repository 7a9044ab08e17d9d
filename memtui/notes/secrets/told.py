"""Passwords that stand near their name and not behind it: in a column of a table, in the next line, in a sentence.

Here the name alone proves little, so only values are told that nobody would write for a word: of three kinds of
characters at least.
"""

import re
from collections.abc import Iterator
from itertools import islice

from memtui.notes.secrets.assignments import is_key, is_unmistakable
from memtui.notes.spots import Spot

_NAME = (
    r"(?:pass(?:word|wd|phrase|wort|code)?|pwd|pw|kennwort|contraseña|senha|mot de passe|пароль|كلمة المرور|密码|密碼"
    r"|パスワード|비밀번호)"
)
_HINTS = (
    "pass",
    "pw",
    "kennwort",
    "contraseña",
    "senha",
    "пароль",
    "كلمة المرور",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
)
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
_COMMAND = re.compile(
    rf"\b(?:redis-cli[ \t][^\n|;]{{0,120}}?-a|docker[ \t]login[ \t][^\n|;]{{0,120}}?-p|sshpass[ \t]-p)[ \t]{{1,3}}"
    rf"{_QUOTE}{_VALUE}"
)
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


def told(text: str, lowered: str) -> Iterator[Spot]:
    """Passwords near their name.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
    """
    if any(hint in lowered for hint in _HINTS):
        for found in islice(_NEAR.finditer(text), _MOST):
            yield from _spot(text, *found.span("value"), found.start(), "a password beside its name")
        if "|" in text and "--" in text:
            yield from _in_tables(text)
    if "login" in lowered or "cred" in lowered or "zugang" in lowered or "log in" in lowered or "anmeldung" in lowered:
        for found in islice(_PAIR.finditer(text), _MOST):
            yield from _spot(text, *found.span("value"), found.start(), "a name with its password")
    if "_KEY" in text:
        for found in islice(_VARIABLE.finditer(text), _MOST):
            if is_key(found["value"]) and _NOT_SECRET.isdisjoint(found["name"].split("_")):
                words = "a key or a token behind its name"
                yield Spot("secret", "password-assignment", *found.span(), words, found.span("value"))
    if "redis-cli" in lowered or "docker login" in lowered or "sshpass" in lowered:
        for found in islice(_COMMAND.finditer(text), _MOST):
            yield from _spot(text, *found.span("value"), found.start(), "a password on a command line")


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
