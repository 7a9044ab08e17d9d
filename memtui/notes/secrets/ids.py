"""Numbers that states and banks give to people: by their check digits, and by the words around them.

Where a shape alone is weak, as nine digits are, a word that names it must be near.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memtui.notes.outline import numeric
from memtui.notes.secrets.checksums import luhn, mod_11_10, mod_97, verhoeff, weighed
from memtui.notes.spots import Spot

_AROUND = 80
"""Characters before a number among which the word that names it is looked for."""
_HEAD = 12
"""Characters of a number that may stand before its first digits in a row."""
_NOT_IN_WORD = r"(?<![\w./+=-])"
_NOT_ON = r"(?![\w-]|[.,/]\d)"


@dataclass(frozen=True, slots=True)
class _Id:
    """One kind of number.

    Attributes:
        words: What it is, for a person.
        hints: One of these is in every text that has one, in lower case; with none, the shape is enough.
        pattern: How it is written.
        is_sound: Whether its check digits are right; it is given what was found, without blanks and signs.
        outline: What is in its numeric outline; only where there are no hints.
    """

    words: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_sound: Callable[[str], bool]
    outline: re.Pattern[bytes] | None = None


def _number(pattern: str) -> re.Pattern[str]:
    return re.compile(_NOT_IN_WORD + pattern + _NOT_ON)


def _ssn(digits: str) -> bool:
    """Social Security Administration: no area 000, 666 or 9xx, no group 00, no serial 0000."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    shown = ("123456789", "078051120", "219099999", "111223333", "987654321", "555555555")
    is_issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return is_issued and digits not in shown and len(set(digits)) > 2


def _nino(written: str) -> bool:
    """HMRC: prefixes that are never given."""
    head = written[:2].upper()
    return head not in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ") and written.upper() not in ("AB123456C", "AA123456A")


def _steuer_id(digits: str) -> bool:
    """Of the first ten digits exactly one is there two or three times, the eleventh checks them."""
    counts = Counter(digits[:10]).values()
    is_one_twice = sorted(counts, reverse=True)[:2] in ([2, 1], [3, 1])
    return digits[0] != "0" and is_one_twice and mod_11_10(digits)


def _nir(written: str) -> bool:
    """Thirteen digits, and 97 less their remainder; Corsica's departments count as 19 and 18."""
    number, key = written[:13].upper(), int(written[13:])
    if not (1 <= int(number[3:5]) <= 12 or 20 <= int(number[3:5]) <= 42):
        return False
    number = number.replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == key


_ODD = dict(
    zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23), strict=True)
)  # fmt: skip


def _codice_fiscale(written: str) -> bool:
    """The sixteenth character checks the others (Ministero delle Finanze, decree of 23 December 1976)."""
    code = written.upper()
    total = sum(
        _ODD[character] if place % 2 == 0 else int(character) if character.isdigit() else ord(character) - 65
        for place, character in enumerate(code[:15])
    )
    return code[15] == chr(65 + total % 26) and code != "RSSMRA80A01H501U"


def _dni(written: str) -> bool:
    """The letter is the number modulo 23; of a foreigner X, Y and Z stand for 0, 1 and 2."""
    code = written.upper()
    number = str("XYZ".find(code[0])) + code[1:-1] if code[0] in "XYZ" else code[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == code[-1] and number not in ("12345678", "00000000")


def _bsn(digits: str) -> bool:
    """The elfproef."""
    digits = digits.zfill(9)
    return len(set(digits)) > 2 and weighed(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0 and digits != "123456782"


def _personnummer(digits: str) -> bool:
    """A day of birth, and a check digit after Luhn over the last ten digits."""
    ten = digits[-10:]
    month, day = int(ten[2:4]), int(ten[4:6])
    return 1 <= month <= 12 and (1 <= day <= 31 or 61 <= day <= 91) and luhn(ten)


def _pesel(digits: str) -> bool:
    month, day = int(digits[2:4]) % 20, int(digits[4:6])
    right = (10 - weighed(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10
    return 1 <= month <= 12 and 1 <= day <= 31 and right == int(digits[10])


def _cpf(digits: str) -> bool:
    """Two check digits modulo 11 (Receita Federal)."""
    if len(set(digits)) == 1 or digits == "12345678909":
        return False
    first = weighed(digits, tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = weighed(digits, tuple(range(11, 1, -1))) * 10 % 11 % 10
    return digits[9:] == f"{first}{second}"


_IDS = (
    _Id("a Social Security number (US)", ("ssn", "social security"),
        _number(r"\d{3}(?P<by>[ -]?)\d{2}(?P=by)\d{4}"), _ssn),
    _Id("a National Insurance number (UK)", ("nino:", "nino ", "national insurance", "ni number"),
        _number(r"(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"), _nino),
    _Id("a tax number (Germany)", ("steuer", "idnr", "tax id"),
        _number(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"), _steuer_id),
    _Id("a social security number (France)", ("sécu", "secu:", "n° secu", "nir:", "nir ", "insee"),
        _number(r"[1-478] ?\d{2} ?\d{2} ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}"), _nir),
    _Id("a tax code (Italy)", (),
        re.compile(r"[A-Za-z](?<![\w./+=-].)[A-Za-z]{5}\d{2}[A-EHLMPR-Ta-ehlmpr-t]\d{2}[A-Za-z]\d{3}[A-Za-z]"
                   + _NOT_ON),
        _codice_fiscale, re.compile(rb"00[Ax]00[Ax]000[Ax]")),
    _Id("an identity number (Spain)", ("dni", "nif:", "nif ", "nie:", "nie ", "documento"),
        _number(r"(?:\d{8}|[XYZxyz]-?\d{7})[ -]?[A-Za-z]"), _dni),
    _Id("a citizen service number (Netherlands)", ("bsn", "burgerservice", "sofinummer", "sofi-nummer"),
        _number(r"\d{4}[ .]?\d{2}[ .]?\d{3}|\d{3}[ .]?\d{3}[ .]?\d{3}"), _bsn),
    _Id("a personal identity number (Sweden)", ("personnummer", "person-nr", "personnr", "personal identity"),
        _number(r"(?:19|20)?\d{6}[-+]?\d{4}"), _personnummer),
    _Id("a PESEL number (Poland)", ("pesel",), _number(r"\d{11}"), _pesel),
    _Id("a CPF number (Brazil)", (), re.compile(r"\d(?<![\w./+=-].)\d{2}\.\d{3}\.\d{3}-\d{2}" + _NOT_ON), _cpf,
        re.compile(rb"000\.000\.000-00")),
    _Id("a CPF number (Brazil)", ("cpf",), _number(r"\d{11}"), _cpf),
    _Id("an Aadhaar number (India)", ("aadhaar", "aadhar", "uidai", "आधार"),
        _number(r"[2-9]\d{3}(?P<by>[ -]?)\d{4}(?P=by)\d{4}"), verhoeff),
)  # fmt: skip
_SIGNS = str.maketrans("", "", " -+.")
_MANY_DIGITS = re.compile(r"\d\d(?: \d\d \d\d|\d(?:\d\d|\d[ -]\d\d\d|[ .-]\d\d(?:[ .-]\d\d\d|\d[ .-]?\d\d\d)))")
"""Digits as they stand in all numbers here, and in no date."""

_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SD": 18,
    "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22,
    "VG": 24, "XK": 20,
}  # fmt: skip
"""Characters of an account number by country (SWIFT, IBAN Registry)."""
_ACCOUNT = re.compile(r"([A-Z](?<![\w/+-].)[A-Z]\d{2})((?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![\w-])")
_BEGINS = b"AA00"
"""How it begins, in a numeric outline."""
_SHOWN = frozenset(
    "GB82WEST12345698765432 GB29NWBK60161331926819 DE89370400440532013000 FR1420041010050500013M02606"  # noqa: SIM905
    " NL91ABNA0417164300 CH9300762011623852957 ES9121000418450200051332 IT60X0542811101000000123456"
    " BE68539007547034 AT611904300234573201 SE4550000000058398257466 PL61109010140000071219812874"
    " PT50000201231234567890154 IE29AIBK93115212345678 DK5000400440116243 NO9386011117947 FI2112345600000785"
    " GB33BUKB20201555555555 DE12500105170648489890 LU280019400644750000".split()
)
"""Numbers that registries and introductions show."""


def ids(text: str, lowered: str, words: str, outline: bytes) -> Iterator[Spot]:
    """National numbers and bank accounts in a text.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
        words: Its long words.
        outline: Its numeric outline; empty if it holds no long number.
    """
    near = _near_digits(text, lowered) if outline else ""
    if not near and not words:
        return
    rest = numeric(words)
    taken: set[int] = set()
    for kind in _IDS:
        if kind.hints:
            if not near or not any([hint in near for hint in kind.hints]):  # noqa: C419 - a list is twice as fast here
                continue
        elif (kind.outline and kind.outline.search(rest) is None) or kind.pattern.search(words) is None:
            continue
        for found in kind.pattern.finditer(text):
            if found.start() in taken or not kind.is_sound(found.group().translate(_SIGNS)):
                continue
            if kind.hints and not _is_named(lowered, found.start(), kind.hints):
                continue
            taken.add(found.start())
            yield Spot("secret", "national-id", *found.span(), kind.words, found.span())
    if not near or _BEGINS not in outline:
        return
    for found in _ACCOUNT.finditer(text):
        number = found.group().replace(" ", "")
        size = _LENGTHS.get(number[:2])
        if size is None or len(number) < size or number[:size] in _SHOWN:
            continue
        end = found.start() + _span(found.group(), size)
        if (len(number) == size or text[end : end + 1] == " ") and mod_97(number[:size]):
            span = (found.start(), end)
            yield Spot("secret", "bank-account", *span, f"the number of a bank account ({number[:2]})", span)


def _near_digits(text: str, lowered: str) -> str:
    """What stands before and at long numbers; of most notes next to nothing."""
    parts, until = [], 0
    for found in _MANY_DIGITS.finditer(text):
        parts.append(lowered[max(until, found.start() - _AROUND - _HEAD) : found.end()])
        until = found.end()
    return "".join(parts)


def _is_named(lowered: str, at: int, hints: tuple[str, ...]) -> bool:
    before = lowered[max(0, at - _AROUND) : at]
    return any(re.search(rf"(?<![a-z]){re.escape(hint)}", before) for hint in hints)


def _span(written: str, size: int) -> int:
    """How many characters of what is written hold that many that are no blanks."""
    for place, character in enumerate(written):
        size -= character != " "
        if size == 0:
            return place + 1
    return len(written)
