"""What a note says of a repository that the repository has no more: paths, names in code, commits, addresses.

A note is compared only where it plainly speaks of this repository, and as it is now: a path or a name that its history
has and its files have not, a hash that is called a commit. What is told as the past or as a plan is passed over, and so
are notes of a day. What the repository never had, as far as is known, is another finding, and a lesser one: the note
may be mistaken, or mean something else. Nothing is looked up anywhere else, on no network.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memtui.audit.context import AuditContext, get_body, is_dated_note, is_work_note, iter_prose_notes
from memtui.audit.model import AuditRule, Hit, read_rules
from memtui.audit.ranking import GONE
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.scan.ruleset import load_pattern

if TYPE_CHECKING:
    from memtui.audit.repository import GitRemoval, Repository

_get_pattern = partial(load_pattern, "claims")


# Claims of a note that no file of the repository supports.


class ClaimKind(StrEnum):
    """What a claim is of."""

    PATH = "path"
    SYMBOL = "symbol"
    COMMIT = "commit"
    ADDRESS = "address"


class Claim(NamedTuple):
    """A claim that is in doubt.

    Attributes:
        sought: The word to look for in the history; empty for none.
        removal: When it left the repository, if known already.
        now: The path where the named thing is now, if known.
        beside: The file named next to it; empty for none.
        only_once: Whether it is a claim only if the history has it.
        only_defined: Whether it is a claim only if its definition was removed.
    """

    kind: ClaimKind
    note: str
    start: int
    name: str
    sought: str = ""
    removal: "GitRemoval | None" = None
    now: str = ""
    beside: str = ""
    only_once: bool = False
    only_defined: bool = False


# Lines with their mood: a name under *Removed*, below "these are gone:" or after "formerly" makes no claim that
# something is there.

LONGEST = 2_000
"""Characters of a line that is looked at: longer ones are data."""


class ClaimMood(NamedTuple):
    """Of when, and of what, something is said."""

    is_past: bool = False  # whether it is about the past, or another repository
    is_plan: bool = False  # whether it may be about the future

    def combine(self, other: "ClaimMood") -> "ClaimMood":
        """This one and another one."""
        return ClaimMood(self.is_past or other.is_past, self.is_plan or other.is_plan)


_NONE = ClaimMood()


class ClaimLine(NamedTuple):
    """A line of a note."""

    start: int
    text: str
    around: ClaimMood  # the mood of headings, parent items and the table's first row
    clauses: tuple[tuple[int, ClaimMood], ...]  # the end of each sentence and its mood, neighbour lines included

    def get_mood(self, start: int, end: int) -> ClaimMood:
        """How a part of the line is meant, from its first character to the one behind its last."""
        mood = next((mood for border, mood in self.clauses if start < border), _NONE).combine(self.around)
        is_replaced = (
            _get_pattern("arrow").match(self.text, end) is not None or self.text.count("~~", 0, start) % 2 == 1
        )
        return mood.combine(ClaimMood(is_past=is_replaced))


def iter_claim_lines(text: str) -> Iterator[ClaimLine]:
    """The lines below the front matter that may make a claim, and no fenced blocks: they are examples, or output."""
    lines = list(_iter_body_lines(text))
    headings: list[tuple[int, ClaimMood]] = []
    items: list[tuple[int, ClaimMood]] = []
    lead = table = _NONE
    for number, (start, line) in enumerate(lines):
        if not line.strip():
            continue
        if heading := _get_pattern("heading").match(line):
            level = len(heading[1])
            headings = [*_list_above(headings, level), (level, _detect_mood(_blank_code_spans(heading[2])))]
            items, lead, table = [], _NONE, _NONE
        indent = len(line) - len(line.lstrip(" \t"))
        is_item, is_row = _get_pattern("item").match(line) is not None, line.lstrip().startswith("|")
        if is_row and number + 1 < len(lines) and _get_pattern("rule").match(lines[number + 1][1]):
            table = _detect_mood(_blank_code_spans(line))
        elif not is_row:
            table = _NONE
        if is_item:
            items = _list_above(items, indent)
        elif not indent:
            items = []
        if _may_make_claim(line):
            around = table.combine(lead) if is_item or is_row else table
            for _, other in (*(headings[:-1] if heading else headings), *items):
                around = around.combine(other)
            yield ClaimLine(start, line, around, tuple(_split_clauses(lines, number)))
        introduces = _detect_introduction(line)
        if is_item:
            items.append((indent, introduces))
        elif not indent and not is_row and not heading:
            lead = introduces


def _may_make_claim(line: str) -> bool:
    return "/" in line or "`" in line or _get_pattern("commit").search(line) is not None


def _list_above(moods: list[tuple[int, ClaimMood]], level: int) -> list[tuple[int, ClaimMood]]:
    """The headings or list items of which a line of this level or indent is a part."""
    return [each for each in moods if each[0] < level]


def _detect_introduction(line: str) -> ClaimMood:
    """The mood that a line with a colon at its end gives to the lines below it."""
    return _detect_mood(_blank_code_spans(line)) if line.rstrip().endswith((":", "：", ":**")) else _NONE


def _split_clauses(lines: list[tuple[int, str]], number: int) -> Iterator[tuple[int, ClaimMood]]:
    """The sentences of a line: where each ends, and its mood."""
    bare = _blank_code_spans(lines[number][1])
    if bare.lstrip().startswith("|"):
        yield len(bare), _detect_mood(bare)
        return
    before = after = ""
    if number and not _get_pattern("item").match(bare) and _is_continuation(lines, number - 1, number):
        before = _get_pattern("ends").split(_blank_code_spans(lines[number - 1][1]))[-1] + " "
    following = lines[number + 1][1] if number + 1 < len(lines) else ""
    if following and not _get_pattern("item").match(following) and _is_continuation(lines, number, number + 1):
        after = " " + _get_pattern("ends").split(_blank_code_spans(following))[0]
    begin = 0
    for found in _get_pattern("ends").finditer(bare):
        yield found.end(), _detect_mood(before + bare[begin : found.end()])
        before, begin = "", found.end()
    yield len(bare), _detect_mood(before + bare[begin:] + (after if bare[begin:].strip() else ""))


def _iter_body_lines(text: str) -> Iterator[tuple[int, str]]:
    at = len(text) - len(get_body(text))
    fence = ""
    for raw in text[at:].split("\n"):
        stripped = raw.lstrip(" \t>")
        if fence:
            if stripped.startswith(fence):
                fence = ""
        elif stripped.startswith(("```", "~~~")):
            fence = stripped[:3]
        elif len(raw) <= LONGEST:
            yield at, raw
        at += len(raw) + 1


def _is_continuation(lines: list[tuple[int, str]], first: int, second: int) -> bool:
    """Whether two lines stand one below the other in running text."""
    (start, one), (following, other) = lines[first], lines[second]
    if start + len(one) + 1 != following or not one.strip() or not other.strip():
        return False
    return not any(line.lstrip().startswith(("|", "#")) for line in (one, other))


def _detect_mood(bare: str) -> ClaimMood:
    return ClaimMood(_get_pattern("past").search(bare) is not None, _get_pattern("plan").search(bare) is not None)


def _blank_code_spans(line: str) -> str:
    """What a line says around its paths, code and addresses: a directory called `old` tells of no past."""
    if "://" in line:
        line = _get_pattern("url").sub(blank_match, line)
    if "`" in line:
        line = _get_pattern("span").sub(blank_match, line)
    return _get_pattern("plain_path").sub(blank_match, line) if "/" in line else line


def blank_match(found: re.Match[str]) -> str:
    """As many blanks as were found."""
    return " " * len(found.group())


# Paths.

_WRITTEN_BY_HAND = """
py pyi ipynb js jsx mjs cjs ts tsx mts cts vue svelte astro go rs rb erb java kt kts scala swift m mm c h cc cpp cxx hpp
cs fs php pl pm lua ex exs erl clj cljs hs ml dart r jl sh bash zsh fish ps1 bat sql proto graphql css scss sass less
html tf nix yml yaml md mdx rst
"""
_SOURCES = frozenset(_WRITTEN_BY_HAND.split())
"""Extensions of what people write: a name without a directory, of data, may be that of anybody's file."""
_COMMON = frozenset({"index", "main", "config", "setup", "readme", "license", "changelog", "__init__", "utils", "mod"})
"""Names that files of any project have."""


class MentionedPath(NamedTuple):
    """A path in a line."""

    at: int
    path: str
    is_there: bool


def find_mentioned_paths(said: ClaimLine, repository: "Repository", subject: AuditContext) -> list[MentionedPath]:
    """The paths of a line that mean something in the repository, in order."""
    line = said.text
    if not ("/" in line or "`" in line):
        return []
    plain = _get_pattern("named_link").sub(blank_match, line) if "](" in line else line
    plain = _get_pattern("link_target").sub(blank_match, _get_pattern("url").sub(blank_match, plain))
    seen: dict[int, str] = {}
    for found in _get_pattern("span").finditer(plain):
        if inside := _get_pattern("in_span").fullmatch(found[1].strip()):
            seen[found.start(1) + len(found[1]) - len(found[1].lstrip()) + inside.start(1)] = inside[1]
    for found in _get_pattern("plain_path").finditer(_get_pattern("span").sub(blank_match, plain)):
        seen[found.start(1)] = found[1].rstrip(".")
    named = [MentionedPath(at, path.replace("\\", "/"), False) for at, path in sorted(seen.items())]
    judged = [(each, _is_path_present(each.path, repository, subject)) for each in named]
    return [
        *(each._replace(is_there=is_there) for each, is_there in judged if is_there is not None),
        *_find_linked_paths(line, repository),
    ]


def _find_linked_paths(line: str, repository: "Repository") -> Iterator[MentionedPath]:
    """Links to files that the repository had: those to notes are judged as links of the folder."""
    for found in _get_pattern("link_target").finditer(line) if "](" in line else ():
        if found[1] is None or not (inside := _get_pattern("target").match(found[1])):
            continue
        path = inside[1]
        if path in repository.removed_files and _has_source_extension(path) and not path.endswith((".md", ".mdx")):
            yield MentionedPath(found.start(1) + inside.start(1), path, repository.has_path(path))


def find_path_claims(
    note: str, said: ClaimLine, named: list[MentionedPath], repository: "Repository"
) -> Iterator[Claim]:
    """The paths of a line that the repository does not have."""
    for each in named:
        if each.is_there:
            continue
        others = repository.by_name.get(each.path.rstrip("/").rpartition("/")[2], [])
        yield Claim(
            ClaimKind.PATH,
            note,
            said.start + each.at,
            each.path,
            removal=repository.find_removal(each.path),
            now=others[0] if len(others) == 1 else "",
        )


def is_source(path: str) -> bool:
    """Whether a path is that of a file that may hold code."""
    return bool(_get_pattern("extension").fullmatch(path)) and not path.endswith((".md", ".txt"))


def _is_path_present(path: str, repository: "Repository", subject: AuditContext) -> bool | None:
    """Whether the repository has a path; `None` where the note may mean anything else by it."""
    wanted = path.rstrip("/")
    parts = wanted.split("/")
    name = parts[-1]
    if not wanted or any(part in (".", "..", "") for part in parts) or _get_pattern("placeholder").search(wanted):
        return None
    if wanted in subject.notes or name in {"MEMORY.md", "CLAUDE.md"}:
        return None
    is_file = bool(_get_pattern("extension").fullmatch(name)) and not path.endswith("/")
    if len(parts) == 1:
        return _is_name_present(name, repository) if is_file else None
    if repository.has_path(wanted) or _is_path_suffix(wanted, repository):
        return True
    if wanted in repository.removed_files or wanted in repository.removed_directories:
        return False
    if _has_source_extension(name) and repository.find_removal(wanted) is not None:
        return False
    return False if is_file and parts[0] in repository.directories else None


def _is_name_present(name: str, repository: "Repository") -> bool | None:
    """The same of a name without a directory: one that the history does not have may be that of anything."""
    if name in repository.by_name:
        return True
    if (
        not _has_source_extension(name)
        or name.partition(".")[0].casefold() in _COMMON
        or repository.find_removal(name) is None
    ):
        return None
    return None if repository.has_path(name) else False


def _has_source_extension(name: str) -> bool:
    return name.rpartition(".")[2].casefold() in _SOURCES


def _is_path_suffix(wanted: str, repository: "Repository") -> bool:
    """Whether a path is the end of one that the repository has: notes leave out where all code is."""
    end = f"/{wanted}"
    if any(path.endswith(end) for path in repository.by_name.get(wanted.rpartition("/")[2], ())):
        return True
    return any(directory.endswith(end) for directory in repository.directories) if "." not in wanted else False


# Addresses: routes and services, as far as a repository can know them.

_BRANCHES = frozenset({"main", "master", "head", "trunk", "develop"})


def find_address_claims(
    note: str, said: ClaimLine, named: Sequence[MentionedPath], repository: "Repository"
) -> Iterator[Claim]:
    """The addresses of a line that the repository's texts, or its files, do not know."""
    if "://" not in said.text:
        return
    beside = next((each.path for each in named if each.is_there), "")
    for found in _get_pattern("url").finditer(said.text):
        url = found.group().rstrip(".,;:!?)*_")
        claim = Claim(ClaimKind.ADDRESS, note, said.start + found.start(), url)
        if local := _get_pattern("local_port").match(url):
            if not repository.texts.contains_word(local[1]):
                yield claim._replace(sought=local[1], only_once=not repository.texts.has_local)
        elif (file := _get_pattern("web_file").match(url)) and file[1].lower() in repository.own_addresses:
            path = file[3].rstrip("/")
            if file[2].lower() in _BRANCHES and not repository.has_path(path):
                yield claim._replace(removal=repository.find_removal(path), now=path)
        elif (host := _get_pattern("web_host").match(url)) and beside and _get_pattern("stands_in").search(said.text):
            name = host[1].lower().rstrip(".")
            texts = repository.texts
            if (
                texts.is_complete
                and "." in name
                and name.encode() not in texts.hosts
                and not _get_pattern("placeholder").search(name)
            ):
                yield claim._replace(sought=name, beside=beside)


# Commits.

_NEAR = 60  # characters between a word such as commit and its hash


def find_commit_claims(note: str, said: ClaimLine) -> Iterator[Claim]:
    """The hashes of a line that it calls commits."""
    line = said.text
    ends = [found.end() for found in _get_pattern("commit").finditer(line)]
    if not ends or _get_pattern("other_repository").search(line):
        return
    plain = _get_pattern("url").sub(blank_match, line)
    for found in _get_pattern("hash").finditer(plain):
        if _get_pattern("made_up").match(found[1]):
            continue
        is_quoted = plain[found.start() - 1 : found.start()] == "`" and plain[found.end() : found.end() + 1] == "`"
        is_near = any(0 <= found.start() - end <= _NEAR for end in ends)
        if is_near or (is_quoted and len(found[1]) <= 12):
            yield Claim(ClaimKind.COMMIT, note, said.start + found.start(), found[1])


# Symbols: names in code, in backticks.

_CALL = re.compile(r"((?:[A-Za-z_]\w{0,80}(?:\.|::|#)){0,5}[A-Za-z_]\w{2,80})(\([^()`]{0,100}\))?", re.ASCII)
_FEWEST = 5  # characters from which a name is a claim wherever it stands


def find_symbol_claims(
    note: str, said: ClaimLine, named: Sequence[MentionedPath], repository: "Repository"
) -> Iterator[Claim]:
    """The names of a line that no file of the repository says."""
    if "`" not in said.text:
        return
    beside = next((each.path for each in named if each.is_there and is_source(each.path)), "")
    own = {each.path for each in named}
    for found in _get_pattern("span").finditer(said.text):
        inside = _CALL.fullmatch(found[1])
        if inside is None or found[1] in own:
            continue
        dotted, is_call = inside[1], inside[2] is not None
        *modules, name = re.split(r"\.|::|#", dotted)
        if not (is_call or modules or _is_code_name(name)) or _get_pattern("placeholder").search(name):
            continue
        if name in repository.by_name or dotted in repository.by_name or repository.texts.contains_word(name):
            continue  # a file, such as setup.cfg, or a word of one
        is_near = _is_of_repository(modules, beside, repository)
        if is_near or (_is_code_name(name) and len(name) >= _FEWEST):
            start = said.start + found.start(1)
            yield Claim(
                ClaimKind.SYMBOL, note, start, dotted, sought=name, only_once=not is_near, only_defined=not is_near
            )


def _is_of_repository(modules: Sequence[str], beside: str, repository: "Repository") -> bool:
    """Whether a name is qualified by a module of the repository, or stands beside one of its source files."""
    if modules and _is_module_name(modules, repository):
        return True
    return bool(beside) and (not modules or _is_code_name(modules[0]))


def _is_code_name(name: str) -> bool:
    return _get_pattern("code").fullmatch(name) is not None


def _is_module_name(modules: Sequence[str], repository: "Repository") -> bool:
    """Whether a dotted name begins with a package of the repository, or is of a module in it."""
    first = modules[0]
    if len(first) < 3:
        return False
    if any(f"{first}.{kind}" in repository.by_name for kind in ("py", "rb", "ex", "lua", "go", "ts", "js")):
        return True
    marks = (path for name in ("__init__.py", "mod.rs") for path in repository.by_name.get(name, ()))
    return any(path.split("/")[-2:-1] == [first] for path in marks)


RULES: tuple[AuditRule, ...] = read_rules("claims")

_MOST = 200  # claims of one note that are compared, of each kind


def check_folder(subject: AuditContext) -> Iterator[Hit]:
    """What notes say of the repository, and it does not have."""
    repository = subject.repository
    if repository is None:
        return
    if not repository.files:
        subject.log.skip("the repository has no files", *(rule.id for rule in RULES))
        return
    without = "" if repository.has_history else ", as far as can be told without its history"
    noted = format_count(sum(1 for _ in iter_prose_notes(subject)), "note")
    counts = f"{noted} against {format_count(len(repository.files), 'file')}"
    subject.log.counted["claims"] = f"the repository has what the notes name{without}: {counts}"
    doubted = [
        claim
        for note, text in iter_prose_notes(subject)
        for claim in _iter_doubtful_claims(note.path, text, subject, repository)
    ]
    ignored = repository.find_ignored({claim.name for claim in doubted if claim.kind is ClaimKind.PATH})
    missing = repository.find_missing_commits({claim.name for claim in doubted if claim.kind is ClaimKind.COMMIT})
    removals = repository.find_removals(claim.sought for claim in doubted if claim.sought)
    for claim in doubted:
        if claim.kind is ClaimKind.COMMIT:
            if claim.name in missing:
                words = f"names the commit {claim.name[:12]}, which the repository does not have"
                yield _build_hit(claim, "missing-commit", words)
        elif claim.name not in ignored:
            removal = _get_removal(claim, removals)
            if removal is not None or not claim.only_once:
                is_known = removal is not None or (
                    claim.kind is ClaimKind.ADDRESS and claim.now
                )  # an address of its own
                rule = f"missing-{claim.kind}" if is_known else "never-there"
                gone = repository.find_gone_directory(claim.name) if rule == "missing-path" else ""
                yield _build_hit(claim, rule, _describe_claim(claim, removal), removal, gone)


def _get_removal(claim: Claim, removals: Mapping[str, "GitRemoval"]) -> "GitRemoval | None":
    removal = removals.get(claim.sought) if claim.sought else claim.removal
    return removal if removal is None or removal.is_definition or not claim.only_defined else None


def _iter_doubtful_claims(path: str, text: str, subject: AuditContext, repository: "Repository") -> Iterator[Claim]:
    """What a note says and no file bears out."""
    subject.check_cancelled()
    if is_dated_note(path) or is_work_note(path) or not _may_make_claim(text):
        return
    counts = dict.fromkeys(ClaimKind, 0)
    seen: set[tuple[ClaimKind, str]] = set()
    for said in iter_claim_lines(text):
        for claim in _iter_line_claims(path, said, subject, repository):
            if (claim.kind, claim.name) in seen:
                continue  # to put it right at one place is to look for it in the whole note
            seen.add((claim.kind, claim.name))
            counts[claim.kind] += 1
            if counts[claim.kind] <= _MOST:
                yield claim


def _iter_line_claims(note: str, said: ClaimLine, subject: AuditContext, repository: "Repository") -> Iterator[Claim]:
    if subject.has_enabled_rule("missing-commit"):
        yield from find_commit_claims(note, said)
    named = find_mentioned_paths(said, repository, subject)
    claims: list[Claim] = []
    if subject.has_enabled_rule("missing-path", "never-there"):
        claims += find_path_claims(note, said, named, repository)
    if subject.has_enabled_rule("missing-symbol", "never-there"):
        claims += find_symbol_claims(note, said, named, repository)
    if subject.has_enabled_rule("missing-address", "never-there"):
        claims += find_address_claims(note, said, named, repository)
    for claim in claims:
        start = claim.start - said.start
        mood = said.get_mood(start, start + len(claim.name))
        is_example = (
            claim.kind is ClaimKind.PATH
            and "/" not in claim.name
            and _get_pattern("example").search(_blank_code_spans(said.text[:start])) is not None
        )
        if not (mood.is_past or is_example):
            yield claim._replace(only_once=claim.only_once or mood.is_plan)


def _describe_claim(claim: Claim, removal: "GitRemoval | None") -> str:
    """What a claim says, and what is known of it."""
    what = f"names {to_one_line(claim.name[:200])}"
    missing = f"which the repository {'no longer has' if removal is not None else 'does not have'}"
    if claim.kind is ClaimKind.ADDRESS and claim.now:
        what = f"leads to {to_one_line(claim.now[:200])}"
    elif claim.kind is ClaimKind.ADDRESS and claim.beside:
        what = f"names {to_one_line(claim.sought)} beside {to_one_line(claim.beside)}"
        missing = f"and no file of the repository does{' any more' if removal is not None else ''}"
    elif claim.kind is ClaimKind.ADDRESS:
        what = f"names port {claim.sought} of this machine"
        missing = f"and no file of the repository does{' any more' if removal is not None else ''}"
    elif claim.kind is ClaimKind.SYMBOL:
        missing = f"which no file of the repository says{' any more' if removal is not None else ''}"
    since = f", since commit {removal.commit} of {_format_commit_day(removal)}" if removal is not None else ""
    where = f"; {to_one_line(claim.now)} has its name" if claim.kind is ClaimKind.PATH and claim.now else ""
    return f"{what}, {missing}{since}{where}"


def _build_hit(claim: Claim, rule: str, words: str, removal: "GitRemoval | None" = None, gone: str = "") -> Hit:
    facts: dict[str, str | int | float] = {claim.kind.value: claim.name[:400]}
    if claim.kind is ClaimKind.PATH and claim.now:
        facts["now"] = claim.now
    if removal is not None:
        facts |= {"gone_in": removal.commit, "gone_on": _format_commit_day(removal)}
    if gone:
        facts[GONE] = gone
    end = claim.start + len(claim.name)
    return Hit(rule, claim.note, words, start=claim.start, end=end, facts=facts)


def _format_commit_day(removal: "GitRemoval") -> str:
    """The day of a commit (UTC); whoever made it may have set any."""
    return datetime.fromtimestamp(min(removal.at, 253_402_300_799), UTC).date().isoformat()
