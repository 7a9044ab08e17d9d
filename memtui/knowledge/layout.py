"""Places for the notes of a graph on a plane: what is linked stands near, and what hangs together in one rectangle.

Distances between notes are those to a few of them, and the two directions in which they differ most are the axes
(*pivot MDS*, Brandes and Pich 2006): quick and the same each time. Links then pull and neighbours push, as in the
method of Fruchterman and Reingold (1991), with the notes near by only.
"""

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from memtui.core.lazy_dataclass import dataclass
from memtui.knowledge.graph import Graph
from memtui.knowledge.source import GraphStopped

Point = tuple[float, float]
_PIVOTS = 24
_AXIS_ROUNDS = 100
_ROUNDS = 30
"""Of pulling and pushing."""
_LEAST_ROUNDS = 4
_MOST_STEPS = 150_000
"""Notes and links that are moved, in all rounds."""
_NEAR = 10
"""Notes of one square that push a note."""
_GOLDEN = 0.6180339887
_WEIGHT = 0.8
"""The power of its notes by which the area of an island grows."""
_MARGIN, _MARGIN_OF_FEW = 0.05, 0.3
"""Of a rectangle, on each side, and what comes to that for an island of one note: less for each more."""


@dataclass(frozen=True, slots=True)
class LinkedNotes:
    """The notes of a graph, and which of them are linked.

    Attributes:
        titles: By path.
        types: Of the notes that have one.
        links: Pairs of paths, each once, in order.
    """

    titles: Mapping[str, str]
    types: Mapping[str, str]
    links: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Where notes stand.

    Attributes:
        islands: Groups of notes that hang together, the largest first: where each stands in its rectangle, from 0 to 1.
        single: The paths of the notes that have no links.
    """

    islands: Sequence[Mapping[str, Point]]
    single: Sequence[str]

    def place(self, width: float, height: float) -> dict[str, Point]:
        """The places of all notes in a rectangle of some size, from its upper left corner."""
        weights = [len(island) ** _WEIGHT for island in self.islands]
        weights += [len(self.single) ** _WEIGHT / 2] if self.single else []
        placed = dict[str, Point]()
        for (left, top, wide, high), number in zip(
            _divide((0.0, 0.0, width, height), weights), range(len(weights)), strict=True
        ):
            if number < len(self.islands):
                island = self.islands[number]
            else:
                island = _line_up(self.single, wide / max(high, 1e-9))
            margin = _MARGIN + _MARGIN_OF_FEW / max(len(island), 1) ** 0.7
            across, down = wide * (1 - 2 * margin), high * (1 - 2 * margin)
            for path, (x, y) in island.items():
                placed[path] = (left + wide * margin + x * across, top + high * margin + y * down)
        return placed


def read_linked_notes(graph: Graph) -> LinkedNotes:
    """The notes of a graph, with the links that lead from one to another; an ambiguous link leads to each."""
    notes = {note.path: note for note in graph.notes}
    links = {
        (min(edge.source, target), max(edge.source, target))
        for edge in graph.iter_edges()
        for target in edge.targets
        if target != edge.source and target in notes and edge.source in notes
    }
    return LinkedNotes(
        {path: note.title for path, note in notes.items()},
        {path: note.type for path, note in notes.items() if note.type},
        sorted(links),
    )


def lay_out(notes: LinkedNotes, *, stop: Callable[[], bool] = lambda: False) -> GraphLayout:
    """Give each note its place. Takes about a second for 5,000 notes.

    Args:
        stop: Asked now and then whether to go no further.

    Raises:
        GraphStopped: `stop` said so.
    """
    near: dict[str, list[str]] = {path: [] for path in sorted(notes.titles)}
    for one, other in notes.links:
        near[one].append(other)
        near[other].append(one)
    groups = _group(near)
    islands = [_lay_out_island(group, near, stop) for group in groups if len(group) > 1]
    return GraphLayout(islands, [group[0] for group in groups if len(group) == 1])


def _group(near: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The notes that hang together, the largest group first."""
    groups, seen = list[list[str]](), set[str]()
    for path in near:
        if path not in seen:
            seen.add(path)
            group = [path]
            for here in group:
                fresh = [other for other in near[here] if other not in seen]
                seen.update(fresh)
                group += fresh
            groups.append(sorted(group))
    return sorted(groups, key=lambda group: (-len(group), group))


def _divide(
    area: tuple[float, float, float, float], weights: Sequence[float]
) -> list[tuple[float, float, float, float]]:
    """A rectangle (left, top, width, height) in parts of some weights, each as square as its halves allow."""
    found, waiting = list[tuple[float, float, float, float]](), [(area, list(weights))]
    while waiting:
        (left, top, width, height), parts = waiting.pop()
        if len(parts) <= 1:
            found += [(left, top, width, height)] * len(parts)
            continue
        whole, first, count = sum(parts), parts[0], 1
        while count < len(parts) - 1 and first + parts[count] / 2 < whole / 2:
            first += parts[count]
            count += 1
        share = first / whole
        if width >= height:
            one, other = (left, top, width * share, height), (left + width * share, top, width * (1 - share), height)
        else:
            one, other = (left, top, width, height * share), (left, top + height * share, width, height * (1 - share))
        waiting += [(other, parts[count:]), (one, parts[:count])]
    return found


def _line_up(paths: Sequence[str], shape: float) -> dict[str, Point]:
    """Rows of notes in a rectangle whose width is `shape` times its height."""
    columns = max(1, math.ceil(math.sqrt(len(paths) * shape)))
    rows = math.ceil(len(paths) / columns)
    return {
        path: (index % columns / max(columns - 1, 1), index // columns / max(rows - 1, 1))
        for index, path in enumerate(paths)
    }


def _lay_out_island(
    members: Sequence[str], near: Mapping[str, Sequence[str]], stop: Callable[[], bool]
) -> Mapping[str, Point]:
    number = {path: index for index, path in enumerate(members)}
    linked = [[number[path] for path in near[member] if path in number] for member in members]
    columns = _measure_from_pivots(linked, stop)
    first, second = _find_axes(columns, stop)
    x, y = _spread(first, 0.0), _spread(second, _GOLDEN)
    _pull_and_push(x, y, linked, stop)
    return {path: (x[index], y[index]) for path, index in number.items()}


def _measure_from_pivots(linked: Sequence[Sequence[int]], stop: Callable[[], bool]) -> list[list[float]]:
    """The squares of all distances to a few notes far from each other, centred: a column for each of these."""
    count = len(linked)
    nearest = [count] * count
    pivot = max(range(count), key=lambda index: (len(linked[index]), -index))
    columns = list[list[float]]()
    for _ in range(min(_PIVOTS, count)):
        _check(stop)
        steps = _measure_steps(linked, pivot)
        columns.append([float(step * step) for step in steps])
        nearest = list(map(min, nearest, steps))
        pivot = max(range(count), key=lambda index: (nearest[index], -index))
        if not nearest[pivot]:
            break
    rows = [sum(values) / len(columns) for values in zip(*columns, strict=True)]
    whole = sum(rows) / count
    for column in columns:
        mean = sum(column) / count
        column[:] = [-(value - mean - row + whole) / 2 for value, row in zip(column, rows, strict=True)]
    return columns


def _measure_steps(linked: Sequence[Sequence[int]], start: int) -> list[int]:
    """How many links each note is from one; all hang together."""
    steps = [-1] * len(linked)
    steps[start] = 0
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for other in linked[here]:
            if steps[other] < 0:
                steps[other] = steps[here] + 1
                waiting.append(other)
    return [max(step, 0) for step in steps]


def _find_axes(columns: Sequence[Sequence[float]], stop: Callable[[], bool]) -> tuple[list[float], list[float]]:
    """The places of all notes along the two directions in which they differ most."""
    products = [[math.fsum(map(float.__mul__, one, other)) for other in columns] for one in columns]
    axes = list[list[float]]()
    for _ in range(2):
        _check(stop)
        vector = [1.0 + index * _GOLDEN % 1.0 for index in range(len(columns))]
        for _ in range(_AXIS_ROUNDS):
            for axis in axes:
                share = math.fsum(map(float.__mul__, axis, vector))
                vector = [value - share * part for value, part in zip(vector, axis, strict=True)]
            vector = [math.fsum(map(float.__mul__, row, vector)) for row in products]
            size = math.hypot(*vector) or 1.0
            vector = [value / size for value in vector]
        axes.append(vector)
    first, second = (
        [math.fsum(map(float.__mul__, axis, row)) for row in zip(*columns, strict=True)] for axis in axes
    )  # fmt: skip
    return first, second


def _spread(values: Sequence[float], shift: float) -> list[float]:
    """Values from 0 to 1: half as they lie, half by their order, so that none lie upon each other."""
    low, high = min(values), max(values)
    size = (high - low) or 1.0
    mixed = [(index * _GOLDEN + shift) * (1 + shift) % 1.0 for index in range(len(values))]
    order = sorted(range(len(values)), key=lambda index: (round((values[index] - low) / size, 6), mixed[index]))
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = rank / max(len(values) - 1, 1)
    return [((value - low) / size + rank) / 2 for value, rank in zip(values, ranks, strict=True)]


def _pull_and_push(x: list[float], y: list[float], linked: Sequence[Sequence[int]], stop: Callable[[], bool]) -> None:
    """Move notes towards what they are linked to, and away from what is too near."""
    count = len(x)
    wanted = 0.7 / math.sqrt(count)
    steps = count + sum(map(len, linked))
    rounds = max(_LEAST_ROUNDS, min(_ROUNDS, _MOST_STEPS // steps))
    for round in range(rounds):
        _check(stop)
        most = wanted * 2 * (1 - round / rounds)
        squares = dict[tuple[int, int], list[int]]()
        for index in range(count):
            squares.setdefault((int(x[index] / (2 * wanted)), int(y[index] / (2 * wanted))), []).append(index)
        move_x, move_y = [0.0] * count, [0.0] * count
        for (column, row), here in squares.items():
            around = [
                other
                for side in (-1, 0, 1)
                for level in (-1, 0, 1)
                for other in squares.get((column + side, row + level), ())[:_NEAR]
            ]
            for index in here:
                own_x, own_y, dx, dy = x[index], y[index], 0.0, 0.0
                for other in around:
                    if other != index:
                        away_x, away_y = own_x - x[other], own_y - y[other]
                        squared = away_x * away_x + away_y * away_y + 1e-12
                        if squared < 4 * wanted * wanted:
                            force = wanted * wanted / squared
                            dx += away_x * force
                            dy += away_y * force
                move_x[index], move_y[index] = dx, dy
        for index, others in enumerate(linked):
            share = 1 / math.sqrt(len(others) or 1)
            for other in others:
                away_x, away_y = x[other] - x[index], y[other] - y[index]
                force = min(math.hypot(away_x, away_y) / wanted, 4.0) * share * 0.5
                move_x[index] += away_x * force
                move_y[index] += away_y * force
        for index in range(count):
            size = math.hypot(move_x[index], move_y[index])
            factor = min(most, size) / size if size else 0.0
            x[index] += move_x[index] * factor
            y[index] += move_y[index] * factor
    for values in (x, y):
        low, high = min(values), max(values)
        values[:] = [(value - low) / ((high - low) or 1.0) if high > low else 0.5 for value in values]


def _check(stop: Callable[[], bool]) -> None:
    if stop():
        raise GraphStopped
