"""Keys, numbers and passwords that are made up, for the examples of the rules and for the tests.

None stands in the source, where it would be found by every program that looks for such: each is put together when it
is asked for, from a template and letters that come out of a seeded source. They are sound, with their checksums, and
nobody ever issued them.

In the templates, the `samples` of an entry in `rules/secrets.toml`, stand `%w8` for eight letters and digits, `%x` for
hexadecimal, `%A` for base 32, `%U` for capitals and digits, `%d` for digits, `%l` for small letters and digits, `%b`
for small letters of base 32, `%u` for a UUID, `%c` for the checksum of the letters before; `%m` is nothing, and keeps
the prefix from standing there in one piece.
"""

import base64
import json
import random
import re
import uuid
import zlib

from memtui.scan.checksums import (
    check_luhn,
    check_mod_11_10,
    check_verhoeff,
    compute_crc16,
    encode_base58,
    encode_base62,
)
from memtui.scan.ruleset import load_rules

_LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
_KINDS = {
    "w": _LETTERS + "23456789",
    "x": "0123456789abcdef",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "d": "0123456789",
    "l": "abcdefghijklmnopqrstuvwxyz0123456789",
    "b": "abcdefghijklmnopqrstuvwxyz234567",
}
_PART = re.compile(r"%([wxAUdlb])(\d+)|%([ucm])")


def make_sample(rule: str, seed: int = 0) -> str:
    """Something that a rule finds, put together from a seed.

    Raises:
        KeyError: There is no such rule.
    """
    source = random.Random(f"{rule}/{seed}")
    if rule in _MAKERS:
        return _MAKERS[rule](source)
    templates = load_rules("secrets")[rule].get("samples")
    last = ""

    def fill(found: re.Match[str]) -> str:
        nonlocal last
        if found[1]:
            last = "".join(source.choice(_KINDS[found[1]]) for _ in range(int(found[2])))
            if found[1] in "wlUx" and len(last) > 4:
                last = (
                    last[:2] + ("7" if found[1] != "x" else "9") + last[3:-1] + ("k" if found[1] in "wl" else last[-1])
                )
            return last
        if found[3] == "u":
            return str(uuid.UUID(int=source.getrandbits(128), version=4))
        return encode_base62(zlib.crc32(last.encode())) if found[3] == "c" else ""

    return _PART.sub(fill, templates[seed % len(templates)]).replace("%%", "%")


def _draw_digits(source: random.Random, count: int) -> str:
    return "".join(source.choice("0123456789") for _ in range(count))


def _complete(head: str, is_sound: object) -> str:
    """A number with the last digit that makes it sound."""
    assert callable(is_sound)
    return next(head + digit for digit in "0123456789" if is_sound(head + digit))


def _make_card(source: random.Random) -> str:
    head, size = source.choice((("4", 16), ("52", 16), ("37", 15), ("6011", 16), ("3530", 16)))
    while True:
        number = _complete(head + _draw_digits(source, size - len(head) - 1), check_luhn)
        if len(set(number)) > 6 and not re.search(r"(\d)\1{3}", number):
            break
    if size == 15:
        return f"card {number[:4]} {number[4:10]} {number[10:]}"
    by = source.choice(" -")
    return "card " + by.join(number[start : start + 4] for start in range(0, 16, 4))


def _make_national_id(source: random.Random) -> str:
    match source.randrange(6):
        case 0:
            area, group, serial = source.randrange(100, 600), source.randrange(10, 99), source.randrange(1000, 9999)
            return f"SSN: {area}-{group}-{serial}"
        case 1:
            number = _complete("2" + _draw_digits(source, 10), check_verhoeff)
            return f"Aadhaar {number[:4]} {number[4:8]} {number[8:]}"
        case 2:
            birth = f"{source.randrange(50, 99)}{source.randrange(1, 12):02d}{source.randrange(1, 28):02d}"
            number = _complete(f"{birth}{_draw_digits(source, 3)}", check_luhn)
            return f"personnummer {number[:6]}-{number[6:]}"
        case 3:
            person = source.randrange(10_000_000, 99_999_999)
            return f"DNI {person}{'TRWAGMYFPDXBNJZSQVHLCKE'[person % 23]}"
        case 4:
            digits = "".join(source.sample("1234567890", 9)).lstrip("0").ljust(9, "7")
            return "Steuer-ID " + _complete((digits + digits[0])[:10], check_mod_11_10)
        case _:
            nine = _draw_digits(source, 9)
            first = (
                sum(int(digit) * weight for digit, weight in zip(nine, range(10, 1, -1), strict=True)) * 10 % 11 % 10
            )
            ten = f"{nine}{first}"
            second = (
                sum(int(digit) * weight for digit, weight in zip(ten, range(11, 1, -1), strict=True)) * 10 % 11 % 10
            )
            return f"CPF {nine[:3]}.{nine[3:6]}.{nine[6:]}-{first}{second}"


def _make_account(source: random.Random) -> str:
    body = _draw_digits(source, 18)
    check = 98 - int(body + "131400") % 97  # DE00
    number = f"DE{check:02d}{body}"
    return " ".join(number[start : start + 4] for start in range(0, 22, 4)) if source.random() < 0.5 else number


def _make_signed_token(source: random.Random) -> str:
    claims = {"sub": str(source.randrange(10**9)), "iss": "https://login.example.com", "exp": 1_790_000_000}
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in
             ({"alg": "HS256", "typ": "JWT"}, claims)]  # fmt: skip
    return ".".join((*parts, base64.urlsafe_b64encode(source.randbytes(32)).decode().rstrip("=")))


def _make_discord_token(source: random.Random) -> str:
    head = base64.b64encode(_draw_digits(source, 18).replace("0", "3").encode()).decode()
    return f"{head}.{_draw_letters(source, 6)}.{_draw_letters(source, 38)}"


def _make_bitcoin_key(source: random.Random) -> str:
    return encode_base58(b"\x80" + source.randbytes(32) + b"\x01")


def _draw_letters(source: random.Random, count: int) -> str:
    return "".join(source.choice(_KINDS["w"]) for _ in range(count))


def _make_nats_seed(source: random.Random) -> str:
    seed, user = 18 << 3, 20 << 3
    raw = bytes([seed | user >> 5, (user & 31) << 3]) + source.randbytes(32)
    return base64.b32encode(raw + compute_crc16(raw)).decode().rstrip("=")


def _make_weak_password(source: random.Random) -> str:
    word = "".join(source.choice(("ter", "lin", "mar", "con", "der", "san")) for _ in range(3))
    return f"APP_PASSWORD={word}{_draw_digits(source, 2)}"


_MAKERS = {
    "payment-card": _make_card,
    "national-id": _make_national_id,
    "bank-account": _make_account,
    "signed-token": _make_signed_token,
    "discord-token": _make_discord_token,
    "bitcoin-key": _make_bitcoin_key,
    "nats-seed": _make_nats_seed,
    "weak-password": _make_weak_password,
}
