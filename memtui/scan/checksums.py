"""Check digits and checksums: what tells a number or a token that was issued from one that only looks so.

An entry in `rules/secrets.toml` names a function here as its `checksum`, without `check_`. Those of national numbers
are called after the country; they take the number without blanks, points and hyphens, and name who says so.
"""

import base64
import binascii
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_CHECKSUM = 6  # characters at the end of a token that check the rest

_TIMES = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 0, 6, 7, 8, 9, 5), (2, 3, 4, 0, 1, 7, 8, 9, 5, 6),
    (3, 4, 0, 1, 2, 8, 9, 5, 6, 7), (4, 0, 1, 2, 3, 9, 5, 6, 7, 8), (5, 9, 8, 7, 6, 0, 4, 3, 2, 1),
    (6, 5, 9, 8, 7, 1, 0, 4, 3, 2), (7, 6, 5, 9, 8, 2, 1, 0, 4, 3), (8, 7, 6, 5, 9, 3, 2, 1, 0, 4),
    (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
)  # fmt: skip
"""Multiplication in the dihedral group of order ten."""
_TURNS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 5, 7, 6, 2, 8, 3, 0, 9, 4), (5, 8, 0, 3, 7, 9, 6, 1, 4, 2),
    (8, 9, 1, 6, 0, 4, 3, 5, 2, 7), (9, 4, 5, 3, 1, 2, 6, 8, 7, 0), (4, 2, 8, 6, 5, 7, 3, 9, 0, 1),
    (2, 7, 9, 3, 8, 0, 6, 4, 1, 5), (7, 0, 4, 6, 9, 1, 3, 2, 5, 8),
)  # fmt: skip
"""The permutation at each place, counted from the end."""


def find_check(name: str) -> Callable[[str], bool]:
    """The function that an entry names as its checksum.

    Raises:
        KeyError: There is none of that name.
    """
    check: Callable[[str], bool] = globals()[f"check_{name}"]
    return check


def check_letters_and_digits(value: str) -> bool:
    """Whether there are digits and letters in it: what has none of either is a word or a number."""
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


def check_large_and_small(value: str) -> bool:
    """Whether there are large and small letters in it, as in no hash."""
    return value not in (value.lower(), value.upper())


def encode_base62(number: int) -> str:
    """A 32-bit number as six characters, digits first, then capitals."""
    written = ""
    while number:
        number, digit = divmod(number, 62)
        written = _BASE62[digit] + written
    return written.rjust(_CHECKSUM, "0")


def check_crc32(token: str) -> bool:
    """Whether the last six characters of a token are the checksum of those between its prefix and them.

    GitHub and npm issue tokens so: CRC-32 of the random part, in base 62 (GitHub, "Behind GitHub's new authentication
    token formats", 2021).
    """
    random = token.rpartition("_")[2]
    return encode_base62(zlib.crc32(random[:-_CHECKSUM].encode("ascii", "replace"))) == random[-_CHECKSUM:]


def check_encoded_number(token: str) -> bool:
    """Whether the part before the first dot is a number in base64: whose bot it is, in a token of Discord."""
    part = token.partition(".")[0]
    try:
        number = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    return 17 <= len(number) <= 20 and number.isdigit()


def encode_base58(data: bytes) -> str:
    """Bytes in base 58, with four that check them."""
    whole = data + hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, written = int.from_bytes(whole, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        written = _BASE58[digit] + written
    return written


def check_nkey(seed: str) -> bool:
    """A seed of NATS: base 32 with a CRC-16 of what is before (nats-io/nkeys, strkey)."""
    raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
    return raw[-2:] == compute_crc16(raw[:-2])


def compute_crc16(data: bytes) -> bytes:
    """CRC-16/XMODEM, the low byte first."""
    return binascii.crc_hqx(data, 0).to_bytes(2, "little")


def check_base58(written: str) -> bool:
    """Whether the last four of the bytes that something says in base 58 check the others (Bitcoin, "Base58Check")."""
    number = 0
    for character in written:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def check_luhn(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def check_verhoeff(digits: str) -> bool:
    """Whether the last digit checks the others (J. Verhoeff, "Error Detecting Decimal Codes", 1969)."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = _TIMES[check][_TURNS[place % 8][int(digit)]]
    return check == 0


def check_mod_97(account: str) -> bool:
    """Whether the two digits behind the country check an international account number (ISO 13616)."""
    turned = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


def check_mod_11_10(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7064, MOD 11,10)."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def _weigh(digits: str, weights: tuple[int, ...]) -> int:
    """The sum of digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


# Numbers that states give to persons

_LETTERS_OF_ITALY = dict(
    zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23), strict=True)
)  # fmt: skip
"""What a character in an odd place counts."""


def _is_day(day: int, month: int) -> bool:
    return 1 <= day <= 31 and 1 <= month <= 12


def check_argentina(digits: str) -> bool:
    """CUIT and CUIL: modulo 11 (AFIP)."""
    return (11 - _weigh(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11 == int(digits[10])


def check_austria(digits: str) -> bool:
    """The fourth digit checks the others (Dachverband der Sozialversicherungsträger)."""
    others = _weigh(digits, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11
    return others == int(digits[3]) and 1 <= int(digits[4:6]) <= 31


def check_baltic(digits: str) -> bool:
    """Estonia's isikukood and Lithuania's asmens kodas: modulo 11, with other weights where that leaves ten."""
    check = _weigh(digits[:10], (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)) % 11
    if check == 10:
        check = _weigh(digits[:10], (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)) % 11 % 10
    return check == int(digits[10]) and _is_day(int(digits[5:7]), int(digits[3:5]))


def check_belgium(digits: str) -> bool:
    """97 less the remainder of the first nine; with a 2 before them for who was born from 2000 on."""
    number, key = digits[:9], int(digits[9:])
    return key in (97 - int(number) % 97, 97 - int("2" + number) % 97) and int(digits[2:4]) <= 12


def check_brazil(digits: str) -> bool:
    """CPF: two check digits modulo 11 (Receita Federal)."""
    first = _weigh(digits, tuple(range(10, 1, -1))) * 10 % 11 % 10
    second = _weigh(digits, tuple(range(11, 1, -1))) * 10 % 11 % 10
    return digits[9:] == f"{first}{second}"


def check_chile(written: str) -> bool:
    """RUT: modulo 11, K for ten."""
    number = written[:-1]
    check = -sum(int(digit) * (2 + place % 6) for place, digit in enumerate(reversed(number))) % 11
    return "0123456789K"[check] == written[-1].upper()


def check_china(written: str) -> bool:
    """A place, a day of birth and ISO/IEC 7064 MOD 11-2 (GB 11643-1999)."""
    total = _weigh(written[:17], (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))
    is_born = written[6:8] in ("19", "20") and _is_day(int(written[12:14]), int(written[10:12]))
    return is_born and "10X98765432"[total % 11] == written[17].upper()


def check_denmark(digits: str) -> bool:
    """CPR: a day of birth; what checks it is not given any more."""
    return _is_day(int(digits[:2]), int(digits[2:4]))


def check_finland(written: str) -> bool:
    """The remainder of the nine digits by 31 as a character (Digi- ja väestötietovirasto)."""
    code = written.upper()
    number = int(code[:6] + code[-4:-1])
    return _is_day(int(code[:2]), int(code[2:4])) and "0123456789ABCDEFHJKLMNPRSTUVWXY"[number % 31] == code[-1]


def check_france(written: str) -> bool:
    """Thirteen digits, and 97 less their remainder; Corsica's departments count as 19 and 18 (INSEE)."""
    number, key = written[:13].upper(), int(written[13:])
    if not (1 <= int(number[3:5]) <= 12 or 20 <= int(number[3:5]) <= 42):
        return False
    number = number.replace("2A", "19").replace("2B", "18")
    return number.isdigit() and 97 - int(number) % 97 == key


def check_germany(digits: str) -> bool:
    """Of the first ten digits exactly one is there two or three times, the eleventh checks them (BZSt)."""
    counts = Counter(digits[:10]).values()
    is_one_twice = sorted(counts, reverse=True)[:2] in ([2, 1], [3, 1])
    return digits[0] != "0" and is_one_twice and check_mod_11_10(digits)


def check_german_insurance(written: str) -> bool:
    """Sums of digits modulo ten, the letter as its two digits (Deutsche Rentenversicherung, § 4 VKVV)."""
    letter = ord(written[8].upper()) - 64
    digits = f"{written[:8]}{letter:02d}{written[9:11]}"
    products = (int(digit) * weight for digit, weight in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True))
    return sum(product // 10 + product % 10 for product in products) % 10 == int(written[11])


def check_greece(digits: str) -> bool:
    """AMKA: a day of birth and Luhn."""
    return _is_day(int(digits[:2]), int(digits[2:4])) and check_luhn(digits)


def check_ireland(written: str) -> bool:
    """PPSN: modulo 23 as a letter; a second letter counts nine times."""
    code = written.upper()
    more = ord(code[8]) - 64 if len(code) > 8 and code[8] != "W" else 0
    total = _weigh(code[:7], (8, 7, 6, 5, 4, 3, 2)) + 9 * more
    return "WABCDEFGHIJKLMNOPQRSTUV"[total % 23] == code[7]


def check_italy(written: str) -> bool:
    """The sixteenth character checks the others (Ministero delle Finanze, decree of 23 December 1976)."""
    code = written.upper()
    odd = sum(_LETTERS_OF_ITALY[character] for character in code[0:15:2])
    even = sum(int(character) if character.isdigit() else ord(character) - 65 for character in code[1:15:2])
    return code[15] == chr(65 + (odd + even) % 26)


def check_japan(digits: str) -> bool:
    """My Number: modulo 11 (Ministry of Internal Affairs, ordinance 85 of 2014)."""
    rest = _weigh(digits[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[11]) == (0 if rest <= 1 else 11 - rest)


def check_korea(digits: str) -> bool:
    """RRN, as given until 2020: a day of birth, and modulo 11."""
    total = _weigh(digits[:12], (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5))
    return _is_day(int(digits[4:6]), int(digits[2:4])) and (11 - total % 11) % 10 == int(digits[12])


def check_mexico(written: str) -> bool:
    """CURP: the last digit checks the others (RENAPO)."""
    code = written.upper()
    values = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
    total = sum(values.index(character) * weight for character, weight in zip(code, range(18, 1, -1), strict=False))
    return (10 - total % 10) % 10 == int(code[17]) and _is_day(int(code[8:10]), int(code[6:8]))


def check_netherlands(digits: str) -> bool:
    """BSN: the elfproef."""
    return _weigh(digits.zfill(9), (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def check_norway(digits: str) -> bool:
    """Two check digits modulo 11 (Skatteetaten)."""
    first = -_weigh(digits, (3, 7, 6, 1, 8, 9, 4, 5, 2)) % 11
    second = -_weigh(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return digits[9:] == f"{first}{second}" and _is_day(int(digits[:2]) % 40, int(digits[2:4]) % 40)


def check_poland(digits: str) -> bool:
    """PESEL: a day of birth, and a check digit."""
    right = (10 - _weigh(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10) % 10
    return _is_day(int(digits[4:6]), int(digits[2:4]) % 20) and right == int(digits[10])


def check_portugal(digits: str) -> bool:
    """NIF: modulo 11 (Autoridade Tributária)."""
    check = -_weigh(digits[:8], (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return int(digits[8]) == (check if check < 10 else 0)


def check_romania(digits: str) -> bool:
    """CNP: a day of birth, and modulo 11."""
    check = _weigh(digits[:12], (2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9)) % 11
    return _is_day(int(digits[5:7]), int(digits[3:5])) and int(digits[12]) == (1 if check == 10 else check)


def check_singapore(written: str) -> bool:
    """NRIC and FIN: modulo 11 as a letter."""
    code = written.upper()
    total = _weigh(code[1:8], (2, 7, 6, 5, 4, 3, 2)) + (4 if code[0] in "TG" else 0)
    return ("JZIHGFEDCBA" if code[0] in "ST" else "XWUTRQPNMLK")[total % 11] == code[8]


def check_south_africa(digits: str) -> bool:
    """A day of birth, and Luhn (Department of Home Affairs)."""
    return _is_day(int(digits[4:6]), int(digits[2:4])) and check_luhn(digits)


def check_spain(written: str) -> bool:
    """The letter is the number modulo 23; of a foreigner X, Y and Z stand for 0, 1 and 2 (Ministerio del Interior)."""
    code = written.upper()
    number = str("XYZ".find(code[0])) + code[1:-1] if code[0] in "XYZ" else code[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == code[-1] and number not in ("12345678", "00000000")


def check_sweden(digits: str) -> bool:
    """A day of birth, and Luhn over the last ten digits (Skatteverket)."""
    ten = digits[-10:]
    return _is_day(int(ten[4:6]) % 60, int(ten[2:4])) and check_luhn(ten)


def check_switzerland(digits: str) -> bool:
    """AHV: as EAN-13 (Zentrale Ausgleichsstelle)."""
    return (10 - _weigh(digits[:12], (1, 3) * 6) % 10) % 10 == int(digits[12])


def check_turkey(digits: str) -> bool:
    """Two check digits (Nüfus ve Vatandaşlık İşleri)."""
    odd, even = sum(map(int, digits[0:9:2])), sum(map(int, digits[1:8:2]))
    tenth = (odd * 7 - even) % 10
    return digits[0] != "0" and digits[9:] == f"{tenth}{(odd + even + tenth) % 10}"


def check_united_kingdom(written: str) -> bool:
    """NINO: prefixes that are never given (HMRC)."""
    return written[:2].upper() not in ("BG", "GB", "KN", "NK", "NT", "TN", "ZZ")


def check_health_service(digits: str) -> bool:
    """NHS number: modulo 11; those that begin with 999 are for tests (NHS Data Model and Dictionary)."""
    check = 11 - _weigh(digits[:9], (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return not digits.startswith("999") and int(digits[9]) == (0 if check == 11 else check)


def check_united_states(digits: str) -> bool:
    """SSN: no area 000, 666 or 9xx, no group 00, no serial 0000 (Social Security Administration); no 12345…"""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    is_issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return is_issued and not digits.startswith("12345")


def check_united_states_taxpayer(digits: str) -> bool:
    """ITIN: 9xx, and a group that is given (IRS)."""
    return digits[0] == "9" and (50 <= int(digits[3:5]) <= 65 or 70 <= int(digits[3:5]) <= 99)
