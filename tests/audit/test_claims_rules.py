"""Claims: what notes say of a repository, compared with one that is made here, and that is hostile at times."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from folders import Folder

import memtui
from memtui.audit.model import Severity
from memtui.audit.repository import Repository
from memtui.audit.rules import claims
from memtui.audit.runner import run_audit
from memtui.fs.git import GitRunner
from tests.audit.corpus import clean_notes
from tests.bench.limits import at_most

FILES = {
    "README.md": "# Shop\n\nRun it, then open http://localhost:8000/.\n",
    "src/shop/__init__.py": "",
    "src/shop/parser.py": "def parse_line(text):\n    return text\n\nclass LineReader:\n    pass\n",
    "src/shop/prices.py": "BASE = 'https://prices.shop.test/v1'\n",
    "docs/guide.md": "Read it.\n",
    "setup.cfg": "[metadata]\n",
}

ONCE = {
    "src/shop/lexer.py": "def lex_all():\n    pass\n",
    "src/shop/parser.py": (
        "def parse_line(text):\n    return text\n\ndef parse_header(text):\n    return split_all(text)\n\n"
        "class HeaderReader:\n    pass\n\nclass LineReader:\n    pass\n"
    ),
    "src/shop/prices.py": "BASE = 'https://old-prices.shop.test/v1'\nADMIN = 'http://localhost:9999/'\n",
    "tools/old/run.sh": "true\n",
    "data/gta.dat": "1\n",
    "build/app.js": "1\n",
}
"""What it had once, where it is not as it is now."""
NOW = {name: FILES[name] for name in ONCE if name in FILES} | {".gitignore": "build/\n*.log\n"}


class Repo:
    """A repository on the disk.

    Args:
        path: Where it is to be.
        options: How git makes it.
    """

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main", *options)

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
    repo.commit({**FILES, **ONCE})
    repo.commit({**dict.fromkeys(ONCE), **NOW, "src/shop/core/lexer.py": "def lex_all(): ...\n"})
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
    commit = repo.git("rev-parse", "--short", "HEAD")
    day = repo.git("log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d")
    since = f"which the repository no longer has, since commit {commit} of {day}"
    assert [hit.words for hit in hits] == [
        f"names src/shop/lexer.py, {since}; src/shop/core/lexer.py has its name",
        f"names tools/old/run.sh, {since}",
    ]
    assert dict(hits[0].facts) == {
        "path": "src/shop/lexer.py", "now": "src/shop/core/lexer.py", "gone_in": commit, "gone_on": day
    }  # fmt: skip


def test_the_highest_directory_that_went_away_is_named(folder: Folder, repo: Repo) -> None:
    repo.commit({"lib/io/old/a.py": "a\n", "lib/io/old/deep/b.py": "b\n", "lib/io/c.py": "c\n"})
    repo.commit(dict.fromkeys(("lib/io/old/deep/b.py", "lib/io/old/a.py")))
    folder.write({"note.md": "`lib/io/old/deep/b.py`, `old/a.py`, `lib/io/old/` and `src/shop/lexer.py`\n"})
    gone = [hit.facts.get("gone_directory") for hit in folder.hits(claims, repo=repo.path)]
    assert gone == ["lib/io/old", "lib/io/old", "lib/io/old", None]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Look at src/shop/lexer.py first.", "src/shop/lexer.py"),
        ("Look at `./src/shop/lexer.py`", "src/shop/lexer.py"),
        ("(src/shop/lexer.py)", "src/shop/lexer.py"),
        ("It is in **src/shop/lexer.py** and nowhere else", "src/shop/lexer.py"),
        ("`src/shop/lexer.py:12-20`", "src/shop/lexer.py"),
        ("`src/shop/lexer.py::test_all[1]`", "src/shop/lexer.py"),
        ("`src/shop/lexer.py (lines 3-9)`", "src/shop/lexer.py"),
        (r"`src\shop\lexer.py`", r"src\shop\lexer.py"),
        ("see [the lexer](../src/shop/lexer.py#L12) first", "src/shop/lexer.py"),
        ("see `shop/lexer.py`, without where the code is", "shop/lexer.py"),
        ("| File | What |\n|---|---|\n| `src/shop/lexer.py` | splits |", "src/shop/lexer.py"),
        ("It was slow. `src/shop/lexer.py` has the tokens; it will be faster.", "src/shop/lexer.py"),
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
        "https://example.org/src/shop/lexer.py and [x](src/shop/none.py) and [[src/shop/lexer.py]]",
        "/etc/src/none.py, ~/src/none.py, ../src/none.py, lib/none.py, and/or, client/server.py, 1/2.5",
        "`none.py`, `app.none`, `docs/fix-typo`, `origin/main`, src/thing",
        "The lexer was in src/shop/lexer.py. It moved from src/shop/lexer.py.",
        "`src/shop/lexer.py` → `src/shop/core/lexer.py` and ~~src/shop/lexer.py~~",
        "## Removed files\n\n### One\n\n- `src/shop/lexer.py`",
        "These are gone:\n\n- `src/shop/lexer.py`\n- `tools/old/`",
        "- Deleted:\n  - `src/shop/lexer.py`",
        "| Old name | New name |\n|---|---|\n| `src/shop/lexer.py` | `src/shop/core/lexer.py` |",
        "The lexer, which was formerly\nin `src/shop/lexer.py`, is elsewhere.",
        "旧文件 `src/shop/lexer.py`，已删除。 Früher: `src/shop/lexer.py`. Antes: `src/shop/lexer.py`.",
        "The scripts of that repository are in `tools/old/`",
        "`gta.dat` and `x/gta.dat` are the game's own",
        "It writes `build/app.js` and `build/`, and src/app.log",
        "tests/test_ComponentName.py and src/shop/ModuleName.py and src/shop/EventNameHere.py",
        "Create src/shop/orders.py for it. Plan: src/shop/next.py",
        "```\nsrc/shop/lexer.py\n```",
        "`setup.cfg` and `shop.parser` and `README.md`",
        "Names of files are in camel case (e.g., `lexer.py`, `tillLexer.py`), for example `lexer.py`",
        "4 modified files: `lexer.py`, `src/shop/lexer.py`",
        "A safety net: no `src/shop/lexer.py` link or second plugin exists",
        "| **Deliverable** | `src/shop/lexer.py` (483 lines) |",
        "**First seen:** review of May, `src/shop/lexer.py` line 4",
        "## Recent changes\n\n- `src/shop/lexer.py`: types",
        "[`src/shop/lexer.py`](lexer.py)",
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
        ("`parser.split_all()` has a bug", "parser.split_all"),
        ("`HeaderReader.read()` is slow, and `HeaderReader` too", "HeaderReader"),
        ("The header is read by `parse_header`.", "parse_header"),
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
        "`parse_footer()` in `src/shop/parser.py`",
        "call `split_all` for it, which was defined elsewhere; `lex_all` is there",
        "add `parse_footer()` to `src/shop/parser.py`",
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


def test_notes_of_work_that_is_planned_or_done_make_no_claims(folder: Folder, repo: Repo) -> None:
    text = "`src/shop/lexer.py`\n"
    folder.write({"lexer-plan.md": text, "phase1_completion_report.md": text, "work/progress.md": text})
    assert folder.hits(claims, repo=repo.path) == []


def test_of_the_notes_of_other_projects_hardly_any_is_taken_for_a_claim(folder: Folder, repo: Repo) -> None:
    notes = clean_notes()
    hits = folder.write(notes).hits(claims, repo=repo.path)
    assert {hit.rule for hit in hits} <= {"never-there"}
    assert len({hit.path for hit in hits}) < len(notes) / 100


def test_without_git_the_directory_is_walked(folder: Folder, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    for name, text in FILES.items():
        (plain / name).parent.mkdir(parents=True, exist_ok=True)
        (plain / name).write_text(text)
    text = "`src/shop/none.py`, `src/shop/parser.py`, commit 0badc0ffee, `parse_header()` in src/shop/parser.py"
    assert found(folder, plain, text) == [("never-there", "src/shop/none.py"), ("never-there", "parse_header")]


def test_what_the_repository_never_had_is_told_as_the_lesser_finding_that_it_is(folder: Folder, repo: Repo) -> None:
    text = (
        "Look at src/shop/none.py, and call `parse_footer()` in `src/shop/parser.py`.\n"
        "It is at http://localhost:7777/, and `src/shop/prices.py` points at https://other-prices.shop.test/v1 .\n"
        "Create src/shop/orders.py; `total_of_all` is elsewhere.\n"
    )
    told = found(folder, repo, text)
    assert [rule for rule, _ in told] == ["never-there"] * 4
    assert [what for _, what in told] == [
        "src/shop/none.py", "parse_footer", "http://localhost:7777/", "https://other-prices.shop.test/v1"
    ]  # fmt: skip
    rule = next(rule for rule in claims.RULES if rule.id == "never-there")
    assert rule.severity is Severity.INFO


def test_a_directory_of_the_repository_is_compared_by_its_own_paths(folder: Folder, repo: Repo) -> None:
    text = "`shop/lexer.py`, `shop/parser.py` and `parse_header()` in `shop/parser.py`"
    assert found(folder, repo.path / "src", text) == [
        ("missing-path", "shop/lexer.py"),
        ("missing-symbol", "parse_header"),
    ]


def test_a_linked_work_tree_is_a_repository_like_any_other(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    assert found(folder, tmp_path / "tree", "`src/shop/lexer.py`") == [("missing-path", "src/shop/lexer.py")]


def test_of_a_bare_repository_paths_and_commits_are_compared(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    text = "`src/shop/lexer.py`, `src/shop/parser.py`, hooks/none.py, commit 0badc0ffee, `parse_header()` in it"
    assert found(folder, tmp_path / "bare.git", text) == [
        ("missing-path", "src/shop/lexer.py"), ("missing-commit", "0badc0ffee")
    ]  # fmt: skip


def test_a_repository_of_sha256_is_read(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    repo = Repo(tmp_path / "new" / "repo", "--object-format=sha256")
    head = repo.commit({"src/a.py": "1\n", "src/b.py": "1\n"})
    repo.commit({"src/a.py": None})
    text = f"`src/a.py`, commit {head} and commit {head[:9]} and commit {head[:-1]}0\n"
    told = found(folder, repo, text)
    assert ("missing-path", "src/a.py") in told
    assert ("missing-commit", head) not in told


def test_of_a_shallow_clone_what_was_before_is_not_known(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow"))
    assert found(folder, tmp_path / "shallow", "`src/shop/lexer.py`") == [("never-there", "src/shop/lexer.py")]


def test_of_a_clone_that_lacks_objects_nothing_is_fetched(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(partial))
    before = sorted(path.name for path in (partial / ".git" / "objects").rglob("*"))
    text = "`src/shop/lexer.py` and `parse_header()` in `src/shop/parser.py`"
    told = found(folder, partial, text)
    assert ("missing-path", "src/shop/lexer.py") in told
    assert ("missing-symbol", "parse_header") not in told  # its text was never there
    assert sorted(path.name for path in (partial / ".git" / "objects").rglob("*")) == before


def test_a_repository_to_which_nothing_was_added_is_compared_by_what_lies_there(folder: Folder, tmp_path: Path) -> None:
    repo = Repo(tmp_path / "fresh")
    (repo.path / "src").mkdir()
    (repo.path / "src" / "a.py").write_text("")
    assert found(folder, repo, "`src/a.py` and `src/b.py`") == [("never-there", "src/b.py")]


def test_settings_that_change_what_git_prints_change_nothing(folder: Folder, repo: Repo) -> None:
    for name, value in (
        ("color.ui", "always"), ("color.diff", "always"), ("diff.noprefix", "true"), ("diff.relative", "true"),
        ("log.diffMerges", "remerge"), ("diff.submodule", "log"), ("diff.wordRegex", "."), ("format.pretty", "raw"),
        ("core.quotePath", "true"), ("log.showRoot", "true"), ("diff.context", "9"), ("diff.algorithm", "patience"),
        ("core.excludesFile", "/dev/full"), ("log.follow", "true"), ("diff.renames", "copies"), ("log.date", "raw"),
    ):  # fmt: skip
        repo.git("config", name, value)
    text = "`src/shop/lexer.py` and `parse_header()` in `src/shop/parser.py`"
    assert found(folder, repo, text) == [("missing-path", "src/shop/lexer.py"), ("missing-symbol", "parse_header")]


def test_settings_that_make_git_wait_are_given_up(repo: Repo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    repo.git("config", "include.path", str(tmp_path / "pipe"))
    with at_most(10):
        repository = Repository(str(repo.path), seconds=0.5)
        assert "src/shop/parser.py" in repository.files
        assert repository.removed_files == {}


def test_a_repository_whose_git_answers_nothing_is_not_asked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text(f"#!/bin/sh\necho . >> {tmp_path}/asked\nexec sleep 600\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    git = GitRunner(str(programs / "git"), str(tmp_path), seconds=0.2)
    for _ in range(20):
        assert git.run("log") is None
    assert 1 <= (tmp_path / "asked").read_text().count(".") < 10


def test_a_work_tree_whose_git_lies_elsewhere_or_is_none_is_read_all_the_same(
    folder: Folder, repo: Repo, tmp_path: Path
) -> None:
    (tmp_path / "tree" / "src").mkdir(parents=True)
    (tmp_path / "tree" / "src" / "a.py").write_text("")
    (tmp_path / "tree" / ".git").write_text(f"gitdir: {repo.path}/.git\n")
    before = {path: path.lstat().st_mtime_ns for path in repo.path.rglob("*")}
    assert found(folder, tmp_path / "tree", "`src/shop/lexer.py`") == [("missing-path", "src/shop/lexer.py")]
    assert {path: path.lstat().st_mtime_ns for path in repo.path.rglob("*")} == before
    (tmp_path / "tree" / ".git").unlink()
    os.mkfifo(tmp_path / "tree" / ".git")
    assert found(folder, tmp_path / "tree", "`src/a.py` and `src/b.py`") == [("never-there", "src/b.py")]


def test_what_git_starts_is_ended_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\nsleep 600 &\necho $! > " + str(tmp_path / "child") + "\nwait\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert GitRunner.open(str(tmp_path), seconds=1.0) is None
    child = int((tmp_path / "child").read_text())
    end = time.monotonic() + 10
    while _runs(child) and time.monotonic() < end:
        os.sched_yield()
    assert not _runs(child)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_long_history_is_read_for_so_long_and_its_beginning_is_believed(repo: Repo) -> None:
    whole = Repository(str(repo.path)).removed_files
    assert {"src/shop/lexer.py", "tools/old/run.sh"} <= whole.keys()
    assert Repository(str(repo.path), seconds=0.0).removed_files == {}


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
    assert found(folder, repo, "`src/shop/none.py` and `build/app.js`") == [("never-there", "src/shop/none.py")]
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
    assert not repository.texts.contains_word("secret_name")
    assert "lib/secret.py" not in repository.files
    assert repository.has_path("lib/anything.py")
    assert not repository.has_path("src/none.py")


def test_names_that_are_no_text_are_told_safely(folder: Folder, repo: Repo) -> None:
    (repo.path / os.fsdecode(b"src/\xff\x1b.py")).write_text("")
    repo.git("add", "-A")
    assert os.fsdecode(b"src/\xff\x1b.py") in Repository(str(repo.path)).files
    hits = folder.write({"note.md": "src/shop/lexer.py and `src/shop/\x1b[2J.py`"}).hits(claims, repo=repo.path)
    assert not any("\x1b" in hit.words for hit in hits)


def test_a_git_that_does_not_answer_is_given_up(repo: Repo) -> None:
    repository = Repository(str(repo.path), seconds=0.0)
    assert "src/shop/parser.py" in repository.files
    assert repository.find_missing_commits({"0badc0ffee"}) == frozenset()


@pytest.mark.sweep(keep=3)
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
    with at_most(20):
        hits = folder.hits(claims, repo=repo.path)
    assert len(hits) <= 1_600


def test_every_rule_needs_a_repository_and_says_what_it_is_for() -> None:
    for rule in claims.RULES:
        assert rule.needs == "--repo DIR"
        assert rule.why.endswith(".")
        assert rule.do.endswith(".")


def test_what_is_in_order_is_only_said_of_what_could_be_compared(folder: Folder, repo: Repo, tmp_path: Path) -> None:
    folder.write({"a.md": "See `src/shop/parser.py`.\n"})
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(tmp_path / "shallow"))
    (tmp_path / "empty").mkdir()
    told = []
    for where in (repo.path, tmp_path / "shallow", tmp_path / "empty"):
        with memtui.open(folder.path, state=folder.state) as engine:
            passed = run_audit(engine, title="x", repo=str(where), only=["claims"]).passed
        told.append([each.words.split(": ") for each in passed if each.name == "claims"])
    words = "the repository has what the notes name"
    counts = "1 note against 8 files"
    without = f"{words}, as far as can be told without its history"
    assert [[said for said, _ in each] for each in told] == [[words], [without], []]
    assert told[0][0][1] == counts


def test_a_name_is_told_once_in_a_note(folder: Folder, repo: Repo) -> None:
    text = "Read `src/shop/lexer.py` first.\n\nThen read `src/shop/lexer.py` again.\n"
    assert found(folder, repo, text) == [("missing-path", "src/shop/lexer.py")]


@pytest.mark.parametrize(
    "line",
    [
        "| 2026-02-01 | split `src/shop/lexer.py` in two |",
        "- refactor(shop): split `src/shop/lexer.py` in two",
        "- fix: an empty line in `src/shop/lexer.py`",
        "- ✅ Added `src/shop/lexer.py` for the till",
    ],
)
def test_a_line_of_a_log_claims_nothing_of_today(folder: Folder, repo: Repo, line: str) -> None:
    assert found(folder, repo, f"{line}\n") == []
    assert found(folder, repo, "docs: `src/shop/lexer.py` says it\n") == [("missing-path", "src/shop/lexer.py")]
