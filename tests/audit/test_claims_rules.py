"""Claims: what notes say of a repository, compared with one that is made here, and that is hostile at times."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from folders import Folder

from memtui.audit.families import claims
from memtui.audit.repository import Repository
from tests.audit.corpus import clean_notes

FILES = {
    "README.md": "# Shop\n\nRun it, then open http://localhost:8000/.\n",
    "src/shop/__init__.py": "",
    "src/shop/parser.py": "def parse_line(text):\n    return text\n\nclass LineReader:\n    pass\n",
    "src/shop/prices.py": "BASE = 'https://prices.shop.test/v1'\n",
    "docs/guide.md": "Read it.\n",
    "setup.cfg": "[metadata]\n",
}


class Repo:
    """A repository on the disk.

    Args:
        path: Where it is to be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        """What git says."""
        names = {
            f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        environment = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | None]) -> str:
        """Write files, or remove those that are `None`, and give the hash of the commit."""
        for name, text in files.items():
            place = self.path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                place.unlink()
                if not any(place.parent.iterdir()):
                    place.parent.rmdir()
            else:
                place.write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit({**FILES, "src/shop/lexer.py": "def lex_all():\n    pass\n", "tools/old/run.sh": "true\n"})
    repo.commit({"src/shop/lexer.py": None, "tools/old/run.sh": None, "src/shop/core/lexer.py": "def lex_all(): ...\n"})
    return repo


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def found(folder: Folder, repo: Repo | Path, text: str, *rules: str) -> list[tuple[str, str]]:
    """What is found in one note: rule and the words it marks."""
    folder.write({"note.md": text})
    hits = folder.hits(claims, rules=rules, repo=repo.path if isinstance(repo, Repo) else repo)
    return [(hit.rule, text[hit.start : hit.end]) for hit in hits]


def test_without_a_repository_nothing_is_claimed(folder: Folder) -> None:
    folder.write({"note.md": "See `src/shop/none.py`.\n"})
    assert folder.hits(claims) == []


def test_a_path_that_is_gone_is_told_with_where_its_name_is_now(folder: Folder, repo: Repo) -> None:
    folder.write({"note.md": "The lexer is in `src/shop/lexer.py:12`, started by tools/old/run.sh.\n"})
    hits = folder.hits(claims, repo=repo.path)
    assert [hit.words for hit in hits] == [
        "names src/shop/lexer.py, which the repository has no more; src/shop/core/lexer.py has its name",
        "names tools/old/run.sh, which the repository has no more",
    ]
    assert dict(hits[0].facts) == {"path": "src/shop/lexer.py", "now": "src/shop/core/lexer.py"}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Look at src/shop/none.py first.", "src/shop/none.py"),
        ("Look at `./src/shop/none.py`", "src/shop/none.py"),
        ("(docs/none.md)", "docs/none.md"),
        ("the scripts in `tools/old/`", "tools/old/"),
        ("start `run.sh` by hand", "run.sh"),
        ("Do not add to src/shop/lexer.py", "src/shop/lexer.py"),
    ],
)
def test_paths_that_the_repository_lacks_are_found(folder: Folder, repo: Repo, text: str, path: str) -> None:
    assert found(folder, repo, text) == [("missing-path", path)]


@pytest.mark.parametrize(
    "text",
    [
        "`src/shop/parser.py`, `shop/parser.py`, `parser.py`, src/shop/, docs/guide.md and `src/shop/core`",
        "`src/*.py`, `src/{a,b}.py`, src/<name>.py, `src/$X.py`, src/shop/your_module.py and docs/foo.md",
        "https://example.org/src/shop/none.py and [x](src/shop/none.py) and [[src/none]]",
        "/etc/src/none.py, ~/src/none.py, ../src/none.py, lib/none.py, and/or, client/server.py, 1/2.5",
        "`none.py`, `app.none`, `docs/fix-typo`, `origin/main`, src/thing",
        "The lexer was in src/shop/lexer.py. It moved from src/shop/lexer.py.",
        "Create src/shop/orders.py for it. Plan: src/shop/next.py",
        "```\nsrc/shop/none.py\n```",
        "`setup.cfg` and `shop.parser` and `README.md`",
    ],
)
def test_what_is_no_claim_of_a_path_is_passed_over(folder: Folder, repo: Repo, text: str) -> None:
    assert found(folder, repo, text) == []


def test_what_is_there_but_not_tracked_is_there(folder: Folder, repo: Repo) -> None:
    (repo.path / "src/shop/local.py").write_text("")
    assert found(folder, repo, "See src/shop/local.py.") == []


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("`parse_header()` in `src/shop/parser.py`", "parse_header"),
        ("src/shop/parser.py has the class `HeaderReader`", "HeaderReader"),
        ("call `shop.parser.parse_header` for it", "shop.parser.parse_header"),
        ("call `parser.parse_header(text)` for it", "parser.parse_header"),
    ],
)
def test_names_that_no_file_says_are_found(folder: Folder, repo: Repo, text: str, symbol: str) -> None:
    assert found(folder, repo, text) == [("missing-symbol", symbol)]


@pytest.mark.parametrize(
    "text",
    [
        "`parse_line()`, `LineReader` and `shop.parser.parse_line` in `src/shop/parser.py`",
        "`useEffect()` and `json.loads` and `os.path.join_all` are from elsewhere",
        "`parse_header()` was in `src/shop/parser.py`",
        "add `parse_header()` to `src/shop/parser.py`",
        "`make test` with `src/shop/parser.py` and `true` and `None`",
        "`run_everything()` in docs/guide.md",
        "`run_everything()` in src/other/none.md",
    ],
)
def test_what_is_no_claim_of_a_name_is_passed_over(folder: Folder, repo: Repo, text: str) -> None:
    assert found(folder, repo, text, "missing-symbol") == []


def test_commits_that_are_not_there_are_told(folder: Folder, repo: Repo) -> None:
    head = repo.git("rev-parse", "HEAD")
    text = f"Fixed in commit {head[:9]}, broken by commit 0badc0ffee, see `deadbee1` (commit).\nReverts {head}.\n"
    assert found(folder, repo, text) == [("missing-commit", "0badc0ffee"), ("missing-commit", "deadbee1")]


@pytest.mark.parametrize(
    "text",
    [
        "trace `0badc0ffee0badc0ffee0badc0ffee00`, pod 0badc0ffee, `0badc0ffee`",
        "commit 1234567 and commit abcdefa and commit message",
        "commit sha256:0badc0ffee0badc0ffee and https://example.org/commit/0badc0ffee and 0badc0ffee-x.commit",
        "upstream commit 0badc0ffee",
        "commit often; and after more than sixty characters of other things that have to be said: 0badc0ffee",
    ],
)
def test_what_is_no_claim_of_a_commit_is_passed_over(folder: Folder, repo: Repo, text: str) -> None:
    assert found(folder, repo, text) == []


def test_of_a_shallow_clone_no_commit_is_said_to_be_missing(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow"))
    assert found(folder, tmp_path / "shallow", "Fixed in commit 0badc0ffee.\n") == []


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("The server is at http://localhost:9999/admin.", "http://localhost:9999/admin"),
        ("See https://code.example.org/team/shop/blob/main/docs/none.md", None),
        ("`src/shop/prices.py` points at https://old-prices.shop.test/v1", None),
    ],
)
def test_addresses_that_the_repository_does_not_know_are_told(
    folder: Folder, repo: Repo, text: str, address: str | None
) -> None:
    repo.git("remote", "add", "origin", "git@code.example.org:team/shop.git")
    assert found(folder, repo, text) == [("missing-address", address or text[text.index("https") :])]


@pytest.mark.parametrize(
    "text",
    [
        "The server is at http://localhost:8000/admin and https://anything.example.net/x",
        "See https://code.example.org/other/shop/blob/main/docs/none.md",
        "See https://code.example.org/team/shop/blob/main/docs/guide.md#top and .../blob/v1/docs/none.md",
        "See https://code.example.org/team/shop/blob/v1/docs/none.md",
        "`src/shop/prices.py` points at https://prices.shop.test/v1 ; also https://docs.example.net and `README.md`",
    ],
)
def test_what_is_no_claim_of_an_address_is_passed_over(folder: Folder, repo: Repo, text: str) -> None:
    repo.git("remote", "add", "origin", "https://code.example.org/team/shop.git")
    text = text if "prices" not in text else text.partition(" ;")[0]
    assert found(folder, repo, text) == []


def test_notes_of_a_day_and_of_the_past_are_passed_over(folder: Folder, repo: Repo) -> None:
    text = "`src/shop/lexer.py`, commit 0badc0ffee, http://localhost:9999/\n"
    folder.write({"2026-01-03.md": text, "archive/a.md": text, "diary/01-shop.md": text})
    assert folder.hits(claims, repo=repo.path) == []


def test_of_the_notes_of_other_projects_hardly_any_is_taken_for_a_claim(folder: Folder, repo: Repo) -> None:
    notes = clean_notes()
    hits = folder.write(notes).hits(claims, repo=repo.path)
    assert {hit.rule for hit in hits} <= {"missing-path"}
    assert all(str(hit.facts["path"]).startswith(("docs/", "src/")) for hit in hits)  # they may well mean this one
    assert len({hit.path for hit in hits}) < len(notes) / 100


def test_without_git_the_directory_is_walked(folder: Folder, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    for name, text in FILES.items():
        (plain / name).parent.mkdir(parents=True, exist_ok=True)
        (plain / name).write_text(text)
    text = "`src/shop/none.py`, `src/shop/parser.py`, commit 0badc0ffee, `parse_header()` in src/shop/parser.py"
    assert found(folder, plain, text) == [("missing-path", "src/shop/none.py"), ("missing-symbol", "parse_header")]


def test_nothing_that_a_hostile_repository_names_is_run_and_nothing_is_written(
    folder: Folder, repo: Repo, tmp_path: Path
) -> None:
    marker = tmp_path / "was-run"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    for name in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand",
        "diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge", "filter.x.process",
        "gpg.program", "credential.helper", "uploadpack.packObjectsHook", "remote.origin.uploadpack", "pager.log",
        "alias.log", "alias.ls-files", "core.gitProxy", "interactive.diffFilter", "sequence.editor",
    ):  # fmt: skip
        repo.git("config", name, str(program))
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "core.hooksPath", str(tmp_path))
    repo.git("config", "remote.origin.url", f"ext::{program}")
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.partialclonefilter", "blob:none")
    repo.git("config", "core.repositoryformatversion", "1")
    repo.git("config", "extensions.partialClone", "origin")
    (repo.path / ".gitattributes").write_text("* filter=x diff=x\n")
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        (repo.path / ".git/hooks" / hook).write_bytes(program.read_bytes())
        (repo.path / ".git/hooks" / hook).chmod(0o755)
    for path in repo.path.rglob("*.py"):
        os.utime(path, (1, 1))  # git would like to refresh its index
    before = {path: path.lstat().st_mtime_ns for path in [repo.path, *repo.path.rglob("*")]}
    text = "`src/shop/lexer.py`, `parse_header()` in `src/shop/parser.py`\ncommit 0badc0ffee\nhttp://localhost:9999/x\n"
    assert [rule for rule, _ in found(folder, repo, text)] == [
        "missing-path", "missing-symbol", "missing-commit", "missing-address"
    ]  # fmt: skip
    assert not marker.exists()
    assert {path: path.lstat().st_mtime_ns for path in [repo.path, *repo.path.rglob("*")]} == before


def test_a_git_that_lies_in_the_repository_is_not_run(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo.path / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    (repo.path / "git").chmod(0o755)
    monkeypatch.chdir(repo.path)
    monkeypatch.setenv("PATH", ".")
    assert "src/shop/parser.py" in Repository(str(repo.path)).files
    assert not (tmp_path / "was-run").exists()


def test_links_of_a_repository_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "src").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("secret_name = 1\n")
    (root / "src" / "a.py").symlink_to(tmp_path / "outside" / "secret.py")
    (root / "lib").symlink_to(tmp_path / "outside")
    os.mkfifo(root / "src" / "fifo.py")
    repository = Repository(str(root))
    assert "secret_name" not in repository.texts.identifiers
    assert "lib/secret.py" not in repository.files
    assert repository.has("lib/anything.py")
    assert not repository.has("src/none.py")


def test_names_that_are_no_text_are_told_safely(folder: Folder, repo: Repo) -> None:
    (repo.path / os.fsdecode(b"src/\xff\x1b.py")).write_text("")
    repo.git("add", "-A")
    assert os.fsdecode(b"src/\xff\x1b.py") in Repository(str(repo.path)).files
    hits = folder.write({"note.md": "src/shop/lexer.py and `src/shop/\x1b[2J.py`"}).hits(claims, repo=repo.path)
    assert not any("\x1b" in hit.words for hit in hits)


def test_a_git_that_does_not_answer_is_given_up(repo: Repo) -> None:
    repository = Repository(str(repo.path), seconds=0.0)
    assert "src/shop/parser.py" in repository.files
    assert repository.missing_commits({"0badc0ffee"}) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "src/" * 250_000, "`" * 1_000_000, "a." * 500_000, "commit " * 140_000, "src/a.py " * 100_000,
        "0badc0f" * 140_000, "http://localhost:9999/ " * 40_000, "`shop.x` src/shop/parser.py\n" * 30_000,
        "[x](" * 250_000,
    ],
    ids=["slashes", "ticks", "dots", "commits", "paths", "hex", "urls", "symbols", "links"],
)  # fmt: skip
def test_hostile_notes_are_compared_in_passing(folder: Folder, repo: Repo, text: str) -> None:
    folder.write({"a.md": text, "b.md": "\n".join(text[at : at + 1_500] for at in range(0, 200_000, 1_500))})
    began = time.process_time()
    hits = folder.hits(claims, repo=repo.path)
    assert time.process_time() - began < 20
    assert len(hits) <= 1_600


def test_every_rule_needs_a_repository_and_says_what_it_is_for() -> None:
    for rule in claims.RULES:
        assert rule.needs == "--repo DIR"
        assert rule.why.endswith(".")
        assert rule.do.endswith(".")
