"""Move and delete files, and have the links that would break follow, as one event.

What links lead to is planned from the journal, as of its last event. Each note that is rewritten must still be what it
was then: if it is not, all of it is planned anew, so that nothing that an agent wrote meanwhile is lost.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Unpack

from memtui.core import paths as core_paths
from memtui.core.events import Version
from memtui.core.history import ActionResult, SkipReason
from memtui.core.lazy_dataclass import dataclass
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.engine import Engine
from memtui.engine.restore import ActionOptions
from memtui.knowledge.rewriting import LinkChange, LinkPlan, count_links, expand_moves, plan_links

_ATTEMPTS = 5
"""How often it is planned anew when another program is faster."""
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NAMED = 3
"""Links that a sentence names."""


@dataclass(frozen=True, slots=True)
class PlannedLinks:
    """What becomes of the links of a folder.

    Attributes:
        plan: The links, and the new texts of the notes in which they stand.
        expected: What must stand where, by the paths before.
    """

    plan: LinkPlan = field(default_factory=LinkPlan)
    expected: Mapping[str, Version | None] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, bytes]:
        """The new texts of notes, by their paths afterwards."""
        return {path: text.encode() for path, text in self.plan.texts.items()}


def plan_moved_links(engine: Engine, moves: Mapping[str, str]) -> PlannedLinks:
    """Plan what becomes of the links when files and directories are moved."""
    return _plan(engine, moves, ())


def plan_deleted_links(engine: Engine, paths: Collection[str]) -> PlannedLinks:
    """Plan what becomes of the links when files and directories are deleted."""
    return _plan(engine, {}, paths)


def plan_copied_links(engine: Engine, copies: Mapping[str, str]) -> PlannedLinks:
    """Plan what becomes of the links when files and directories are copied."""
    return _plan(engine, {}, (), copies)


def _plan(
    engine: Engine, moves: Mapping[str, str], deleted: Collection[str], copies: Mapping[str, str] = _NOTHING
) -> PlannedLinks:
    engine.reconcile()
    at = engine.get_head()[0]
    graph = engine.knowledge.get_past(at)
    files = expand_moves(graph, moves)
    gone = [path for path in graph if any(core_paths.covers(each, path) for each in deleted)]
    copied = expand_moves(graph, copies)
    find_reason = _ReasonFinder(engine).find
    plan = plan_links(
        graph, files, lambda path: _read(engine, path, at), deleted=gone, copies=copied, find_reason=find_reason
    )
    before = {new: old for old, new in (files | copied).items()}
    stand = {before.get(path, path) for path in plan.texts}
    return PlannedLinks(plan, {path: engine.history.get_version_at(path, at) for path in stand})


def _read(engine: Engine, path: str, at: int) -> str | None:
    """What a note says, if it can be written again as it is."""
    version = engine.history.get_version_at(path, at)
    if version is None or version.sha256 is None:
        return None
    data = engine.history.get_texts({version.sha256}).get(version.sha256)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


class _ReasonFinder:
    """Says why a note is not rewritten along with others."""

    def __init__(self, engine: Engine) -> None:
        self._dialect = engine.dialect
        self._protected = engine.files.get_protected()

    def find(self, path: str) -> str:
        if any(core_paths.covers(each, path) for each in self._protected):
            return "protected"
        kept = self._dialect.get_rule(path).kept
        return str(kept) if kept else ""


def move(
    engine: Engine, moves: Mapping[str, str], planned: PlannedLinks, **options: Unpack[ActionOptions]
) -> tuple[ActionResult, LinkPlan]:
    """Move files and directories with the links that lead to them, as one event. Raises as `FileOperations.move`.

    Args:
        planned: As `plan_moved_links` found it.
    """
    return _repeat(
        lambda links: engine.files.move(moves, expected=links.expected, texts=links.texts, **options),
        planned,
        lambda: plan_moved_links(engine, moves),
    )


def copy(
    engine: Engine, copies: Mapping[str, str], planned: PlannedLinks, **options: Unpack[ActionOptions]
) -> tuple[ActionResult, LinkPlan]:
    """Copy files and directories, and have the links of the copies lead where those of the originals do. As `move`."""
    return _repeat(
        lambda links: engine.files.copy(copies, expected=links.expected, texts=links.texts, **options),
        planned,
        lambda: plan_copied_links(engine, copies),
    )


def delete(
    engine: Engine,
    paths: Collection[str],
    planned: PlannedLinks,
    *,
    expected: Mapping[str, Version | None] | None = None,
    **options: Unpack[ActionOptions],
) -> tuple[ActionResult, LinkPlan]:
    """Delete files and directories, and have links to them become words, as one event. Raises as the above.

    Args:
        planned: As `plan_deleted_links` found it.
        expected: What must stand at a path now, where that matters.
    """

    def act(links: PlannedLinks) -> ActionResult:
        known = {**(expected or {}), **links.expected}
        return engine.files.delete(paths, expected=known, texts=links.texts, **options)

    return _repeat(act, planned, lambda: plan_deleted_links(engine, paths))


def _repeat(
    act: Callable[[PlannedLinks], ActionResult], planned: PlannedLinks, plan: Callable[[], PlannedLinks]
) -> tuple[ActionResult, LinkPlan]:
    """Act, and plan anew as long as a note that is rewritten is not what it was."""
    for _ in range(_ATTEMPTS):
        result = act(planned)
        if not _has_changed(result, planned):
            break
        planned = plan()
    return result, planned.plan


def _has_changed(result: ActionResult, planned: PlannedLinks) -> bool:
    """Whether nothing was done because a note that is rewritten is not what it was."""
    return result.event is None and any(
        each.reason is SkipReason.CHANGED and each.path in planned.expected for each in result.skipped
    )


# Words


def format_count_of_links(changes: Iterable[LinkChange]) -> str:
    """Such as `7 links in 4 notes`."""
    links, notes = count_links(changes)
    return f"{format_count(links, 'link')} in {format_count(notes, 'note')}"


def format_places(changes: Sequence[LinkChange]) -> str:
    """The first of some links, each with its note and line."""
    places = [format_place(each) for each in changes[:_NAMED]]
    more = f" and {len(changes) - _NAMED:,} more" if len(changes) > _NAMED else ""
    return f"{', '.join(places)}{more}"


def format_place(change: LinkChange) -> str:
    """A link with its note and line, on one line."""
    return to_one_line(f"{change.source}:{change.link.line} ({change.link.target})")


def format_done(plan: LinkPlan, *, is_rewritten: bool, is_rehearsed: bool = False) -> str:
    """What became of the links, or would become of them, as sentences; empty where none was concerned."""
    words = []
    if is_rewritten and plan.rewritten:
        words.append(f"{'Would rewrite' if is_rehearsed else 'Rewrote'} {format_count_of_links(plan.rewritten)}.")
    broken = plan.left if is_rewritten else plan.changes
    if broken:
        state = "would be broken" if is_rehearsed else f"{'is' if len(broken) == 1 else 'are'} broken now"
        reasons = sorted({each.left for each in plan.left}) if is_rewritten else []
        why = f" ({', '.join(reasons)})" if reasons else ""
        words.append(f"{format_count(len(broken), 'link')} {state}{why}: {format_places(broken)}.")
    return " ".join(words)
