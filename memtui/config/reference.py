"""What is said of the settings, from the words below their fields: for people, and for the file they begin with."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache

from memtui.config.sections import Config
from memtui.config.settings import Setting, settings

_WIDTH = 100
_RULES = "Which there are: memtui audit --rules."
_EXEMPT = "What is excepted needs a rule or a fingerprint, and a reason; path is a pattern, until the last day."
_EXEMPTION = (
    "# [[audit.exempt]]",
    '#   rule = "*-key"',
    '#   path = "examples/**"',
    '#   reason = "keys of the manual, that never worked"',
    "#   until = 2026-12-31",
)
_INSTEAD = {bool: "true", int: "10000", float: "1.0", str: '""'}
"""What stands for a value that is not set, by its type: an example."""


@cache
def meanings() -> dict[str, str]:
    """What each setting and each section means, by name."""
    found: dict[str, str] = {}
    config = Config()
    found.update(_words_below(Config))
    for each in fields(Config):
        section = getattr(config, each.name)
        if is_dataclass(section):
            found.update({f"{each.name}.{name}": words for name, words in _words_below(type(section)).items()})
    return found


def template() -> str:
    """A file of settings in which nothing is set yet: every default, behind a sign that takes it out."""
    lines = [
        "# The settings of memtui. Every line is optional; those that begin with # are the defaults.",
        "# What holds, and where it is from: memtui config show",
    ]
    above = ""
    for setting in settings().values():
        section = setting.name.rpartition(".")[0]
        if section != above:
            lines += ["", f"[{section}]", *_comment(meanings()[section])]
            above = section
        lines += ["", *_comment(_said_of(setting)), f"# {setting.name.rpartition('.')[2]} = {_default(setting)}"]
    lines += ["", "[audit.rules]", *_comment(meanings()["audit.rules"]), *_comment(_RULES), '# "stale" = "off"']
    lines += ["", *_comment(meanings()["audit.exemptions"]), *_comment(_EXEMPT), *_EXEMPTION]
    lines += ["", "[keys]", *_comment(meanings()["keys"]), '# "file.rename" = "r,f2"']
    return "\n".join(lines) + "\n"


def _said_of(setting: Setting) -> str:
    may_be = f" It is {setting.kind}." if setting.choices else ""
    return meanings()[setting.name] + may_be


def _default(setting: Setting) -> str:
    match setting.default:
        case None:
            return _INSTEAD[setting.types[0]]
        case bool():
            return str(setting.default).lower()
        case str():
            return f'"{setting.default}"'
        case _:
            return str(setting.default)


def _comment(words: str) -> Iterator[str]:
    return (f"# {line}" for line in textwrap.wrap(words, _WIDTH - 2))


def _words_below(section: type) -> dict[str, str]:
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
