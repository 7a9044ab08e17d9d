"""Addresses that a note names, as far as a repository can know them."""

import re
from collections.abc import Iterator, Sequence

from memtui.audit.families.claims.claim import Claim, Kind
from memtui.audit.families.claims.paths import PLACEHOLDER, Named
from memtui.audit.families.claims.said import URL, Said
from memtui.audit.repository import Repository

_LOCAL_PORT = re.compile(
    r"(?:https?|wss?)://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):([0-9]{2,5})(?![0-9])", re.IGNORECASE
)
_WEB_FILE = re.compile(
    r"https?://([^/\s]+/[^\s]+?)/(?:-/)?(?:blob|tree|raw|src/branch)/([^/\s]+)/([^\s?#]+)", re.IGNORECASE
)
_WEB_HOST = re.compile(r"https?://([A-Za-z0-9][A-Za-z0-9.-]{0,253})", re.IGNORECASE)
_BRANCHES = frozenset({"main", "master", "head", "trunk", "develop"})
_STANDS_IN = re.compile(
    r"\b(?:points? (?:at|to)|sets?|configur\w+|defaults? to|base url|endpoint|hard[- ]?coded|"
    r"(?:is|are|stands?) in|defin\w+)\b",
    re.IGNORECASE,
)
"""What tells that an address stands in a file."""


def claims_in(note: str, said: Said, named: Sequence[Named], repository: Repository) -> Iterator[Claim]:
    """The addresses of a line that the repository's texts, or its files, do not know."""
    if "://" not in said.text:
        return
    beside = next((each.path for each in named if each.is_there), "")
    for found in URL.finditer(said.text):
        url = found.group().rstrip(".,;:!?)*_")
        claim = Claim(Kind.ADDRESS, note, said.start + found.start(), url)
        if local := _LOCAL_PORT.match(url):
            if not repository.texts.says(local[1]):
                yield claim._replace(sought=local[1], only_once=not repository.texts.has_local)
        elif (file := _WEB_FILE.match(url)) and file[1].lower() in repository.own_addresses:
            path = file[3].rstrip("/")
            if file[2].lower() in _BRANCHES and not repository.has(path):
                yield claim._replace(removal=repository.removal_of(path), now=path)
        elif (host := _WEB_HOST.match(url)) and beside and _STANDS_IN.search(said.text):
            name = host[1].lower().rstrip(".")
            texts = repository.texts
            if texts.is_complete and "." in name and name.encode() not in texts.hosts and not PLACEHOLDER.search(name):
                yield claim._replace(sought=name, beside=beside)
