"""Passwords and keys behind or beside their names: `password: …`, `API_KEY=…`, a column of a table, a sentence.

Behind a name that says that it is a secret, what has to be judged is the value: most of them are references,
placeholders, or words of a sentence. A value that could be a hash, a commit or an identifier is none, for these are
everywhere. Beside a name, the name proves little, so only values count that nobody would write for a word: of three
kinds of characters at least.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from memtui.notes.spans import find_line_start, has_mark
from memtui.scan.ruleset import load_rules
from memtui.scan.secret_values import (
    LONGEST,
    get_pattern,
    get_words,
    is_digest_key,
    is_key,
    is_mixed_key,
    is_plain_key,
    is_secret,
    is_strong_password,
    is_weak_password,
)
from memtui.scan.spots import Spot
from memtui.scan.tokens import find_word, is_published, is_sequential_key, make_sequential_spot
from memtui.scan.weak_passwords import RULE as WEAK_RULE
from memtui.scan.weak_passwords import is_beside_production, is_word_with_digits
from memtui.scan.work_budget import WorkBudget

_RULE = "password-assignment"
_CLUES = (
    "pass", "pw", "key", "secret", "token", "cred", "kennwort", "senha", "contrase", "wachtwoord", "heslo", "parola",
    "salasana",
)  # fmt: skip
_NAME_BEFORE = re.compile(r"[\w.-]{0,60}")  # what of a name stands before the word in it, read from its end
_REST = re.compile(r"[\w-]{0,40}")
_BLOCK = re.compile(r"[|>][-+0-9]{0,2}[ \t]{0,8}\r?\n")
_BLOCK_LINE = re.compile(r"[ \t]{1,40}(?P<word>[^\s\"'`<>]{1,300})[ \t]{0,8}(?:\r?\n|\Z)")
_MOST_LINES = 20
_FLAG = re.compile(r"[ \t]{1,3}(?P<quote>[\"']?)")
_BARE = re.compile(r"[^\s\"'`<>,;(){}\[\]|\\]{1,300}")
_NUMBERED = re.compile(r"\d{1,16}\|[A-Za-z0-9_-]{24,64}(?![\w|])")
"""A token behind the number of its record, as Laravel and Facebook write it."""
_BEHIND = re.compile(r"&(?:(?:quot|lt|gt|apos|nbsp|#\d{1,5});?|[A-Za-z_.-]{1,40}=)")
"""What ends a value in an address and in HTML."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\dA-Za-z_]+")
_TAG_END = re.compile(r">\s{0,20}(?:\{(?:[^\s{}<>]{1,100}[ \t]){0,3})?")
"""The end of a tag; what Jenkins has encrypted stands in braces, behind words of its own."""
_SIGN_BEFORE = tuple("=:\"'`")
"""What before `<name>` says that this stands in the place of a value."""
_TAIL = re.compile(r"[^\s\w\"'`<>&)\]}]\w[^\s\"'`<>&]{0,300}")
"""What stands behind a value without a blank: it may be the rest of it, and is masked with it."""
_NEXT_WORD = 12
_PLAIN_KEY = re.compile(
    r"[\"'`]?(?:[ \t]string)?[ \t]{0,3}(?::{1,3}=|\?=|=>|=|:)[ \t]{0,3}[\"'`]?(?P<value>[A-Za-z0-9+/_-]{16,400}={0,2})"
    r"(?![\w+/.-]|[%^!#$*@~:]\w|\[)"
)
_AFTER_BLANK = re.compile(r"[ \t](?P<value>[A-Za-z0-9+/_-]{16,400}={0,2})(?![\w+/.-])")
_BLANK = re.compile(r"[ \t]{1,3}(?:[-–][ \t]{1,3})?(?P<quote>[\"'`]?)")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:PASSWORD|PASSWD|PWD|PASS)")
_QUOTED = re.compile(r"[ \t]{1,3}(?P<quote>')(?=[^\s']{4,100}')")
"""How SQL writes a password behind the word."""
_KIND = re.compile(r"(?i:bearer|basic|token) ")
"""What stands before the value of a header."""
_ODD = re.compile(r"[^\s\"'`<$%&*~!?\[({|/\\.:,;=+-]\S{7,63}(?=[ \t]*(?:\r?\n|\Z))")
"""What stands to the end of a line: behind it comes no code."""
_SIGN = re.compile(r"[^\w./,:-]")
_CODE = re.compile(r"\w[\[({]\w*[\])}]|[\[({<]\w*[\])}>]|=>|://|&&|\|\||[])}>;]\Z|\w\.\w+\(|[\"'`]\Z|@[\w-]+\.\w|=|\\")
_NO_KEY = re.compile(r"[\^!#$()\[\]{}*?<>;\\]|%(?![0-9A-Fa-f]{2})")
"""What is in no key and no token, but in passwords."""
_SIGNS = ("=", ":=", "::=", ":::=", "?=", "=>", "==")

_NAMES = (
    "pass", "pw", "kennwort", "senha", "contraseña", "пароль", "كلمة المرور", "密码", "密碼", "パスワード", "비밀번호",
)  # fmt: skip
"""How names begin beside which passwords stand."""
_LOUD = (("PRIVATE", ""), ("ACCESS", ""), ("SECRET", "secret"), ("TOKEN", "token"), ("KEY", "key"))
"""Words in capitals behind which keys stand, and the clue that is then in the text."""
_ACCOUNTS = ("login", "log in", "cred", "zugang", "anmeldung")
_STATEMENTS = ("create role", "create user", "alter role", "alter user")
"""How statements begin in which the word stands before a password."""
_COMMANDS = (("redis-cli", ""), ("docker login", "log"), ("sshpass", "pass"))
"""Commands with a password as an argument, and the clue that is then in the text."""
_STATEMENT = re.compile(r"pass[ \t]{0,3}\r?\n")  # what in Python is none
_TABLE_RULE = re.compile(
    r"^[ \t]{0,8}\|?[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}){1,40}\|?[ \t]{0,8}\r?$",
    re.MULTILINE,
)
"""The line between the head of a table and its rows."""
_MOST = 200
_ROWS = 200


_Stems = list[tuple[str, int, bool]]


@cache
def _load_names() -> tuple[tuple[str, _Stems, dict[str, _Stems]], ...]:
    """Names of secrets by the clue that is in each, where in it, and whether they name a password.

    First those of which it is the beginning, then all that may be there by the two characters before it.
    """
    entry = load_rules("secrets")[_RULE]
    passwords, keys = entry.get_words("passwords"), entry.get_words("keys")
    names = [name for name in (*passwords, *keys) if name.isascii()]
    found = []
    for clue in _CLUES:
        stems = [(name, name.index(clue), name in passwords) for name in names if clue in name]
        first = [stem for stem in stems if stem[1] < 2]
        later = {stem[0][stem[1] - 2 : stem[1]] for stem in stems if stem not in first}
        by_tail = {tail: [s for s in stems if s in first or s[0][: s[1]].endswith(tail)] for tail in later}
        found.append((clue, first, by_tail))
    return tuple(found)


def find_assigned(text: str, lowered: str, clues: frozenset[str], budget: WorkBudget) -> Iterator[Spot]:
    """Secrets that are written behind their names; the budget is spent on their values."""
    seen = 0
    starts = sorted(_find_names(lowered, clues))
    for start, stem, is_password in starts:
        if start < seen:
            continue
        end = _REST.match(text, start + len(stem)).end()  # type: ignore[union-attr]
        begin = start - _NAME_BEFORE.match(text[max(0, start - 60) : start][::-1]).end()  # type: ignore[union-attr]
        seen = end
        if not _is_name(text[begin:end], stem):
            continue
        sign = _match_sign(text, begin, end, is_password=is_password)
        if sign is None or (sign.is_assignment and _is_attribute(text, begin, end)):
            continue
        quote, at = sign.quote, sign.end
        until = 0
        if not sign.is_tag and not quote and (block := _join_block(text, at)) is not None:
            value, at, until = block
        else:
            value = _read_value(text, at, quote)
        if (kind := _KIND.match(value)) is not None:
            at, value = at + kind.end(), value[kind.end() :]
        if not quote:
            value = _BEHIND.split(value, maxsplit=1)[0]
        if text[begin - 1 : begin] == ":" and text[end : end + 1] == ":":
            continue  # the name of a resource, such as `arn:…:secret:…`
        if not budget.spend(len(value)):
            return
        if is_published(value):
            continue
        if not is_password and is_sequential_key(value):
            seen = until or at + len(value)
            yield make_sequential_spot(begin, seen, (at, seen))
            continue
        if sign.is_owned:
            is_found = is_mixed_key(value)
        elif sign.is_blank:
            is_found = is_plain_key(value)
        elif not (is_password or "secret" in text[begin:end].lower()) and _NO_KEY.search(value):
            is_found = False
        else:
            is_found = is_secret(value, is_password=is_password, is_prose=sign.is_prose)
            if not is_found:
                is_found = is_digest_key(value)
            if is_found or not is_password:
                pass
            elif not sign.is_prose and _VARIABLE.fullmatch(text, begin, end) and is_weak_password(value):
                is_found = True
            elif not quote and not sign.is_tag:
                value = _read_odd_password(text, at)
                is_found = bool(value)
        if is_found and not quote and _is_masked(text, begin, at + len(value)):
            continue
        if is_found:
            seen = until or at + len(value)
            words = "a password in an assignment" if is_password else "a key or token in an assignment"
            tail = _TAIL.match(text, seen) if not quote and not sign.is_tag else None
            end = tail.end() if tail else seen
            is_weak = is_password and is_word_with_digits(text[at:end]) and not is_beside_production(text, begin, end)
            rule, words = (WEAK_RULE, "a weak password in an assignment") if is_weak else (_RULE, words)
            yield Spot("secret", rule, begin, seen, words, (at, end))


def _is_masked(text: str, begin: int, end: int) -> bool:
    """Whether somebody has masked or cut the rest of a value; what is printed in bold italics is not."""
    line = text[text.rfind("\n", max(0, begin - 200), begin) + 1 : begin]
    return text.startswith(("...", "…"), end) or (text.startswith("***", end) and "***" not in line)


class _Sign(NamedTuple):
    """What stands between a name and its value.

    Attributes:
        quote: The quote before the value; empty where there is none.
        end: Where the value begins.
        is_blank: Whether it is nothing but a blank.
        is_owned: Whether words in between say whose key it is, as in "the token of the build machine is ...".
        is_assignment: Whether it is a colon, a sign of equality or a word that means one.
    """

    quote: str
    end: int
    is_prose: bool = False
    is_tag: bool = False
    is_blank: bool = False
    is_owned: bool = False
    is_assignment: bool = False


def _match_sign(text: str, begin: int, end: int, *, is_password: bool) -> _Sign | None:
    found = get_pattern("assignment").match(text, end)
    if found is None and text[begin : begin + 1] == "-" and (is_password or text[begin : begin + 2] == "--"):
        found = _FLAG.match(text, end)
    if found is None:
        pair = get_pattern("pair_of_value").match(text, end)
        if pair is None and not is_password:
            pair = get_pattern("argument").match(text, end)
        if pair is not None:
            return _Sign(pair["quote"], pair.end())
        if is_password and (quoted := _QUOTED.match(text, end)) is not None:
            return _Sign(quoted["quote"], quoted.end())
        is_tag = text[begin - 1 : begin] == "<" and text[begin - 2 : begin - 1] not in _SIGN_BEFORE
        if is_tag and (tag := _TAG_END.match(text, end)) is not None:
            return _Sign("", tag.end(), is_tag=True)
        blank = None if is_password else _BLANK.match(text, end)
        return _Sign(blank["quote"], blank.end(), is_blank=True) if blank is not None else None
    groups = found.groupdict()
    quote = found["quote"]
    how = groups.get("how")
    if groups.get("of") and not is_password:
        return _Sign(quote, found.end(), is_owned=True)
    return _Sign(quote, found.end(), is_prose=not quote and (how or "=") not in _SIGNS, is_assignment=how is not None)


def _is_attribute(text: str, begin: int, end: int) -> bool:
    """Whether a name is the value of an attribute itself, as in `type="password" :rules="rules"`."""
    quote = text[begin - 1 : begin]
    return quote in ('"', "'") and text[begin - 2 : begin - 1] == "=" and text[end : end + 1] == quote


def _find_names(lowered: str, clues: frozenset[str]) -> Iterator[tuple[int, str, bool]]:
    for clue, first, by_tail in _load_names():
        if clue in clues:
            for at in find_word(lowered, clue):
                for stem, before, is_password in by_tail.get(lowered[at - 2 : at], first):
                    if lowered.startswith(stem, at - before) and at >= before:
                        yield at - before, stem, is_password
    for stem in clues:
        if not stem.isascii():
            yield from ((at, stem, True) for at in find_word(lowered, stem))


def _is_name(name: str, stem: str) -> bool:
    """Whether a name names a secret, and not something about one."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return len(words) <= 8 and get_words("other_names").isdisjoint(words) and not name.casefold().endswith(stem + "s")


def _join_block(text: str, at: int) -> tuple[str, int, int] | None:
    """What a block of YAML (1.2.2, 8.1) says whose lines are a word each, put together; and from where to where."""
    head = _BLOCK.match(text, at)
    lines: list[re.Match[str]] = []
    end = head.end() if head is not None else at
    while head is not None and len(lines) < _MOST_LINES and (line := _BLOCK_LINE.match(text, end)) is not None:
        lines.append(line)
        end = line.end()
    if not lines:
        return None
    return "".join(line["word"] for line in lines), lines[0].start("word"), lines[-1].end("word")


def _read_value(text: str, at: int, quote: str) -> str:
    if quote:
        end = text.find(quote, at, at + LONGEST + 1)
        line = text.find("\n", at, at + LONGEST + 1)
        return "" if end < 0 or -1 < line < end else text[at:end]
    found = _NUMBERED.match(text, at) or _BARE.match(text, at)
    if found is None or text[found.end() : found.end() + 1] in ("(", "[", "{"):
        return ""  # a call, or an element
    return found.group().rstrip(".:*!?,。、)」")


def _read_odd_password(text: str, at: int) -> str:
    """A password with signs that otherwise end a value, up to the next blank; empty where it may be code."""
    found = _ODD.match(text, at)
    if found is None:
        return ""
    value = found.group().rstrip(".,;")
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    return value if kinds >= 2 and _SIGN.search(value) and not _CODE.search(value) and len(set(value)) >= 6 else ""


# Beside a name


def find_beside(text: str, lowered: str, clues: frozenset[str], budget: WorkBudget) -> Iterator[Spot]:
    """Passwords near their name; the budget is spent on them."""
    names = clues.intersection(_NAMES)
    if names:
        for found in _find_all(get_pattern("beside"), text, lowered, names, budget):
            if not _STATEMENT.match(text, found.start()):
                yield from _find_password(text, *found.span("value"), found.start(), "a password beside its name")
        for found in _find_all(get_pattern("short"), text, lowered, names.intersection(("pass", "pw")), budget):
            yield from _find_simple_password(text, found, is_prose=":" in found["how"] and not found["quote"])
        if "|" in text and "--" in text:
            yield from _find_in_tables(text)
    if (
        has_mark(lowered, "-securestring")
        or "identified" in lowered
        or ("pass" in clues and any(word in lowered for word in _STATEMENTS))
    ):
        for found in get_pattern("statement").finditer(text):
            yield from _find_simple_password(text, found, is_prose=False)
    if not clues.isdisjoint(("log", "cred", "zugang", "anmeldung")):
        for found in _find_all(get_pattern("pair"), text, lowered, _ACCOUNTS, budget):
            yield from _find_password(text, *found.span("value"), found.start(), "a name with its password")
    if "key" in clues and has_mark(text, "_KEY"):
        for found in get_pattern("variable").finditer(text):
            if is_key(found["value"]) and get_words("public_keys").isdisjoint(found["name"].split("_")):
                words = "a key or token in an assignment"
                yield Spot("secret", _RULE, *found.span(), words, found.span("value"))
    if "key" in clues:
        yield from _find_plain_keys(text, lowered)
    if any((not clue or clue in clues) and word in text for word, clue in _LOUD):
        yield from _find_loud_keys(text)
    if any((not clue or clue in clues) and name in lowered for name, clue in _COMMANDS):
        for found in get_pattern("command").finditer(text):
            yield from _find_password(text, *found.span("value"), found.start(), "a password on a command line")


def _find_simple_password(text: str, found: re.Match[str], *, is_prose: bool) -> Iterator[Spot]:
    """A password behind a word that is followed by nothing else: it may be as simple as people make them."""
    value = found["value"].rstrip(".:*!?,")
    start = found.start("value")
    end = start + len(value)
    is_literal = bool(found.groupdict().get("literal")) and is_weak_password(value)
    is_plain = not is_prose and (_is_made_up(value) or is_digest_key(value))
    if not (is_literal or is_plain or is_secret(value, is_password=True, is_prose=is_prose)):
        return
    is_weak = is_word_with_digits(value) and not is_beside_production(text, found.start(), end)
    rule, words = (WEAK_RULE, "a weak password in an assignment") if is_weak else (_RULE, "a password in an assignment")
    yield Spot("secret", rule, found.start(), end, words, (start, end))


def _is_made_up(value: str) -> bool:
    """Whether a word with a digit, and no name of code, is what somebody has set for a password."""
    return value.isalnum() and any(map(str.isdigit, value)) and is_weak_password(value)


def _find_plain_keys(text: str, lowered: str) -> Iterator[Spot]:
    """Keys behind a name that says no more than that: only what is one by its looks."""
    for at in find_word(lowered, "key"):
        found = _PLAIN_KEY.match(text, at + 3)
        if (found is not None and (is_plain_key(found["value"]) or is_sequential_key(found["value"]))) or (
            (found := _AFTER_BLANK.match(text, at + 3)) is not None and is_sequential_key(found["value"])
        ):
            yield from _find_key(text, at, at + 3, found)


def _find_loud_keys(text: str) -> Iterator[Spot]:
    """Keys behind a word in capitals, with hardly a sign between, as in a list that somebody has written by hand."""
    for found in get_pattern("loud").finditer(text):
        if is_plain_key(found["value"]) or is_sequential_key(found["value"]):
            yield from _find_key(text, found.start(), found.start("value"), found)


def _find_key(text: str, at: int, end: int, found: re.Match[str]) -> Iterator[Spot]:
    """A key behind a name, of which a part is known, unless the name is that of something public."""
    begin = at - _NAME_BEFORE.match(text[max(0, at - 60) : at][::-1]).end()  # type: ignore[union-attr]
    before = text[max(0, begin - _NEXT_WORD, text.rfind("\n", 0, begin) + 1) : end]  # also of `File key: …`
    name = {word.upper() for word in _WORD.findall(before)}
    if name.isdisjoint(get_words("public_keys")) and name.isdisjoint(map(str.upper, get_words("other_names"))):
        if is_sequential_key(found["value"]):
            yield make_sequential_spot(begin, found.end("value"), found.span("value"))
        else:
            yield Spot("secret", _RULE, begin, found.end("value"), "a key in an assignment", found.span("value"))


def _find_all(
    pattern: re.Pattern[str], text: str, lowered: str, names: Iterable[str], budget: WorkBudget
) -> Iterator[re.Match[str]]:
    """Where an expression that begins with a name is in a text, none over another."""
    end = 0
    for at in sorted(at for name in names for at in find_word(lowered, name)):
        found = pattern.match(text, at) if at >= end else None
        if found is not None:
            if not budget.spend(found.end() - at):
                return
            yield found
            end = found.end()


def _find_in_tables(text: str) -> Iterator[Spot]:
    """Cells of a column that is called a password."""
    for rule in islice(_TABLE_RULE.finditer(text), _MOST):
        first = find_line_start(text, max(0, rule.start() - 1), 2_000)
        head = text[first : max(first, rule.start() - 1)]
        columns = [number for number, cell in enumerate(head.split("|")) if get_pattern("column").fullmatch(cell)]
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
                    yield from _find_password(text, start, start + len(value), start, "a password in a table")
                place += len(cell) + 1


def _find_password(text: str, start: int, end: int, begin: int, words: str) -> Iterator[Spot]:
    value = text[start:end].rstrip("`'\"*.,;:)]|>}")
    if is_strong_password(value):
        yield Spot("secret", _RULE, begin, start + len(value), words, (start, start + len(value)))
