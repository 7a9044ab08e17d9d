"""What the settings say of the screen holds from the first frame, and what they say of the memory behind it."""

from memtui.config import Config, ConfigProblem, LoadedConfig, UiSettings
from memtui.core.settings import Settings
from memtui.ui.app import filter_screen_settings
from memtui.ui.widgets.preview import PreviewMode
from memtui.ui.widgets.tree.outline import SortOrder
from tests.ui.conftest import Opening

UI = UiSettings(follow=False, hidden=True, sort="-size", view="source", animations=False, remember=False)


async def test_the_screen_begins_as_the_settings_say(opened: Opening) -> None:
    config = Config(theme="nord", ui=UI, memory=Settings(create="refuse"))
    async with opened(loaded=LoadedConfig(config)) as app:
        assert app.app.theme == "nord"
        assert app.app.animation_level == "none"
        assert (app.browse.follow, app.browse.activity.follow) == (False, True)
        outline = app.browse.files.outline
        assert (outline.hidden, outline.sort, outline.reverse) == (True, SortOrder.SIZE, True)
        await app.wait_for(lambda: app.rows[-1] == "notes/beta.md" or app.rows.index(".hidden.md") > 0, "the sizes")
        assert app.browse.preview.view is PreviewMode.SOURCE
        engine = app.browse.session.engine
        assert engine is not None
        assert engine.settings.create == "refuse"
        await app.press("full_stop", "t")
    assert not (app.state / "screen.json").exists()


async def test_what_cannot_be_used_is_said_once_on_the_message_line(opened: Opening) -> None:
    loaded = LoadedConfig(
        Config(theme="nrod"), path="/x/config.toml", problems=(ConfigProblem("/x/config.toml, line 3: no y."),)
    )
    words = "2 settings cannot be used (memtui config show lists them). config.toml, line 3: no y."
    async with opened(loaded=loaded) as app:
        await app.wait_for(lambda: app.message == words, "the warning")
        assert app.app.theme == "memtui-dark"


def test_a_demo_takes_of_the_settings_what_is_about_the_screen() -> None:
    config = Config(dir="x", theme="nord", ui=UI, memory=Settings(max_files=1), keys={"a.b": "c"})
    taken = filter_screen_settings(LoadedConfig(config)).config
    assert (taken.theme, taken.keys, taken.ui.animations) == ("nord", {"a.b": "c"}, False)
    assert (taken.dir, taken.memory, taken.ui.remember, taken.ui.follow) == ("", Settings(), False, True)
