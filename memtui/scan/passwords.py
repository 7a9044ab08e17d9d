"""Passwords and keys behind or beside their names: `password: …`, `API_KEY=…`, a column of a table, a sentence.

Behind a name that says that it is a secret, what has to be judged is the value: most of them are references,
placeholders, or words of a sentence. A value that could be a hash, a commit or an identifier is none, for these are
everywhere. Beside a name, the name proves little, so only values count that nobody would write for a word: of three
kinds of characters at least.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise
from typing import NamedTuple

from memtui.notes.spans import find_line_start
from memtui.scan.checksums import check_crc32
from memtui.scan.ruleset import load_rules
from memtui.scan.spots import Spot
from memtui.scan.tokens import count_steps, find_word, is_placeholder, measure_entropy
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
_BEHIND = re.compile(r"&(?:(?:quot|lt|gt|apos|nbsp|#\d{1,5});?|[A-Za-z_.-]{1,40}=)")
"""What ends a value in an address and in HTML."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\dA-Za-z_]+")
_FEWEST_OF_PASSWORD, _FEWEST_OF_KEY, _LONGEST = 6, 16, 300
_STEPS = 0.6  # how many of its characters may follow the one before
_DIGIT, _LETTER = re.compile(r"[0-9]"), re.compile(r"[A-Za-z]")
_CHECKED = ("ghp_", "gho_", "ghu_", "ghr_", "npm_")
_TAG_END = re.compile(r">\s{0,20}(?:\{(?:[^\s{}<>]{1,100}[ \t]){0,3})?")
"""The end of a tag; what Jenkins has encrypted stands in braces, behind words of its own."""
_TAIL = re.compile(r"[^\s\w\"'`<>&)\]}]\w[^\s\"'`<>&]{0,300}")
"""What stands behind a value without a blank: it may be the rest of it, and is masked with it."""
_NEXT_WORD = 12
_PLAIN_KEY = re.compile(
    r"[\"'`]?[ \t]{0,3}(?::{1,3}=|\?=|=>|=|:)[ \t]{0,3}[\"'`]?(?P<value>[A-Za-z0-9+/_-]{16,100}={0,2})(?![\w+/.-])"
)
_BLANK = re.compile(r"[ \t]{1,3}(?:[-–][ \t]{1,3})?(?P<quote>[\"'`]?)")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:PASSWORD|PASSWD|PWD|PASS)")
_WEAK = re.compile(r"(?=[^0-9]*[a-z])[a-z0-9_-]{4,40}")
_QUOTED = re.compile(r"[ \t]{1,3}(?P<quote>')(?=[^\s']{4,100}')")
"""How SQL writes a password behind the word."""
_KIND = re.compile(r"(?i:bearer|basic|token) ")
"""What stands before the value of a header."""
_ODD = re.compile(r"[^\s\"'`<$%&*~!?\[({|/\\.:,;=+-]\S{7,63}(?=[ \t]*(?:\r?\n|\Z))")
"""What stands to the end of a line: behind it comes no code."""
_SIGN = re.compile(r"[^\w./,:-]")
_CODE = re.compile(r"\w[\[({]\w*[\])}]|[\[({<]\w*[\])}>]|=>|://|&&|\|\||[])}>;]\Z|\w\.\w+\(|[\"'`]\Z|@[\w-]+\.\w|=|\\")
_SIGNS = ("=", ":=", "::=", ":::=", "?=", "=>", "==")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_HEX_KEY = re.compile(r"(?=.{0,16}[0-9])(?=.{0,40}[a-fA-F])[0-9a-fA-F]{32,128}")
_BITS_OF_HEX = 3.0
_FEWEST_LETTERS, _FEWEST_DIGITS, _BITS_OF_LETTERS = 20, 3, 3.6
_KEY = re.compile(r"[A-Za-z0-9_+/.-]{16,200}")
_CHARACTERS_OF_TURN, _STEPS_OF_KEY = 5, 0.3
"""Characters for each change between letters and digits in a key at most, and how many may follow the one before."""
_BITS_OF_KEY = 3.0
"""Bits for each character that the value of a key has at least: that of sixteen random ones is about 3.6."""

_NAMES = ("pass", "pw", "kennwort", "senha")
_OTHER_NAMES = ("contraseña", "mot de passe", "пароль", "كلمة المرور", "密码", "密碼", "パスワード", "비밀번호")
"""How names begin beside which passwords stand; of those with letters of their own only where a text has such."""
_LOUD = ("PRIVATE", "ACCESS", "SECRET", "TOKEN", "KEY")
_ACCOUNTS = ("login", "log in", "cred", "zugang", "anmeldung")
_STATEMENT = re.compile(r"pass[ \t]{0,3}\r?\n")  # what in Python is none
_TABLE_RULE = re.compile(
    r"^[ \t]{0,8}\|?[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,200}:?[ \t]{0,8}){1,40}\|?[ \t]{0,8}\r?$",
    re.MULTILINE,
)
"""The line between the head of a table and its rows."""
_MOST = 200
_ROWS = 200


@cache
def _get_pattern(name: str) -> re.Pattern[str]:
    return load_rules("secrets")[_RULE].get_pattern(name)


@cache
def _get_words(name: str) -> frozenset[str]:
    return frozenset(load_rules("secrets")[_RULE].get_words(name))


@cache
def _load_names() -> tuple[tuple[str, list[tuple[str, int, bool]]], ...]:
    """Names of secrets by the clue that is in each, where in it, and whether they name a password."""
    entry = load_rules("secrets")[_RULE]
    passwords, keys = entry.get_words("passwords"), entry.get_words("keys")
    names = [name for name in (*passwords, *keys) if name.isascii()]
    return tuple(
        (clue, [(name, name.index(clue), name in passwords) for name in names if clue in name]) for clue in _CLUES
    )


@cache
def _load_foreign_names() -> tuple[str, ...]:
    return tuple(name for name in load_rules("secrets")[_RULE].get_words("passwords") if not name.isascii())


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
        if sign is None:
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
        if sign.is_blank:
            is_found = _looks_like_key(value)
        else:
            is_found = _is_secret(value, is_password=is_password, is_prose=sign.is_prose)
            if not is_found and not is_password:
                is_found = _is_digest_key(value)
            elif not is_found and _VARIABLE.fullmatch(text, begin, end) and _is_weak_password(value):
                is_found = True
            elif not is_found and not quote and not sign.is_tag:
                value = _read_odd_password(text, at)
                is_found = bool(value)
        if is_found:
            seen = until or at + len(value)
            words = "a password behind its name" if is_password else "a key or a token behind its name"
            tail = _TAIL.match(text, seen) if not quote and not sign.is_tag else None
            yield Spot("secret", _RULE, begin, seen, words, (at, tail.end() if tail else seen))


class _Sign(NamedTuple):
    """What stands between a name and its value.

    Attributes:
        quote: The quote before the value; empty where there is none.
        end: Where the value begins.
        is_blank: Whether it is nothing but a blank.
    """

    quote: str
    end: int
    is_prose: bool = False
    is_tag: bool = False
    is_blank: bool = False


def _match_sign(text: str, begin: int, end: int, *, is_password: bool) -> _Sign | None:
    found = _get_pattern("assignment").match(text, end)
    if found is None and text[begin : begin + 2] == "--":
        found = _FLAG.match(text, end)
    if found is None:
        pair = _get_pattern("pair_of_value").match(text, end)
        if pair is None and not is_password:
            pair = _get_pattern("argument").match(text, end)
        if pair is not None:
            return _Sign(pair["quote"], pair.end())
        if is_password and (quoted := _QUOTED.match(text, end)) is not None:
            return _Sign(quoted["quote"], quoted.end())
        if text[begin - 1 : begin] == "<" and (tag := _TAG_END.match(text, end)) is not None:
            return _Sign("", tag.end(), is_tag=True)
        blank = None if is_password else _BLANK.match(text, end)
        return _Sign(blank["quote"], blank.end(), is_blank=True) if blank is not None else None
    groups = found.groupdict()
    if groups.get("of") and not is_password:
        return None
    quote = found["quote"]
    return _Sign(quote, found.end(), is_prose=not quote and (groups.get("how") or "=") not in _SIGNS)


def is_key(value: str) -> bool:
    """Whether a machine has made it for nothing but to be secret, as far as that can be seen."""
    return _is_secret(value, is_password=False, is_prose=False)


def is_password(value: str) -> bool:
    """Whether nobody would take it for anything but a password, wherever it stands: of three kinds of characters."""
    kinds = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        any(not letter.isalnum() and letter not in "-_./,:'’\"`" for letter in value),
    )
    is_word = re.fullmatch(r"[\w.+-]+@[\w.-]+|\W*[A-Za-z]+\W*\d{0,4}\W*|[^\W_]+(?:[(\[{<=|/].*)", value)
    return (
        8 <= len(value) <= 64
        and value.isascii()
        and (sum(map(str.isdigit, value)) > 1 or (kinds[2] and kinds[3]))
        and not value.startswith("-")
        and not re.match(r"\d+[:.]\d", value)
        and sum(kinds) >= 3
        and not is_word
        and not re.search(r"[(){}\[\]<>|=;`\\]|//|\.\w{2,4}\Z", value)
        and _is_secret(value, is_password=True, is_prose=True)
    )


def _find_names(lowered: str, clues: frozenset[str]) -> Iterator[tuple[int, str, bool]]:
    for clue, stems in _load_names():
        if clue in clues:
            for at in find_word(lowered, clue):
                for stem, before, is_password in stems:
                    if lowered.startswith(stem, at - before) and at >= before:
                        yield at - before, stem, is_password
    if not lowered.isascii():
        for stem in _load_foreign_names():
            yield from ((at, stem, True) for at in find_word(lowered, stem))


def _is_name(name: str, stem: str) -> bool:
    """Whether a name names a secret, and not something about one."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return len(words) <= 8 and _get_words("other_names").isdisjoint(words) and not name.casefold().endswith(stem + "s")


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
        end = text.find(quote, at, at + _LONGEST + 1)
        line = text.find("\n", at, at + _LONGEST + 1)
        return "" if end < 0 or -1 < line < end else text[at:end]
    found = _BARE.match(text, at)
    if found is None or text[found.end() : found.end() + 1] in ("(", "[", "{"):
        return ""  # a call, or an element
    return found.group().rstrip(".:*!?,。、)」")


def _is_secret(value: str, *, is_password: bool, is_prose: bool) -> bool:
    if not (_FEWEST_OF_PASSWORD if is_password else _FEWEST_OF_KEY) <= len(value) <= _LONGEST:
        return False
    if not (_looks_invented(value) if is_password else _looks_random(value)) or " " in value or "\t" in value:
        return False
    if is_prose and is_password and not _looks_strong(value):
        return False
    bare = value.rstrip("=")
    if (
        bare.casefold() in _get_words("other_values")
        or _get_pattern("type").fullmatch(value)
        or _get_pattern("placeholder").search(value)
        or count_steps(value) > _STEPS
    ):
        return False
    if (
        _get_pattern("reference").match(value)
        or (_get_pattern("name").fullmatch(bare) and not _is_code_of_capitals(bare))
        or _get_pattern("camel_case").fullmatch(bare)
        or _get_pattern("identifier").fullmatch(value)
    ):
        return False
    return not value.startswith(_CHECKED) or check_crc32(value)  # else it was made up


def _is_bare_key(value: str) -> bool:
    """Whether a word that stands behind a name with only a blank between is a key all the same."""
    return (
        len(value) >= _FEWEST_LETTERS
        and value.isalnum()
        and sum(map(str.isdigit, value)) >= 2
        and any(map(str.islower, value))
        and any(map(str.isupper, value))
        and measure_entropy(value) >= _BITS_OF_LETTERS
        and is_key(value)
    )


def _is_mixed_key(value: str) -> bool:
    """Whether letters and digits, some joined by hyphens, change so often that no word or number is in them."""
    bare = value.rstrip("=")
    turns = sum(one.isdigit() != other.isdigit() for one, other in pairwise(bare))
    return (
        _KEY.fullmatch(bare) is not None
        and turns * _CHARACTERS_OF_TURN >= len(bare)
        and measure_entropy(bare) >= _BITS_OF_KEY
        and count_steps(bare) <= _STEPS_OF_KEY
        and (_is_digest_key(bare) or is_key(bare))
    )


def _is_weak_password(value: str) -> bool:
    """Whether a word may be what somebody has set for a password, as behind the name of a variable."""
    return (
        _WEAK.fullmatch(value) is not None
        and value not in _get_words("other_values")
        and _get_pattern("placeholder").search(value) is None
        and not is_placeholder(value)
    )


def _read_odd_password(text: str, at: int) -> str:
    """A password with signs that otherwise end a value, up to the next blank; empty where it may be code."""
    found = _ODD.match(text, at)
    if found is None:
        return ""
    value = found.group().rstrip(".,;")
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    return value if kinds >= 2 and _SIGN.search(value) and not _CODE.search(value) and len(set(value)) >= 6 else ""


def _is_digest_key(value: str) -> bool:
    """Whether a value is as long as a key in hexadecimal, or a UUID: behind the name of a secret it is no commit."""
    bare = value.replace("-", "") if _UUID.fullmatch(value) else value
    return (
        _HEX_KEY.fullmatch(bare) is not None and measure_entropy(bare) >= _BITS_OF_HEX and count_steps(bare) <= _STEPS
    )


def _looks_invented(value: str) -> bool:
    """Whether somebody would take it for a password: of more than one kind of character, and no word or name."""
    letters = any(map(str.isalpha, value))
    digits = any(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:" for letter in value)
    return len(set(value)) >= 4 and letters + digits + others >= 2 and letters


def _looks_strong(value: str) -> bool:
    """Whether it is no word of a sentence, such as `Base64-encoded` or `5-minute`."""
    digits = sum(map(str.isdigit, value))
    others = any(not letter.isalnum() and letter not in "-_./,:'’" for letter in value.strip("()[]\"'"))
    return (
        value.isascii() and (digits >= 1 or others) and not re.fullmatch(r"\d+[-A-Za-z]+|[A-Za-z]+[-/][A-Za-z]+", value)
    )


def _looks_random(value: str) -> bool:
    """Whether a machine has made it: many different characters, digits among letters, and no words."""
    if not value.isascii() or not _LETTER.search(value):
        return False
    if not _DIGIT.search(value):
        return _looks_shuffled(value)
    if measure_entropy(value) < _BITS_OF_KEY:
        return False
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    wordy = sum(len(part) for part in parts if part.isalpha() and (part.islower() or part.istitle() or part.isupper()))
    return wordy <= len(value) // 2


def _is_code_of_capitals(value: str) -> bool:
    """Whether capitals and digits are a key, and not the name of a constant."""
    return value.isalnum() and len(value) >= _FEWEST_LETTERS and sum(map(str.isdigit, value)) >= _FEWEST_DIGITS


def _looks_shuffled(value: str) -> bool:
    """Whether letters alone are a key: large and small ones as often as by chance, and never as in a name."""
    small = sum(map(str.islower, value))
    large = sum(map(str.isupper, value))
    turns = sum(one.islower() != other.islower() for one, other in pairwise(value))
    return (
        len(value) >= _FEWEST_LETTERS
        and small + large == len(value)
        and min(small, large) * 4 >= len(value)
        and turns * 3 >= len(value)
        and measure_entropy(value) >= _BITS_OF_LETTERS
    )


# Beside a name


def find_beside(text: str, lowered: str, clues: frozenset[str], budget: WorkBudget) -> Iterator[Spot]:
    """Passwords near their name; the budget is spent on them."""
    if not clues.isdisjoint(_NAMES) or not lowered.isascii():
        names = (*_NAMES, *(_OTHER_NAMES if not lowered.isascii() else ()))
        for found in _find_all(_get_pattern("beside"), text, lowered, names, budget):
            if not _STATEMENT.match(text, found.start()):
                yield from _find_password(text, *found.span("value"), found.start(), "a password beside its name")
        if "|" in text and "--" in text:
            yield from _find_in_tables(text)
    if not clues.isdisjoint(("log", "cred", "zugang", "anmeldung")):
        for found in _find_all(_get_pattern("pair"), text, lowered, _ACCOUNTS, budget):
            yield from _find_password(text, *found.span("value"), found.start(), "a name with its password")
    if "_KEY" in text:
        for found in _get_pattern("variable").finditer(text):
            if is_key(found["value"]) and _get_words("public_keys").isdisjoint(found["name"].split("_")):
                words = "a key or a token behind its name"
                yield Spot("secret", _RULE, *found.span(), words, found.span("value"))
    if "key" in clues:
        yield from _find_plain_keys(text, lowered)
    if any(word in text for word in _LOUD):
        yield from _find_loud_keys(text)
    if " -" in text and any(name in lowered for name in ("redis-cli", "docker login", "sshpass")):
        for found in _get_pattern("command").finditer(text):
            yield from _find_password(text, *found.span("value"), found.start(), "a password on a command line")


def _find_plain_keys(text: str, lowered: str) -> Iterator[Spot]:
    """Keys behind a name that says no more than that: only what is one by its looks."""
    for at in find_word(lowered, "key"):
        found = _PLAIN_KEY.match(text, at + 3)
        if found is not None and _looks_like_key(found["value"]):
            yield from _find_key(text, at, at + 3, found)


def _find_loud_keys(text: str) -> Iterator[Spot]:
    """Keys behind a word in capitals, with hardly a sign between, as in a list that somebody has written by hand."""
    for found in _get_pattern("loud").finditer(text):
        if _looks_like_key(found["value"]):
            yield from _find_key(text, found.start(), found.start("value"), found)


def _looks_like_key(value: str) -> bool:
    return _is_bare_key(value) or _is_mixed_key(value)


def _find_key(text: str, at: int, end: int, found: re.Match[str]) -> Iterator[Spot]:
    """A key behind a name, of which a part is known, unless the name is that of something public."""
    begin = at - _NAME_BEFORE.match(text[max(0, at - 60) : at][::-1]).end()  # type: ignore[union-attr]
    before = text[max(0, begin - _NEXT_WORD, text.rfind("\n", 0, begin) + 1) : end]  # also of `File key: …`
    name = {word.upper() for word in _WORD.findall(before)}
    if name.isdisjoint(_get_words("public_keys")) and name.isdisjoint(map(str.upper, _get_words("other_names"))):
        yield Spot("secret", _RULE, begin, found.end("value"), "a key behind its name", found.span("value"))


def _find_all(
    pattern: re.Pattern[str], text: str, lowered: str, names: tuple[str, ...], budget: WorkBudget
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
        columns = [number for number, cell in enumerate(head.split("|")) if _get_pattern("column").fullmatch(cell)]
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
    if is_password(value):
        yield Spot("secret", _RULE, begin, start + len(value), words, (start, start + len(value)))
