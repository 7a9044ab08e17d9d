"""Secrets that are known by what is written before them: their own looks are those of a hash."""

import base64
import binascii
import json
import re
from collections.abc import Iterator

from memtui.notes.secrets.clues import places_of
from memtui.notes.secrets.pictures import is_picture
from memtui.notes.spots import Spot

_IS = r"[\"'`*]{0,3}[ \t]{0,4}(?::=|=>|[:=]|\bis\b)?[ \t]{0,4}[\"'`]?"
"""What may stand between a name and its value."""
_HEX_END = r"(?![0-9a-zA-Z])"


def _named(names: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{names}){_IS}(?P<value>{value})", re.IGNORECASE)


NAMED = (
    # what of the clues must be there, and which of the words in lower case; the rule, its words, the pattern
    ({"secret"}, ("secret_access", "secret access", "aws_secret", "aws-secret", "secretaccess"),
     "aws-secret", "a secret access key of AWS",
     _named(r"aws[_.-]?secret[_.-]?(?:access[_.-]?)?key(?:[_.-]id)?|secret[_ -]?access[_ -]?key",
            r"[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")),
    ({"token"}, ("twilio",), "twilio-key", "an auth token of Twilio",
     _named(r"(?:auth|twilio)[_ -]?token", rf"[0-9a-f]{{32}}{_HEX_END}")),
    ({"key"}, ("datadog", "dd_a", "dd-a", "dd a", "ddap"), "datadog-key", "a key of Datadog",
     _named(r"(?:dd|datadog)[_ -]?(?:api|app|application)[_ -]?key", rf"(?:[0-9a-f]{{40}}|[0-9a-f]{{32}}){_HEX_END}")),
    ({"key", "token"}, ("cloudflare",), "cloudflare-token", "a key of Cloudflare",
     _named(r"cloudflare[_ -](?:global[_ -])?(?:api[_ -])?(?:key|token)", r"[A-Za-z0-9_-]{37,45}(?![A-Za-z0-9_-])")),
    ({"key", "token"}, ("heroku",), "heroku-key", "a key of Heroku",
     _named(r"heroku[_ -](?:api[_ -])?(?:key|token)", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-zA-Z-])")),
    ({"key"}, ("privatekey", "private key", "private_key", "presharedkey"),
     "wireguard-key", "a private key of WireGuard",
     _named(r"\b(?:private|preshared)[ _]?key", r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=(?![A-Za-z0-9+/=])")),
)  # fmt: skip

_BLOCK = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?=\s|\\n|\\r)")
_SHOWN_BLOCK = re.compile(r"(?:\s|\\n|\\r){0,8}(?:\.{3}|…|[Xx*]{3}|<|\[|your|EXAMPLE|[A-Za-z]+,? [A-Za-z]+,? [A-Za-z])")
"""What follows where only the first line is meant."""
_BLOCK_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = re.compile(r"PuTTY-User-Key-File-[0-9]: [\w@.-]{1,60}\r?\n(?:[^\n]{0,400}\n){1,60}?Private-Lines: [0-9]")
_LONGEST_BLOCK = 20_000

_TOKEN = re.compile(r"(?<![A-Za-z0-9_-])(eyJ[\w-]{10,2000})\.(eyJ[\w-]{10,16000})\.([\w-]{16,4000})")
_HEADER_NAME = "authorization"
_HEADER = re.compile(
    r"[\"'`]{0,2}[ \t]{0,4}[:=][ \t]{0,4}[\"'`]?(?P<kind>bearer|basic|token)[ \t]{1,4}"
    r"(?P<value>[A-Za-z0-9+/=_.~-]{12,4000})",
                     re.IGNORECASE)  # fmt: skip
_ACCESS_KEY = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])")
_SECRET_KEY = re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_NEAR = 240
"""Characters around an id of AWS within which its secret stands."""


def named(text: str, lowered: str, clues: frozenset[str]) -> Iterator[Spot]:
    """What in a text is named as a secret of a certain kind.

    Args:
        text: The text.
        lowered: The same in lower case, character by character.
        clues: What of the words that name secrets is in it.
    """
    for some, hints, rule, words, pattern in NAMED:
        if not some.isdisjoint(clues) and any([hint in lowered for hint in hints]):  # noqa: C419 - twice as fast
            for found in pattern.finditer(text):
                if not is_picture(found["value"]):
                    yield Spot("secret", rule, *found.span("value"), words, found.span("value"))
    if "AKIA" in text or "ASIA" in text:
        yield from _beside_an_id(text)
    if "auth" in clues:
        yield from _in_headers(text, lowered)


def private_keys(text: str) -> Iterator[Spot]:
    """Private keys that stand in a text as blocks; what is masked is the whole block."""
    if "PRIVATE KEY" in text:
        is_account = '"service_account"' in text
        until = 0
        for found in _BLOCK.finditer(text):
            if found.start() < until or _SHOWN_BLOCK.match(text, found.end()):
                continue
            end = _BLOCK_END.search(text, found.end(), found.end() + _LONGEST_BLOCK)
            until = end.start() if end else _end_of_block(text, found.end())
            rule, words = (
                ("google-account", "a service account of Google") if is_account else ("private-key", "a private key")
            )
            yield Spot("secret", rule, found.start(), found.end(), words, (found.end(), until))
    if "Private-Lines" in text:
        for found in _PUTTY.finditer(text):
            until = _end_of_block(text, found.end())
            yield Spot("secret", "private-key", found.start(), found.end(), "a private key", (found.end(), until))


def signed_tokens(text: str) -> Iterator[Spot]:
    """Signed web tokens (RFC 7519) whose header and claims can be read."""
    if "eyJ" not in text:
        return
    for found in _TOKEN.finditer(text):
        header, claims = _json_of(found[1]), _json_of(found[2])
        if header is None or claims is None or "alg" not in header or is_picture(found[3]):
            continue
        if claims.get("role") == "anon" or claims.get("name") == "John Doe" or "some" in claims:
            continue  # meant to be public; the one that every introduction shows
        yield Spot("secret", "signed-token", *found.span(), "a signed web token", found.span())


def _end_of_block(text: str, start: int) -> int:
    """Where the lines of a block end that has no last line: at an empty one."""
    empty = text.find("\n\n", start, start + _LONGEST_BLOCK)
    return empty if empty >= 0 else min(len(text), start + _LONGEST_BLOCK)


def _beside_an_id(text: str) -> Iterator[Spot]:
    """Forty characters of base64 beside an id of AWS."""
    seen = 0
    for key in _ACCESS_KEY.finditer(text):
        start = max(seen, key.start() - _NEAR)
        for found in _SECRET_KEY.finditer(text, start, min(len(text), key.end() + _NEAR)):
            value = found.group()
            kinds = (value.isupper(), value.islower(), not any(letter.isdigit() for letter in value))
            if not any(kinds) and not is_picture(value):
                yield Spot(
                    "secret",
                    "aws-secret",
                    *found.span(),
                    "a secret access key of AWS",
                    found.span(),
                )
        seen = key.end() + _NEAR


def _in_headers(text: str, lowered: str) -> Iterator[Spot]:
    for at in places_of(lowered, _HEADER_NAME):
        found = _HEADER.match(text, at + len(_HEADER_NAME))
        if found is None:
            continue
        value = found["value"]
        if is_picture(value) or value.startswith("$"):
            continue
        if found["kind"].casefold() == "basic":
            try:
                name, colon, password = base64.b64decode(value + "=" * (-len(value) % 4)).decode().partition(":")
            except (binascii.Error, ValueError):
                continue
            if colon and password and name.isprintable() and not is_picture(password):
                yield Spot("secret", "authorization-header", at, found.end(), "a name and a password in a header",
                           found.span("value"))  # fmt: skip
        elif len(value) >= 20 and any(letter.isdigit() for letter in value) and any(map(str.isalpha, value)):
            yield Spot("secret", "authorization-header", at, found.end(), "a token in a header", found.span("value"))


def _json_of(part: str) -> dict[str, object] | None:
    try:
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
