"""Which verb is meant, which folder, and what is said when neither is clear."""

from pathlib import Path

import pytest

from memtui.cli import main
from memtui.cli.options import Options, parse_plain_command_line
from memtui.cli.parsing import RESERVED, parse_command_line
from memtui.cli.verbs import VERBS


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["lss"], 2, "No command or folder called 'lss'. Did you mean 'ls'?"),
        (["dotcor"], 2, "Did you mean 'doctor'?"),
        (["memorys"], 2, "Did you mean 'memories'?"),
        (["caht"], 2, "No command or folder called 'caht'. Did you mean 'chat'?"),
        (["lgo", "--json", "-n", "5"], 2, "No command or folder called 'lgo'. Did you mean 'log'?"),
        (["./nope"], 3, "Nothing was created. Create it with: mkdir -p "),
        (["nope/deeper"], 3, "No folder at "),
        (["file.txt"], 3, "file.txt is a file, not a folder."),
        ([""], 2, "The folder's name is empty."),
        (["ls", ""], 2, "The folder's name is empty."),
        (["ls", "nope"], 3, "Nothing at /memories/nope"),
        (["ls", "file.txt"], 3, "Nothing at /memories/file.txt"),
        (["-C", "nope", "ls"], 3, "No folder at "),
        (["-C", "nope"], 3, "No folder at "),
        (["verify", "memories", "--dir", "other"], 2, "Two folders were given: memories and other."),
        (["ls", "memories", "more"], 2, "unexpected argument 'more'"),
        (["memories", "more"], 2, "unexpected argument 'more'"),
        (["--jsno"], 2, "unknown option '--jsno'. Did you mean '--json'?"),
        (["ls", "--jsno"], 2, "unknown option '--jsno'. Did you mean '--json'?"),
        (["--follow", "log"], 2, "Put it after the verb: memtui log --follow"),
        (["log", "-n", "-1"], 2, "memtui log: "),
        (["log", "-n", "many"], 2, "'many' is not a number of events"),
        (["log", "-n"], 2, "expected one argument"),
        (["demo", "--speed", "0"], 2, "'0' is not a number above 0"),
        (["demo", "--speed", "nan"], 2, "'nan' is not a number above 0"),
        (["completion", "tcsh"], 2, "invalid choice: 'tcsh'"),
        (["show"], 2, "memtui show: the following arguments are required: PATH"),
        (["-C"], 2, "expected one argument"),
        (["memories"], 2, "memtui needs a terminal. For scripts use: memtui ls, memtui log --json"),
        (["demo"], 2, "memtui needs a terminal."),
    ],
)
def test_what_is_wrong_is_said_with_the_code_for_it(
    *,
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "file.txt").write_text("x")
    monkeypatch.chdir(tmp_path)
    assert main(words) == code
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.txt", "memories"]


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_names_of_later_verbs_are_kept_for_them(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([word]) == 2
    assert capsys.readouterr().err == f"'{word}' is not part of this version of memtui.\n"
    (tmp_path / word).mkdir()
    assert main([word]) == 2
    assert f"memtui ./{word}" in capsys.readouterr().err


def test_no_verb_is_also_kept_for_later() -> None:
    assert not RESERVED & set(VERBS)


def test_the_folder_is_the_argument_else_the_environments_else_the_one_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("memories", "named", "argument"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"in-{name}.md").touch()
    monkeypatch.chdir(tmp_path)

    def listed(*words: str) -> str:
        assert main(["ls", *words]) == 0
        return capsys.readouterr().out

    assert "in-memories" in listed()
    monkeypatch.setenv("MEMTUI_DIR", "named")
    assert "in-named" in listed()
    assert "in-argument" in listed("argument")
    assert "in-argument" in listed("--dir", "argument")
    assert "in-argument" in listed("--dir=argument")


def test_without_any_folder_plain_verbs_say_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["ls"]) == 3
    assert "No memory folder was given" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_shared_options_may_stand_before_or_after_the_verb(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "ls"]) == 0
    before = capsys.readouterr().out
    assert main(["ls", "--json"]) == 0
    assert capsys.readouterr().out == before
    assert before.startswith("{")
    assert str(folder) in before


def test_hostile_words_are_made_visible(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("x\x1b]0;t\x07", "x\u202ey", "x\ny", "x\udcff"):
        assert main([word]) == 2
        assert main(["ls", f"/nowhere/{word}"]) == 3
        err = capsys.readouterr().err
        assert not set(err) & set("\x1b\x07\u202e\udcff")
        assert err.count("\n") == 2


def test_debug_adds_the_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "/nowhere", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], (Options(), None)),
        (["./notes"], (Options(), "./notes")),
        (["/a b", "--state", "/s"], (Options(state="/s"), "/a b")),
        (["-C", "notes", "--dir", "other"], (Options(directory="other"), None)),
        (["--state", "s", "~/x"], (Options(state="s"), "~/x")),
        (["notes"], None), (["ls"], None), (["ls", "/x"], None), (["/x", "/y"], None), ([""], None),
        (["--dir"], None), (["--dir", ""], None), (["--dir", "--json"], None), (["--dir=/x"], None), (["-C/x"], None),
        (["--read-only", "/x"], None), (["--help"], None), (["/x", "--help"], None), (["--", "/x"], None),
        (["-/x"], None),
    ],
)  # fmt: skip
def test_only_a_command_line_that_names_a_folder_needs_no_parser(
    words: list[str], found: tuple[Options, str | None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMTUI_READ_ONLY", raising=False)
    plain = parse_plain_command_line(words)
    assert plain == found
    if plain is not None:  # the parser reads it as the same
        parsed = parse_command_line(words, VERBS, "1")
        assert (parsed.options, parsed.verb, parsed.word) == (plain.options, None, plain.word)
        chat = parse_command_line(["chat", *words], VERBS, "1")
        assert (chat.options, chat.arguments.folder) == (plain.options, plain.word)
        given = {name: value for name, value in vars(chat.arguments).items() if value not in (None, False)}
        assert given.keys() <= {"words", "folder", "state", "directory"}, "a chat without a parser has the defaults"
    monkeypatch.setenv("MEMTUI_READ_ONLY", "1")
    assert parse_plain_command_line(words) is None
