"""Check digits and checksums: what tells a number or a token that was issued from one that only looks so."""

import base64
import binascii
import hashlib
import zlib

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_CHECKSUM = 6
"""Characters at the end of a token that check the rest."""

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


def base62(number: int) -> str:
    """A 32-bit number as six characters, digits first, then capitals."""
    written = ""
    while number:
        number, digit = divmod(number, 62)
        written = _BASE62[digit] + written
    return written.rjust(_CHECKSUM, "0")


def ends_in_its_checksum(token: str) -> bool:
    """Whether the last six characters of a token are the checksum of those between its prefix and them.

    GitHub and npm issue tokens so: CRC-32 of the random part, in base 62 (GitHub, "Behind GitHub's new authentication
    token formats", 2021).
    """
    random = token.rpartition("_")[2]
    return base62(zlib.crc32(random[:-_CHECKSUM].encode("ascii", "replace"))) == random[-_CHECKSUM:]


def decodes_to_digits(token: str) -> bool:
    """Whether the part before the first dot is a number in base64: whose bot it is, in a token of Discord."""
    part = token.partition(".")[0]
    try:
        number = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return False
    return 17 <= len(number) <= 20 and number.isdigit()


def base58(data: bytes) -> str:
    """Bytes in base 58, with four that check them."""
    whole = data + hashlib.sha256(hashlib.sha256(data).digest()).digest()[:4]
    number, written = int.from_bytes(whole, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        written = _BASE58[digit] + written
    return written


def base58_checked(written: str) -> bool:
    """Whether the last four of the bytes that something says in base 58 check the others (Bitcoin, "Base58Check")."""
    number = 0
    for character in written:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def luhn(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def verhoeff(digits: str) -> bool:
    """Whether the last digit checks the others (J. Verhoeff, "Error Detecting Decimal Codes", 1969)."""
    check = 0
    for place, digit in enumerate(reversed(digits)):
        check = _TIMES[check][_TURNS[place % 8][int(digit)]]
    return check == 0


def mod_97(account: str) -> bool:
    """Whether the two digits behind the country check an international account number (ISO 13616)."""
    turned = account[4:] + account[:4]
    return int("".join(str(int(character, 36)) for character in turned)) % 97 == 1


def mod_11_10(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7064, MOD 11,10)."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def weighed(digits: str, weights: tuple[int, ...]) -> int:
    """The sum of digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))
