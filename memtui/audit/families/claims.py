"""What a note says of a repository that the repository has no more: paths, names in code, commits, addresses.

A note is compared only where it plainly speaks of this repository, and as it is now: a path that begins as one there, a
name that stands beside a file there, a hash that is called a commit. What is told as the past or as a plan is passed
over, and so are notes of a day. Nothing is looked up anywhere else, on no network.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import body_of, is_of_its_time, prose
from memtui.audit.repository import Repository
from memtui.audit.rule import Rule
from memtui.audit.subject import Subject
from memtui.core.visible import one_line

_REPO = "--repo DIR"
_PATH = Rule(
    id="missing-path",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="a path that the repository has no more",
    why="An agent that believes the note looks for a file in vain, or makes it anew. Compared are paths that begin as "
    "the repository's do, and names of files that its history has.",
    do="Put the path right, or take the sentence out.",
    bad="The parser is in `src/parser.py`, where src/ has no such file any more.",
    good="The parser is in `src/parser.py`, where it is.",
    together="names {count} paths that the repository does not have, such as {some}",
    needs=_REPO,
)
_SYMBOL = Rule(
    id="missing-symbol",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="a function or class that the repository has no more",
    why="An agent calls what is not there. Compared are names in backticks beside a file of the repository, and those "
    "of its own modules, with all words in its files.",
    do="Name what took its place, or take the sentence out.",
    bad="`parse_header()` in `src/parser.py` does it, where no file says parse_header.",
    good="`parse_line()` in `src/parser.py` does it, where that file has it.",
    together="names {count} functions or classes that no file of the repository says, such as {some}",
    needs=_REPO,
)
_COMMIT = Rule(
    id="missing-commit",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="a commit that the repository does not have",
    why="History was rewritten, or the note is about another repository: what it says of the commit cannot be checked.",
    do="Name the commit that has it now, or what it did.",
    bad="Fixed in commit 0badc0ffee, where the repository has no such commit.",
    good="Fixed in commit 1a2b3c4d, where it has.",
    together="names {count} commits that the repository does not have, such as {some}",
    needs=_REPO,
)
_ADDRESS = Rule(
    id="missing-address",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="an address that the repository does not know",
    why="Nothing is asked over the network. Compared with the repository's texts are ports of this machine, addresses "
    "of its own files on the web, and addresses that a note says are in one of its files.",
    do="Put the address right, or take the sentence out.",
    bad="The server is at http://localhost:9999/, where the repository names only port 8000.",
    good="The server is at http://localhost:8000/, where the repository names that port.",
    together="names {count} addresses that the repository does not know, such as {some}",
    needs=_REPO,
)
RULES: tuple[Rule, ...] = (_PATH, _SYMBOL, _COMMIT, _ADDRESS)

_URL = re.compile(r"(?:https?|ssh|git|file|ftp|wss?)://[^\s<>\"'`\[\]{}|\\^]{1,2000}", re.IGNORECASE)
_LINK_TARGET = re.compile(r"\]\([^()\n]{0,2000}\)|\[\[[^\[\]\n]{0,400}\]\]")
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_PLAIN_PATH = re.compile(r"(?<![\w/.:@~$%*{}<>\\=+#-])(?:\./)?((?:[\w.@+-]+/)+[\w.@+-]*[\w])(?![\w/*{<$(@\\%~])")
_IN_SPAN = re.compile(r"(?:\./)?((?:[\w.@+-]+/)*[\w.@+-]+/?)(?::[0-9]+(?:[-:][0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)?")
_EXTENSION = re.compile(r".*[\w]\.[A-Za-z][A-Za-z0-9]{0,9}")
_PLACEHOLDER = re.compile(
    r"(?:^|[/._-])(?:foo|bar|baz|x{2,}|your|my|example|some|path|to|name|yyyy|nnn+)(?:$|[/._-])", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:was|were|formerly|former|previous(?:ly)?|old|used to|no longer|removed?|deleted?|drop(?:ped)?|"
    r"renam\w+|mov\w+|gone|replac\w+|migrat\w+|legacy|deprecated|historical(?:ly)?|upstream|fork(?:ed)?|"
    r"vendor(?:ed)?|other repo\w*)\b|~~|->|→|=>",
    re.IGNORECASE,
)
"""What tells that a line is not about the repository as it is."""
_PLAN = re.compile(
    r"\b(?:instead|never|not|will|would|should|could|plan(?:s|ned)?|todo|add|adds|adding|creat\w*|new|propos\w+|idea|"
    r"generat\w+|temporar\w+|e\.g|example|such as|like|missing|another|ignored?|output|artifacts?)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What tells that a line need not be about what there is; what there was once is a claim all the same."""
_CALL = re.compile(r"((?:[A-Za-z_]\w{0,80}\.){0,5}[A-Za-z_]\w{2,80})(\([^()`]{0,100}\))?")
_COMMIT_WORD = re.compile(
    r"\b(?:commits?|committed|sha|revision|rev|cherry[- ]pick\w*|revert\w*|bisect\w*|changeset|HEAD)\b", re.IGNORECASE
)
_HASH = re.compile(r"(?<![\w./:@#=-])(?=[0-9]*[a-f])(?=[a-f]*[0-9])([0-9a-f]{7,40})(?![\w/@=-])(?![.:]\w)")
_NEAR = 60
"""Characters between a word such as commit and its hash."""
_OTHER_REPOSITORY = re.compile(
    r"\b(?:upstream|fork(?:ed)?|submodule|vendor(?:ed)?|other repo\w*|another repo\w*)\b", re.IGNORECASE
)
_LOCAL_PORT = re.compile(
    r"(?:https?|wss?)://(?:localhost|127\.0\.0\.1|0\.0\.0\.0):([0-9]{2,5})(?![0-9])", re.IGNORECASE
)
_WEB_FILE = re.compile(
    r"https?://([^/\s]+/[^\s]+?)/(?:-/)?(?:blob|tree|raw|src/branch)/([^/\s]+)/([^\s?#]+)", re.IGNORECASE
)
_WEB_HOST = re.compile(r"https?://([A-Za-z0-9][A-Za-z0-9.-]{0,253})", re.IGNORECASE)
_STANDS_IN = re.compile(
    r"\b(?:points? (?:at|to)|sets?|configur\w+|defaults? to|base url|endpoint|hard[- ]?coded|"
    r"(?:is|are|stands?) in|defin\w+)\b",
    re.IGNORECASE,
)
"""What tells that an address stands in a file."""
_LONGEST = 2_000
"""Characters of a line that is looked at: longer ones are data."""
_MOST = 200
"""Claims of one note that are compared, of each kind."""


class _Line(NamedTuple):
    """A line of a note."""

    start: int
    text: str


class _Named(NamedTuple):
    """A hash that a note calls a commit."""

    path: str
    start: int
    sha: str


def across(subject: Subject) -> Iterator[Hit]:
    """What notes say of the repository, and it does not have."""
    repository = subject.repository
    if repository is None or not repository.files:
        return
    commits: list[_Named] = []
    for note, text in prose(subject):
        if is_of_its_time(note.path):
            continue
        counts = dict.fromkeys((rule.id for rule in RULES), 0)
        for line in _lines(text):
            hits: list[Hit] = []
            if subject.wants(_COMMIT.id) and counts[_COMMIT.id] < _MOST:
                named = [_Named(note.path, line.start + start, sha) for start, sha in _commits(line.text)]
                counts[_COMMIT.id] += len(named)
                commits += named
            said = _sentence(line.text)
            if _PAST.search(said):
                continue
            is_plan = _PLAN.search(said) is not None
            paths = list(_paths(line.text, repository, subject)) if _may_hold_path(line.text) else []
            if subject.wants(_PATH.id):
                hits += [
                    _missing_path(note.path, line, at, path, repository)
                    for at, path, is_there in paths
                    if not is_there and (not is_plan or repository.was_at(path))
                ]
            there = [path for _, path, is_there in paths if is_there]
            if is_plan:
                there = []
            if subject.wants(_SYMBOL.id) and "`" in line.text:
                hits += _symbols(note.path, line, there, repository)
            if subject.wants(_ADDRESS.id) and "://" in line.text:
                hits += _addresses(note.path, line, there, repository)
            for hit in hits:
                counts[hit.rule] += 1
                if counts[hit.rule] <= _MOST:
                    yield hit
    missing = repository.missing_commits({each.sha for each in commits})
    for each in commits:
        if each.sha in missing:
            words = f"names the commit {each.sha[:12]}, which the repository does not have"
            end = each.start + len(each.sha)
            yield Hit(
                rule=_COMMIT.id, path=each.path, words=words, start=each.start, end=end, facts={"commit": each.sha}
            )


def _lines(text: str) -> Iterator[_Line]:
    """The lines below the front matter, those in fenced blocks left out: they are examples, or output."""
    at = len(text) - len(body_of(text))
    fence = ""
    for raw in text[at:].split("\n"):
        stripped = raw.lstrip(" \t>")
        if fence:
            if stripped.startswith(fence):
                fence = ""
        elif stripped.startswith(("```", "~~~")):
            fence = stripped[:3]
        elif len(raw) <= _LONGEST:
            yield _Line(at, raw)
        at += len(raw) + 1


def _sentence(line: str) -> str:
    """What a line says around its paths, code and addresses: a directory called `old` tells of no past."""
    return _PLAIN_PATH.sub(_blank, _SPAN.sub(_blank, _URL.sub(_blank, line)))


# Paths


def _may_hold_path(line: str) -> bool:
    return "/" in line or "`" in line


def _paths(line: str, repository: Repository, subject: Subject) -> Iterator[tuple[int, str, bool]]:
    """The paths of a line that mean something in the repository: where, which, and whether it has it."""
    plain = _LINK_TARGET.sub(_blank, _URL.sub(_blank, line))
    seen: set[tuple[int, str]] = set()
    for found in _SPAN.finditer(plain):
        if inside := _IN_SPAN.fullmatch(found[1].strip()):
            at = found.start(1) + len(found[1]) - len(found[1].lstrip()) + inside.start(1)
            seen.add((at, inside[1]))
    without_spans = _SPAN.sub(_blank, plain)
    for found in _PLAIN_PATH.finditer(without_spans):
        seen.add((found.start(1), found[1].rstrip(".")))
    for at, path in sorted(seen):
        is_there = _judged(path, repository, subject)
        if is_there is not None:
            yield at, path, is_there


def _judged(path: str, repository: Repository, subject: Subject) -> bool | None:
    """Whether the repository has a path; `None` where the note may mean anything else by it."""
    wanted = path.rstrip("/")
    parts = wanted.split("/")
    name = parts[-1]
    if not wanted or any(part in (".", "..", "") for part in parts) or _PLACEHOLDER.search(wanted):
        return None
    if wanted in subject.notes or name in {"MEMORY.md", "CLAUDE.md"}:
        return None
    is_file = bool(_EXTENSION.fullmatch(name)) and not path.endswith("/")
    if len(parts) == 1:
        if not is_file:
            return None
        if name in repository.by_name:
            return True
        return False if name in repository.former_names and not repository.has(name) else None
    if repository.has(wanted) or _ends_in(wanted, repository):
        return True
    if wanted in repository.former or wanted in repository.former_directories:
        return False
    return False if is_file and parts[0] in repository.directories else None


def _ends_in(wanted: str, repository: Repository) -> bool:
    """Whether a path is the end of one that the repository has: notes leave out where all code is."""
    end = f"/{wanted}"
    if any(path.endswith(end) for path in repository.by_name.get(wanted.rpartition("/")[2], ())):
        return True
    return any(directory.endswith(end) for directory in repository.directories) if "." not in wanted else False


def _missing_path(note: str, line: _Line, at: int, path: str, repository: Repository) -> Hit:
    others = repository.by_name.get(path.rstrip("/").rpartition("/")[2], [])
    was = path.rstrip("/") in repository.former or path.rstrip("/") in repository.former_directories
    words = f"names {one_line(path)}, which the repository {'has no more' if was else 'does not have'}"
    facts: dict[str, str | int | float] = {"path": path}
    if len(others) == 1:
        words += f"; {one_line(others[0])} has its name"
        facts["now"] = others[0]
    start = line.start + at
    return Hit(rule=_PATH.id, path=note, words=words, start=start, end=start + len(path), facts=facts)


# Names in code


def _symbols(note: str, line: _Line, there: Sequence[str], repository: Repository) -> Iterator[Hit]:
    """Names in backticks beside a file that the repository has, or of its own modules, that no file says."""
    for found in _SPAN.finditer(line.text):
        inside = _CALL.fullmatch(found[1])
        if inside is None or found[1] in there:
            continue
        dotted, is_call = inside[1], inside[2] is not None
        *modules, name = dotted.split(".")
        if not (is_call or modules or _is_code(name)) or _PLACEHOLDER.search(name):
            continue
        is_beside = any(_EXTENSION.fullmatch(path) and not path.endswith((".md", ".txt")) for path in there)
        is_own = bool(modules) and _is_module(modules, repository)
        if not (is_own or (is_beside and not modules) or (is_beside and _is_code(modules[0]))):
            continue
        if name in repository.by_name or dotted in repository.by_name:
            continue  # a file, such as setup.cfg
        texts = repository.texts
        if not texts.is_complete or name in texts.identifiers:
            continue
        start = line.start + found.start(1)
        words = f"names {one_line(dotted)}, which no file of the repository says"
        yield Hit(
            rule=_SYMBOL.id, path=note, words=words, start=start, end=start + len(dotted), facts={"symbol": dotted}
        )


def _is_code(name: str) -> bool:
    """Whether a word is spelled as only names in code are: `snake_case`, `camelCase`, `PascalCase`."""
    return bool(
        re.fullmatch(r"_*[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}", name)
    )


def _is_module(modules: Sequence[str], repository: Repository) -> bool:
    """Whether a dotted name begins with a package of the repository, or is of a module in it."""
    first = modules[0]
    if len(first) < 3:
        return False
    packages = {
        path.rpartition("/")[0] for name in ("__init__.py", "mod.rs") for path in repository.by_name.get(name, ())
    }
    if any(package.rpartition("/")[2] == first for package in packages):
        return True
    return any(f"{first}.{kind}" in repository.by_name for kind in ("py", "rb", "ex", "lua", "go", "ts", "js"))


# Commits


def _commits(line: str) -> Iterator[tuple[int, str]]:
    """The hashes of a line that it calls commits: where, and which."""
    if not _COMMIT_WORD.search(line) or _OTHER_REPOSITORY.search(line):
        return
    ends = [found.end() for found in _COMMIT_WORD.finditer(line)]
    plain = _URL.sub(_blank, line)
    for found in _HASH.finditer(plain):
        is_quoted = plain[found.start() - 1 : found.start()] == "`" and plain[found.end() : found.end() + 1] == "`"
        is_near = any(0 <= found.start() - end <= _NEAR for end in ends)
        if is_near or (is_quoted and len(found[1]) <= 12):
            yield found.start(), found[1]


# Addresses


def _addresses(note: str, line: _Line, there: Sequence[str], repository: Repository) -> Iterator[Hit]:
    """Addresses of a line that the repository's texts, or its files, say otherwise."""
    says_so = _STANDS_IN.search(line.text) is not None
    for found in _URL.finditer(line.text):
        url = found.group().rstrip(".,;:!?)*_")
        problem = _problem_of_address(url, there, repository, says_so=says_so)
        if problem:
            start = line.start + found.start()
            yield Hit(
                rule=_ADDRESS.id,
                path=note,
                words=problem,
                start=start,
                end=start + len(url),
                facts={"address": url[:400]},
            )


def _problem_of_address(url: str, there: Sequence[str], repository: Repository, *, says_so: bool) -> str:
    if local := _LOCAL_PORT.match(url):
        texts = repository.texts
        if texts.is_complete and texts.has_local and local[1] not in texts.numbers:
            return f"names port {local[1]} of this machine, and no file of the repository does"
        return ""
    if (file := _WEB_FILE.match(url)) and file[1].lower() in repository.own_addresses:
        path = file[3].rstrip("/")
        if file[2].lower() in ("main", "master", "head", "trunk", "develop") and not repository.has(path):
            return f"leads to {one_line(path)}, which the repository does not have"
        return ""
    host = _WEB_HOST.match(url)
    if host is not None and there and says_so and not _PLACEHOLDER.search(host[1]):
        texts = repository.texts
        if texts.is_complete and host[1].lower().rstrip(".") not in texts.hosts and "." in host[1]:
            return f"names {one_line(host[1])} beside {one_line(there[0])}, and no file of the repository does"
    return ""


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())
