"""The tables of settings, made from the declarations of their fields."""

from memtui.config.reference import load_descriptions
from memtui.config.settings import Setting, format_toml, list_settings

_TITLES = {
    "": "At the top of the file",
    "ui": "`[ui]`",
    "editor": "`[editor]`",
    "memory": "`[memory]`",
    "chat": "`[chat]`",
    "audit": "`[audit]`",
}


def render_setting_tables() -> str:
    """A table for each section of the settings file."""
    lines: list[str] = []
    above: str | None = None
    for setting in list_settings().values():
        section, _, name = setting.name.rpartition(".")
        if section != above:
            words = [load_descriptions()[section], ""] if section else []
            lines += ["", f"## {_TITLES[section]}", "", *words, "| setting | default | meaning |", "|---|---|---|"]
            above = section
        lines.append(f"| `{name}` | {_format_default(setting)} | {_describe(setting)} |")
    return "\n".join(lines).lstrip("\n") + "\n"


def _format_default(setting: Setting) -> str:
    return "not set" if setting.default is None else f"`{format_toml(setting.default)}`"


def _describe(setting: Setting) -> str:
    words = [load_descriptions()[setting.name]]
    if setting.choices:
        words.append(f"One of: {', '.join(f'`{choice}`' for choice in setting.choices if choice)}.")
    if setting.before:
        words.append(f"Environment: {', '.join(f'`{name}`' for name in setting.before)}.")
    return " ".join(words).replace("|", "\\|")
