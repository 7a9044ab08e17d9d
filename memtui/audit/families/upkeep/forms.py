"""Forms of values, of keys whose values are written in several: only those of one form exclude each other.

`CET` and `Europe/Berlin` may be the same, `pytest` and `vitest` are used side by side, `Ubuntu` is a `Linux`. What is
in none of the forms here may mean anything, and contradicts nothing.
"""

import re
from collections.abc import Callable, Collection, Mapping

_ECOSYSTEMS: Mapping[str, tuple[str, ...]] = {
    "package manager": (
        "npm yarn pnpm bun",
        "pip uv poetry pipenv conda mamba pdm hatch rye",
        "maven gradle sbt bazel",
        "brew homebrew macports",
        "apt dnf yum pacman zypper apk nix",
    ),
    "test framework": (
        "jest vitest mocha jasmine ava",
        "pytest unittest nose nose2",
        "junit testng",
        "rspec minitest",
        "xunit nunit mstest",
        "gtest catch2 doctest",
        "playwright cypress selenium puppeteer",
    ),
    "theme": ("dark light",),
    "units": ("metric imperial",),
}
"""Values that exclude each other, by key; those of different rows are used side by side."""
_ROW_OF: Mapping[str, Mapping[str, str]] = {
    key: {word: str(at) for at, row in enumerate(rows) for word in row.split()} for key, rows in _ECOSYSTEMS.items()
}
_LINUXES = "linux ubuntu debian fedora arch nixos mint gentoo opensuse centos rhel alpine manjaro"
_SYSTEMS = {
    **dict.fromkeys(("macos", "mac", "osx", "darwin"), "macos"),
    **dict.fromkeys(("windows", "win"), "windows"),
    **dict.fromkeys(_LINUXES.split(), "linux"),
}
_OFFSET = re.compile(r"(?:utc|gmt)(?:[ ]?([+-])[ ]?(\d{1,2})(?::?(\d\d))?)?")
_AREA = re.compile(r"[a-z]{2,20}/[a-z][a-z_ /+-]{1,40}")
_ABBREVIATION = re.compile(r"([a-z]{1,3})[sd]?t")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_PATTERN = re.compile(r"[ymd]{1,4}([./ -])[ymd]{1,4}\1[ymd]{1,4}")


def forms_of(key: str, values: Collection[str]) -> dict[str, frozenset[str]] | None:
    """The values of a key by their forms, each in one spelling; `None` for a key whose values are compared as they are.

    Args:
        key: As `contradictions` calls it.
        values: As they are compared, in lower case.
    """
    read = _READERS.get(key)
    if read is None:
        return None
    found: dict[str, set[str]] = {}
    for value in values:
        for form, spelled in read(value):
            found.setdefault(form, set()).add(spelled)
    return {form: frozenset(spelled) for form, spelled in found.items()}


_Forms = list[tuple[str, str]]


def _zone(value: str) -> _Forms:
    if found := _OFFSET.fullmatch(value):
        hours, minutes = int(found[2] or 0), int(found[3] or 0)
        return [("offset", f"{'-' if found[1] == '-' and hours else '+'}{hours}:{minutes:02}")]
    if _AREA.fullmatch(value):
        return [("area", value)]
    if found := _ABBREVIATION.fullmatch(value):
        return [("abbreviation", found[1])]  # PST and PDT are one zone, in winter and in summer
    return []


def _system(value: str) -> _Forms:
    words = re.findall(r"[a-z]+", value.replace("mac os", "macos"))
    if "wsl" in words:
        return []  # a Linux in Windows
    forms: _Forms = []
    for word in words:
        if word in _SYSTEMS:
            forms.append(("family", _SYSTEMS[word]))
            if _SYSTEMS[word] == "linux" != word:
                forms.append(("distribution", word))
    return forms


def _date(value: str) -> _Forms:
    return [("date", value)] if _DATE.fullmatch(value) else []


def _pattern(value: str) -> _Forms:
    if value in ("iso", "iso 8601", "iso-8601", "iso8601"):
        value = "yyyy-mm-dd"
    return [("pattern", value)] if _PATTERN.fullmatch(value) else []


def _in_row(key: str) -> Callable[[str], _Forms]:
    rows = _ROW_OF[key]
    return lambda value: [(rows[word], word) for word in re.findall(r"[a-z0-9]+", value) if word in rows]


_READERS: Mapping[str, Callable[[str], _Forms]] = {
    "timezone": _zone,
    "operating system": _system,
    "birthday": _date,
    "date format": _pattern,
    **{key: _in_row(key) for key in _ECOSYSTEMS},
}
