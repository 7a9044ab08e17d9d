"""What a note says of a repository that the repository has no more: paths, names in code, commits, addresses.

A note is compared only where it plainly speaks of this repository, and as it is now: a path or a name that its history
has and its files have not, a hash that is called a commit. What is told as the past or as a plan is passed over, and so
are notes of a day. What the repository never had, as far as is known, is another finding, and a lesser one: the note
may be mistaken, or mean something else. Nothing is looked up anywhere else, on no network.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from memtui.audit.families.claims import addresses, commits, paths, symbols
from memtui.audit.families.claims.claim import Claim, Kind
from memtui.audit.families.claims.said import Said, said_in
from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.prose import is_of_its_time, prose
from memtui.audit.repository import Removal, Repository
from memtui.audit.rule import Rule
from memtui.audit.subject import Subject
from memtui.core.visible import one_line

_REPO = "--repo DIR"
_PATH = Rule(
    id="missing-path",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="a path that the repository has no more",
    why="An agent that believes the note looks for a file in vain, or makes it anew. Told are paths that the "
    "repository's history has and its files have not, save what it ignores.",
    do="Put the path right, or take the sentence out.",
    bad="The parser is in `src/parser.py`, which a commit removed.",
    good="The parser is in `src/parser.py`, where it is.",
    together="names {count} paths that the repository has no more, such as {some}",
    needs=_REPO,
)
_SYMBOL = Rule(
    id="missing-symbol",
    family=Family.CLAIMS,
    severity=Severity.WARN,
    title="a function or class that the repository has no more",
    why="An agent calls what is not there. Told are names in backticks that no file says, and that a commit took out: "
    "with their definition, or beside a file or module of the repository that the note names with them.",
    do="Name what took its place, or take the sentence out.",
    bad="`parse_header()` in `src/parser.py` does it, where a commit removed parse_header.",
    good="`parse_line()` in `src/parser.py` does it, where that file has it.",
    together="names {count} functions or classes that the repository has no more, such as {some}",
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
    title="an address that the repository has no more",
    why="Nothing is asked over the network. Told are ports of this machine, and addresses that a note says are in a "
    "file, that a commit took out of all files; and addresses of the repository's own files on the web that are gone.",
    do="Put the address right, or take the sentence out.",
    bad="The server is at http://localhost:9999/, where a commit put port 8000 in its place.",
    good="The server is at http://localhost:8000/, where the repository names that port.",
    together="names {count} addresses that the repository has no more, such as {some}",
    needs=_REPO,
)
_NEVER = Rule(
    id="never-there",
    family=Family.CLAIMS,
    severity=Severity.INFO,
    title="a path, name or address that the repository never had, as far as is known",
    why="The note may be mistaken, or made up; or it may mean a plan, what the code makes, or another repository. Of a "
    "directory without a history nothing else is known.",
    do="Find out what is meant, and put it right or say so.",
    bad="The parser is in `src/parsing.py`, where src/ never had such a file.",
    good="The parser is in `src/parser.py`, where it is.",
    together="names {count} things that the repository never had, as far as is known, such as {some}",
    needs=_REPO,
)
RULES: tuple[Rule, ...] = (_PATH, _SYMBOL, _COMMIT, _ADDRESS, _NEVER)

_RULES_OF = {Kind.PATH: _PATH.id, Kind.SYMBOL: _SYMBOL.id, Kind.ADDRESS: _ADDRESS.id, Kind.COMMIT: _COMMIT.id}
_FACT_OF = {Kind.PATH: "path", Kind.SYMBOL: "symbol", Kind.ADDRESS: "address", Kind.COMMIT: "commit"}
_MOST = 200
"""Claims of one note that are compared, of each kind."""


def across(subject: Subject) -> Iterator[Hit]:
    """What notes say of the repository, and it does not have."""
    repository = subject.repository
    if repository is None or not repository.files:
        return
    doubted = [claim for note, text in prose(subject) for claim in _doubted(note.path, text, subject, repository)]
    ignored = repository.ignored({claim.name for claim in doubted if claim.kind is Kind.PATH})
    missing = repository.missing_commits({claim.name for claim in doubted if claim.kind is Kind.COMMIT})
    removals = repository.removals(claim.sought for claim in doubted if claim.sought)
    for claim in doubted:
        if claim.kind is Kind.COMMIT:
            if claim.name in missing:
                yield _hit(claim, _COMMIT.id, f"names the commit {claim.name[:12]}, which the repository does not have")
            continue
        removal = removals.get(claim.sought) if claim.sought else claim.removal
        if removal is not None and claim.only_defined and not removal.is_definition:
            removal = None
        if claim.name in ignored or (removal is None and claim.only_once):
            continue
        is_known = removal is not None or (claim.kind is Kind.ADDRESS and claim.now)  # an address of its own
        yield _hit(claim, _RULES_OF[claim.kind] if is_known else _NEVER.id, _words(claim, removal), removal)


def _doubted(path: str, text: str, subject: Subject, repository: Repository) -> Iterator[Claim]:
    """What a note says and no file bears out."""
    subject.go_on()
    if is_of_its_time(path) or not ("/" in text or "`" in text or commits.may_stand_in(text)):
        return
    counts = dict.fromkeys(Kind, 0)
    for said in said_in(text):
        for claim in _in_line(path, said, subject, repository):
            counts[claim.kind] += 1
            if counts[claim.kind] <= _MOST:
                yield claim


def _in_line(note: str, said: Said, subject: Subject, repository: Repository) -> Iterator[Claim]:
    if subject.wants(_COMMIT.id):
        yield from commits.claims_in(note, said)
    named = paths.named_in(said, repository, subject)
    claims: list[Claim] = []
    if subject.wants(_PATH.id, _NEVER.id):
        claims += paths.claims_in(note, said, named, repository)
    if subject.wants(_SYMBOL.id, _NEVER.id):
        claims += symbols.claims_in(note, said, named, repository)
    if subject.wants(_ADDRESS.id, _NEVER.id):
        claims += addresses.claims_in(note, said, named, repository)
    for claim in claims:
        start = claim.start - said.start
        mood = said.mood_of(start, start + len(claim.name))
        if not mood.is_past:
            yield claim._replace(only_once=claim.only_once or mood.is_plan)


def _words(claim: Claim, removal: Removal | None) -> str:
    """What a claim says, and what is known of it."""
    what = f"names {one_line(claim.name[:200])}"
    gone = f"which the repository {'has no more' if removal is not None else 'does not have'}"
    if claim.kind is Kind.ADDRESS and claim.now:
        what = f"leads to {one_line(claim.now[:200])}"
    elif claim.kind is Kind.ADDRESS and claim.beside:
        what = f"names {one_line(claim.sought)} beside {one_line(claim.beside)}"
        gone = f"and no file of the repository does{' any more' if removal is not None else ''}"
    elif claim.kind is Kind.ADDRESS:
        what = f"names port {claim.sought} of this machine"
        gone = f"and no file of the repository does{' any more' if removal is not None else ''}"
    elif claim.kind is Kind.SYMBOL:
        gone = f"which no file of the repository says{' any more' if removal is not None else ''}"
    since = f", since commit {removal.commit} of {_day(removal)}" if removal is not None else ""
    where = f"; {one_line(claim.now)} has its name" if claim.kind is Kind.PATH and claim.now else ""
    return f"{what}, {gone}{since}{where}"


def _hit(claim: Claim, rule: str, words: str, removal: Removal | None = None) -> Hit:
    facts: dict[str, str | int | float] = {_FACT_OF[claim.kind]: claim.name[:400]}
    if claim.kind is Kind.PATH and claim.now:
        facts["now"] = claim.now
    if removal is not None:
        facts |= {"gone_in": removal.commit, "gone_on": _day(removal)}
    end = claim.start + len(claim.name)
    return Hit(rule=rule, path=claim.note, words=words, start=claim.start, end=end, facts=facts)


def _day(removal: Removal) -> str:
    """The day of a commit (UTC); whoever made it may have set any."""
    return datetime.fromtimestamp(min(removal.at, 253_402_300_799), UTC).date().isoformat()
