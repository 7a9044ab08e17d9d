"""Filters of a query: `by:claude since:2d in:projects/ tag:x type:json flag:secret`, each with its negation.

What they mean is said here once, so that the find screen, `memtui search` and an agent's tool cannot differ: a filter
is asked about a path, a name, a tag, and answers.
"""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memtui.core import moments
from memtui.core.moments import Moment
from memtui.core.paths import ROOT_NAME
from memtui.notes.flags import FLAGS

FILTERS: Mapping[str, str] = {
    "by": "who wrote any of it: by:claude, by:you, by:outside",
    "since": "changed since then: since:2d, since:10:14, since:yesterday",
    "until": "changed up to then: until:yesterday, until:2026-11-20",
    "in": "in a folder: in:projects/ from the top, in:proj a folder like it",
    "tag": "with a tag: tag:decision also finds decision/old",
    "type": "of a kind: type:json by format, type:feedback by front matter",
    "flag": f"with something to look at: {', '.join(f'flag:{name}' for name in FLAGS)}",
    "re": "a regular expression to the end of the line: re:v\\d+ (in notes and names)",
}
"""The filters that there are, and what each is for, with an example."""


class BadFilter(ValueError):
    """A filter that cannot be read; its words are a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a note has to be beside matching the words.

    Several values of `by`, `within` and `types` are alternatives, since a note has one of each at a time; of `tags`
    and `flags` a note must have all.

    Attributes:
        by: Beginnings of the names of those who wrote any of it, in lower case, names as `shown_name` gives them.
        since: Changed since this moment; its beginning, where it is a span.
        until: Changed up to this moment; its end, where it is a span.
        within: Folders; one that ends in `/` is a path from the top, another one is like a part of the folder's path.
        tags: Tags, in lower case, without `#`.
        types: Formats or types of the front matter, in lower case.
        flags: Names out of `FLAGS`.
        without: What a note must have none of; its `since` and `until` are not used.
    """

    by: tuple[str, ...] = ()
    since: Moment | None = None
    until: Moment | None = None
    within: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    without: "Filters | None" = None

    def __bool__(self) -> bool:
        return self != Filters()

    @property
    def since_us(self) -> int | None:
        """The first microsecond (since 1970, UTC) that counts; `None` if no time was named."""
        return self.since.first_us if self.since else None

    @property
    def since_seq(self) -> int | None:
        """The event after which it must have changed; `None` if no number was named."""
        return self.since.seq if self.since else None

    @property
    def until_us(self) -> int | None:
        """The last microsecond that counts; `None` if no time was named."""
        return self.until.last_us if self.until else None

    @property
    def until_seq(self) -> int | None:
        """The last event that counts; `None` if no number was named."""
        return self.until.seq if self.until else None

    @property
    def concerns_time(self) -> bool:
        """Whether it matters when a note changed."""
        return self.since is not None or self.until is not None

    @property
    def concerns_actors(self) -> bool:
        """Whether it matters who wrote."""
        return bool(self.by or (self.without and self.without.by))

    @property
    def concerns_text(self) -> bool:
        """Whether it matters what a note says: its tags, its type, its flags."""
        sides = (self, self.without or Filters())
        return any(side.tags or side.types or side.flags for side in sides)

    def takes_path(self, path: str) -> bool:
        """Whether a note at this path, relative to the folder, passes `in:`."""
        if self.within and not any(_is_within(path, folder) for folder in self.within):
            return False
        return not (self.without and any(_is_within(path, folder) for folder in self.without.within))

    def takes_actors(self, names: Collection[str]) -> bool:
        """Whether a note that these wrote, named as `shown_name` names them, passes `by:`."""
        lower = [name.casefold() for name in names]
        if self.by and not any(name.startswith(self.by) for name in lower):
            return False
        return not (self.without and self.without.by and any(name.startswith(self.without.by) for name in lower))

    def takes_event(self, seq: int, at_us: int) -> bool:
        """Whether a change by this event, at this microsecond, passes `since:` and `until:`."""
        if self.since is not None and not self.since.is_now:
            if self.since.seq is not None and seq <= self.since.seq:
                return False
            if self.since.first_us is not None and at_us < self.since.first_us:
                return False
        elif self.since is not None:
            return False
        if self.until is not None and not self.until.is_now:
            if self.until.seq is not None and seq > self.until.seq:
                return False
            if self.until.last_us is not None and at_us > self.until.last_us:
                return False
        return True

    def takes_tags(self, tags: Collection[str]) -> bool:
        """Whether a note with these tags passes `tag:`."""
        has = {tag.casefold() for tag in tags}
        if not all(any(_is_tag(tag, wanted) for tag in has) for wanted in self.tags):
            return False
        return not (self.without and any(_is_tag(tag, bad) for bad in self.without.tags for tag in has))

    def takes_types(self, types: Collection[str]) -> bool:
        """Whether a note of these types (its format, and what its front matter says) passes `type:`."""
        has = {name.casefold() for name in types}
        if self.types and not has.intersection(self.types):
            return False
        return not (self.without and has.intersection(self.without.types))

    def takes_flags(self, flags: Collection[str]) -> bool:
        """Whether a note with these flags passes `flag:`."""
        has = set(flags)
        return has.issuperset(self.flags) and not (self.without and has.intersection(self.without.flags))


@dataclass(slots=True)
class Gathered:
    """Filters while a query is read.

    Attributes:
        now_us: The time, in microseconds since 1970 (UTC).
    """

    now_us: int
    _with: dict[str, list[str]] = field(default_factory=dict)
    _without: dict[str, list[str]] = field(default_factory=dict)
    _since: Moment | None = None
    _until: Moment | None = None

    def add(self, name: str, value: str, *, negated: bool) -> None:
        """Take in a filter; one without a value is being typed, and ignored.

        Raises:
            BadFilter: Its value cannot be read.
        """
        value = value.strip()
        if not value:
            return
        if name in ("since", "until"):
            self._take_moment(name, value, negated=negated)
            return
        side = self._without if negated else self._with
        side.setdefault(name, []).append(_read(name, value))

    def filters(self) -> Filters:
        """All of them."""
        without = _side(self._without) if self._without else None
        return _side(self._with, self._since, self._until, without)

    def _take_moment(self, name: str, value: str, *, negated: bool) -> None:
        if negated:
            other = "until" if name == "since" else "since"
            raise BadFilter(f"{name}: cannot be turned around. Use {other}:{value}.")
        now = datetime.fromtimestamp(self.now_us / 1e6, UTC)
        try:
            moment = moments.moment(value, now=now)
        except ValueError as error:
            raise BadFilter(f"{name}: {error}") from None
        if name == "since":
            self._since = moment
        else:
            self._until = moment


def nearest(name: str) -> str | None:
    """The filter that a name is most like."""
    found = difflib.get_close_matches(name.casefold(), FILTERS, n=1, cutoff=0.5)
    return found[0] if found else None


def _side(
    of: Mapping[str, list[str]],
    since: Moment | None = None,
    until: Moment | None = None,
    without: Filters | None = None,
) -> Filters:
    by, within, tags, types, flags = (tuple(of.get(name, ())) for name in ("by", "in", "tag", "type", "flag"))
    return Filters(by, since, until, within, tags, types, flags, without)


def _read(name: str, value: str) -> str:
    """A value in the form in which it is compared."""
    match name:
        case "in":
            below = value.removeprefix(ROOT_NAME + "/") if value.startswith(ROOT_NAME + "/") else value.lstrip("/")
            return below or "/"
        case "tag":
            return value.casefold().lstrip("#").strip("/")
        case "flag":
            given = value.casefold()
            known = [flag for flag in FLAGS if flag.startswith(given)]
            if len(known) != 1 and given not in FLAGS:
                raise BadFilter(f"No flag is called {value}. There are {', '.join(FLAGS)}.")
            return given if given in FLAGS else known[0]
        case "type":
            return value.casefold().lstrip(".")
        case _:
            return value.casefold()


def _is_within(path: str, folder: str) -> bool:
    if folder == "/":
        return True
    directory = path.rpartition("/")[0]
    if folder == folder.casefold():
        path, directory = path.casefold(), directory.casefold()
    if folder.endswith("/"):
        return path.startswith(folder)
    if "/" in folder:
        return folder in directory
    return any(_is_subsequence(folder, part) for part in directory.split("/"))


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


def _is_tag(tag: str, wanted: str) -> bool:
    return tag == wanted or tag.startswith(wanted + "/")
