"""Hashes that a note calls commits."""

import re
from collections.abc import Iterator

from memtui.audit.families.claims.claim import Claim, Kind
from memtui.audit.families.claims.said import COMMIT, URL, Said, blank

_HASH = re.compile(r"(?<![\w./:@#=-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{7,40}|[0-9a-f]{64})(?![\w/@=-])(?![.:]\w)")
_NEAR = 60
"""Characters between a word such as commit and its hash."""
_OTHER_REPOSITORY = re.compile(
    r"\b(?:upstream|fork(?:ed)?|submodule|vendor(?:ed)?|(?:other|another|that|sibling|separate) (?:repo\w*|project))\b"
    r"|(?<![\w/.@-])[A-Za-z0-9][\w-]{0,38}/[A-Za-z][\w-]{1,99}(?![\w/.])`?[ ]*(?:@|`?[a-z]+/[a-z]+)",
    re.IGNORECASE,
)
"""What tells that a commit is one of somewhere else, such as `team/shop` beside a branch."""
_MADE_UP = re.compile(
    r"(?:abc(?:d(?:ef?)?)?123|123(?:4(?:56?)?)?abc|a1b2c3|1a2b3c|deadbeef|cafebabe|f00ba|0123456|9f8e7d)"
)
"""How hashes begin that stand for any."""


def may_stand_in(text: str) -> bool:
    """Whether a text may call anything a commit."""
    return COMMIT.search(text) is not None


def claims_in(note: str, said: Said) -> Iterator[Claim]:
    """The hashes of a line that it calls commits."""
    line = said.text
    ends = [found.end() for found in COMMIT.finditer(line)]
    if not ends or _OTHER_REPOSITORY.search(line):
        return
    plain = URL.sub(blank, line)
    for found in _HASH.finditer(plain):
        if _MADE_UP.match(found[1]):
            continue
        is_quoted = plain[found.start() - 1 : found.start()] == "`" and plain[found.end() : found.end() + 1] == "`"
        is_near = any(0 <= found.start() - end <= _NEAR for end in ends)
        if is_near or (is_quoted and len(found[1]) <= 12):
            yield Claim(Kind.COMMIT, note, said.start + found.start(), found[1])
