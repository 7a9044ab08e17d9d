"""The settings: where each is from, what is said of one that is wrong, and that the reference is true."""

import os
import re
import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.config import ChatSettings, Config, ConfigUnreadable, LoadedConfig, UiSettings, load_config
from memtui.config.load import find_line, index_lines
from memtui.config.reference import load_descriptions, render_template
from memtui.config.settings import get_value, list_settings
from memtui.core.settings import Exemption, Settings
from memtui.fs.state import get_config_path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def loaded(file: Path, text: str, environ: dict[str, str] | None = None, **options: Any) -> LoadedConfig:
    file.write_text(text, encoding="utf-8")
    return load_config(path=str(file), environ=environ or {}, **options)


def said(file: Path, text: str) -> str:
    """The one thing that is wrong with a file, without where the file is."""
    (problem,) = loaded(file, text).problems
    assert problem.sentence.startswith(str(file))
    return problem.sentence.removeprefix(str(file)).lstrip(", ")


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    found = load_config(environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert (found.config, found.problems, found.exists) == (Config(), (), False)
    assert found.path == str(tmp_path / "memtui" / "config.toml")


def test_flags_come_before_the_environment_before_the_file_before_the_default(file: Path) -> None:
    text, environ = 'dir = "of-file"', {"MEMTUI_DIR": "of-environment"}
    flags = {"dir": ("--dir", "of-flag")}
    by_all = loaded(file, text, environ, flags=flags)
    assert (by_all.config.dir, by_all.get_origin("dir")) == ("of-flag", "--dir")
    by_two = loaded(file, text, environ)
    assert (by_two.config.dir, by_two.get_origin("dir")) == ("of-environment", "MEMTUI_DIR")
    by_file = loaded(file, text)
    assert (by_file.config.dir, by_file.get_origin("dir"), by_file.get_line("dir")) == ("of-file", f"{file}:1", 1)
    by_none = loaded(file, "")
    assert (by_none.config.dir, by_none.get_origin("dir"), by_none.get_line("dir")) == ("", "default", None)


def test_what_the_file_says_of_the_editor_comes_before_what_all_programs_share(file: Path) -> None:
    shared = {"VISUAL": "ed", "EDITOR": "ex"}
    assert loaded(file, "", shared).config.editor.command == "ed"
    assert loaded(file, "", shared).get_origin("editor.command") == "VISUAL"
    assert loaded(file, '[editor]\ncommand = "hx"', shared).config.editor.command == "hx"
    assert loaded(file, '[editor]\ncommand = "hx"', {**shared, "MEMTUI_EDITOR": "vi"}).config.editor.command == "vi"


def test_nothing_moves_over_ssh_unless_somebody_says_so(file: Path) -> None:
    ssh = {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}
    assert loaded(file, "").config.ui.animations
    assert not loaded(file, "", ssh).config.ui.animations
    assert loaded(file, "[ui]\nanimations = true", ssh).config.ui.animations
    assert loaded(file, "", {**ssh, "TEXTUAL_ANIMATIONS": "full"}).config.ui.animations
    assert not loaded(file, "[ui]\nanimations = true", {"TEXTUAL_ANIMATIONS": "none"}).config.ui.animations


def test_every_section_reaches_its_values(file: Path) -> None:
    text = """
        theme = "nord"
        [ui]
        sort = "-modified"
        [memory]
        create = "refuse"
        lock_seconds = 2
        [chat]
        thinking = false
        max_tokens = 5000
        [keys]
        "file.rename" = "r,f2"
        browse.undo = ["a", "b"]
    """
    config = loaded(file, text).config
    assert config == Config(
        theme="nord",
        ui=UiSettings(sort="-modified"),
        memory=Settings(create="refuse", lock_seconds=2),
        chat=ChatSettings(thinking=False, max_tokens=5000),
        keys={"file.rename": "r,f2", "browse.undo": "a,b"},
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[ui]\nfollow = "yes"',
            'line 2: ui.follow is "yes"; it must be true or false. Did you mean true? For now true is used.',
        ),
        (
            '[ui]\nsort = "nme"',
            'line 2: ui.sort is "nme"; it must be "name", "-name", "modified", "-modified", "size" or "-size". '
            'Did you mean "name"? For now "name" is used.',
        ),
        (
            '\n[memory]\nmax_file_bytes = "1_000"',
            'line 3: memory.max_file_bytes is "1_000"; it must be a whole number, 0 or more. Did you mean 1000? '
            "For now 1000000 is used.",
        ),
        (
            "[memory]\nkeep_days = -3",
            "line 2: memory.keep_days is -3; it must be a whole number, 0 or more. Did you mean 0? For now 0 is used.",
        ),
        (
            "[memory]\nlock_seconds = inf",
            "line 2: memory.lock_seconds is inf; it must be a number, 0 or more. For now 5.0 is used.",
        ),
        ("theme = [1]", 'line 1: theme is a list; it must be a string in quotes. For now "auto" is used.'),
        ("[chat]\nthinking = 1", "line 2: chat.thinking is 1; it must be true or false. Did you mean true? "
         "For now it is not set."),
        ("[ui]\nfolow = true", "line 2: there is no setting ui.folow. Did you mean ui.follow? It is not used."),
        ("themes = 1", "line 1: there is no setting themes. Did you mean theme? It is not used."),
        ("follow = true", "line 1: there is no setting follow. Did you mean ui.follow? It is not used."),
        ("[uii]\na = 1", "line 1: there is no section [uii]. Did you mean [ui]? It is not used."),
        ("[memory]\n[memory.create]", "line 2: memory.create is a table; it must be \"overwrite\" or \"refuse\". "
         'For now "overwrite" is used.'),
        ("ui = 1", "line 1: ui is 1, but it must be a section: write [ui]. It is not used."),
        ('[keys]\n"file.rename" = 3', 'line 2: keys."file.rename" is 3; it must be a key in quotes, or several '
         'separated by commas, such as "r,f2". It keeps its default keys.'),
        ("[audit]\nnear_duplicate = 1.5", "line 2: audit.near_duplicate is 1.5; it must be a number from 0 to 1. Did "
         "you mean 1? For now 0.9 is used."),
        ("[audit]\nstale_day = 3", "line 2: there is no setting audit.stale_day. Did you mean audit.stale_days? It is "
         "not used."),
        ("[audit]\nrules = 3", "line 2: audit.rules is 3, but it must be a section: write [audit.rules]. It is not "
         "used."),
        ('[audit.rules]\n"stale" = "of"', 'line 2: audit.rules."stale" is "of"; it must be "off", "on", "fail", "warn" '
         'or "info". Did you mean "off"? The rule keeps its default.'),
        ('[audit.rules]\nstale = false', 'line 2: audit.rules."stale" is false; it must be "off", "on", "fail", "warn" '
         'or "info". Did you mean "off"? The rule keeps its default.'),
        ('[audit]\nexempt = 3', "line 2: audit.exempt is 3, but it must be a list of tables: write [[audit.exempt]]. "
         "It is not used."),
        ('[audit]\nexempt = [3]', "line 2: an exemption is 3; it must be a table: write [[audit.exempt]]. The "
         "exemption is not used."),
        ('[[audit.exempt]]\nrule = "stale"', 'line 1: the exemption of "stale" needs a reason: add '
         'reason = "...". The exemption is not used.'),
        ('[[audit.exempt]]\nrule = "stale"\nreason = "  "', 'line 1: the exemption of "stale" needs a '
         'reason: add reason = "...". The exemption is not used.'),
        (
            '[[audit.exempt]]\nrule = "a"\nreason = "b"\npath = "../x/**"',
            'line 4: audit.exempt.path is "../x/**"; it must be relative to the folder, such as "examples/**". '
            "The exemption is not used.",
        ),
        ('[[audit.exempt]]\nrule = "a"\nreason = "b"\npath = " "', 'line 4: audit.exempt.path is empty; for all '
         'files leave it out or write "**". The exemption is not used.'),
        ('[[audit.exempt]]\nreason = "x"', "line 1: an exemption needs a rule, such as rule = \"stale\" or "
         'rule = "*-key". The exemption is not used.'),
        ('[[audit.exempt]]\nrule = "a"\nreason = "b"\n[[audit.exempt]]\nrule = "c"\nreason = "d"\nuntil = "soon"',
         'line 7: audit.exempt.until is "soon"; it must be a date, such as 2026-12-31. The exemption is not used.'),
        ('[[audit.exempt]]\nrule = "a"\nreson = "b"', "line 3: there is no setting audit.exempt.reson. Did you mean "
         "reason? The exemption is not used."),
        ('[[audit.exempt]]\nrule = ["a"]\nreason = "b"', "line 2: audit.exempt.rule is a list; it must be a string in "
         "quotes. The exemption is not used."),
        ('[[audit.exempt]]\nfingerprint = "12"\nreason = "b"', 'line 2: audit.exempt.fingerprint is "12"; it must be '
         "16 hexadecimal digits, as in a report. The exemption is not used."),
        ("[ui]\nfollow = yes", "line 2: invalid TOML: invalid value. Nothing in the file is used until it is "
         "fixed."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line_and_what_was_meant(file: Path, text: str, sentence: str) -> None:
    assert said(file, text) == sentence


def test_rules_of_an_audit_and_exemptions_reach_their_values(file: Path) -> None:
    found = loaded(
        file,
        """
        [audit]
        stale_days = 90
        [audit.rules]
        "stale" = "off"
        "*-key" = "warn"
        [[audit.exempt]]
        rule = "*-key"
        path = "/memories/examples/**"
        reason = "of the manual"
        until = 2026-12-31
        [[audit.exempt]]
        fingerprint = "00112233AABBCCDD"
        reason = "seen"
        until = "2027-01-01"
        """,
    )
    assert not found.problems
    audit = found.config.audit
    assert (audit.stale_days, dict(audit.rules)) == (90, {"stale": "off", "*-key": "warn"})
    assert audit.exemptions == (
        Exemption(rule="*-key", path="examples/**", reason="of the manual", until=date(2026, 12, 31)),
        Exemption(rule="*", fingerprint="00112233aabbccdd", reason="seen", until=date(2027, 1, 1)),
    )
    assert [found.get_line(name) for name in ("audit.rules.stale", "audit.exempt.1", "audit.exempt.2")] == [5, 7, 12]


def test_an_exemption_that_cannot_be_used_takes_no_other_with_it(file: Path) -> None:
    found = loaded(file, '[[audit.exempt]]\nrule = "a"\n[[audit.exempt]]\nrule = "b"\nreason = "c"')
    assert [each.rule for each in found.config.audit.exemptions] == ["b"]
    assert [problem.line for problem in found.problems] == [1]
    assert found.get_line("audit.exempt.1") == 3


def test_the_example_of_an_exemption_can_be_used(file: Path) -> None:
    text = re.sub(r"^# (?=\[\[|  [a-z]+ = |\"stale)", "", render_template(), flags=re.MULTILINE)
    found = loaded(file, text)
    assert not found.problems
    assert [each.rule for each in found.config.audit.exemptions] == ["*-key"]
    assert dict(found.config.audit.rules) == {"stale": "off"}


def test_one_wrong_value_takes_no_other_with_it(file: Path) -> None:
    found = loaded(file, 'dir = 1\n[ui]\nsort = "x"\nhidden = true\n[x]\ny = 1\n[memory]\nmax_files = 3')
    assert (found.config.ui, found.config.memory) == (UiSettings(hidden=True), Settings(max_files=3))
    assert [(problem.key, problem.line) for problem in found.problems] == [("dir", 1), ("ui.sort", 3), ("x", 5)]


@pytest.mark.parametrize("data", [b"\xff", b"a" * 1_000_001, b"\0", b"[" * 100_000, b"a = " + b"[" * 100_000])
def test_a_file_that_is_no_toml_leaves_the_defaults(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    found = load_config(environ={"MEMTUI_CONFIG": str(file)})
    assert found.config == Config()
    assert len(found.problems) == 1


def test_what_cannot_be_read_stops_only_who_named_it(file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="There is no file"):
        load_config(path=str(file), environ={})
    assert not load_config(environ={"MEMTUI_CONFIG": str(file)}).problems
    os.mkfifo(file)
    with pytest.raises(ConfigUnreadable, match="it is not a file"):
        load_config(path=str(file), environ={})
    (problem,) = load_config(environ={"MEMTUI_CONFIG": str(tmp_path)}).problems
    assert "is a directory. The defaults are used." in problem.sentence
    assert load_config(environ={"MEMTUI_CONFIG": str(tmp_path)}).exists  # so nobody is told to make it
    assert load_config(path=os.devnull, environ={}).config == Config()


@pytest.mark.parametrize("through", ["itself", "link into it", "link out of it"])
def test_a_file_in_the_memory_folder_is_never_used(tmp_path: Path, through: str) -> None:
    folder, outside = tmp_path / "memories", tmp_path / "outside.toml"
    folder.mkdir()
    inside = folder / "config.toml"
    named = {"itself": inside, "link into it": outside, "link out of it": inside}[through]
    held = {"itself": inside, "link into it": inside, "link out of it": tmp_path / "held.toml"}[through]
    held.write_text('[editor]\ncommand = "rm -rf"')
    if named != held:
        named.symlink_to(held)
    found = load_config(path=str(named), folder=str(folder), environ={})
    assert found.config == Config()
    assert "is not used: it is inside the memory folder" in found.problems[0].sentence
    assert load_config(path=str(named), folder=str(tmp_path / "other"), environ={}).config.editor.command == "rm -rf"


def test_a_relative_xdg_directory_counts_for_nothing() -> None:
    assert get_config_path({"XDG_CONFIG_HOME": "here"}) == os.path.expanduser("~/.config/memtui/config.toml")
    assert get_config_path({}) == os.path.expanduser("~/.config/memtui/config.toml")


def test_the_reference_says_something_of_every_setting_and_every_section() -> None:
    names = {*list_settings(), *(name.partition(".")[0] for name in list_settings()), "keys"}
    assert {name for name in names if not load_descriptions().get(name)} == set()


def test_the_reference_is_a_file_in_which_nothing_is_set(file: Path) -> None:
    found = loaded(file, render_template())
    assert (found.config, found.problems) == (Config(), ())


def test_what_the_reference_gives_as_defaults_are_the_defaults(file: Path) -> None:
    text = re.sub(r"^# (?=[a-z_]+ = |\"file)", "", render_template(), flags=re.MULTILINE)
    found = loaded(file, text)
    assert not found.problems
    assert found.config.keys == {"file.rename": "r,f2"}
    given = {name: get_value(found.config, name) for name in list_settings()}
    assert {name for name in given if found.get_origin(name) == "default"} == set()
    for name, setting in list_settings().items():
        assert setting.default is None or given[name] == setting.default


def test_a_value_may_be_whatever_settings_of_an_engine_may_be() -> None:
    with pytest.raises(ValueError, match="create must be one of"):
        replace(Settings(), create="x")  # type: ignore[arg-type]
    for setting in list_settings().values():
        assert setting.default is None or setting.is_valid(setting.default), setting


_NAMES = st.sampled_from(["a", "b-c", "d_e", '"x.y"', "'q w'", '"u\\u0041"'])
_VALUES = st.sampled_from(
    ["1", '"# no = 1"', "'[t]'", '"""\n[x]\nz = 1\n"""', "'''\nk = 2\n'''", "[1,\n  2, # n = 1\n]", "{ i = 1 }", "1.5"]
)


@given(st.lists(st.tuples(st.booleans(), _NAMES, _NAMES, _VALUES), max_size=8))
def test_every_key_is_found_on_the_line_where_it_stands(parts: list[tuple[bool, str, str, str]]) -> None:
    text, expected, table = "", {}, ()
    for number, (header, one, two, value) in enumerate(parts):
        if header:
            table = (f"t{number}",)
            text += f"\n[ {table[0]} ] # [no]\n"
            continue
        text += f"k{number} . {one}.{two} = {value}\n"
        name = (*table, f"k{number}", *(next(iter(tomllib.loads(f"{each} = 1"))) for each in (one, two)))
        expected[name] = text.count("\n") - value.count("\n")
    tomllib.loads(text)
    lines = index_lines(text)
    assert {name: lines.get(name) for name in expected} == expected
    assert all(find_line(lines, (*name, "inside")) == line for name, line in expected.items())


def test_no_variable_is_about_memory_so_that_a_hook_without_a_file_has_the_defaults() -> None:
    named = [setting for setting in list_settings().values() if setting.before or setting.after]
    assert named
    assert not [setting.name for setting in named if setting.name.startswith("memory.")]
    assert load_config(use_file=False).config.memory == Settings()
