"""`memtui search`: what is found, for a person, for a pipe, for a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memtui
from memtui import memory as memory_module
from memtui.cli import main
from tests.cli.conftest import CLAUDE, Run


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    code = main(["search", *words])
    out, err = capsys.readouterr()
    return code, out.splitlines(), err


@pytest.fixture
def past(folder: Path) -> Path:
    """A folder in which Claude wrote a token, and you took it away; five events beside those of the folder."""
    with memtui.open(folder) as memory:
        for command in (
            {"command": "create", "path": "/memories/a.md", "file_text": "head\nthe token is x\n"},
            {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
        ):
            memory.execute(command, actor=CLAUDE)
        you = memtui.Person()
        memory.execute(
            {"command": "str_replace", "path": "/memories/b.md", "old_str": "the token is x\n", "new_str": ""},
            actor=you,
        )
    return folder


def test_in_a_pipe_lines_are_as_of_grep(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "notes" / "long.md").write_text("x" * 900 + " Berlin\n")
    code, lines, err = ask(capsys, "--text", "berlin")
    assert (code, err) == (0, "")
    assert sorted(lines) == ["notes/long.md:1:" + "x" * 900 + " Berlin", "prefs.md:2:- Berlin"]
    assert ask(capsys, "--names", "today") == (0, ["notes/today.md"], "")
    assert ask(capsys, "standup")[1] == ["notes/today.md:1:standup at ten"]


def test_lines_of_notes_are_found_without_the_record(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = Path(os.environ["XDG_STATE_HOME"])
    assert ask(capsys, "--text", "berlin")[1] == ["prefs.md:2:- Berlin"]
    assert not list(state.rglob("journal.db"))
    with memtui.open(folder) as memory:
        head = memory.get_head()
    (folder / "prefs.md").write_text("- Berlin, since a moment ago\n")
    assert ask(capsys, "--text", "berlin")[1] == ["prefs.md:1:- Berlin, since a moment ago"]
    with memory_module.connect(folder) as memory:
        assert memory.get_head() == head
    assert ask(capsys, "--text", "berlin", "by:outside")[1] == ["prefs.md:1:- Berlin, since a moment ago"]
    with memory_module.connect(folder) as memory:
        assert memory.get_head()[0] == head[0] + 1


def test_nothing_found_is_code_1_and_a_query_that_cannot_be_read_is_code_2(
    folder: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ask(capsys, "zebra") == (1, [], "")
    assert ask(capsys, "--names", "prefz.md") == (1, [], "")  # only like it
    for words, said in (
        (["byy:claude"], "There is no filter byy:. Did you mean by:?"),
        (["re:("], "Invalid regular expression after re: missing ), unterminated subpattern, at character 1 of ("),
        ([""], "the query is empty"),
        (["--past", "by:claude"], "--past needs a word to search for. For filters alone use --names."),
        (["--text", "--past", "x"], "--text and --past do not go together. Leave one out."),
        (["-n", "many", "x"], "'many' is not a number of hits"),
        ([], "the following arguments are required: QUERY"),
    ):
        code, lines, err = ask(capsys, *words)
        assert (code, lines) == (2, []), words
        assert said in err


def test_the_past_tells_when_and_by_whom_and_names_a_version_that_can_be_shown(
    past: Path,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, lines, _ = ask(capsys, "--past", "token")
    assert code == 0
    (line,) = lines
    text, _, told = line.partition("\t")
    place, number, shown = text.split(":")
    assert (number, shown) == ("2", "the token is x")
    seq = int(place.partition("@")[2])
    assert told.startswith(f"added in #{seq} (Claude, ")
    assert f", removed in #{seq + 2} (you, " in told
    assert main(["show", place]) == 0
    assert capsys.readouterr().out == "head\nthe token is x\n"
    assert ask(capsys, "token")[1] == [line]  # it stands nowhere any more
    assert ask(capsys, "--past", "token", "by:claude")[1] == [line]
    assert ask(capsys, "--past", "token", "by:outside")[0] == 1
    assert ask(capsys, "-0", "--past", "token")[1] == ["b.md\0"]


def test_as_json_all_is_told(past: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--json", "--past", "token"]) == 0
    document = json.loads(capsys.readouterr().out)
    (hit,) = document["past"]
    assert (hit["path"], hit["now"], hit["line"], hit["column"]) == ("/memories/a.md", "/memories/b.md", 2, 5)
    assert hit["text"][slice(*hit["spans"][0])] == "token"
    assert (hit["came"]["actor"], hit["came"]["actor_kind"], hit["went"]["actor_kind"]) == ("Claude", "agent", "person")
    assert main(["search", "--json", "pref"]) == 0
    document = json.loads(capsys.readouterr().out)
    (name,) = document["names"]
    assert (name["path"], name["real"]) == ("/memories/prefs.md", str(past / "prefs.md"))
    assert name["path"][slice(*name["spans"][0])] == "pref"
    assert document["totals"]["names"] == 1
    assert main(["search", "--json", "prefz.md"]) == 1
    assert [hit["path"] for hit in json.loads(capsys.readouterr().out)["similar"]] == ["/memories/prefs.md"]


def test_exact_names_end_with_nul_and_hidden_files_are_found_if_asked_for(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (folder / "odd\nname.md").write_text("needle\n")
    (folder / ".hidden").write_text("needle\n")
    assert main(["search", "-0", "needle"]) == 0
    assert capfdbinary.readouterr().out == b"odd\nname.md\0"
    assert main(["search", "-0", "--all", "needle"]) == 0
    assert sorted(capfdbinary.readouterr().out.split(b"\0")) == [b"", b".hidden", b"odd\nname.md"]


def test_what_is_left_out_is_told_beside_the_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(30):
        (folder / f"n{number}.md").write_text("needle\n")
    _, lines, err = ask(capsys, "needle")
    assert len(lines) == 20
    assert err == "Not shown: 10 more notes. All of them: --limit 0\n"
    assert len(ask(capsys, "--limit", "0", "needle")[1]) == len(ask(capsys, "--text", "needle")[1]) == 30
    assert len(ask(capsys, "--text", "-n", "3", "needle")[1]) == 3


def test_hostile_names_and_lines_drive_no_terminal(folder: Path, run_in_terminal: Run, run: Run) -> None:
    (folder / "evil\x1b]0;x\x07\u202e.md").write_text("needle \x1b[31mred\x1b[m \u202egnp\u200b\n")
    shown = run_in_terminal("search", "needle", env={"NO_COLOR": "1"})
    assert shown.code == 0
    assert shown.out.decode() == (
        "Text\n  evil\\x1b]0;x\\x07<U+202E>.md\n    1: needle \\x1b[31mred\\x1b[m <U+202E>gnp<U+200B>\n"
    )
    colored = run_in_terminal("search", "needle", env={"TERM": "xterm"}).out
    assert b"\x1b[1;31mneedle\x1b[m" in colored
    assert b"\x1b]0" not in colored
    assert b"\x1b" not in run("search", "needle").out


def test_on_a_terminal_it_is_grouped_and_nothing_is_said_so(past: Path, run_in_terminal: Run) -> None:  # noqa: ARG001
    shown = run_in_terminal("search", "token", env={"NO_COLOR": "1"}).out.decode().splitlines()
    assert shown[0] == "Past"
    assert shown[1].startswith("  a.md@")
    assert shown[1].endswith(" (now b.md)")
    assert shown[2] == "    2: the token is x"
    assert shown[3].startswith("      added in #")
    nothing = run_in_terminal("search", "zebra")
    assert (nothing.code, nothing.out.decode()) == (1, "Nothing found in 3 notes.\n")
    similar = run_in_terminal("search", "--names", "prefz.md", env={"NO_COLOR": "1"})
    assert (similar.code, similar.out.decode()) == (1, "Similar names\n  prefs.md\n")


def test_read_only_records_nothing_and_finds_all_the_same(past: Path, run: Run, state_home: Path) -> None:
    (past / "new.md").write_text("needle\n")
    with memtui.open(past, read_only=True) as memory:
        head = memory.get_head()[0]
    before = {path: path.read_bytes() for path in state_home.rglob("*.db")}
    found = run("--read-only", "search", "needle")
    assert (found.code, found.out) == (0, b"new.md:1:needle\n")
    assert run("search", "--past", "token", "--read-only").code == 0
    assert {path: path.read_bytes() for path in state_home.rglob("*.db")} == before
    with memtui.open(past, read_only=True) as memory:
        assert memory.get_head()[0] == head


def test_an_expression_that_was_given_up_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.md").write_text("a" * 80 + "-\n")
    code, lines, err = ask(capsys, "--text", "re:^(a|aa)+$")
    assert (code, lines) == (1, [])
    assert err.startswith("re:^(a|aa)+$ took too long at ")


def test_it_starts_without_what_it_does_not_need(folder: Path) -> None:  # noqa: ARG001
    program = (
        "import sys; from memtui.cli import main; code = main(['search', 'berlin']); "
        "print(sorted({name.partition('.')[0] for name in sys.modules} "
        "& {'textual', 'rich', 'anthropic', 'pydantic', 'mcp', 'watchfiles', 'markdown_it', 'regex', 'yaml'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "prefs.md:2:- Berlin\n[]\n"


def test_lines_of_today_are_found_without_the_record_and_the_engine(folder: Path) -> None:  # noqa: ARG001
    program = (
        "import sys; from memtui.cli import main; code = main(['search', '--text', 'berlin']); "
        "print({'memtui.engine', 'memtui.journal', 'memtui.memory', 'sqlite3'}.intersection(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "prefs.md:2:- Berlin\nset()\n"
