"""What is asked of a record in vain: the reason, the code for it, and that nothing has happened."""

from pathlib import Path

import pytest

import memtui
from memtui.cli import main
from tests.conftest import tree_of


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["show", "prefs.md@6"], 3, "/memories/prefs.md did not exist as of #6. It existed from "),
        (["show", "prefs.md@6"], 3, "(#1) to "),
        (["show", "new.md@1"], 3, "/memories/new.md did not exist as of #1. It existed from "),
        (["show", "notes/old.md@3"], 3, "It was called /memories/new.md then."),
        (["show", "never.md@3"], 3, "It has no history."),
        (["show", "notes@3"], 3, "/memories/notes was a directory as of #3."),
        (["show", "@3"], 3, "That is the whole folder."),
        (["show", "new.md@99"], 3, "There is no event #99. The last one is #7."),
        (["show", "new.md@0"], 3, "/memories/new.md did not exist as of #0."),
        (
            ["show", "new.md", "--at", "1999-12-31"],
            3,
            "The history does not reach back to 1999-12-31. It begins with #1",
        ),
        (
            ["show", "new.md", "--at", "noon"],
            2,
            "Can't read 'noon' as a time. Try 2h, yesterday, 10:14 or an event number. ",
        ),
        (["show", "../x@3"], 4, "outside the memory folder"),
        (["show", "../x", "--at", "3"], 4, "outside the memory folder"),
        (["diff", "zz"], 3, "/memories/zz has no history."),
        (["diff", "zz", "notes/old.md"], 3, "Nothing at /memories/zz."),
        (["diff", "prefs.md", "notes/old.md"], 3, "Nothing at /memories/prefs.md."),
        (["diff", "notes/old.md@2"], 3, "It was called /memories/new.md then."),
        (["diff", "99"], 3, "There is no event #99. The last one is #7."),
        (["diff", "1", "99"], 3, "There is no event #99."),
        (["diff", "1999-01-01", "1999-01-02"], 3, "The history does not reach back to 1999-01-02."),
        (["diff", "41", "notes/old.md"], 2, "one of the two is a path and the other a moment"),
        (["diff", "notes", "notes/old.md"], 2, "/memories/notes is a directory; compare it with itself at two moments"),
        (["diff", "../x"], 4, "outside the memory folder"),
        (["diff"], 2, "the following arguments are required: A"),
        (["restore", "zz.md"], 3, "/memories/zz.md has no history."),
        (
            ["restore", ".hidden"],
            3,
            "Not restored: /memories/.hidden has not changed since it was first recorded",
        ),
        (["restore", "notes/today.md@7"], 3, "Not restored: already the same. Nothing was written."),
        (["restore", "prefs.md@6"], 3, "/memories/prefs.md did not exist as of #6."),
        (["restore", "notes"], 2, "/memories/notes is a directory: give a moment. Use --at MOMENT."),
        (["restore", ".", "--at", "1"], 2, "memtui restore --all --at MOMENT"),
        (["restore", "--all"], 2, "--all needs --at MOMENT"),
        (["restore", "--all", "prefs.md", "--at", "1"], 2, "memtui restore: give a PATH, or --all"),
        (["restore"], 2, "memtui restore: give a PATH, or --all"),
        (["restore", "notes", "--at", "1"], 2, "Not restored: no terminal to confirm in. Use --yes"),
        (["restore", "--all", "--at", "1"], 2, "Not restored: no terminal to confirm in. Use --yes"),
        (["restore", "prefs.md", "notes/today.md"], 2, "Not restored: no terminal to confirm in. Use --yes"),
        (["restore", "prefs.md", "--read-only"], 4, "Not restored: this is read-only. Nothing was written."),
        (["restore", "../x"], 4, "outside the memory folder"),
        (["undo"], 2, "Not undone: #7 (another program, "),
        (["undo"], 2, "no terminal to confirm in. Use --yes"),
        (["undo", "6", "7"], 2, "Not undone: no terminal to confirm in. Use --yes"),
        (["undo", "--actor", "Claude", "--since", "6"], 2, "Not undone: no terminal to confirm in. Use --yes"),
        (["undo", "99"], 3, "There is no event #99. The last one is #7."),
        (["undo", "5"], 3, "that event changed nothing"),
        (["undo", "1"], 3, "that event changed nothing"),
        (["undo", "--since", "99"], 3, "There is no event #99."),
        (["undo", "x"], 2, "'x' is not an event number; to list them: memtui log"),
        (["undo", "6", "--actor", "Claude"], 2, "EVENT does not go with --actor, --session or --since"),
        (["undo", "6", "--read-only"], 4, "Not undone: this is read-only. Nothing was written."),
        (["redo"], 3, "Not redone: there is nothing left to redo. Nothing was written."),
        (["redo", "6"], 3, ": delete prefs.md is not undone. Nothing was written."),
        (["redo", "99"], 3, "There is no event #99."),
        (["redo", "--read-only"], 4, "Not redone: this is read-only."),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_cannot_be_done_is_told_and_nothing_is_changed(
    *, words: list[str], code: int, said: str, story: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree_of(story)
    assert main(words) == code
    out, err = capsys.readouterr()
    assert said in err
    assert err.count("\n") == 1 or code == 2
    assert out == ""
    assert tree_of(story) == before
    with memtui.open(story) as memory:
        assert memory.get_head()[0] == 7
