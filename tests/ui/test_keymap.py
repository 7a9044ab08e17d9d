"""Keys of the person's own: they work wherever the others did, and what is wrong with them is said once."""

import pytest
from textual.widgets import Input

from memtui.config import Config, LoadedConfig
from memtui.ui.actions import list_actions
from memtui.ui.frame import KeyLine
from memtui.ui.key_names import format_key
from memtui.ui.keymap import build_keymap, find_key_problems, parse_key
from memtui.ui.screens.help import HelpScreen
from memtui.ui.widgets.find_line import FindLine
from tests.ui.conftest import Opening


@pytest.mark.parametrize(
    ("written", "key", "shown"),
    [
        ("r", "r", "r"), ("R", "R", "R"), ("F2", "f2", "F2"), ("f12", "f12", "F12"), ("Ctrl+R", "ctrl+r", "Ctrl+R"),
        ("ctrl-r", "ctrl+r", "Ctrl+R"), ("^r", "ctrl+r", "Ctrl+R"), ("?", "question_mark", "?"), ("/", "slash", "/"),
        ("PgUp", "pageup", "PgUp"), ("esc", "escape", "Esc"), ("shift+tab", "shift+tab", "Shift+Tab"),
        ("Shift+a", "A", "A"), ("+", "plus", "+"), ("ctrl++", "ctrl+plus", "Ctrl++"), ("-", "minus", "-"),
        ("space", "space", "Space"), ("alt+shift+F5", "alt+shift+f5", "Alt+Shift+F5"), ("Del", "delete", "Del"),
        ("apostrophe", "apostrophe", "'"), ("f99", None, ""), ("ctl+x", None, ""), ("word", None, ""), ("", None, ""),
    ],
)  # fmt: skip
def test_a_key_may_be_written_as_people_write_it_and_is_shown_so(written: str, key: str | None, shown: str) -> None:
    assert parse_key(written) == key
    if key is not None:
        assert format_key(key) == shown


def test_what_is_no_key_is_left_out_and_what_has_no_other_keeps_its_own() -> None:
    assert build_keymap({"a": "r, F2 ,nonsense", "b": "nonsense", "c": ""}) == {"a": ("r", "f2"), "c": ()}


async def test_a_new_key_works_and_the_old_one_does_not(opened: Opening) -> None:
    keys = {"browse.follow": "ctrl+g,K", "files.hidden": "", "app.back": "f10"}
    async with opened(loaded=LoadedConfig(Config(keys=keys))) as app:
        assert app.browse.follow
        await app.press("f")
        assert app.browse.follow
        await app.press("K")
        assert not app.browse.follow
        await app.press("ctrl+g")
        assert app.browse.follow
        await app.press("full_stop")
        assert not app.browse.files.outline.hidden
        shown = {action.binding.id: action.key_labels for action in list_actions(app.browse)}
        assert shown["browse.follow"] == "Ctrl+G K"
        assert "files.hidden" not in shown
        assert "F10 quit" in app.text
        await app.press("q")
        assert app.app.is_running
        await app.press("f10")
        await app.wait_for(lambda: not app.app.is_running)


async def test_what_has_another_key_keeps_its_place_in_the_key_line(opened: Opening) -> None:
    async with opened(size=(120, 36)) as app:
        before = app.text.splitlines()[-1]
    keys = {"browse.find": "s", "file.delete": "delete", "browse.undo": "w"}
    async with opened(loaded=LoadedConfig(Config(keys=keys)), size=(120, 36)) as app:
        after = app.text.splitlines()[-1]
    assert "d delete  " in before
    assert after.replace("s find", "/ find").replace("Del delete", "d delete").replace("w undo", "u undo") == before


async def test_sentences_name_the_keys_that_the_person_has(opened: Opening) -> None:
    keys = {"browse.undo": "ctrl+z", "file.delete": "delete", "browse.deleted": "f9"}
    async with opened(loaded=LoadedConfig(Config(keys=keys))) as app:
        await app.to("alpha.md")
        await app.press("space")
        assert "1 selected.  r rename or move  c copy  Del delete" in app.text
        await app.press("delete")
        await app.wait_for(lambda: "Deleted" in app.message, "the deletion")
        assert app.message == "Deleted alpha.md. Ctrl+Z restores it, F9 lists deleted notes."
        await app.press("ctrl+z")
        await app.wait_for(lambda: "Undid" in app.message, "the way back")
    async with opened() as app:  # another application has the usual keys again
        await app.to("alpha.md")
        await app.press("d")
        await app.wait_for(lambda: app.message == "Deleted alpha.md. u restores it, D lists deleted notes.")


async def test_what_has_a_letter_by_default_may_get_a_key_that_works_while_typing(opened: Opening) -> None:
    async with opened(loaded=LoadedConfig(Config(keys={"browse.follow": "f8,w"}))) as app:
        await app.press("ctrl+f")
        await app.wait_for(lambda: app.browse.query(FindLine))
        field = app.browse.query_one("#find Input", Input)
        await app.wait_for(lambda: app.browse.focused is field)
        await app.press("f8")
        assert not app.browse.follow
        await app.press("w")
        assert (field.value, app.browse.follow) == ("w", False)


async def test_bad_keys_are_one_warning_and_the_others_work(opened: Opening) -> None:
    keys = {"browse.folow": "x", "browse.follow": "f8,nonsense"}
    async with opened(loaded=LoadedConfig(Config(keys=keys))) as app:
        await app.wait_for(
            lambda: app.message.startswith("2 settings cannot be used (memtui config show lists them)."),
            "the warning",
        )
        assert 'there is no key id "browse.folow". Did you mean "browse.follow"?' in app.message
        await app.press("f8")
        assert not app.browse.follow


def test_a_key_that_two_things_have_is_said_unless_the_other_one_goes() -> None:
    def said(**keys: str) -> list[str]:
        named = {name.replace("_", ".", 1): value for name, value in keys.items()}
        return [problem.sentence for problem in find_key_problems(LoadedConfig(Config(keys=named)))]

    assert said(browse_undo="ctrl+g", browse_redo="alt+u") == []
    (words,) = said(browse_undo="f")
    assert 'f is also a key of "browse.follow". Only one of them works;' in words
    assert said(browse_undo="f", browse_follow="u") == []
    assert len(said(browse_undo="alt+u", browse_redo="alt+u")) == 1
    assert 'j is also a key of "rows.down"' in said(browse_undo="j")[0]
    assert "app.quit" in said(browse_undo="ctrl+q")[0]
    assert said(help_back="f") == []  # where it is shown nothing else is in force


async def test_help_lists_what_is_most_used_first_then_groups_filters_and_runs(opened: Opening) -> None:
    async with opened() as app:
        await app.press("question_mark")
        await app.wait_for(lambda: isinstance(app.app.screen, HelpScreen) and "Collapse the directory" in app.text)
        lines = [line.strip("│ ") for line in app.text.splitlines()]
        most, look = (next(at for at, line in enumerate(lines) if name in line) for name in ("Most used here", "Look"))
        assert look - most == 12
        assert look < next(at for at, line in enumerate(lines) if "Collapse the directory" in line)
        await app.press(*"follow cha")
        await app.wait_for(lambda: "browse.follow" in app.text and "files.close" not in app.text)
        await app.press("enter")
        await app.wait_for(lambda: not app.browse.follow, "what was chosen")
        assert app.app.screen is app.browse
        await app.press("question_mark")
        await app.wait_for(lambda: isinstance(app.app.screen, HelpScreen))
        await app.press("q")
        await app.wait_for(lambda: app.app.screen is app.browse)


async def test_words_of_the_help_that_do_not_fit_go_on_below_themselves(opened: Opening) -> None:
    async with opened(size=(62, 20)) as app:
        await app.press("question_mark")
        await app.wait_for(lambda: "Diff of the last" in app.text)
        lines = app.text.splitlines()
        at = next(index for index, line in enumerate(lines) if "Diff of the last" in line)
        assert lines[at].index("Diff") == lines[at + 1].index("event")


async def test_a_click_on_a_key_of_the_key_line_presses_it(opened: Opening) -> None:
    async with opened() as app:
        line = app.browse.query_one(KeyLine)
        shown = str(line.render())
        assert await app.pilot.click(line, offset=(1 + shown.index("? help") + 2, 0))
        await app.wait_for(lambda: isinstance(app.app.screen, HelpScreen), "the help")
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse)
        assert await app.pilot.click(line, offset=(1 + shown.index("? help") - 1, 0))  # between two keys
        await app.pilot.pause()
        assert app.app.screen is app.browse


async def test_the_last_line_of_a_note_has_the_id_that_settings_know(opened: Opening) -> None:
    loaded = LoadedConfig(Config(keys={"note.end": "f8"}))
    assert find_key_problems(loaded) == []
    async with opened(loaded=loaded) as app:
        app.put("alpha.md", "".join(f"- line {number}\n" for number in range(1, 201)))
        await app.to("alpha.md")
        await app.wait_for(lambda: app.browse.note.max_scroll_y > 0)
        await app.press("2", "f8")
        await app.wait_for(lambda: app.browse.note.scroll_offset.y == app.browse.note.max_scroll_y)
