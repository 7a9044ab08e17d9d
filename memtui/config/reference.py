"""The reference of the settings, made from the docstrings of their fields: for people, and for a new file."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache

from memtui.config.settings import Config, Setting, format_toml, list_settings

_WIDTH = 100
_RULES = "To list the rules: memtui audit --rules."
_EXEMPT = "An exemption needs a rule or a fingerprint, and a reason. path is a pattern, until is the last day."
_EXEMPTION = (
    "# [[audit.exempt]]",
    '#   rule = "*-key"',
    '#   path = "examples/**"',
    '#   reason = "keys in the manual that never worked"',
    "#   until = 2026-12-31",
)
_INSTEAD = {bool: "true", int: "10000", float: "1.0", str: '""'}
"""What stands for a value that is not set, by its type: an example."""


@cache
def load_descriptions() -> dict[str, str]:
    """What each setting and each section means, by name."""
    found: dict[str, str] = {}
    config = Config()
    found.update(_parse_field_docs(Config))
    for each in fields(Config):
        section = getattr(config, each.name)
        if is_dataclass(section):
            found.update({f"{each.name}.{name}": words for name, words in _parse_field_docs(type(section)).items()})
    return found


def render_template() -> str:
    """A file of settings in which nothing is set yet: every default, behind a sign that takes it out."""
    lines = [
        "# The settings of memtui. Every line is optional; those that begin with # are the defaults.",
        "# To see the values in use and where each is set: memtui config show",
    ]
    above = ""
    for setting in list_settings().values():
        section = setting.name.rpartition(".")[0]
        if section != above:
            lines += ["", f"[{section}]", *_format_comment(load_descriptions()[section])]
            above = section
        lines += [
            "",
            *_format_comment(_describe_setting(setting)),
            f"# {setting.name.rpartition('.')[2]} = {_format_default(setting)}",
        ]
    lines += [
        "",
        "[audit.rules]",
        *_format_comment(load_descriptions()["audit.rules"]),
        *_format_comment(_RULES),
        '# "stale" = "off"',
    ]
    lines += ["", *_format_comment(load_descriptions()["audit.exemptions"]), *_format_comment(_EXEMPT), *_EXEMPTION]
    lines += ["", "[keys]", *_format_comment(load_descriptions()["keys"]), '# "file.rename" = "r,f2"']
    return "\n".join(lines) + "\n"


def _describe_setting(setting: Setting) -> str:
    may_be = f" One of {setting.kind}." if setting.choices else ""
    return load_descriptions()[setting.name] + may_be


def _format_default(setting: Setting) -> str:
    return _INSTEAD[setting.types[0]] if setting.default is None else format_toml(setting.default)


def _format_comment(words: str) -> Iterator[str]:
    return (f"# {line}" for line in textwrap.wrap(words, _WIDTH - 2))


def _parse_field_docs(section: type) -> dict[str, str]:
    """The words that stand below a class's fields."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(section))).body[0]
    found: dict[str, str] = {}
    name = ""
    for node in tree.body if isinstance(tree, ast.ClassDef) else ():
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)):
                pass
            case ast.Expr(value=ast.Constant(value=str() as words)) if name:
                found[name] = " ".join(words.split())
                name = ""
            case _:
                name = ""
    return found
