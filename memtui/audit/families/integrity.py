"""Whether a folder and its record are whole: what memtui did not record, what leads elsewhere, what cannot be read."""

from collections.abc import Iterator

from memtui.audit.findings import Family, Hit, Severity
from memtui.audit.outside import outside_changes
from memtui.audit.rule import Rule
from memtui.audit.subject import Note, Other, Subject
from memtui.core.errors import Refusal
from memtui.core.listing import human_size
from memtui.core.messages import Message
from memtui.core.paths import MAX_LEVELS, ROOT_NAME, parse
from memtui.core.refusals import reason
from memtui.core.snapshot import Kind
from memtui.core.visible import one_line
from memtui.engine import Source
from memtui.notes.broken import broken
from memtui.notes.kinds import format_of
from memtui.notes.naming import oddities

_REFUSED = b'"result":"refused"'
_PAGE = 2_000
_SHARE_OF_NUL = 4
"""Where more than one character of so many is NUL, the text is of another encoding."""
_FEWEST_WIDE = 16
_SHOWN = 3
_BINARY = frozenset(
    {
        "png",
        "jpg",
        "jpeg",
        "gif",
        "webp",
        "avif",
        "heic",
        "bmp",
        "ico",
        "tiff",
        "pdf",
        "zip",
        "gz",
        "tgz",
        "xz",
        "bz2",
        "zst",
    }
    | {"7z", "tar", "db", "sqlite", "sqlite3", "mp3", "mp4", "m4a", "wav", "ogg", "webm", "mov", "woff", "woff2", "ttf"}
    | {"otf", "docx", "xlsx", "pptx", "odt", "epub", "pyc", "bin", "ds_store", "npy", "npz", "parquet", "pkl", "swp"}
)
"""Endings of files that are no text, and need not be."""


def _rule(id: str, severity: Severity, title: str, *, why: str, do: str, bad: str, good: str) -> Rule:
    return Rule(id=id, family=Family.INTEGRITY, severity=severity, title=title, why=why, do=do, bad=bad, good=good)


RULES: tuple[Rule, ...] = (
    _rule(
        "outside-change",
        Severity.WARN,
        "changes that memtui has not recorded",
        why="Somebody changed the note without telling: nobody knows who, why, and whether anybody approved.",
        do="Read what was changed. Accept it in a review, or put the earlier text back.",
        bad="a note that a script has written",
        good="a note that an agent has written with its memory tool",
    ),
    _rule(
        "chain-broken",
        Severity.FAIL,
        "a record that is not what was recorded",
        why="The chain of hashes does not hold: events were changed, removed or put in, and what the record says of "
        "who did what cannot be believed.",
        do="Run memtui verify for all that is wrong, and find out who could write to the record.",
        bad="an event that does not match its hash",
        good="a journal of which memtui verify says Intact",
    ),
    _rule(
        "no-journal",
        Severity.WARN,
        "a folder without a record",
        why="Without a record nobody can say who wrote what and when, and nothing that was removed can be seen.",
        do="Let the agents work through memtui, or name the record: --journal FILE.",
        bad="a folder that memtui never had open",
        good="a folder with its journal",
    ),
    _rule(
        "head-gone",
        Severity.FAIL,
        "a record that does not go on from the last review",
        why="The head of the chain that a reviewer noted is not in this record: it was cut off, rewritten, or replaced "
        "by another one.",
        do="Find the record that the review was made of, and what became of it.",
        bad="a journal that was deleted after a review",
        good="a journal that went on after a review",
    ),
    _rule(
        "refused-outside",
        Severity.INFO,
        "calls that tried to leave the folder",
        why="An agent that names paths outside its folder is mistaken, or was told to.",
        do="Look at the calls in the log, and at what the agent had read before.",
        bad="view /memories/../etc/passwd",
        good="view /memories/notes.md",
    ),
    _rule(
        "link-leaves",
        Severity.FAIL,
        "links that lead out of the folder",
        why="Whoever follows the link reads or writes a file that is no memory. memtui follows none of them; other "
        "programs do.",
        do="Remove the link.",
        bad="notes -> /etc",
        good="notes -> archive/2026",
    ),
    _rule(
        "dangling-link",
        Severity.WARN,
        "links that lead to nothing",
        why="Whoever writes to such a link makes a file where it points.",
        do="Remove the link, or put its target back.",
        bad="notes.md -> gone.md",
        good="notes.md -> archive/notes.md",
    ),
    _rule(
        "special-file",
        Severity.WARN,
        "FIFOs, sockets and devices",
        why="A program that opens one waits for ever, or speaks to another program; no note is one.",
        do="Remove it.",
        bad="a FIFO",
        good="a file",
    ),
    _rule(
        "hard-link",
        Severity.WARN,
        "files with a second name",
        why="The file has another name, perhaps outside the folder: whoever writes there changes the note unseen.",
        do="Copy the file and put the copy in its place.",
        bad="a file that ln made a second name of",
        good="a file with one name",
    ),
    _rule(
        "forbidden-name",
        Severity.WARN,
        "names that no agent may make",
        why="Control codes, backslashes, bytes that are not UTF-8 and encoded dots make a name read as another path.",
        do="Rename the file.",
        bad="%2e%2e",
        good="100%.md",
    ),
    _rule(
        "not-utf8",
        Severity.WARN,
        "texts that are not UTF-8",
        why="Agents cannot read the file, and what it says is not looked at by any rule.",
        do="Convert it to UTF-8, or move it out of the folder.",
        bad=r"caf\xe9",
        good="café",
    ),
    _rule(
        "broken-json",
        Severity.WARN,
        "JSON that cannot be read",
        why="Programs that read the file fail, or fall back to something else.",
        do="Mend it at the place that is named.",
        bad='{"a": }',
        good='{"a": 1}',
    ),
    _rule(
        "broken-yaml",
        Severity.WARN,
        "YAML that cannot be read",
        why="Programs that read the file fail, or fall back to something else.",
        do="Mend it at the place that is named; values with a colon need quotes.",
        bad="a: [1",
        good="a: [1]",
    ),
    _rule(
        "broken-toml",
        Severity.WARN,
        "TOML that cannot be read",
        why="Programs that read the file fail, or fall back to something else.",
        do="Mend it at the place that is named.",
        bad="a = ",
        good="a = 1",
    ),
    _rule(
        "broken-xml",
        Severity.WARN,
        "XML that cannot be read",
        why="Programs that read the file fail, or fall back to something else.",
        do="Mend it at the place that is named; & and < in texts are written &amp; and &lt;.",
        bad="<a><b></a>",
        good="<a><b/></a>",
    ),
    _rule(
        "xml-entity",
        Severity.WARN,
        "XML that declares entities",
        why="Readers that expand entities can be made to read other files, or to fill their memory.",
        do="Write the text itself, without entities.",
        bad='<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        good="<a>c</a>",
    ),
    _rule(
        "broken-front-matter",
        Severity.WARN,
        "front matter that cannot be read",
        why="The name, type and description of the note are not found, so it may not be loaded when it should be.",
        do="Mend it at the line that is named; values with a colon need quotes.",
        bad="---\nname: a: b\n---\n",
        good='---\nname: "a: b"\n---\n',
    ),
    _rule(
        "over-limit",
        Severity.WARN,
        "files and folders over their limits",
        why="Agents cannot write what is over a limit, and no more than the limit may be looked at.",
        do="Split the file, clean the folder up, or raise the limit in the settings.",
        bad="a file of 1.5 MB",
        good="a file of 4 KB",
    ),
    _rule(
        "unreadable",
        Severity.WARN,
        "files that cannot be read",
        why="Nothing is known of what it holds: no rule has looked at it.",
        do="Give whoever audits the right to read it, or move it out of the folder.",
        bad="a file of mode 000",
        good="a file that its group may read",
    ),
)


def in_note(note: Note, subject: Subject) -> Iterator[Hit]:
    """What is wrong with one file."""
    if note.data is None:
        yield _at(note.path, "unreadable", _clause(note.problem) or "it cannot be read")
    elif note.text is None:
        yield from _not_utf8(note.path, note.data)
    elif _looks_wide(note.text):
        yield _at(note.path, "not-utf8", "no text: it looks like UTF-16 without its mark", byte=1, line=1)
    else:
        for spot in broken(note.text, note.path):
            yield Hit(rule=spot.rule, path=note.path, words=spot.words, start=spot.start, end=spot.end)
    limit = subject.memory.max_file_bytes
    if limit and note.size > limit:
        words = f"it has {human_size(note.size)}, and {human_size(limit)} are the limit of a file"
        yield _at(note.path, "over-limit", words, bytes=note.size, limit=limit)
    if note.links > 1:
        names = f"{note.links} names" if note.links > 2 else "a second name"
        yield _at(note.path, "hard-link", f"the file has {names} on its file system", links=note.links)


def _looks_wide(text: str) -> bool:
    """Whether a text that can be read as UTF-8 is one of two bytes for each character."""
    return len(text) >= _FEWEST_WIDE and text.count("\0") * _SHARE_OF_NUL > len(text)


def _not_utf8(path: str, data: bytes) -> Iterator[Hit]:
    name = path.rpartition("/")[2].lower()
    if format_of(path) in _BINARY or name == ".ds_store":
        return
    kind = format_of(path)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "UTF-32" if data.startswith(b"\xff\xfe\0\0") else "UTF-16"
        yield _at(path, "not-utf8", f"no UTF-8 text: it looks like {encoding}", byte=1, line=1)
        return
    if kind not in _TEXTS and b"\x00" in data[:8_000]:
        return  # a program's own file
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        words = f"no UTF-8 text: \\x{data[error.start]:02x} at byte {error.start + 1:,}, in line {line:,}"
        yield _at(path, "not-utf8", words, byte=error.start + 1, line=line)


_TEXTS = frozenset({"md", "txt", "json", "jsonl", "yaml", "toml", "xml", "html", "csv", "tsv"})


def across(subject: Subject) -> Iterator[Hit]:
    """What is wrong with the folder as a whole, and with its record."""
    for other in subject.others.values():
        yield from _other(other)
    yield from _names(subject)
    yield from _limits(subject)
    yield from _record(subject)


def _other(other: Other) -> Iterator[Hit]:
    target = f"“{one_line(other.target)}”"
    if other.kind is Kind.LINK and other.leaves:
        yield _at(other.path, "link-leaves", f"a link out of the folder, to {target}", target=other.target)
    elif other.kind is Kind.LINK and other.is_dangling:
        words = f"a link to {target}, where nothing is" if not other.problem else f"a link to {target}: "
        yield _at(other.path, "dangling-link", words + _clause(other.problem), target=other.target)
    elif other.problem:
        yield _at(other.path, "unreadable", _clause(other.problem))
    elif other.kind is Kind.OTHER:
        yield _at(other.path, "special-file", f"{other.what or 'something that is no file'}, and no note")


def _names(subject: Subject) -> Iterator[Hit]:
    """Names that the engine would let no agent make; those that only deceive the eye are told by another family."""
    for path in (*subject.notes, *subject.others):
        name = path.rpartition("/")[2]
        try:
            parse(f"{ROOT_NAME}/{name}", making=True)
        except Refusal as refusal:
            if any(oddity.rule == "deceptive-name" for oddity in oddities(name)):
                continue
            what = {
                Message.ESCAPES: "the name reads as another path once it is decoded",
                Message.NAME_TOO_LONG: "the name is longer than 255 bytes",
            }.get(refusal.message, "the name holds a character that is not allowed")
            yield _at(path, "forbidden-name", f"{what}: “{one_line(name)}”")


def _limits(subject: Subject) -> Iterator[Hit]:
    memory = subject.memory
    total = sum(note.size for note in subject.notes.values())
    if memory.max_total_bytes and total > memory.max_total_bytes:
        words = f"the folder has {human_size(total)}, and {human_size(memory.max_total_bytes)} are its limit"
        yield _at("", "over-limit", words, "bytes", bytes=total, limit=memory.max_total_bytes)
    files = len(subject.notes)
    if memory.max_files and files > memory.max_files:
        words = f"the folder has {files:,} files, and {memory.max_files:,} are its limit"
        yield _at("", "over-limit", words, "files", files=files, limit=memory.max_files)
    for path in (*subject.notes, *subject.others):
        levels = path.count("/") + 1
        if levels == MAX_LEVELS + 1:  # what is further down is not told again
            words = (
                f"it is {levels} levels deep, and {MAX_LEVELS} are the limit: no agent can name it, or what is below it"
            )
            yield _at(path, "over-limit", words, levels=levels)


def _record(subject: Subject) -> Iterator[Hit]:
    """What is wrong with the record, and what it tells."""
    recorded = subject.observer.recorded
    if not subject.on_disk and not recorded.is_damaged and (recorded.source is Source.NONE or subject.notes):
        words = _clause(recorded.problem) or "nothing was recorded of this folder before"
        yield _at("", "no-journal", words)
    if subject.wants("chain-broken") and subject.chain.state == "broken":
        yield _at("", "chain-broken", f"the record is {subject.chain.words}")
    yield from _head(subject)
    since = (subject.inbox.since or None) if subject.inbox is not None else None
    if subject.wants("outside-change"):
        yield from outside_changes(subject, since)
    if subject.wants("refused-outside"):
        yield from _refused(subject, since or 0)


def _head(subject: Subject) -> Iterator[Hit]:
    """Whether the record still holds what the last reviewer saw of it."""
    marks = [mark for mark in subject.inbox.marks if mark.head] if subject.inbox is not None else []
    if not marks:
        return
    mark = max(marks, key=lambda mark: mark.at_us)
    by = f"which {one_line(mark.reviewer)} noted" if mark.reviewer else "which a reviewer noted"
    if mark.seq > subject.on_disk:
        words = f"event {mark.seq:,}, {by}, is not in the record, which ends with event {subject.on_disk:,}"
    else:
        event = subject.observer.history.event(mark.seq) if mark.seq else None
        if not mark.seq or (event is not None and event.hash.startswith(mark.head)):
            return
        words = f"event {mark.seq:,} is not the one {by}: the record was rewritten, or replaced by another one"
    yield _at("", "head-gone", words, f"{mark.seq} {mark.head}", seq=mark.seq)


def _refused(subject: Subject, after: int) -> Iterator[Hit]:
    """Calls that named places outside the folder, together."""
    history = subject.observer.history
    count, last = 0, 0
    shown: list[str] = []
    while page := history.bodies(after, limit=_PAGE):
        for number, body in page:
            if _REFUSED not in body or number > subject.on_disk:
                continue
            event = history.event(number)
            if event is None or reason(event) != "outside /memories":
                continue
            count, last = count + 1, number
            if len(shown) < _SHOWN and (path := one_line(event.path[:200])) not in shown:
                shown.append(path)
        after = page[-1][0]
    if count:
        calls = "1 call" if count == 1 else f"{count:,} calls"
        words = f"{calls} tried to leave the folder: {', '.join(f'“{path}”' for path in shown)}"
        yield _at("", "refused-outside", words, f"{last}", calls=count, seq=last)


def _at(path: str, rule: str, words: str, identity: str | None = None, **facts: str | int) -> Hit:
    """A finding about a file as a whole."""
    safe = {name: one_line(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
    return Hit(rule=rule, path=path, words=words, evidence="", facts=safe, identity=identity or path)


def _clause(sentence: str) -> str:
    """A sentence as a part of another one."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")
