"""The files in which a person or an organisation keeps rules of its own, read before an audit begins.

A file inside the memory folder is never one of them: an agent could write a rule there that allows all it does.
"""

import hashlib
import importlib.metadata
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from memtui.audit.model import NO_CUSTOM_RULES, AuditRule, CustomRules, Family, Severity
from memtui.core.edits import format_human_size
from memtui.core.errors import MemtuiError
from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import format_path, resolve_place
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.fs.no_atime import read_regular_file
from memtui.scan.rule_files import EngineMissing, InvalidRuleFile, fold_name, load_engine, parse_rule_file
from memtui.scan.rule_matches import SecretRule, SecretRuleFile, SecretRules
from memtui.scan.ruleset import load_rules

GROUP = "memtui.rules"
"""Entry points of packages that bring rules: a path, the text of a file, or what gives one of them."""
_MOST_BYTES = 4_000_000
_NO_ENGINE = "its regexes need one more package: pip install 'memtui[rules]'"
_LONGEST_PREFIX, _LONGEST_ERROR = 40, 200


class RuleFileRefused(MemtuiError):
    """A file that was named is inside the memory folder."""


class RuleFileMissing(MemtuiError):
    """A file that was named is not there, or cannot be read."""


class RuleFileUnusable(MemtuiError):
    """Nothing of a file that was named can be used."""


class _InsideFolder(InvalidRuleFile):
    """An agent could write the file."""


class _Unreadable(InvalidRuleFile):
    """The file cannot be read."""


_ERRORS: Mapping[type[InvalidRuleFile], type[MemtuiError]] = {
    _InsideFolder: RuleFileRefused,
    _Unreadable: RuleFileMissing,
}
"""What becomes of a file that was named."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where rules are from.

    Attributes:
        prefix: What stands before the rules' ids.
        shown: Its name in sentences, without where it is on this machine: they stand in reports.
        path: Empty for a package.
        read: Gives its text, or raises `InvalidRuleFile`.
    """

    prefix: str
    shown: str
    path: str
    read: Callable[[], str]
    is_named: bool = False


def load_custom_rules(
    named: Iterable[str],
    settings: Iterable[str],
    folder: str | None,
    packages: Iterable[importlib.metadata.EntryPoint] | None = None,
) -> CustomRules:
    """The rules of a person's own files, and of installed packages.

    Args:
        named: Paths of this call: one that cannot be used ends it.
        settings: Paths in the settings: of one that cannot be used the audit tells.
        folder: The memory folder, as far as it is known.
        packages: What `find_rule_packages` found, where rules are loaded for many folders.

    Raises:
        RuleFileRefused: A named file is inside the folder.
        RuleFileMissing: A named file cannot be read.
        RuleFileUnusable: Nothing of a named file can be used.
    """
    folder = resolve_place(folder) if folder else None
    sources = [_name_file(path, folder, is_named=True) for path in named]
    sources += [_name_file(path, folder) for path in settings]
    unique = list({source.path: source for source in reversed(sources)}.values())[::-1]
    unique += _list_packages(find_rule_packages() if packages is None else packages, folder)
    return _Loader(folder).load(unique) if unique else NO_CUSTOM_RULES


class _Loader:
    """Reads one source after the other."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._files: list[SecretRuleFile] = []
        self._shown: list[str] = []
        self._problems: list[str] = []
        self._rules: list[AuditRule] = []
        self._prefixes: set[str] = set()
        self._hash = hashlib.sha256()

    def load(self, sources: Iterable[_Source]) -> CustomRules:
        for source in sources:
            try:
                self._add(source, self._parse(source))
            except EngineMissing:
                self._problems.append(f"{source.shown} is not used: {_NO_ENGINE}.")
            except InvalidRuleFile as error:
                if source.is_named:
                    words = f"{to_one_line(format_path(source.path))} is not used: {error}."
                    raise _ERRORS.get(type(error), RuleFileUnusable)(words) from error
                self._problems.append(f"{source.shown} is not used: {error}.")
        remarks = tuple(remark for file in self._files for remark in file.remarks)
        problems = (*self._problems, *(problem for file in self._files for problem in file.problems))
        return CustomRules(
            rules=tuple(self._rules),
            matcher=SecretRules(self._files),
            files=tuple(self._shown),
            problems=problems,
            remarks=remarks,
            digest=self._hash.hexdigest(),
        )

    def _parse(self, source: _Source) -> SecretRuleFile:
        text = self._record(source.read())
        if not source.prefix:
            raise InvalidRuleFile("its name needs a letter or a digit for the names of its rules")
        if source.prefix in self._prefixes:
            raise InvalidRuleFile(f"the rules of another file are called {source.prefix}/..., too. Rename it")
        read_base = partial(self._read_base, os.path.dirname(source.path))
        return parse_rule_file(text, source.prefix, source.shown, load_engine(), read_base)

    def _add(self, source: _Source, file: SecretRuleFile) -> None:
        self._prefixes.add(source.prefix)
        self._files.append(file)
        self._shown.append(f"{source.shown} ({format_count(len(file.rules), 'rule')})")
        self._rules += [_build_rule(rule, source.shown) for rule in file.rules if not rule.is_silent]

    def _read_base(self, directory: str, path: str) -> str:
        """The text of a file that another extends; a relative path is seen from that one."""
        path = os.path.expanduser(path)
        if not directory and not os.path.isabs(path):
            raise InvalidRuleFile("the path is relative, but to no file")
        return self._record(_read_file(os.path.join(directory, path), self._folder))

    def _record(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        self._hash.update(f"{len(data)}\0".encode() + data)
        return text


def _build_rule(rule: SecretRule, shown: str) -> AuditRule:
    defaults = load_rules("secrets").defaults
    return AuditRule(
        id=rule.id,
        family=Family.SECRET,
        severity=Severity.FAIL,
        title=rule.description[:1].upper() + rule.description[1:],
        why=f"The rule {to_one_line(rule.name)} of {shown}. {defaults['why']}",
        do=defaults["do"],
        example="",
        good="",
        certainty=defaults["certainty"],
        cwe=tuple(defaults["cwe"]),
        tags=rule.tags,
        is_custom=True,
    )


def _name_file(given: str, folder: str | None, *, is_named: bool = False) -> _Source:
    path = os.path.realpath(os.path.expanduser(given))
    name = os.path.basename(path)
    prefix = _make_prefix(name.lstrip(".").removesuffix(".toml"))
    return _Source(prefix, to_one_line(name), path, partial(_read_file, path, folder), is_named)


def _make_prefix(name: str) -> str:
    return fold_name(name)[:_LONGEST_PREFIX].strip("-")


def _read_file(given: str, folder: str | None) -> str:
    """The text of a file; `InvalidRuleFile` if it cannot be used. A FIFO is not waited for."""
    path = os.path.realpath(given)
    if folder is not None and path.startswith(folder.rstrip("/") + "/"):
        raise _InsideFolder("it is inside the memory folder, where an agent could write it. Move it out")
    try:
        data = read_regular_file(path, _MOST_BYTES)
    except OSError as error:
        raise _Unreadable(f"it cannot be read: {os.strerror(error.errno or 0).lower()}") from error
    if data is None:
        raise InvalidRuleFile("it is not a regular file")
    if len(data) > _MOST_BYTES:
        raise InvalidRuleFile(f"it has more than {format_human_size(_MOST_BYTES)}")
    return _decode(data)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InvalidRuleFile(f"it is not UTF-8 in line {line:,}") from error


# Packages


def find_rule_packages() -> list[importlib.metadata.EntryPoint]:
    """The installed packages that bring rules, by name: the metadata of all that are installed are read."""
    return sorted(importlib.metadata.entry_points(group=GROUP), key=lambda point: point.name)


def _list_packages(points: Iterable[importlib.metadata.EntryPoint], folder: str | None) -> Iterator[_Source]:
    for point in points:
        owner = f" of {point.dist.name}" if point.dist is not None else ""
        shown = to_one_line(f"the rules {point.name}{owner}")
        yield _Source(_make_prefix(point.name), shown, "", partial(_read_package, point, folder))


def _read_package(point: importlib.metadata.EntryPoint, folder: str | None) -> str:
    try:
        given = point.load()
        given = given() if callable(given) else given
        given = given.read_text(encoding="utf-8") if hasattr(given, "read_text") else given
    except Exception as error:  # code of a package: whatever it does wrong, its rules are told as not used
        words = f"{type(error).__name__}: {to_one_line(str(error))}"[:_LONGEST_ERROR]
        raise InvalidRuleFile(f"the package failed: {words}") from error
    return _read_given(given, folder)


def _read_given(given: Any, folder: str | None) -> str:
    """The text that a package gives, or that of the file whose path it gives."""
    if isinstance(given, bytes):
        return _decode(given)
    if isinstance(given, str) and "\n" in given:
        return given
    if isinstance(given, str | os.PathLike):
        return _read_file(os.fspath(given), folder)
    raise InvalidRuleFile("the package gives neither a path nor a text")
