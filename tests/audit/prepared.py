"""Folders with one of everything that an audit speaks of, made through the real engine and the real file system.

Each names what must be found, and where. Some things exclude each other, such as a broken chain and no chain: those
have folders of their own. `python -m tests.audit.prepared DIR` makes them, to be looked at by hand.
"""

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import memtui
from memtui import memory as memory_module
from memtui.audit.model import Family
from memtui.audit.registry import RULES
from memtui.audit.rules import orders
from memtui.review import verdicts
from memtui.review.inbox_builder import build_inbox
from memtui.review.marks import Review, ReviewFile
from tests.audit.sessions import Session

CLAUDE = memtui.Agent("Claude", "a-model", "session-1")
OLD = 400 * 86_400
"""Seconds after which a note is stale by any measure."""
WORDS = (
    "deploys go out on tuesdays after the freeze meeting and whoever is on call watches the error rate for an hour "
    "before the next region is told to go ahead with its own release of the same build which the others have had since "
    "the morning"
)
CHANGES: Mapping[str, str] = {
    "another actor": "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'Claude', 'Ada') AS BLOB) "
    "WHERE seq = 2",
    "text": "UPDATE events SET body = CAST(body AS TEXT) || ' ' WHERE seq = 2",
    "no JSON": "UPDATE events SET body = x'7b22ff' WHERE seq = 2",
    "other JSON": "UPDATE events SET body = CAST('[[]]' AS BLOB) WHERE seq = 2",
    "nothing": "DELETE FROM events WHERE seq = 2",
}
"""What somebody may do to a record, as SQL."""


@dataclass
class Prepared:
    """A folder, and what an audit must say of it.

    Attributes:
        folder: The memory folder.
        state: Where its journal is.
        wanted: By the id of each rule, the path at which it must find something; `""` for the folder itself.
        repo: A repository that its notes speak of; `None` if they speak of none.
        settings: The text of a file of settings; empty for none.
        review: A review file; `None` for none.
        home: The person's home directory; `None` for that of the tests.
    """

    folder: Path
    state: Path
    wanted: dict[str, str] = field(default_factory=dict)
    repo: Path | None = None
    settings: str = ""
    review: Path | None = None
    home: Path | None = None

    def put(self, rule: str, path: str, text: str | bytes) -> None:
        """Write a file in which a rule must find something, as somebody would who is not memtui."""
        self.write(path, text)
        self.wanted[rule] = path

    def write(self, path: str, text: str | bytes, *, age: int = 0) -> Path:
        """Write a file, so many seconds ago."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        if age:
            at = time.time() - age
            os.utime(target, (at, at))
        return target

    def record(self) -> None:
        """Let memtui see what is there, and an agent do something in it."""
        with memtui.open(self.folder, state=self.state) as memory:
            assert not memory.execute({"command": "view", "path": "/memories"}, actor=CLAUDE).is_error
            assert memory.execute({"command": "view", "path": "/memories/../etc/passwd"}, actor=CLAUDE).is_error
            answer = memory.execute(
                {"command": "create", "path": "/memories/by-claude.md", "file_text": "Tea without sugar.\n"},
                actor=CLAUDE,
            )
            assert not answer.is_error, answer.text


IN_NAMES = frozenset(
    {"deceptive-name", "mixed-script-name", "spaced-name", "double-extension", "hidden-file", "forbidden-name"}
)
"""Rules whose example is a name."""


def prepare(place: Path) -> list[Prepared]:
    """Make all of them below a directory that is there."""
    return [make(place) for make in makers()]


TEAM = """
[[rules]]
id = "Printer Badge"
description = "A badge of the printers."
regex = '(?i)acme-badge-([0-9a-f]{12})'
keywords = ["acme-badge"]
tags = ["printers"]

[[rules]]
id = "broken"
regex = '(acme'
"""
"""A file of rules: one that finds `BADGE`, and one that cannot be used."""
BADGE = "acme-badge-07d1c4b93e5a"


def everything(place: Path) -> Prepared:
    """One folder with nearly all of it."""
    made = _new(place, "everything")
    _texts(made)
    _names(made)
    _formats(made)
    _upkeep(made)
    _claims(made, place / "repository")
    made.settings = (
        '[audit]\nmax_total_tokens = 500\nstale_days = 180\nrule_files = ["team.toml"]\n\n'
        '[audit.rules]\nnever-there = "on"\nmissing-commit = "on"\nhtml-remark = "on"\n\n'
        '[[audit.exempt]]\nrule = "stale"\npath = "nowhere/**"\nreason = "until the move is done"\nuntil = 2020-01-31\n'
    )
    made.wanted |= {"over-budget": "", "expired-exemption": "", "refused-outside": "", "unused-rules": ""}
    (made.state.parent / "team.toml").write_text(TEAM, encoding="utf-8")
    made.write("secret/team.md", f"The printer on the second floor takes {BADGE} and nothing else.\n")
    _list(made)
    made.record()
    _special(made, place / "elsewhere")
    made.put("outside-change", "scratch.txt", "Somebody wrote this, and nobody told memtui.\n")
    return made


def linked(place: Path) -> Prepared:
    """A folder without an index, in which notes lead to each other, and one is led to by none."""
    made = _new(place, "linked")
    names = ["coffee", "garden", "trains", "bread", "birds", "rivers", "paint", "chess", "maps", "clouds"]
    for number, name in enumerate(names):
        after = names[(number + 1) % len(names)]
        made.write(
            f"{name}.md",
            f"# {name}\n\nNumber {number} of what there is to know of {name}. See [{after}]({after}.md).\n",
        )
    made.put("orphan", "left-alone.md", "# Left alone\n\nNo other note speaks of this one.\n")
    made.record()
    return made


def of_serena(place: Path) -> Prepared:
    """A folder of Serena's, with a note that is longer than its program accepts."""
    made = _new(place, "project/.serena")
    made.put("agent-refuses", "tools.md", "# Tools\n\n" + "A hammer hangs beside the door of the shed.\n" * 3_500)
    made.record()
    return made


def unrecorded(place: Path) -> Prepared:
    """A folder that memtui has never seen."""
    made = _new(place, "unrecorded")
    made.write("notes.md", "# Notes\n\nNothing is wrong in here.\n")
    made.settings = '[audit.rules]\nno-journal = "on"\n'
    made.wanted["no-journal"] = ""
    return made


def tampered(place: Path, how: str = "another actor") -> Prepared:
    """A folder whose record was rewritten by somebody.

    Args:
        place: Where it is made.
        how: One of `CHANGES`.
    """
    made = _new(place, "tampered")
    made.write("notes.md", "# Notes\n\nNothing is wrong in here.\n")
    made.record()
    with sqlite3.connect(made.state / memory_module.JOURNAL) as journal:
        for (trigger,) in journal.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            journal.execute(f'DROP TRIGGER "{trigger}"')
        journal.execute(CHANGES[how])
        assert journal.total_changes == 1
    journal.close()
    made.wanted["chain-broken"] = ""
    return made


def replaced(place: Path) -> Prepared:
    """A folder whose record was thrown away after a review, and begun anew."""
    made = _new(place, "replaced")
    made.write("notes.md", "# Notes\n\nNothing is wrong in here.\n")
    made.record()
    made.review = place / "replaced" / "review.json"
    with memory_module.observe(made.folder, state=made.state) as observer:
        changes = build_inbox(observer, Review())
        ReviewFile(made.review).add(verdicts.end_review(changes, reviewer="ada", head=verdicts.get_head(observer)))
    shutil.rmtree(made.state)
    made.record()
    made.wanted["head-gone"] = ""
    return made


def repaired(place: Path) -> Prepared:
    """A folder with a note that somebody edited together with its row in the record, which was found out since."""
    made = _new(place, "repaired")
    made.record()
    with sqlite3.connect(made.state / memory_module.JOURNAL) as journal:
        journal.execute("UPDATE known SET sha256 = x'00'")
    journal.close()
    memtui.open(made.folder, state=made.state).close()
    made.wanted["record-repaired"] = ""
    return made


def misled(place: Path) -> Prepared:
    """A folder whose agent obeyed what it read, and into which an agent wrote whom nobody knows."""
    made = _new(place, "misled")
    made.home = place / "misled" / "home"
    order, instruction = (RULES[rule].bad.strip() for rule in ("copied-order", "copied-instruction"))
    with memtui.open(made.folder, state=made.state) as memory:
        session = Session(made.home, memory)
        session.ask("How is it deployed?")
        session.call("WebFetch", f"{order}\n{instruction}", url="https://docs.example.org/setup")
        session.remember(order, "copied.md")
        session.remember(instruction, "instruction.md")
        session.remember(
            RULES["order-after-reading"].bad.replace("collect.", "logs.").replace("deployment", "build"), "after.md"
        )
        for number in range(10):
            session.remember("Nothing to see.", f"note-{number}.md")
        stranger = memtui.Agent("Stranger", "a-model", "another")
        command = {"command": "create", "path": "/memories/stranger.md", "file_text": order}
        assert not memory.execute(command, actor=stranger).is_error
    made.wanted |= {
        "copied-order": "copied.md",
        "copied-instruction": "instruction.md",
        "order-after-reading": "after.md",
        "order-by-stranger": "stranger.md",
    }
    return made


def unreadable(place: Path) -> Prepared:
    """A folder with a note that nobody may read; the superuser may, unless it gives that up."""
    made = _new(place, "unreadable")
    made.record()
    made.put("unreadable", "locked.md", "Nobody is to know.\n")
    (made.folder / "locked.md").chmod(0)
    return made


def clean(place: Path, notes: Mapping[str, str]) -> Prepared:
    """A folder in which nothing is wrong, written by an agent through memtui."""
    made = _new(place, "clean")
    with memtui.open(made.folder, state=made.state) as memory:
        for path, text in notes.items():
            command = {"command": "create", "path": f"/memories/{path}", "file_text": text}
            answer = memory.execute(command, actor=CLAUDE)
            assert not answer.is_error, answer.text
    return made


def _new(place: Path, name: str) -> Prepared:
    made = Prepared(place / name / "memories", place / name / "state")
    made.folder.mkdir(parents=True)
    return made


def _texts(made: Prepared) -> None:
    """A note for each rule about what stands in one, in the words of the rule's own example."""
    for rule in RULES.values():
        if rule in orders.RULES or rule.id in {*IN_NAMES, "twin-names"}:
            continue
        if rule.family in (Family.SECRET, Family.HIDDEN, Family.PLANTED):
            path = f"{rule.family.value}/{rule.id}.md"
            made.put(rule.id, path, f"# About {rule.title}\n\n{rule.bad}\n")


def _names(made: Prepared) -> None:
    for rule in IN_NAMES & set(RULES):
        made.put(rule, f"names/{rule}/{RULES[rule].bad}", f"What is wrong with this is its name: {rule}.\n")
    made.write("names/twins/Plans.md", "The first of two, as a file system sees it.\n")
    made.put("twin-names", "names/twins/plans.md", "And the second one, for whoever looks closely.\n")


def _formats(made: Prepared) -> None:
    made.put("not-utf8", "formats/latin.md", "caf\xe9\n".encode("latin-1"))
    made.put("broken-json", "formats/status.json", '{"phase": "build", "open": ["a", "b"}\n')
    made.put("broken-xml", "formats/todo.xml", "<todo><item>call home</todo>\n")
    made.put("xml-entity", "formats/entities.xml", RULES["xml-entity"].bad)
    made.put("broken-toml", "formats/settings.toml", RULES["broken-toml"].bad)
    made.put("broken-yaml", "formats/team.yaml", "team:\n  - ada\n - grace\n")
    made.put("broken-front-matter", "formats/feedback.md", "---\nname: feedback\ntags: [a, b\n\nIt is never closed.\n")
    made.put("over-limit", "formats/large.log", b"0123456789 and so on\n" * 60_000)


def _upkeep(made: Prepared) -> None:
    made.write("upkeep/old.md", "# The move\n\nBoxes are in the cellar.\n", age=OLD)
    made.wanted["stale"] = "upkeep/old.md"
    made.write("upkeep/first.md", f"# Releases\n\n{WORDS}.\n")
    made.put("duplicate", "upkeep/second.md", f"# Releases\n\n{WORDS}.\n")
    made.put("near-duplicate", "upkeep/third.md", f"# Releases\n\n{WORDS.replace('hour', 'minute')}.\n")
    made.put("contradiction", "user_preferences.md", "- Timezone: Europe/Berlin\n- Timezone: America/New_York\n")
    made.put("dead-link", "upkeep/steps.md", "For the steps see [deploying](deploynig.md).\n")
    made.put(
        "long-note", "upkeep/long.md", "".join(f"Line {number} of a very long story.\n" for number in range(3_000))
    )
    made.put("empty-note", "upkeep/empty.md", "\n\n")
    schema = "---\ntype: schema\nentity: task\nschema:\n  status(enum): [open, done]\n---\n\nWhat a task has.\n"
    made.write("upkeep/task-schema.md", schema)
    made.put("schema-mismatch", "upkeep/task.md", "---\ntype: task\n---\n\n- [status] someday\n")
    entries = "".join(f"- Entry {number} of the index says something else\n" for number in range(210))
    made.put("long-index", "MEMORY.md", f"# Memory\n\n- [Gone](gone-long-ago.md)\n- [All](all.md)\n{entries}")
    made.wanted["index-entry-missing"] = "MEMORY.md"
    made.wanted["not-in-index"] = "upkeep/steps.md"


def _list(made: Prepared) -> None:
    """A note that leads to all others but one, so that no more than this one is found by nobody."""
    paths = sorted(str(path.relative_to(made.folder)) for path in made.folder.rglob("*") if path.is_file())
    plain = [path for path in paths if path.isascii() and path.isprintable() and not set(path) & set(" ()<>[]`")]
    lines = "".join(f"- [{path}]({path})\n" for path in plain if path != made.wanted["not-in-index"])
    made.write("all.md", f"# All notes\n\n{lines}- [by-claude.md](by-claude.md)\n")


def _claims(made: Prepared, repo: Path) -> None:
    """A repository, and notes that say of it what is no longer so."""
    (repo / "src").mkdir(parents=True)
    once = "HOME = 'http://localhost:9999/'\n\n\ndef parse_header():\n    pass\n"
    (repo / "src" / "parser.py").write_text(once)
    (repo / "src" / "lexer.py").write_text("def split():\n    pass\n")
    _git(repo, "init", "--quiet", "--initial-branch=main")
    _git(repo, "add", ".")
    _git(repo, "commit", "--quiet", "--message=first")
    (repo / "src" / "lexer.py").unlink()
    (repo / "src" / "parser.py").write_text(once.replace("9999", "8000").replace("parse_header", "parse_line"))
    _git(repo, "add", ".")
    _git(repo, "commit", "--quiet", "--message=second")
    made.repo = repo
    made.put("missing-path", "claims/path.md", "The tokens come from `src/lexer.py` and are read twice.\n")
    made.put("missing-symbol", "claims/symbol.md", "`parse_header()` in `src/parser.py` reads the first line.\n")
    made.put("missing-commit", "claims/commit.md", "The parser is fast since commit 0badc0ffee.\n")
    made.put("never-there", "claims/never.md", "The words come from `src/words.py` in order.\n")
    made.put("missing-address", "claims/address.md", "The server listens at http://localhost:9999/ all day.\n")


def _special(made: Prepared, elsewhere: Path) -> None:
    """What is no file, and files that have another name somewhere else."""
    elsewhere.mkdir()
    (elsewhere / "outside.md").write_text("This is outside of the folder.\n")
    places = made.folder / "places"
    places.mkdir()
    (places / "out.md").symlink_to(elsewhere / "outside.md")
    (places / "nowhere.md").symlink_to("not-there.md")
    os.mkfifo(places / "pipe")
    os.link(elsewhere / "outside.md", places / "shared.md")
    made.wanted |= {
        "link-leaves": "places/out.md",
        "dangling-link": "places/nowhere.md",
        "special-file": "places/pipe",
        "hard-link": "places/shared.md",
    }
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(places)  # a socket's path may have no more than 107 bytes
        try:
            server.bind("socket")
        finally:
            os.chdir(here)


def _git(repo: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "ada@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(repo), "GIT_CONFIG_NOSYSTEM": "1", **who}
    subprocess.run(["git", *words], cwd=repo, env=environment, check=True)


def without_git() -> bool:
    """Whether the repository cannot be made here."""
    return shutil.which("git") is None


def makers() -> Iterator[Callable[[Path], Prepared]]:
    """What makes each folder."""
    yield from (everything, linked, of_serena, unrecorded, tampered, replaced, repaired, misled, unreadable)


if __name__ == "__main__":
    for each in prepare(Path(sys.argv[1])):
        sys.stdout.write(f"{each.folder}  --state {each.state}  {len(each.wanted)} wanted\n")
