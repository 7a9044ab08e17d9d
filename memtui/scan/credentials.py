"""Secrets that are known by what stands around them: blocks, headers, names, addresses, lines of configuration files.

Their own looks are those of a hash, or of any word.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from functools import cache

from memtui.notes.spans import find_line_start
from memtui.scan.ruleset import join_lines, load_rules
from memtui.scan.spots import Spot
from memtui.scan.tokens import find_word, is_placeholder, is_regular, is_sequential_key, make_sequential_spot
from memtui.scan.weak_passwords import RULE as WEAK_RULE
from memtui.scan.weak_passwords import is_beside_production, is_own_host, is_word_with_digits

_ASSIGNMENT = r"[\"'`*]{0,3}[ \t]{0,4}(?::=|=>|[:=]|\bis\b)?[ \t]{0,4}[\"'`]?"
"""What may stand between a name and its value."""
_LONGEST_BLOCK = 20_000
_FEWEST_OF_BLOCK = 32  # characters in a private key at least
_SIGNS_OF_HASH = 3  # signs of a dollar in the hash of a password
_NEAR = 240  # characters around a match within which what belongs to it stands
_SAME_MACHINE = re.compile(r"(?i)localhost|127\.[\d.]+|0\.0\.0\.0|host\.docker\.internal|[a-z][\w-]*")
"""This machine, and by a name without a dot a container on it."""
_SCHEME = re.compile(r"[A-Za-z0-9+.-]{1,21}")  # A scheme, read from its end
_HEADER_NAME = "authorization"
_URL_SAFE = str.maketrans("-_", "+/")
_LINE_ENDS = str.maketrans("\n\r\t", "   ")


@cache
def _get_pattern(rule: str, name: str) -> re.Pattern[str]:
    return load_rules("secrets")[rule].get_pattern(name)


# Behind a name, or near another secret


_LAST_WORDS = ("key", "token")
"""Every `assigned_to` ends with one of these."""


@cache
def _load_assigned() -> tuple[tuple[str, str, tuple[str, ...], str, re.Pattern[str]], ...]:
    """Of each form that a name precedes the rule, its description, its keywords, a text in each, and the whole."""
    return tuple(
        (
            entry.id,
            form["description"],
            tuple(form["keywords"]),
            form.get("contains", ""),
            re.compile(
                rf"(?:{join_lines(form['assigned_to'])}){_ASSIGNMENT}(?P<value>{join_lines(form['regex'])})",
                re.IGNORECASE,
            ),
        )
        for entry in load_rules("secrets").values()
        for form in entry.forms
        if "assigned_to" in form
    )


@cache
def _load_neighbours() -> tuple[tuple[str, str, tuple[str, ...], re.Pattern[str], re.Pattern[str]], ...]:
    """Of each form that another secret is near the rule, its description, and of the other the keywords and regex."""
    rules = load_rules("secrets")
    return tuple(
        (
            entry.id,
            form["description"],
            tuple(rules[form["near"]].get("keywords")),
            re.compile(rf"(?<![A-Za-z0-9]){rules[form['near']].get('regex')}(?![A-Za-z0-9])"),
            re.compile(join_lines(form["regex"])),
        )
        for entry in rules.values()
        for form in entry.forms
        if "near" in form
    )


def find_named(text: str, lowered: str, clues: frozenset[str], words: str | None = None) -> Iterator[Spot]:
    """Values that their surroundings name as a secret of a certain kind.

    Args:
        lowered: The text in lower case, with the same offsets.
        clues: The words that name secrets in it; see `find_clues`.
        words: Its long words, where they are known; see `find_long_words`.
    """
    if not clues.isdisjoint(_LAST_WORDS):
        for rule, description, keywords, part, pattern in _load_assigned():
            if part in text and any([keyword in lowered for keyword in keywords]):  # noqa: C419 - a list is twice as fast
                for found in pattern.finditer(text):
                    if not is_placeholder(found["value"]):
                        span = found.span("value")
                        yield Spot("secret", rule, *span, description, span, is_certain=True)
                    elif is_sequential_key(found["value"]):
                        yield make_sequential_spot(*found.span("value"), found.span("value"))
    among = text if words is None else words
    for rule, description, keywords, other, pattern in _load_neighbours():
        if any([keyword in among for keyword in keywords]):  # noqa: C419 - a list is twice as fast
            yield from _find_near(text, rule, description, other, pattern)
    if "auth" in clues:
        yield from _find_headers(text, lowered)


def _find_near(text: str, rule: str, words: str, other: re.Pattern[str], pattern: re.Pattern[str]) -> Iterator[Spot]:
    """Values of capitals, small letters and digits near another secret."""
    seen = 0
    for key in other.finditer(text):
        start = max(seen, key.start() - _NEAR)
        for found in pattern.finditer(text, start, min(len(text), key.end() + _NEAR)):
            value = found.group()
            kinds = (value.isupper(), value.islower(), not any(letter.isdigit() for letter in value))
            if not any(kinds) and not is_placeholder(value):
                yield Spot("secret", rule, *found.span(), words, found.span(), is_certain=True)
        seen = key.end() + _NEAR


def _find_headers(text: str, lowered: str) -> Iterator[Spot]:
    rule = "authorization-header"
    for at in find_word(lowered, _HEADER_NAME):
        found = _get_pattern(rule, "header").match(text, at + len(_HEADER_NAME))
        if found is None:
            continue
        value = found["value"]
        if is_placeholder(value) or value.startswith("$"):
            continue
        if found["kind"].casefold() == "basic":
            try:
                name, colon, password = base64.b64decode(value + "=" * (-len(value) % 4)).decode().partition(":")
            except (binascii.Error, ValueError):
                continue
            if colon and password and name.isprintable() and not is_placeholder(password):
                words = "a login in a header"
                yield Spot("secret", rule, at, found.end(), words, found.span("value"))
        elif len(value) >= 20 and any(letter.isdigit() for letter in value) and any(map(str.isalpha, value)):
            yield Spot("secret", rule, at, found.end(), "a token in a header", found.span("value"))


# Blocks and signed tokens


def find_private_keys(text: str) -> Iterator[Spot]:
    """Private keys that stand in a text as blocks; what is masked is the whole block."""
    if "PRIVATE KEY" in text:
        rule = "google-account" if '"service_account"' in text else "private-key"
        words = "a Google service account key" if rule == "google-account" else "a private key"
        until = 0
        for found in _get_pattern("private-key", "begin").finditer(text):
            if found.start() < until or _get_pattern("private-key", "omitted").match(text, found.end()):
                continue
            end = _get_pattern("private-key", "end").search(text, found.end(), found.end() + _LONGEST_BLOCK)
            until = end.start() if end else _find_end_of_block(text, found.end())
            if end and _holds_no_key(text[found.end() : until]):
                continue
            yield Spot("secret", rule, found.start(), found.end(), words, (found.end(), until), is_certain=True)
    if "BADANBgkqhkiG9w0BAQEFAASC" in text:
        for found in _get_pattern("private-key", "bare").finditer(text):
            yield Spot("secret", "private-key", *found.span(), "a private key", found.span(), is_certain=True)
    if "Private-Lines" in text:
        for found in _get_pattern("private-key", "putty").finditer(text):
            until = _find_end_of_block(text, found.end())
            yield Spot(
                "secret",
                "private-key",
                found.start(),
                found.end(),
                "a private key",
                (found.end(), until),
                is_certain=True,
            )


def _holds_no_key(block: str) -> bool:
    """Whether a block that is closed holds no key, but a few words or the letters of the alphabet."""
    letters = "".join(block.split())
    decoded = decode_base64(letters)
    return len(letters) < _FEWEST_OF_BLOCK or (decoded != "" and is_regular(decoded))


def _find_end_of_block(text: str, start: int) -> int:
    """Where the lines of a block end that has no last line: at an empty one."""
    empty = text.find("\n\n", start, start + _LONGEST_BLOCK)
    return empty if empty >= 0 else min(len(text), start + _LONGEST_BLOCK)


def find_signed_tokens(text: str) -> Iterator[Spot]:
    """Signed web tokens (RFC 7519) whose header and claims can be read."""
    if "eyJ" not in text:
        return
    for found in _get_pattern("signed-token", "token").finditer(text):
        header, claims = _decode_json(found[1]), _decode_json(found[2])
        if header is None or claims is None or "alg" not in header or is_placeholder(found[3]):
            continue
        if claims.get("role") == "anon" or claims.get("iss") == "supabase-demo":
            continue  # meant to be public; the same on every machine of a developer
        if claims.get("name") == "John Doe" or "some" in claims:
            continue  # the one that every introduction shows
        yield Spot("secret", "signed-token", *found.span(), "a signed web token", found.span(), is_certain=True)


def _decode_json(part: str) -> dict[str, object] | None:
    try:
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# Files that programs write, addresses and command lines


def find_in_files(text: str, clues: frozenset[str]) -> Iterator[Spot]:
    """Secrets in lines that programs have written for themselves.

    `.netrc` (GNU inetutils manual, "The .netrc file"), `.npmrc` (npm, "npmrc"), containers-auth.json(5), JSON web keys
    (RFC 7518, 6.2.2 and 6.3.2), htpasswd and shadow(5). What they hold looks like anything; what stands around it,
    only these files write.
    """
    if "auth" in clues or ("pass" in clues and "_password" in text):
        yield from _find_values(text, "registry-token", "token", "a package registry token")
        for found in _get_pattern("registry-login", "login").finditer(text):
            name, colon, password = decode_base64(found["value"]).partition(":")
            if name and colon and password and not is_placeholder(password):
                words = "a registry login"
                yield Spot("secret", "registry-login", *found.span(), words, found.span("value"))
    if "pass" in clues and "log" in clues and "machine" in text:
        words = "a password in a .netrc file"
        yield from _find_values(text, "password-assignment", "netrc", words)
    if "{" in text and '"kty"' in text:
        yield from _find_values(text, "private-key", "web_key", "the private part of a JSON web key")
    if ("$" in text and ":$" in text) or ("{" in text and ":{SSHA}" in text):
        yield from _find_values(text, "password-hash", "hash", "a password hash with its name")
    if text.count("$") >= _SIGNS_OF_HASH:
        yield from _find_values(text, "password-hash", "bare", "a password hash")


def _find_values(text: str, rule: str, name: str, words: str) -> Iterator[Spot]:
    for found in _get_pattern(rule, name).finditer(text):
        value = found["value"]
        if not is_placeholder(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
            yield Spot("secret", rule, *found.span(), words, found.span("value"))


def find_in_addresses(text: str) -> Iterator[Spot]:
    """Passwords in addresses and command lines: `scheme://name:password@host`, `curl -u name:password`."""
    rule = "password-in-address"
    if "@" in text:
        for at in find_word(text, "://"):
            found = _get_pattern(rule, "address").match(text, at)
            if found is None or _is_reference(found["value"]):
                continue
            host, _, _ = found["host"].partition(":")
            line = text[find_line_start(text, at, _NEAR) : found.end()]
            is_weak = is_own_host(host) and "prod" not in line.lower()
            if is_weak and found["name"] == found["value"] and _SAME_MACHINE.fullmatch(host):
                continue  # as containers of databases come
            scheme = _SCHEME.match(text[max(0, at - 22) : at][::-1])
            if scheme is not None:
                is_weak = is_weak and is_word_with_digits(found["value"])
                by, words = (WEAK_RULE, "a weak password in a URL") if is_weak else (rule, "a password in a URL")
                yield Spot("secret", by, at - scheme.end(), found.end(), words, found.span("value"))
    if "BUNDLE_" in text:
        for found in _get_pattern(rule, "bundle").finditer(text):
            if not _is_reference(found["value"]):
                yield Spot("secret", "registry-login", *found.span(), "a registry login", found.span("value"))
    if " -" in text and ("curl " in text or "sshpass " in text or "mysql" in text):
        for found in _get_pattern(rule, "command").finditer(text):
            group = "value" if found["value"] else "other"
            if not _is_reference(found[group]):
                words, span = "a password on a command line", found.span(group)
                is_weak = is_word_with_digits(found[group]) and not is_beside_production(text, *span)
                yield Spot("secret", WEAK_RULE if is_weak else "password-assignment", *found.span(), words, span)


def _is_reference(value: str) -> bool:
    return _get_pattern("password-in-address", "reference").match(value) is not None or is_placeholder(value)


def decode_base64(word: str) -> str:
    """What a word says in base64; empty if it is none, or says what nobody could read."""
    word = word.rstrip("=").translate(_URL_SAFE)
    try:
        decoded = base64.b64decode(word + "=" * (-len(word) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return decoded if decoded.isprintable() or decoded.translate(_LINE_ENDS).isprintable() else ""
