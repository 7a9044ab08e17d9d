"""What two records say together: which versions both had, who made a change, and as whose it is carried."""

from collections.abc import Iterator

from memtui.core.events import Actor, Agent, Event, Outside, Version, format_actor_in_sentence
from memtui.mirror.ancestors import Ancestor, AncestorStore, Mark, parse_mark
from memtui.mirror.side import PathEvent, Side


class CommonHistory:
    """The records of both sides, and what was kept of what both had.

    Args:
        folder: The side whose files programs read and write.
        source: The other one.
        ancestors: What both had in common at last.
    """

    def __init__(self, folder: Side, source: Side, ancestors: AncestorStore) -> None:
        self.folder = folder
        self.source = source
        self.ancestors = ancestors
        self._heads: dict[str, tuple[int, str]] = {}
        for side in self.sides:
            self._recognise(side)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.folder, self.source

    def get_other(self, side: Side) -> Side:
        return self.source if side is self.folder else self.folder

    def make_mark(self, seq: int, version: Version | None = None) -> Mark:
        """The mark of an event that follows number `seq` of the other side. See `Mark`."""
        return Mark(self.ancestors.mirror, seq, version)

    def _recognise(self, side: Side) -> None:
        """Find out whether a side still has the record that it had the last time."""
        kept = self.ancestors.get_head(side.name)
        if kept is None or not kept[0]:
            return
        event = side.engine.journal.get_event(kept[0])
        if event is None or event.hash != kept[1]:
            side.is_replaced = True
            self.ancestors.forget_numbers(side.name)

    def keep_heads(self) -> None:
        """Both sides are equal: from now on these are their records."""
        heads = {side.name: side.head for side in self.sides}
        if heads != self._heads:
            self._heads = heads
            self.ancestors.set_heads(heads)
        for side in self.sides:
            side.is_replaced = False

    def find_ancestor(self, path: str) -> Ancestor | None:
        """What both sides had in common at a path at last: as it was kept, or as later events of either side say.

        `None` where nothing is known of it.
        """
        kept = self.ancestors.get(path)
        folder, source = (kept.folder, kept.source) if kept else (0, 0)
        marked: list[tuple[int, int, Ancestor]] = []
        for found, mark in self._iter_marked(self.folder, path, folder):
            version = self._get_marked_version(self.source, path, mark, found)
            at = found.event.seq if version == found.after else 0
            marked.append((mark.seq, found.event.seq, Ancestor(version, at, mark.seq)))
        for found, mark in self._iter_marked(self.source, path, source):
            version = self._get_marked_version(self.folder, path, mark, found)
            at = found.event.seq if version == found.after else 0
            marked.append((found.event.seq, mark.seq, Ancestor(version, mark.seq, at)))
        for _, _, each in sorted(marked, key=lambda each: each[:2]):
            if each.folder > folder or each.source > source:
                folder, source = max(folder, each.folder), max(source, each.source)
                kept = Ancestor(each.version, folder, source)
        return kept

    def _iter_marked(self, side: Side, path: str, after: int) -> Iterator[tuple[PathEvent, Mark]]:
        for found in side.get_events(path, after):
            mark = parse_mark(found.event.call_id)
            if mark is not None and mark.mirror == self.ancestors.mirror:
                yield found, mark

    def _get_marked_version(self, other: Side, path: str, mark: Mark, found: PathEvent) -> Version | None:
        if mark.version is not None and found.after is not None:
            return mark.version
        return other.get_version_at(path, mark.seq)

    def is_ours(self, event: Event) -> bool:
        """Whether this mirror added an event."""
        mark = parse_mark(event.call_id)
        return mark is not None and mark.mirror == self.ancestors.mirror

    def find_forebear(self, path: str) -> Ancestor | None:
        """The newest version that both records know a path to have held, where nothing else is known of it.

        So a copy of memories, which has their record, is no stranger to them. That something is missing says nothing.
        """
        if self.folder.get(path) is None or self.source.get(path) is None:
            return None
        known = set(self.source.iter_versions(path))
        version = next((version for version in self.folder.iter_versions(path) if version in known), None)
        return None if version is None else Ancestor(version, 0, 0)

    def find_author(self, giver: Side, path: str, ancestor: Ancestor | None) -> Event | None:
        """The last event since the ancestor that is not the mirror's own, also under the names before."""
        after = ancestor.get_number(giver.name) if ancestor is not None else 0
        for name in (path, *(old for old, _ in giver.iter_origins(path))):
            events = [found.event for found in giver.get_events(name, after) if not self.is_ours(found.event)]
            if events:
                return events[-1]
        return None

    def sign(self, giver: Side, taker: Side, actor: Actor, seq: int) -> tuple[Actor, str]:
        """Who a carried change is by on the side that takes it, and what its note says."""
        words = f"from {giver.title} #{seq}"
        if isinstance(actor, Outside):  # that would say that it came to this side without a command
            words = f"for {format_actor_in_sentence(actor)}, {words}"
            actor = Agent(f"mirror of {giver.title}")
        if taker.signer is not None and not (isinstance(actor, Agent) and actor.name == taker.signer):
            words = words if words.startswith("for ") else f"for {actor.name}, {words}"
            actor = Agent(taker.signer)
        return actor, words
