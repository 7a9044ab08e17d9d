"""Have links follow what an agent or another program renamed.

What they led to is read from the folder as it was before the event. They are written as one event, and only in notes
that nobody has changed since.
"""

from memtui.core.events import Event, Person
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count, to_relative_path
from memtui.engine import Engine
from memtui.engine.lineage import find_moves
from memtui.flows.dialog import FlowOutcome, Phrases
from memtui.flows.link_rewriting import ReasonFinder, format_count_of_links, read_rewritable
from memtui.knowledge.graph import Graph
from memtui.knowledge.rewriting import LinkPlan, expand_moves, plan_links


def is_foreign_rename(event: Event) -> bool:
    """Whether somebody else than the person moved something: who moves notes here is asked about links before."""
    has_moved = bool(event.changes) and (bool(event.moved) or event.new_path is not None)
    return has_moved and not event.is_error and not isinstance(event.actor, Person) and not event.undoes


def plan_links_behind(engine: Engine, event: Event) -> LinkPlan:
    """Plan the rewriting of the links that an event broke by moving notes; from a thread.

    Raises:
        StateUnusable, MemoryClosed: The journal cannot be read.
    """
    moves = {old: new for new, old in find_moves(event).items()}

    def is_concerned(graph: Graph) -> bool:
        for old, new in moves.items():
            note = graph.get_note(new)
            if graph.get_linkers(old, None) or (note is not None and note.links):
                return True
        return False

    if not moves or not engine.knowledge.query(is_concerned):
        return LinkPlan()
    before = event.seq - 1
    graph = engine.knowledge.get_past(before)
    return plan_links(
        graph,
        expand_moves(graph, moves),
        lambda path: read_rewritable(engine, path, before),
        find_reason=ReasonFinder(engine).find,
    )


def rewrite_links_behind(phrases: Phrases, engine: Engine, event: Event) -> FlowOutcome:
    """Write the links that an event broke so that they lead where they did; from a thread. Raises as the plan."""
    plan = plan_links_behind(engine, event)
    kept, changed = {}, 0
    for path, text in plan.texts.items():
        if engine.inspect_path(path).data == plan.based_on[path].encode():
            kept[path] = text
        else:
            changed += 1
    since = f" Changed since, so left: {format_count(changed, 'note')}." if changed else ""
    if not kept:
        return FlowOutcome(f"No link was rewritten.{since}", is_warning=bool(since))
    result = engine.write_all(
        {path: text.encode() for path, text in kept.items()},
        based_on={path: plan.based_on[path].encode() for path in kept},
        note=f"links behind #{event.seq}",
    )
    if result.event is None:
        return FlowOutcome(result.problem or "No link was rewritten.", is_warning=True)
    links = format_count_of_links(each for each in plan.rewritten if each.source in kept)
    words = f"Rewrote {links}.{since} {phrases.name_action('browse.undo')} undoes it."
    return FlowOutcome(words, is_warning=bool(since), event=result.event.seq)


def describe_broken(event: Event, plan: LinkPlan) -> str:
    """What a rename broke, as a sentence; empty where nothing can be rewritten."""
    if not plan.rewritten:
        return ""
    count, name = len(plan.rewritten), to_one_line(to_relative_path(event.path))
    verb = "leads" if count == 1 else "lead"
    what = f"{name} was renamed" if event.new_path is not None else "notes were renamed"
    return f"{format_count(count, 'link')} {verb} nowhere since {what}."
