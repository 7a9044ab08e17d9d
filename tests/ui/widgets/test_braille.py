"""Dots in cells: each at its place, a cell in one role, lines whole and cut at the edges."""

import random

import pytest

from memtui.ui.widgets.braille import BrailleCanvas


def read(canvas: BrailleCanvas) -> list[str]:
    return ["".join(text for text, _ in canvas.iter_runs(row)) for row in range(canvas.rows)]


def dots(canvas: BrailleCanvas) -> set[tuple[int, int]]:
    """The dots by what Unicode says of the characters."""
    order = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))
    return {
        (column * 2 + x, row * 4 + y)
        for row, line in enumerate(read(canvas))
        for column, char in enumerate(line)
        for bit, (x, y) in enumerate(order)
        if char != " " and (ord(char) - 0x2800) >> bit & 1
    }


def test_each_dot_is_where_unicode_has_it() -> None:
    canvas = BrailleCanvas(3, 2)
    wanted = {(0, 0), (1, 3), (4, 6), (5, 7), (2, 1)}
    for x, y in wanted:
        canvas.draw_dot(x, y, 1)
    assert dots(canvas) == wanted
    for x, y in ((-1, 0), (0, -1), (6, 0), (0, 8)):
        canvas.draw_dot(x, y, 1)
    assert dots(canvas) == wanted


def test_a_cell_has_its_highest_role_and_runs_are_whole() -> None:
    canvas = BrailleCanvas(4, 1)
    canvas.draw_dot(2, 0, 3)
    canvas.draw_dot(3, 0, 1)
    canvas.draw_dot(4, 0, 1)
    assert [(len(text), role) for text, role in canvas.iter_runs(0)] == [(1, 0), (1, 3), (1, 1), (1, 0)]
    assert [(len(text), role) for text, role in canvas.iter_runs(0, 1, 3)] == [(1, 3), (1, 1)]
    copy = canvas.copy()
    copy.draw_dot(0, 0, 5)
    assert (copy.get_role(0, 0), canvas.get_role(0, 0)) == (5, 0)


@pytest.mark.parametrize("seed", range(20))
def test_a_line_is_one_without_gaps_and_what_is_outside_is_cut(seed: int) -> None:
    chance = random.Random(seed)
    ends = [chance.randrange(-20, 40) for _ in range(4)]
    large, small = BrailleCanvas(40, 20), BrailleCanvas(6, 3)
    large.draw_line(ends[0] + 20, ends[1] + 20, ends[2] + 20, ends[3] + 20, 1)
    small.draw_line(*ends, 1)
    whole = {(x - 20, y - 20) for x, y in dots(large)}
    assert len(whole) == max(abs(ends[2] - ends[0]), abs(ends[3] - ends[1])) + 1
    assert {(ends[0], ends[1]), (ends[2], ends[3])} <= whole
    assert dots(small) == {(x, y) for x, y in whole if 0 <= x < 12 and 0 <= y < 12}
