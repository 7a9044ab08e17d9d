"""Commands are found by their names, ids, synonyms and keys; what is typed at once is done one key after the other."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest
from textual.dom import DOMNode
from textual.events import Key, Paste
from textual.widgets import Input

from memtui.config import Config, LoadedConfig, UiSettings
from memtui.ui.actions import Action, list_actions, list_declared_actions, load_synonyms, rank_action, rank_actions
from memtui.ui.key_names import format_key
from memtui.ui.keymap import find_key_problems
from memtui.ui.screens.audit import AuditScreen
from memtui.ui.screens.browse import BrowseScreen
from memtui.ui.screens.chat import ChatScreen
from memtui.ui.screens.commands import CommandScreen, ThemeScreen
from memtui.ui.screens.dialogs import ConfirmScreen
from memtui.ui.screens.history import HistoryScreen
from memtui.ui.theme import AUTO, load_kept_theme
from memtui.ui.widgets.choice_list import ChoiceList
from memtui.ui.widgets.name_line import NameLineScreen
from tests.ui.conftest import Opened, Opening
from tests.ui.declared import declared
from tests.ui.test_keys import NODES
from tests.ui.test_random_keys import press_at_once

SCREENS = (BrowseScreen, ChatScreen, AuditScreen, HistoryScreen)


def collect_actions(node: type[DOMNode]) -> list[Action]:
    """What a screen declares, its controllers and bases included, each id once."""
    owners: Iterable[type] = dict.fromkeys(
        owner for base in node.__mro__ for owner in (base, *base.__dict__.get("CONTROLLERS", ()))
    )
    actions = [action for owner in owners for action in list_declared_actions(owner)]
    return list({action.binding.id: action for action in actions}.values())


def named(action: Action) -> set[str]:
    words = action.binding.description.casefold().split()
    return {*words, *action.names, *load_synonyms().get(action.binding.id or "", ())}


def test_synonyms_are_words_of_commands_that_there_are() -> None:
    known = {binding.id for node in NODES for binding in declared(node)}
    assert set(load_synonyms()) <= known
    for name, words in load_synonyms().items():
        assert all(word == word.casefold() and word.split() == [word] for word in words), name
        assert len(set(words)) == len(words), name


@pytest.mark.parametrize("screen", SCREENS)
def test_an_exact_word_of_a_name_or_a_synonym_comes_first(screen: type[DOMNode]) -> None:
    actions = collect_actions(screen)
    assert len(actions) > 10
    for word in {word for action in actions for word in named(action) if len(word) > 1}:
        found = rank_actions(actions, word)
        exact = [action for action in actions if word in named(action)]
        assert set(map(id, found[: len(exact)])) == set(map(id, exact)), word
        assert (word in found[0].names) or word in named(found[0])
        if any(action.binding.description.casefold() == word for action in actions):
            assert word in (found[0].binding.description.casefold(), *found[0].names)


@pytest.mark.parametrize("screen", SCREENS)
def test_a_command_is_found_by_its_id_its_key_and_its_description(screen: type[DOMNode]) -> None:
    actions = collect_actions(screen)
    for action in actions:
        for typed in (action.binding.id or "", action.description, action.key_labels, *map(format_key, action.keys)):
            assert action in rank_actions(actions, typed), typed
        for key in map(format_key, action.keys):
            if len(key) == 1:
                assert key in rank_actions(actions, key)[0].key_labels.split()


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("undo", "browse.undo"), ("history", "browse.history"), ("blame", "note.blame"), ("theme", "app.theme"),
        ("log", "browse.history"), ("annotate", "note.blame"), ("grep", "browse.find"), ("mv", "file.rename"),
        ("u", "browse.undo"), ("U", "browse.redo"), (":origin", "browse.origin"), (":orig", "browse.origin"),
        ("review", "browse.review"), ("browse.redo", "browse.redo"), ("undo the last", "browse.undo"),
    ],
)  # fmt: skip
async def test_what_is_typed_finds_what_is_meant(opened: Opening, typed: str, first: str) -> None:
    async with opened() as app:
        assert rank_actions(list_actions(app.browse), typed)[0].binding.id == first


async def test_each_command_has_one_row_and_those_run_last_come_first(opened: Opening) -> None:
    async with opened(size=(80, 24)) as app:
        await app.press("colon")
        await app.wait_for_screen(CommandScreen)
        rows = [option.id for option in app.app.screen.query_one(ChoiceList).options]
        wanted = {action.binding.id for action in list_actions(app.browse)} - {"app.commands"}
        assert set(rows) == wanted
        assert len(rows) == len(wanted) > 30
        assert all("\n" not in str(option.prompt) for option in app.app.screen.query_one(ChoiceList).options)
        await app.press(*"hidden", "enter")
        await app.wait_for(lambda: ".hidden.md" in app.rows, "what it does")
        await app.press("colon")
        await app.wait_for_screen(CommandScreen)
        assert app.app.screen.query_one(ChoiceList).get_option_at_index(0).id == "files.hidden"
        await app.press(*"no such command")
        await app.wait_for(lambda: "No matching command." in app.text)
        await app.press("enter", "escape")
        await app.wait_for(lambda: app.app.screen is app.browse)


@pytest.mark.sweep(keep=5, always=("rename", "theme"))
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("rename", NameLineScreen), ("new", NameLineScreen), ("copy to", NameLineScreen), ("theme", ThemeScreen),
        ("history", HistoryScreen), ("audit", AuditScreen), ("review", AuditScreen),
    ],
)  # fmt: skip
async def test_a_command_that_is_typed_at_once_is_found_and_run(opened: Opening, typed: str, expected: type) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        keys = ["space" if letter == " " else letter for letter in typed]
        await press_at_once(app.app, ["colon", *keys, "enter"])
        await app.wait_for_screen(expected)


async def test_keys_typed_at_once_do_what_they_do_one_after_the_other(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        await press_at_once(app.app, ["colon", *"rename", "enter", "end", *["backspace"] * 8, *"omega", "enter"])
        await app.wait_for(lambda: "omega" in app.rows, "the new name")
        assert (app.folder / "omega").exists()


async def test_keys_wait_for_one_during_which_the_machine_stood_still(
    opened: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        loop, missed = asyncio.get_running_loop(), 0.0
        clock, deliver = loop.time, app.app.key_queue._deliver

        async def stand_still(event: Key | Paste) -> None:
            nonlocal missed
            await deliver(event)
            missed += 5.0

        monkeypatch.setattr(loop, "time", lambda: clock() + missed)
        monkeypatch.setattr(app.app.key_queue, "_deliver", stand_still)
        await press_at_once(app.app, ["colon", *"da"])
        await app.wait_for_screen(CommandScreen)
        await app.wait_for(lambda: app.app.screen.query_one(Input).value == "da", "what was typed")
        assert (app.folder / "alpha.md").exists()


async def test_a_second_enter_does_no_harm(opened: Opening) -> None:
    async with opened() as app:
        await app.to("alpha.md")
        await press_at_once(app.app, ["colon", *"rename", "enter", "enter"])
        await app.wait_for(lambda: app.app.screen is app.browse, "the files")
        await press_at_once(app.app, ["colon", *"delete", "enter", "escape"])
        await app.wait_for(lambda: not (app.folder / "alpha.md").exists() or isinstance(app.app.screen, ConfirmScreen))


@pytest.mark.parametrize("opening", ["colon", "question_mark", "comma", "ctrl+t", "o", "i"])
async def test_a_page_before_there_is_a_layout_is_no_move(opened: Opening, opening: str) -> None:
    async with opened() as app:
        await press_at_once(app.app, [opening, "pagedown", "pageup", "pagedown", "escape"])
        await app.wait_for(lambda: app.app.screen is app.browse, "the files")


async def themes(app: Opened) -> ThemeScreen:
    await app.press("ctrl+t")
    await app.wait_for_screen(ThemeScreen)
    screen = app.app.screen
    assert isinstance(screen, ThemeScreen)
    return screen


async def test_a_theme_is_shown_while_one_moves_and_kept_by_enter(opened: Opening) -> None:
    async with opened(loaded=LoadedConfig(Config(ui=UiSettings()))) as app:
        before = app.app.theme
        await themes(app)
        await app.press(*"nord")
        await app.wait_for(lambda: app.app.theme == "nord", "the theme")
        await app.press("escape")
        await app.wait_for(lambda: app.app.screen is app.browse)
        assert app.app.theme == before
        await themes(app)
        await app.press("down", "down")
        await app.wait_for(lambda: app.app.theme == "memtui-light", "another theme")
        await app.press(*"nord")
        await app.wait_for(lambda: app.app.theme == "nord", "the theme")
        await app.press("enter")
        await app.wait_for(lambda: app.app.screen is app.browse)
        assert load_kept_theme() == "nord"
    async with opened() as app:
        assert app.app.theme == "nord"
        await themes(app)
        await app.press(*"auto", "enter")
        await app.wait_for(lambda: app.app.screen is app.browse)
        assert (app.app.theme, load_kept_theme()) == (before, AUTO)


async def test_the_settings_win_over_a_theme_that_was_chosen(opened: Opening) -> None:
    async with opened(loaded=LoadedConfig(Config(theme="nord"))) as app:
        await themes(app)
        await app.press(*"nord", "enter")
        await app.wait_for(lambda: app.app.theme == "nord")
        await app.wait_for(lambda: 'The settings say "nord"' in app.message)
        assert load_kept_theme() == AUTO


def test_a_kept_theme_that_there_is_not_means_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "memtui").mkdir()
    for data in (b"nrod\n", b"\xff" * 4_000, b""):
        (tmp_path / "memtui" / "theme").write_bytes(data)
        assert load_kept_theme() == AUTO


def test_what_no_word_is_found_in_is_left_out() -> None:
    assert all(rank_action(action, "xyzzy") is None for action in collect_actions(BrowseScreen))
    assert find_key_problems(LoadedConfig(Config(keys={"commands.back": "f8"}))) == []
