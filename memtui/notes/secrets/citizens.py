"""Whether a number may be one that a state gave to a person: its check digits, its day of birth, what is never given.

Each takes what is written without blanks, points and hyphens, and names who says so. What offices print as an example
is none.
"""

from collections import Counter

from memtui.notes.secrets.checksums import luhn, mod_11_10, verhoeff, weighed

_EXAMPLES = frozenset(
    "123456789 078051120 219099999 111223333 987654321 555555555 046454286 123456782 9434765919 9990000000"  # noqa: SIM905
    " AB123456C AA123456A RSSMRA80A01H501U 12345678Z 00000000T 85073003328 131052308T 7569217076985 7561234567897"
    " 1237010180 15070649C103 1234567T 10000000146 8001015009087 11010519491231002X 123456789018 S1234567D S0000001I"
    " HEGG560427MVZRRL04 20123456786 123456785 12345678909 69435151530 37605030299".split()
)
_LETTERS_OF_ITALY = dict(
    zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23), strict=True)
)  # fmt: skip
"""What a character in an odd place counts."""


def is_example(written: str) -> bool:
    """Whether it is one that is printed to show how such a number looks, or of next to no different digits."""
    return written.upper() in _EXAMPLES or len(set(written)) <= 2


def _is_day(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def argentina(digits: str) -> bool:
    """CUIT and CUIL: modulo 11 (AFIP)."""
    return (11 - weighed(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11 == int(digits[10])


def australia(digits: str) -> bool:
    """TFN: modulo 11 (Australian Taxation Office)."""
    return weighed(digits, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0


def austria(digits: str) -> bool:
    """The fourth digit checks the others (Dachverband der Sozialversicherungsträger)."""
    others = weighed(digits, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11
    return others == int(digits[3]) and 1 <= int(digits[4:6]) <= 31


def baltic(digits: str) -> bool:
    """Estonia's isikukood and Lithuania's asmens kodas: modulo 11, with other weights where that leaves ten."""
    check = weighed(digits[:10], (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if check == 10:
        check = weighed(digits[:10], (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return check == int(digits[10]) and _is_day(int(digits[5:7]), int(digits[3:5]))


def belgium(digits: str) -> bool:
    """97 less the remainder of the first nine; with a 2 before them for who was born from 2000 on."""
    number, key = digits[:9], int(digits[9:])
    return key in (97 - int(number) % 97, 97 - int("2" + number) % 97) and int(digits[2:4]) <= 12


def brazil(digits: str) -> bool:
    """CPF: two check digits modulo 11 (Receita Federal)."""
    first = weighed(digits, tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = weighed(digits, tuple(range(11, 1, -1))) * 10 % 11 % 10
    return digits[9:] == f"{first}{second}"


def canada(digits: str) -> bool:
    """SIN: Luhn; none begins with 0 or 8."""
    return digits[0] not in "08" and luhn(digits)


def chile(written: str) -> bool:
    """RUT: modulo 11, K for ten."""
    number = written[:-1]
    check = -sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(number))) % 11
    return "0123456789K"[check] == written[-1].upper()


def china(written: str) -> bool:
    """A place, a day of birth and ISO/IEC 7064 MOD 11-2 (GB 11643-1999)."""
    total = weighed(written[:17], (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))
    is_born = written[6:8] in ("19", "20") and _is_day(int(written[12:14]), int(written[10:12]))
    return is_born and "10X98765432"[total % 11] == written[17].upper()


def croatia(digits: str) -> bool:
    """OIB: ISO/IEC 7064, MOD 11,10."""
    return mod_11_10(digits)


def denmark(digits: str) -> bool:
    """CPR: a day of birth; what checks it is not given any more."""
    return _is_day(int(digits[:2]), int(digits[2:4]))


def finland(written: str) -> bool:
    """The remainder of the nine digits by 31 as a character (Digi- ja väestötietovirasto)."""
    code = written.upper()
    number = int(code[:6] + code[-4:-1])
    return _is_day(int(code[:2]), int(code[2:4])) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == code[-1]


def france(written: str) -> bool:
    """Thirteen digits, and 97 less their remainder; Corsica's departments count as 19 and 18 (INSEE)."""
    number, key = written[:13].upper(), int(written[13:])
    if not (1 <= int(number[3:5]) <= 12 or 20 <= int(number[3:5]) <= 42):
        return False
    number = number.replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == key


def germany(digits: str) -> bool:
    """Of the first ten digits exactly one is there two or three times, the eleventh checks them (BZSt)."""
    counts = Counter(digits[:10]).values()
    is_one_twice = sorted(counts, reverse=True)[:2] in ([2, 1], [3, 1])
    return digits[0] != "0" and is_one_twice and mod_11_10(digits)


def german_insurance(written: str) -> bool:
    """Sums of digits modulo ten, the letter as its two digits (Deutsche Rentenversicherung, § 4 VKVV)."""
    letter = ord(written[8].upper()) - 64
    digits = f"{written[:8]}{letter:02d}{written[9:11]}"
    products = (int(digit) * weight for digit, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(written[11])


def greece(digits: str) -> bool:
    """AMKA: a day of birth and Luhn."""
    return _is_day(int(digits[:2]), int(digits[2:4])) and luhn(digits)


def india(digits: str) -> bool:
    """Aadhaar: Verhoeff (UIDAI)."""
    return verhoeff(digits)


def ireland(written: str) -> bool:
    """PPSN: modulo 23 as a letter; a second letter counts nine times."""
    code = written.upper()
    more = ord(code[8]) - 64 if len(code) > 8 and code[8] != "W" else 0
    total = weighed(code[:7], (8, 7, 6, 5, 4, 3, 2)) + 9 * more
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == code[7]


def israel(digits: str) -> bool:
    """Teudat zehut: Luhn."""
    return luhn(digits)


def italy(written: str) -> bool:
    """The sixteenth character checks the others (Ministero delle Finanze, decree of 23 December 1976)."""
    code = written.upper()
    total = sum(
        _LETTERS_OF_ITALY[character]
        if place % 2 == 0
        else int(character)
        if character.isdigit()
        else ord(character) - 65
        for place, character in enumerate(code[:15])
    )
    return code[15] == chr(65 + total % 26)


def japan(digits: str) -> bool:
    """My Number: modulo 11 (Ministry of Internal Affairs, ordinance 85 of 2014)."""
    rest = weighed(digits[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def korea(digits: str) -> bool:
    """RRN, as given until 2020: a day of birth, and modulo 11."""
    total = weighed(digits[:12], (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5))
    return _is_day(int(digits[4:6]), int(digits[2:4])) and (11 - total % 11) % 10 == int(digits[12])


def mexico(written: str) -> bool:
    """CURP: the last digit checks the others (RENAPO)."""
    code = written.upper()
    values = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(values.index(character) * weight for character, weight in zip(code, range(18, 1, -1), strict=False))
    return (10 - total % 10) % 10 == int(code[17]) and _is_day(int(code[8:10]), int(code[6:8]))


def netherlands(digits: str) -> bool:
    """BSN: the elfproef."""
    return weighed(digits.zfill(9), (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def norway(digits: str) -> bool:
    """Two check digits modulo 11 (Skatteetaten)."""
    first = -weighed(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -weighed(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[9:] == f"{first}{second}" and _is_day(int(digits[:2]) % 40, int(digits[2:4]) % 40)


def poland(digits: str) -> bool:
    """PESEL: a day of birth, and a check digit."""
    right = (10 - weighed(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10
    return _is_day(int(digits[4:6]), int(digits[2:4]) % 20) and right == int(digits[10])


def portugal(digits: str) -> bool:
    """NIF: modulo 11 (Autoridade Tributária)."""
    check = -weighed(digits[:8], (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[8]) == (check if check < 10 else 0)


def romania(digits: str) -> bool:
    """CNP: a day of birth, and modulo 11."""
    check = weighed(digits[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return _is_day(int(digits[5:7]), int(digits[3:5])) and int(digits[12]) == (1 if check == 10 else check)


def singapore(written: str) -> bool:
    """NRIC and FIN: modulo 11 as a letter."""
    code = written.upper()
    total = weighed(code[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if code[0] in "TG" else 0)
    return ("JZIHGFEDCBA" if code[0] in "ST" else "XWUTRQPNMLK")[total % 11] == code[8]


def south_africa(digits: str) -> bool:
    """A day of birth, and Luhn (Department of Home Affairs)."""
    return _is_day(int(digits[4:6]), int(digits[2:4])) and luhn(digits)


def spain(written: str) -> bool:
    """The letter is the number modulo 23; of a foreigner X, Y and Z stand for 0, 1 and 2 (Ministerio del Interior)."""
    code = written.upper()
    number = str("XYZ".find(code[0])) + code[1:-1] if code[0] in "XYZ" else code[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == code[-1] and number not in ("12345678", "00000000")


def sweden(digits: str) -> bool:
    """A day of birth, and Luhn over the last ten digits (Skatteverket)."""
    ten = digits[-10:]
    return _is_day(int(ten[4:6]) % 60, int(ten[2:4])) and luhn(ten)


def switzerland(digits: str) -> bool:
    """AHV: as EAN-13 (Zentrale Ausgleichsstelle)."""
    return (10 - weighed(digits[:12], (1, 3) * 6) % 10) % 10 == int(digits[12])


def turkey(digits: str) -> bool:
    """Two check digits (Nüfus ve Vatandaşlık İşleri)."""
    odd, even = sum(map(int, digits[0:9:2])), sum(map(int, digits[1:8:2]))
    tenth = (odd * 7 - even) % 10
    return digits[0] != "0" and digits[9:] == f"{tenth}{(odd + even + tenth) % 10}"


def united_kingdom(written: str) -> bool:
    """NINO: prefixes that are never given (HMRC)."""
    return written[:2].upper() not in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def health_service(digits: str) -> bool:
    """NHS number: modulo 11; those that begin with 999 are for tests (NHS Data Model and Dictionary)."""
    check = 11 - weighed(digits[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return not digits.startswith("999") and int(digits[9]) == (0 if check == 11 else check)


def united_states(digits: str) -> bool:
    """SSN: no area 000, 666 or 9xx, no group 00, no serial 0000 (Social Security Administration).

    What begins with 12345 is what people write for an example.
    """
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return (
        not digits.startswith("12345")
        and area not in ("000", "666")
        and area < "900"
        and group != "00"
        and serial != "0000"
    )


def united_states_taxpayer(digits: str) -> bool:
    """ITIN: 9xx, and a group that is given (IRS)."""
    return digits[0] == "9" and (50 <= int(digits[3:5]) <= 65 or 70 <= int(digits[3:5]) <= 99)
