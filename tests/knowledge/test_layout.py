"""Places of notes: what is linked stands near, what hangs together in a rectangle of its own, always the same."""

import math
import random
from itertools import pairwise

import pytest

from memtui.knowledge.layout import GraphLayout, LinkedNotes, lay_out, read_linked_notes
from memtui.knowledge.source import GraphStopped
from tests.knowledge.graphs import make_graph


def notes(count: int, links: list[tuple[int, int]]) -> LinkedNotes:
    names = [f"n{number:05}.md" for number in range(count)]
    return LinkedNotes(dict.fromkeys(names, ""), {}, [(names[one], names[other]) for one, other in links])


def test_notes_and_the_links_between_them_are_read_once_in_either_direction() -> None:
    graph = make_graph(
        {
            "a.md": "---\ntype: plan\ntitle: The Plan\n---\n[[b]] [[b]] [[nobody]] [[a]] [f](f.txt)\n",
            "b.md": "[[a]]\n",
            "f.txt": "",
        }
    )
    read = read_linked_notes(graph)
    assert read == LinkedNotes({"a.md": "The Plan", "b.md": "b"}, {"a.md": "plan"}, [("a.md", "b.md")])


def test_each_note_has_a_place_in_the_rectangle_and_islands_share_none() -> None:
    chance = random.Random(5)
    links = [(chance.randrange(number), number) for number in range(1, 60)]
    links += [(60, 61), (62, 63), (63, 64)]
    layout = lay_out(notes(70, links))
    assert [len(island) for island in layout.islands] == [60, 3, 2]
    assert len(layout.single) == 5
    placed = layout.place(200, 100)
    assert len(placed) == 70
    assert all(0 <= x <= 200 and 0 <= y <= 100 for x, y in placed.values())
    assert len(set(placed.values())) == 70, "no two lie upon each other"
    boxes = []
    for island in (*layout.islands, dict.fromkeys(layout.single)):
        xs, ys = zip(*(placed[path] for path in island), strict=True)
        boxes.append((min(xs), min(ys), max(xs), max(ys)))
    for index, one in enumerate(boxes):
        for other in boxes[index + 1 :]:
            assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_it_is_the_same_each_time_whatever_the_order() -> None:
    links = [(number // 3, number) for number in range(1, 50)]
    some = notes(50, links)
    other = LinkedNotes(dict(reversed(some.titles.items())), {}, some.links)
    assert lay_out(some) == lay_out(other)


@pytest.mark.parametrize("count", [12, 200])
def test_what_is_linked_stands_nearer_than_what_is_not(count: int) -> None:
    placed = lay_out(notes(count, [(number, number + 1) for number in range(count - 1)])).place(1000, 1000)
    places = [placed[name] for name in sorted(placed)]
    steps = [math.dist(one, other) for one, other in pairwise(places)]
    far = [math.dist(places[index], places[(index + count // 2) % count]) for index in range(count)]
    assert sum(steps) / len(steps) * 3 < sum(far) / len(far)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_notes_have_places_too(count: int) -> None:
    alone = lay_out(notes(count, []))
    assert (alone.islands, len(alone.single)) == ([], count)
    assert len(alone.place(80, 40)) == count
    star = lay_out(notes(count, [(0, number) for number in range(1, count)]))
    assert len(star.place(80, 40)) == count


def test_a_hub_with_all_around_it_is_spread() -> None:
    placed = lay_out(notes(300, [(0, number) for number in range(1, 300)])).place(100, 100)
    cells = {(int(x / 10), int(y / 10)) for x, y in placed.values()}
    assert len(cells) > 30


def test_it_stops_when_told_to() -> None:
    with pytest.raises(GraphStopped):
        lay_out(notes(3, [(0, 1)]), stop=lambda: True)
    assert GraphLayout((), ()).place(10, 10) == {}
