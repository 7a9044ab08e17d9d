"""Turn mentions into links: which notes are left as they are, and which sentence is reported."""

from collections.abc import Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.core.paths import covers
from memtui.core.unicode import to_one_line
from memtui.core.wording import format_count
from memtui.editing.templates import InvalidName, add_extension, parse_name
from memtui.engine import Engine
from memtui.flows.dialog import FlowOutcome, Phrases
from memtui.knowledge.graph import Edge, Graph, get_folder
from memtui.knowledge.mentions import Mention
from memtui.knowledge.neighbours import find_link_text


@dataclass(frozen=True, slots=True)
class _Edited:
    before: bytes
    after: bytes
    count: int


def link_mentions(phrases: Phrases, engine: Engine, mentions: Sequence[Mention], target: str) -> FlowOutcome:
    """Write links where a note is only named, as one event; from a thread.

    Notes that the agent's program keeps are left as they are, and so are protected ones unless one mention alone is
    asked for.

    Args:
        mentions: Where the note is named, as of the graph of now.
        target: The path of that note.
    """
    by_source: dict[str, list[Mention]] = {}
    for mention in mentions:
        by_source.setdefault(mention.source, []).append(mention)
    protected = engine.files.get_protected() if len(mentions) > 1 else ()
    kept = [
        path
        for path in by_source
        if engine.dialect.get_rule(path).kept or any(covers(each, path) for each in protected)
    ]
    edited: dict[str, _Edited] = {}
    for path, there in by_source.items():
        data = engine.inspect_path(path).data if path not in kept else None
        changed = _link_in(engine, data, there, target) if data is not None else None
        if changed is not None:
            edited[path] = changed
    count = sum(each.count for each in edited.values())
    rest = _format_rest(kept, len(mentions) - count - sum(len(by_source[path]) for path in kept))
    if not edited:
        return FlowOutcome(f"Nothing was linked.{rest}", is_warning=True)
    result = engine.write_all(
        {path: each.after for path, each in edited.items()},
        based_on={path: each.before for path, each in edited.items()},
        note=f"{format_count(count, 'mention')} linked",
    )
    if result.event is None:
        return FlowOutcome(result.problem or "Nothing was linked.", is_warning=True)
    where = to_one_line(next(iter(edited))) if len(edited) == 1 else format_count(len(edited), "note")
    undo = phrases.name_action("browse.undo")
    words = f"Linked {format_count(count, 'mention')} in {where}.{rest} {undo} undoes it."
    return FlowOutcome(words, is_warning=bool(rest or result.problem), event=result.event.seq)


def _format_rest(kept: Sequence[str], changed: int) -> str:
    words = ""
    if kept:
        more = f" and {format_count(len(kept) - 1, 'other note')}" if len(kept) > 1 else ""
        words += f" Left as before, as it is generated, mirrored or protected: {to_one_line(kept[0])}{more}."
    if changed:
        words += f" Changed meanwhile: {format_count(changed, 'mention')}."
    return words


def _link_in(engine: Engine, data: bytes, mentions: Sequence[Mention], target: str) -> _Edited | None:
    """A note with links in place of mentions, as far as they still stand there; `None` if none does."""
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    count = 0

    def link(graph: Graph) -> None:
        nonlocal count
        for mention in sorted(mentions, key=lambda each: (each.line, each.span), reverse=True):
            start, end = mention.span
            line = lines[mention.line - 1] if mention.line <= len(lines) else ""
            if line[start:end] == mention.words:
                written = find_link_text(graph, mention.words, target, mention.source)
                if line.lstrip().startswith("|"):
                    written = written.replace("|", "\\|")  # the row of a table
                lines[mention.line - 1] = line[:start] + written + line[end:]
                count += 1

    engine.knowledge.query(link)
    return _Edited(data, "\n".join(lines).encode("utf-8"), count) if count else None


def find_path_for(edge: Edge) -> str:
    """The path of the note that a dangling link names: as it is written, else beside the note in which it stands.

    Raises:
        InvalidName: It cannot be the name of a note.
    """
    named = (edge.link.path if edge.link is not None else None) or edge.wanted
    if edge.link is not None and edge.link.kind == "wiki" and "/" not in named:
        named = get_folder(edge.source) + named
    typed = parse_name(named)
    if typed.is_folder or not typed.path:
        raise InvalidName(f"{to_one_line(edge.wanted)} is no name of a note.")
    return parse_name(add_extension(typed.path)).path
