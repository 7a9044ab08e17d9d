"""What an agent is told of links that its rename broke, where the settings say so."""

from collections.abc import Mapping

from memtui.core.messages import MessageKey, format_message, quote_value
from memtui.core.paths import MemoryPath
from memtui.knowledge.rewriting import LinkChange, expand_moves, may_break, plan_links
from memtui.knowledge.source import GraphSource

_MOST_NAMED = 10
"""Links that are named; of the others their number is said."""


def describe_broken_links(knowledge: GraphSource, head: int, moves: Mapping[str, str]) -> str:
    """A line that names the links that lead nowhere once files were moved; empty where there are none.

    Args:
        knowledge: The graph, as of before.
        head: The number of the last event.
        moves: New paths by old ones, relative to the folder.
    """
    if not knowledge.query(lambda graph: may_break(graph, expand_moves(graph, moves))):
        return ""
    graph = knowledge.get_past(head)
    plan = plan_links(graph, expand_moves(graph, moves), lambda path: knowledge.read_text(path, head))
    if not plan.changes:
        return ""
    places = ", ".join(_format_place(each) for each in plan.changes[:_MOST_NAMED])
    more = f" and {len(plan.changes) - _MOST_NAMED:,} more" if len(plan.changes) > _MOST_NAMED else ""
    return format_message(MessageKey.LINKS_BROKEN, places=places + more)


def _format_place(change: LinkChange) -> str:
    path = quote_value(str(MemoryPath.from_relative(change.source)))
    return f"{path}:{change.link.line} ({quote_value(change.link.target)})"
