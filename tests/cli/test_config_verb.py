"""`memtui config`, and that the settings reach every way in."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Where the settings are; there are none yet."""
    return tmp_path / "xdg-config" / "memtui" / "config.toml"


def put(config: Path, text: str) -> None:
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)


def test_path_says_where_the_file_is_also_before_there_is_one(run: Run, config: Path) -> None:
    assert run("config", "path").out.decode() == f"{config}\n"
    told = json.loads(run("config", "path", "--json").out)
    assert (told["path"], told["exists"]) == (str(config), False)


def test_show_says_what_holds_and_where_it_is_from(run: Run, config: Path, folder: Path) -> None:
    put(config, '[ui]\nhidden = true\n[keys]\n"browse.undo" = "ctrl+u"\n')
    told = json.loads(run("config", "show", "--json").out)
    assert told["settings"]["ui.hidden"] == {"value": True, "from": f"{config}:2"}
    assert told["settings"]["dir"] == {"value": str(folder), "from": "MEMTUI_DIR"}
    assert told["settings"]["ui.follow"] == {"value": True, "from": "default"}
    assert told["keys"] == {"browse.undo": {"value": "ctrl+u", "from": f"{config}:4"}}
    assert run("config").out.decode().split()[-3:] == ['keys."browse.undo"', '"ctrl+u"', f"{config}:4"]


def test_show_says_all_that_cannot_be_used_keys_and_theme_among_it(run: Run, config: Path) -> None:
    put(config, 'theme = "nrod"\n[ui]\nhiden = 1\n[keys]\n"browse.und" = "x"\n"browse.redo" = "ctl+x"\n')
    ran = run("config", "show")
    assert ran.code == 1
    words = ran.err.decode()
    for expected in (
        'line 1: there is no theme "nrod". Did you mean "nord"?',
        "line 3: there is no setting ui.hiden. Did you mean ui.hidden?",
        'line 5: there is no key id "browse.und". Did you mean "browse.undo"?',
        'line 6: "browse.redo": there is no key "ctl+x". Did you mean Ctrl+X?',
    ):
        assert expected in words
    assert len(words.splitlines()) == 4
    told = json.loads(run("doctor", "--json").out)
    told_by_doctor = [check["text"] for check in told["checks"] if check["name"] == "config"]
    assert set(words.splitlines()) < set(told_by_doctor)


def test_edit_makes_the_file_opens_the_editor_and_judges_what_it_left(run: Run, config: Path) -> None:
    ran = run("config", "edit", env={"EDITOR": "true", "VISUAL": ""})
    assert ran.code == 0
    assert b"Created " in ran.err
    assert b"is valid. Restart memtui to use it." in ran.err
    assert (stat.S_IMODE(config.stat().st_mode), stat.S_IMODE(config.parent.stat().st_mode)) == (0o600, 0o700)
    spoil = 'sh -c \'printf "[ui]\\nfollow = 3\\n" > "$0"\''
    ran = run("config", "edit", env={"EDITOR": spoil, "VISUAL": ""})
    assert ran.code == 1
    assert b"line 2: ui.follow is 3; it must be true or false." in ran.err
    assert run("config", "edit", env={"EDITOR": "true", "VISUAL": ""}).code == 1
    assert config.read_text() == "[ui]\nfollow = 3\n"


def test_an_editor_that_fails_is_said(run: Run, config: Path) -> None:
    assert b"false exited with 1" in run("config", "edit", env={"EDITOR": "false", "VISUAL": ""}).err
    ran = run("config", "edit", env={"EDITOR": "/not/there -w", "VISUAL": ""})
    assert ran.code == 3
    assert b"/not/there cannot be started: no such file or directory." in ran.err
    ran = run("config", "edit", "--read-only", env={"EDITOR": "true"})
    assert ran.code == 4
    assert config.exists()


@pytest.mark.usefixtures("folder")
def test_a_file_that_was_named_must_be_there(run: Run, tmp_path: Path) -> None:
    missing = str(tmp_path / "no.toml")
    ran = run("--config", missing, "log")
    assert (ran.code, b"There is no file" in ran.err) == (3, True)
    assert run("log", env={"MEMTUI_CONFIG": missing}).code == 0
    assert run("log", "--config", missing, "--no-config").code == 2


def test_the_folder_of_the_settings_is_the_last_to_be_asked(run: Run, config: Path, folder: Path) -> None:
    put(config, f'dir = "{folder}"')
    assert b"prefs.md" in run("ls", env={"MEMTUI_DIR": ""}).out
    ran = run("ls", "--no-config", env={"MEMTUI_DIR": ""})
    assert ran.code == 3


def test_limits_of_the_settings_bind_agents_by_every_way_in(run: Run, config: Path, folder: Path) -> None:
    put(config, '[memory]\nmax_file_bytes = 5\ncreate = "refuse"\nview_char_limit = 8\n')
    command = b'{"command": "create", "path": "/memories/big.md", "file_text": "longer than that"}'
    assert run("run", "-", stdin=command).code == 1
    assert not (folder / "big.md").exists()
    assert run("run", "-", "--no-config", stdin=command).code == 0
    cut = run("show", "prefs.md", "--as-model").out
    assert cut != run("show", "prefs.md", "--as-model", "--no-config").out


@pytest.mark.usefixtures("folder")
def test_a_setting_that_cannot_be_used_is_said_beside_the_output_once(run: Run, config: Path) -> None:
    put(config, '[memory]\nmax_files = "many"\n')
    ran = run("log")
    assert ran.code == 0
    assert ran.err.decode().count("memory.max_files is") == 1
    assert not run("log", "--quiet").err


def test_rules_and_exemptions_of_an_audit_are_shown_with_where_they_are_from(
    run: Run, config: Path, folder: Path
) -> None:
    config.parent.mkdir(parents=True)
    config.write_text(
        '[audit.rules]\n"stale" = "off"\n'
        '[[audit.exempt]]\nrule = "*-key"\nreason = "of the manual"\nuntil = 2026-12-31\n'
    )
    ran = run("config", "show")
    assert ran.code == 0
    lines = [" ".join(line.split()) for line in ran.out.decode().splitlines()]
    assert f'audit.rules."stale" "off" {config}:2' in lines
    assert f"audit.exempt 1 *-key in ** until 2026-12-31: of the manual {config}:3" in lines
    told = json.loads(run("config", "show", "--json").out)
    assert told["rules"] == {"stale": {"value": "off", "from": f"{config}:2"}}
    assert told["exempt"][0]["until"] == "2026-12-31"
    assert folder.is_dir()


def test_names_of_rules_that_there_are_not_are_said_by_config_and_doctor(run: Run, config: Path, folder: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text('[audit.rules]\n"stal" = "off"\n[[audit.exempt]]\nrule = "no-such-*"\nreason = "x"\n')
    for words in (("config", "show"), ("doctor",)):
        ran = run(*words)
        said = (ran.out + ran.err).decode()
        assert f'{config}, line 2: audit.rules names "stal", which is not a rule. Did you mean stale?' in said
    assert 'audit.exempt is about "no-such-*", which is not a rule' in run("config", "show").err.decode()
    assert folder.is_dir()
