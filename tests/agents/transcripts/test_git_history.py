"""What the commits of a memory folder say of its notes, and what becomes of it in the journal."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import memtui
from memtui.agents.transcripts.git_history import NoRepository, scan_commits
from memtui.cli import main


class Repository:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "-b", "main")

    def git(self, *words: str, name: str = "Letta", at: int = 1_790_000_000) -> str:
        named = {"NAME": name, "EMAIL": "letta@example.org", "DATE": f"{at} +0000"}
        given = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in named.items()}
        run = subprocess.run(
            ["git", "-C", str(self.path), *words],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **given},
        )
        return run.stdout.strip()

    def commit(self, message: str, notes: dict[str, str | bytes] | None = None, **by: object) -> str:
        for path, text in (notes or {}).items():
            (self.path / path).parent.mkdir(parents=True, exist_ok=True)
            (self.path / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "--allow-empty", "-m", message, **by)  # type: ignore[arg-type]
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    (tmp_path / "memory").mkdir()
    return Repository(tmp_path / "memory")


def test_each_change_is_told_with_its_author_time_reason_and_texts(repository: Repository) -> None:
    first = repository.commit("Learned a name\n\nmore", {"a.md": "one\n", "deep/ü b.md": "deep\n"})
    second = repository.commit('It is "two"', {"a.md": "two\n"}, name="Ada", at=1_790_000_060)
    repository.git("mv", "deep/ü b.md", "c.md")
    repository.git("rm", "-q", "a.md")
    third = repository.commit("Tidy")
    scan = scan_commits(str(repository.path))
    assert scan.lines == 3
    told = [(each.path, each.agent.name, each.call_id, each.before, each.after, each.is_gone) for each in scan.writes]
    assert told == [
        ("a.md", "Letta", first, None, b"one\n", False),
        ("deep/ü b.md", "Letta", first, None, b"deep\n", False),
        ("a.md", "Ada", second, b"one\n", b"two\n", False),
        ("a.md", "Letta", third, b"two\n", None, True),
        ("deep/ü b.md", "Letta", third, b"deep\n", None, True),
        ("c.md", "Letta", third, None, b"deep\n", False),
    ]
    assert scan.writes[2].origin == f'commit {second[:12]} "It is "two""'
    assert scan.writes[2].at_us == 1_790_000_060_000_000
    assert (scan.writes[4].moved_to, scan.writes[5].moved_from) == ("c.md", "deep/ü b.md")


def test_merges_links_and_texts_that_are_too_large_are_not_told_as_notes(repository: Repository) -> None:
    repository.commit("begin", {"a.md": "one\n"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit("side", {"b.md": "side\n"})
    repository.git("checkout", "-q", "main")
    (repository.path / "link.md").symlink_to("a.md")
    repository.commit("here", {"large.md": "x" * 1_000_001})
    repository.git("merge", "-q", "--no-edit", "side")
    told = {each.path: each.after for each in scan_commits(str(repository.path)).writes}
    assert told == {"a.md": b"one\n", "b.md": b"side\n", "large.md": None}


def test_hostile_settings_of_the_repository_run_nothing_and_change_nothing(
    repository: Repository, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    repository.commit("a", {"a.md": "one\n", ".gitattributes": "*.md diff=evil filter=evil\n"})
    repository.commit("\x01:100644 sneaky\x1b[2J", {"a.md": "two\n"})
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "filter.evil.smudge"):
        repository.git("config", key, f"touch {mark}")
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "diff.noprefix", "true")
    told = [each.after for each in scan_commits(str(repository.path)).writes if each.path == "a.md"]
    assert told == [b"one\n", b"two\n"]
    assert not mark.exists()


@pytest.mark.parametrize("kind", ["none", "broken", "above", "without a commit"])
def test_a_folder_that_is_no_repository_is_told_so(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "memory"
    place.mkdir()
    if kind == "above":
        Repository(tmp_path)
    elif kind == "broken":
        (place / ".git").write_text("gitdir: /nowhere\n")
    elif kind == "without a commit":
        Repository(place)
    with pytest.raises(NoRepository):
        scan_commits(str(place))


def test_imported_once_it_is_history_and_origin(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = repository.commit("Learned a name", {"a.md": "one\n"})
    repository.git("mv", "a.md", "b.md")
    repository.commit("Moved", name="Ada")
    words = ["--dir", str(repository.path), "--state", str(tmp_path / "state"), "--no-config"]
    assert main(["import-transcripts", "--git", "--dry-run", *words]) == 0
    assert "Would import 2 writes and 1 removal of 2 notes, from 2 commits." in capsys.readouterr().out
    assert main(["import-transcripts", "--git", *words]) == 0
    capsys.readouterr()
    assert main(["import-transcripts", "--git", *words]) == 0
    assert "all 3 changes in 2 commits were imported before" in capsys.readouterr().out
    assert main(["origin", "b.md", "--json", *words]) == 0
    (line,) = json.loads(capsys.readouterr().out)["lines"]
    assert commit[:12] in json.dumps(line)
    with memtui.open(repository.path, state=tmp_path / "state") as engine:
        notes = [event.note for event in engine.events(0) if event.command == "imported"]
    assert set(notes) == {"git commit, from the folder's repository"}
    assert main(["import-transcripts", "--git", "a.jsonl", *words]) == 2
    assert "--git goes with no FILE" in capsys.readouterr().err
