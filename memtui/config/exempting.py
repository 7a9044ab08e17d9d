"""What the file of settings says of an audit's rules, and of findings that are excepted from it.

Whether there is a rule of a name is not known here: an audit knows, and says so.
"""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

from memtui.config.words import shown
from memtui.core.audit_settings import Exemption

WORDS = ("off", "on", "fail", "warn", "info")
"""What may become of a rule."""
_KEYS = ("rule", "path", "fingerprint", "reason", "until")
_ROOT = "/memories/"
_HEXADECIMAL = frozenset("0123456789abcdef")
_DIGITS = 16

Complain = Callable[[str, tuple[str, ...]], None]
"""Says what cannot be used, and where it stands."""
_NOT_USED = "The exemption is not used."


def exemption(table: object, name: tuple[str, ...], complain: Complain) -> Exemption | None:
    """One exemption; `None` if it cannot be used, and then that is said.

    Args:
        table: As it stands in the file.
        name: Where it stands.
        complain: Told what is wrong.
    """
    if not isinstance(table, dict):
        complain(f"an exemption is {shown(table)}; it is a table of its own: write [[audit.exempt]]. {_NOT_USED}", name)
        return None
    if not _has_only_keys(table, name, complain) or not _are_texts(table, name, complain):
        return None
    rule, fingerprint = table.get("rule", ""), table.get("fingerprint", "").lower()
    if not rule and not fingerprint:
        words = 'an exemption has no rule: say which, such as rule = "stale", or rule = "*-key".'
        complain(f"{words} {_NOT_USED}", name)
        return None
    if fingerprint and (len(fingerprint) != _DIGITS or not _HEXADECIMAL.issuperset(fingerprint)):
        words = f"audit.exempt.fingerprint is {shown(fingerprint)}; it must be the 16 digits that a report tells."
        complain(f"{words} {_NOT_USED}", (*name, "fingerprint"))
        return None
    reason = table.get("reason", "").strip()
    if not reason:
        what = shown(rule or fingerprint)
        complain(f'the exemption of {what} has no reason: say why it is in order, reason = "...". {_NOT_USED}', name)
        return None
    until = _day(table.get("until"))
    if until is None and "until" in table:
        words = f"audit.exempt.until is {shown(table['until'])}; it must be a day, such as 2026-12-31."
        complain(f"{words} {_NOT_USED}", (*name, "until"))
        return None
    if not table.get("path", "**").strip():
        words = 'audit.exempt.path is empty; leave it out, or say "**", to mean everything.'
        complain(f"{words} {_NOT_USED}", (*name, "path"))
        return None
    path = table.get("path", "**").removeprefix(_ROOT).strip("/") or "**"
    if not {".", ".."}.isdisjoint(path.split("/")) or "\\" in path:
        words = f'audit.exempt.path is {shown(table["path"])}; it is relative to the folder, such as "examples/**".'
        complain(f"{words} {_NOT_USED}", (*name, "path"))
        return None
    return Exemption(rule=rule or "*", path=path, fingerprint=fingerprint, reason=reason, until=until)


def word(value: object, name: tuple[str, ...], complain: Complain) -> str | None:
    """What becomes of a rule; `None` if that cannot be used, and then that is said.

    Args:
        value: As it stands in the file.
        name: Where it stands.
        complain: Told what is wrong.
    """
    if isinstance(value, str) and value in WORDS:
        return value
    from memtui.config.nearest import nearest  # for start-up cost: only the mistaken need it

    meant = {True: "on", False: "off"}[value] if isinstance(value, bool) else nearest(str(value), WORDS)
    hint = f' Did you mean "{meant}"?' if meant else ""
    *others, last = (f'"{each}"' for each in WORDS)
    rule = ".".join(name[2:])
    complain(
        f'audit.rules."{rule}" is {shown(value)}; it must be {", ".join(others)} or {last}.{hint} '
        "The rule stays as it is by itself.",
        name,
    )
    return None


def _has_only_keys(table: Mapping[str, Any], name: tuple[str, ...], complain: Complain) -> bool:
    for key in table:
        if key not in _KEYS:
            from memtui.config.nearest import nearest  # for start-up cost, as above

            meant = nearest(key, _KEYS)
            hint = f" Did you mean {meant}?" if meant else f" There are: {', '.join(_KEYS)}."
            complain(f"there is no setting audit.exempt.{key}.{hint} {_NOT_USED}", (*name, key))
            return False
    return True


def _are_texts(table: Mapping[str, Any], name: tuple[str, ...], complain: Complain) -> bool:
    for key, value in table.items():
        if key != "until" and not isinstance(value, str):
            complain(f"audit.exempt.{key} is {shown(value)}; it must be a text in quotes. {_NOT_USED}", (*name, key))
            return False
    return True


def _day(value: object) -> date | None:
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
