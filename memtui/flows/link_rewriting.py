"""Move and delete files, and have the links that would break follow, as one event.

What links lead to is planned from the journal, as of its last event: whoever has not looked at the folder does so
first. Each note that is rewritten must still be what it was then: if it is not, all of it is planned anew while agents
wait, so that nothing that one wrote meanwhile is lost.
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
from memtui.engine.files import NoteEdits
from memtui.engine.restore import ActionOptions
from memtui.knowledge.graph import Graph
from memtui.knowledge.rewriting import LinkChange, LinkPlan, count_links, expand_moves, may_break, plan_links

_ATTEMPTS = 5
"""How often it is planned anew when a program that does not write through memtui is faster."""
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
    def edits(self) -> NoteEdits:
        """The new texts of notes, encoded."""
        return NoteEdits({path: text.encode() for path, text in self.plan.texts.items()}, self.expected)


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
    def find_files(graph: Graph) -> tuple[dict[str, str], list[str], dict[str, str]]:
        gone = [path for path in graph if any(core_paths.covers(each, path) for each in deleted)]
        return expand_moves(graph, moves), gone, expand_moves(graph, copies)

    def is_concerned(graph: Graph) -> bool:
        files, gone, copied = find_files(graph)
        return may_break(graph, files, deleted=gone, copies=copied)

    if not engine.knowledge.query(is_concerned):
        return PlannedLinks()
    at = engine.get_head()[0]
    graph = engine.knowledge.get_past(at)  # a copy, which is changed
    files, gone, copied = find_files(graph)
    find_reason = ReasonFinder(engine).find
    plan = plan_links(
        graph,
        files,
        lambda path: read_rewritable(engine, path, at),
        deleted=gone,
        copies=copied,
        find_reason=find_reason,
    )
    before = {new: old for old, new in (files | copied).items()}
    stand = {before.get(path, path) for path in plan.texts}
    return PlannedLinks(plan, {path: engine.history.get_version_at(path, at) for path in stand})


def read_rewritable(engine: Engine, path: str, at: int) -> str | None:
    """What a note said right after an event, if it can be written again as it is; else `None`."""
    version = engine.history.get_version_at(path, at)
    if version is None or version.sha256 is None:
        return None
    data = engine.history.get_texts({version.sha256}).get(version.sha256)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


class ReasonFinder:
    """Says why a note is not rewritten along with others.

    Args:
        engine: Of the folder.
    """

    def __init__(self, engine: Engine) -> None:
        self._dialect = engine.dialect
        self._protected = engine.files.get_protected()

    def find(self, path: str) -> str:
        """Why a note is left as it is; empty if it may be changed."""
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
        engine,
        lambda edit: engine.files.move(moves, edit=edit, **options),
        planned,
        lambda: plan_moved_links(engine, moves),
    )


def copy(
    engine: Engine, copies: Mapping[str, str], planned: PlannedLinks, **options: Unpack[ActionOptions]
) -> tuple[ActionResult, LinkPlan]:
    """Copy files and directories, and have the links of the copies lead where those of the originals do. As `move`."""
    return _repeat(
        engine,
        lambda edit: engine.files.copy(copies, edit=edit, **options),
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
    return _repeat(
        engine,
        lambda edit: engine.files.delete(paths, expected=expected, edit=edit, **options),
        planned,
        lambda: plan_deleted_links(engine, paths),
    )


def _repeat(
    engine: Engine,
    act: Callable[[Callable[[], NoteEdits]], ActionResult],
    planned: PlannedLinks,
    plan: Callable[[], PlannedLinks],
) -> tuple[ActionResult, LinkPlan]:
    """Act as planned, or if a note that is rewritten is not what it was, as planned while no agent can write."""
    latest = planned

    def plan_anew() -> NoteEdits:
        nonlocal latest
        latest = plan()
        return latest.edits

    result = act(lambda: planned.edits)
    for _ in range(_ATTEMPTS):
        if not _has_changed(result, latest):
            break
        engine.reconcile()
        result = act(plan_anew)
    return result, latest.plan


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
