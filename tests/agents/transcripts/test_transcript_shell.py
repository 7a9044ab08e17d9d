"""A plain shell command tells its effects on files; an ambiguous one tells nothing."""

import pytest

from memtui.agents.transcripts.shell import FileEffect, is_confirmed, parse_effects
from tests.bench.limits import at_most

HERE = "/m"
FINE = {"stdout": "", "stderr": "", "interrupted": False}


def done(command: str) -> list[tuple[str, ...]]:
    """What a command did, each as the verb and the files."""
    return [
        (each.verb, *((each.source,) if each.source else ()), each.file + ("/" if each.is_into else ""))
        for each in parse_effects(command, HERE)
    ]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("rm a.md", ["/m/a.md"]),
        ("rm -f a.md b.md", ["/m/a.md", "/m/b.md"]),
        ("rm -- -a.md", ["/m/-a.md"]),
        ("rm --force 'a b.md' \"c'd.md\" e\\ f.md", ["/m/a b.md", "/m/c'd.md", "/m/e f.md"]),
        ("rm /x/a.md && ls -la /x", ["/x/a.md"]),
        ("cd /x && rm a.md", ["/x/a.md"]),
        ("cd x\nrm a.md", ["/m/x/a.md"]),
        ("# what is old\nrm a.md # and no more", ["/m/a.md"]),
        ("rm a.md &&\n  rm b.md", ["/m/a.md", "/m/b.md"]),
        ("rm \\\n  a.md \\\n  b.md", ["/m/a.md", "/m/b.md"]),
        ('rm a.md && ls *.md | grep "$X"; echo $?', ["/m/a.md"]),
        ("rm a.md 2>&1", ["/m/a.md"]),
        ("rm 'a*.md'", ["/m/a*.md"]),
        ("rm é.md 記.md", ["/m/é.md", "/m/記.md"]),
    ],
)
def test_a_plain_removal_tells_what_is_gone(command: str, files: list[str]) -> None:
    assert done(command) == [("rm", file) for file in files]


@pytest.mark.parametrize(
    "command",
    [
        "rm *.md",
        "rm a?.md",
        "rm a{1,2}.md",
        "rm $F",
        'rm "$D/a.md"',
        "rm $(cat list)",
        "rm `cat list`",
        "rm -i a.md",
        "rm ~bob/a.md",
        "rm a.md || true",
        "rm a.md &",
        "rm a.md | cat",
        "(rm a.md)",
        "{ rm a.md; }",
        "! rm a.md",
        "if [ -f a.md ]; then rm a.md; fi",
        "for f in a.md; do rm a.md; done",
        "while read f; do rm a.md; done < list",
        "[ -f a.md ] && rm a.md; echo ok",
        "grep -q x a.md && rm a.md; echo ok",
        "cd /x 2>/dev/null; rm a.md",
        "rm a.md 2>/dev/null; ls",
        "cd - && rm a.md",
        'cd "$D" && rm a.md',
        "cd /x | rm a.md",
        "git rm a.md",
        "sudo rm a.md",
        "xargs rm a.md",
        "eval rm a.md",
        "$RM a.md",
        "rm() { :; }; rm a.md",
        "alias rm=echo; rm a.md",
        "rm .",
        "rm ''",
        "rm 'a.md",
        "mv -n a.md b.md",
        "mv a.md",
        "mv -t x a.md",
        "cp -n a.md b.md",
        "",
        ";",
        "\0",
    ],
)
def test_what_may_mean_another_thing_tells_nothing(command: str) -> None:
    assert done(command) == []


def test_the_home_directory_is_known_by_its_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/h")
    command = """rm ~/a "$HOME/b" $HOME/c ${HOME}/d "${HOME}"/e '~/f' "~/g" $HOME'/h i'"""
    files = ["/h/a", "/h/b", "/h/c", "/h/d", "/h/e", "/m/~/f", "/m/~/g", "/h/h i"]
    assert done(command) == [("rm", file) for file in files]
    for unclear in ("rm ~'/a'", 'rm ~"x"/a', "rm $HOMER/a", "rm x$HOME", 'rm "$HOME$X/a"', "rm ~root/a"):
        assert done(unclear) == []


def test_without_a_working_directory_only_full_names_tell() -> None:
    assert [each.file for each in parse_effects("rm a.md /x/b.md", None)] == ["/x/b.md"]


def test_moves_and_copies_tell_both_names() -> None:
    assert done("mv a.md b.md") == [("mv", "/m/a.md", "/m/b.md")]
    assert done("cp -p a.md x/b.md") == [("cp", "/m/a.md", "/m/x/b.md")]
    assert done("mv a.md b.md old/") == [("mv", "/m/a.md", "/m/old/"), ("mv", "/m/b.md", "/m/old/")]
    assert done("mv /x/a.md .") == [("mv", "/x/a.md", "/m/")]


@pytest.mark.parametrize(
    ("command", "verb", "text", "is_added"),
    [
        ("cat > a.md <<'EOF'\n- $x `y` \\z\nEOF", "cat", "- $x `y` \\z\n", False),
        ('cat <<"END" > a.md\none\n\ntwo\nEND\n', "cat", "one\n\ntwo\n", False),
        ("cat >> a.md << EOF\nplain\nEOF", "cat", "plain\n", True),
        ("cat > a.md <<EOF\nEOF", "cat", "", False),
        ("tee -a a.md <<'EOF'\nx\nEOF", "tee", "x\n", True),
        ("echo '- tea' >> a.md", "echo", "- tea\n", True),
        ("echo one  two > a.md", "echo", "one two\n", False),
        ("echo -n x > a.md", "echo", None, False),
        ('echo "$x" > a.md', "echo", None, False),
        ("echo 'a\\nb' > a.md", "echo", None, False),
        ("sort b.md > a.md", "sort", None, False),
    ],
)
def test_what_is_written_is_told_where_the_shell_changes_nothing_of_it(
    command: str, verb: str, text: str | None, is_added: bool
) -> None:
    (effect,) = parse_effects(command, HERE)
    assert (effect.verb, effect.file, effect.text, effect.is_added) == (verb, "/m/a.md", text, is_added)


@pytest.mark.parametrize(
    "command",
    [
        "cat > a.md << EOF\n$HOME\nEOF",
        "cat > a.md <<-EOF\n\tx\n\tEOF",
        "cat > a.md <<'EOF'\nno end",
        "cat > a.md <<'A' <<'B'\nA\nB\n",
        "cat > a.md <<< x",
        "cat > a.md > b.md",
    ],
)
def test_a_here_document_of_another_kind_tells_nothing(command: str) -> None:
    assert done(command) == []


def test_what_follows_a_here_document_is_a_command_again() -> None:
    assert done("cat > a.md <<'EOF' && rm b.md\nrm c.md\nEOF\nrm d.md") == [
        ("cat", "/m/a.md"),
        ("rm", "/m/b.md"),
        ("rm", "/m/d.md"),
    ]


def test_a_call_that_went_well_tells_of_the_last_commands_and_its_output_of_those_before() -> None:
    first, last = parse_effects("rm a.md; rm b.md", HERE)
    assert (first.is_joined, last.is_joined) == (False, True)
    said = {**FINE, "stderr": "rm: cannot remove 'a.md': No such file or directory"}
    assert (is_confirmed(first, said), is_confirmed(last, said)) == (False, True)
    assert (is_confirmed(first, FINE), is_confirmed(last, FINE)) == (True, True)
    assert not is_confirmed(first, {"interrupted": False})


@pytest.mark.parametrize(
    "told",
    [
        {},
        {**FINE, "interrupted": True},
        {**FINE, "backgroundTaskId": "b1"},
        {**FINE, "returnCodeInterpretation": "No matches found"},
        {**FINE, "persistedOutputPath": "/x"},
    ],
)
def test_a_result_that_does_not_tell_how_it_ended_tells_nothing(told: dict[str, object]) -> None:
    assert not is_confirmed(FileEffect("rm", "/m/a.md"), told)


@pytest.mark.parametrize(
    "command",
    [
        "rm " + "a" * 990_000,
        "rm " + "'a'" * 300_000,
        "rm " + "a " * 400_000,
        'rm "' + "\\\\" * 400_000,
        "rm " + "$a" * 400_000,
        "a&&" * 300_000 + "a",
        "\\\n" * 400_000,
        "cat > x <<'EOF'\n" + "y\n" * 400_000,
        "<<a " * 200_000,
        "# " * 400_000,
        "rm " + "a" * 2_000_000,
    ],
)
def test_a_long_command_takes_no_longer_than_it_is_long(command: str) -> None:
    with at_most(5):
        parse_effects(command, HERE)
