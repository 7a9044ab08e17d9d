"""The audit section of the settings file: rules and exemptions.

Whether there is a rule of a name is not known here: an audit knows, and says so.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from memtui.config.settings import format_toml
from memtui.core.settings import Exemption
from memtui.core.suggestion import format_suggestion

WORDS = ("off", "on", "fail", "warn", "info")
"""What may become of a rule."""
LONGEST_NAME = 200
"""Characters of a name of rules: a pattern of very many takes very long."""
_KEYS = ("rule", "path", "fingerprint", "reason", "until")
_ROOT = "/memories/"
_HEXADECIMAL = frozenset("0123456789abcdef")
_DIGITS = 16

Complain = Callable[[str, tuple[str, ...]], None]
"""Says what cannot be used, and where it stands."""
_NOT_USED = "The exemption is not used."


def parse_exemption(table: object, name: tuple[str, ...], complain: Complain) -> Exemption | None:
    """One exemption; `None` if it cannot be used, and then that is said."""
    if not isinstance(table, dict):
        words = f"an exemption is {format_toml(table)}; it must be a table: write [[audit.exempt]]."
        complain(f"{words} {_NOT_USED}", name)
        return None
    key, words = _find_fault(table)
    if words:
        complain(f"{words} {_NOT_USED}", (*name, key) if key else name)
        return None
    return Exemption(
        rule=table.get("rule", "") or "*",
        path=_get_relative_path(table),
        fingerprint=table.get("fingerprint", "").lower(),
        reason=table["reason"].strip(),
        until=_parse_day(table.get("until")),
    )


def _find_fault(table: Mapping[str, Any]) -> tuple[str, str]:
    """The first key of an exemption that cannot be used, empty for the table itself, and why; empty for no fault."""
    for key in table:
        if key not in _KEYS:
            hint = format_suggestion(key, _KEYS, f"Settings: {', '.join(_KEYS)}.")
            return key, f"there is no setting audit.exempt.{key}. {hint}"
    for key, value in table.items():
        if key != "until" and not isinstance(value, str):
            return key, f"audit.exempt.{key} is {format_toml(value)}; it must be a string in quotes."
    rule, fingerprint = table.get("rule", ""), table.get("fingerprint", "").lower()
    if len(rule) > LONGEST_NAME:
        return "rule", f"audit.exempt.rule has {len(rule):,} characters; the limit is {LONGEST_NAME}."
    if not rule and not fingerprint:
        return "", 'an exemption needs a rule, such as rule = "stale" or rule = "*-key".'
    if fingerprint and (len(fingerprint) != _DIGITS or not _HEXADECIMAL.issuperset(fingerprint)):
        given = format_toml(fingerprint)
        return "fingerprint", f"audit.exempt.fingerprint is {given}; it must be 16 hexadecimal digits, as in a report."
    if not table.get("reason", "").strip():
        what = format_toml(rule or fingerprint)
        return "", f'the exemption of {what} needs a reason: add reason = "...".'
    if "until" in table and _parse_day(table["until"]) is None:
        return "until", f"audit.exempt.until is {format_toml(table['until'])}; it must be a date, such as 2026-12-31."
    if not table.get("path", "**").strip():
        return "path", 'audit.exempt.path is empty; for all files leave it out or write "**".'
    path = _get_relative_path(table)
    if not {".", ".."}.isdisjoint(path.split("/")) or "\\" in path:
        given = format_toml(table["path"])
        return "path", f'audit.exempt.path is {given}; it must be relative to the folder, such as "examples/**".'
    return "", ""


def _get_relative_path(table: Mapping[str, Any]) -> str:
    return str(table.get("path", "**")).removeprefix(_ROOT).strip("/") or "**"


def parse_rule_setting(value: object, name: tuple[str, ...], complain: Complain) -> str | None:
    """What becomes of a rule; `None` if that cannot be used, and then that is said."""
    if isinstance(value, str) and value in WORDS:
        return value
    given = {True: "on", False: "off"}[value] if isinstance(value, bool) else format_toml(value).strip('"')
    hint = format_suggestion(given, WORDS, shown='"{}"')
    *others, last = (f'"{each}"' for each in WORDS)
    rule = ".".join(name[2:])
    complain(
        f'audit.rules."{rule}" is {format_toml(value)}; it must be {", ".join(others)} or {last}. '
        f"{hint}{' ' * bool(hint)}The rule keeps its default.",
        name,
    )
    return None


def _parse_day(value: object) -> date | None:
    """A day, as TOML has it or as a text."""
    match value:
        case datetime():
            return value.date()
        case date():
            return value
        case str():
            try:
                return date.fromisoformat(value)
            except ValueError:
                return None
        case _:
            return None
