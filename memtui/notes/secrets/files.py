"""Secrets as the files of programs hold them: `.netrc`, `.npmrc`, what containers log in with, hashes of passwords.

What they hold looks like anything; what stands around it, only these files write.
"""

import re
from collections.abc import Iterator

from memtui.notes.secrets.encoded import decoded
from memtui.notes.secrets.pictures import is_picture
from memtui.notes.spots import Spot

_NETRC = re.compile(
    r"\bmachine[ \t]{1,8}\S{1,200}\s{1,40}login[ \t]{1,8}\S{1,200}\s{1,40}"
    r"password[ \t]{1,8}[\"']?(?P<value>[^\s\"'{}()]{6,200})"
)
"""As `.netrc` has them (GNU inetutils manual, "The .netrc file")."""
_REGISTRY = re.compile(
    r"_(?<![\w.]_)(?:authToken|password|auth)[ \t]{0,4}=[ \t]{0,4}[\"']?"
    r"(?P<value>[A-Za-z0-9+/=_~-]{12,2000})(?![.(\[\w])"
)
"""As `.npmrc` has them (npm, "npmrc")."""
_LOGIN = re.compile(r"\"auth\"[ \t]{0,4}:[ \t]{0,4}\"(?P<value>[A-Za-z0-9+/]{8,2000}={0,2})\"")
"""As the configuration of Docker and Podman has them (containers-auth.json(5)): a name and a password in base64."""
_KEY = re.compile(r"\"d\"[ \t]{0,4}:[ \t]{0,4}\"(?P<value>[A-Za-z0-9_-]{32,1000})\"")
"""The private part of a JSON web key (RFC 7518, 6.2.2 and 6.3.2)."""
_HASH = re.compile(
    r":(?<=[\w.-]:)(?P<value>\$(?:apr1|1|5|6|y|2[abxy])\$[A-Za-z0-9./$=]{20,150}|\{SSHA\}[A-Za-z0-9+/=]{28,60})"
)
"""A name and the hash of a password, as htpasswd and shadow(5) have them."""


def in_files(text: str, clues: frozenset[str]) -> Iterator[Spot]:
    """Secrets in lines that programs have written for themselves.

    Args:
        text: The text.
        clues: What of the words that name secrets is in it.
    """
    if "auth" in clues or ("pass" in clues and "_password" in text):
        yield from _found(_REGISTRY, text, "registry-token", "a token of a package registry")
        for found in _LOGIN.finditer(text):
            name, colon, password = decoded(found["value"]).partition(":")
            if name and colon and password and not is_picture(password):
                words = "a name and a password of a registry"
                yield Spot("secret", "registry-login", *found.span(), words, found.span("value"))
    if "pass" in clues and "log" in clues and "machine" in text:
        yield from _found(_NETRC, text, "password-assignment", "a password of a .netrc file")
    if "{" in text and '"kty"' in text:
        yield from _found(_KEY, text, "private-key", "the private part of a JSON web key")
    if ("$" in text and ":$" in text) or ("{" in text and ":{SSHA}" in text):
        yield from _found(_HASH, text, "password-hash", "a name and the hash of its password")


def _found(pattern: re.Pattern[str], text: str, rule: str, words: str) -> Iterator[Spot]:
    for found in pattern.finditer(text):
        value = found["value"]
        if not is_picture(value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
            yield Spot("secret", rule, *found.span(), words, found.span("value"))
