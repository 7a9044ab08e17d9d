"""Charts as inline SVG: how many over time, as a line or in parts, for a page without a script.

Colors come from the page's style sheet, by class, so that one chart is right in light, in dark and on paper. Every
chart says in its title and description what it shows; the numbers stand in a table beside it.
"""

import html
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memtui.audit.report.words import day, shown, to_the_second, when

WIDTH, HEIGHT = 560, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 14, 28, 34
_HOUR, _DAY = 3_600_000_000, 86_400_000_000
_BASE = float(HEIGHT - _BOTTOM)


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn in one color.

    Attributes:
        name: What it is, as people read it; may be from outside.
        css: The class that gives it its color.
        values: A number for each moment, 0 or more.
    """

    name: str
    css: str
    values: Sequence[int]


@dataclass(frozen=True, slots=True)
class Scale:
    """The numbers at the side of a chart.

    Attributes:
        top: The highest of them, over all that is drawn.
        ticks: All of them, 0 first.
    """

    top: float
    ticks: tuple[float, ...]


def line(
    title: str,
    words: str,
    moments: Sequence[int],
    series: Series,
    label: Callable[[float], str],
    *,
    unit: str = "",
    base: int = 1_000,
) -> str:
    """One number over time, as a line with its area.

    Args:
        title: What is shown.
        words: The same as a sentence, for who does not see it.
        moments: When, in microseconds since 1970, evenly spaced.
        series: The numbers.
        label: How a number is written at the side.
        unit: What is counted, above the numbers; empty where each number says it.
        base: What round numbers are counted in: 1,024 for bytes.
    """
    scale = scale_of(max(series.values, default=0), base=base)
    points = [(_x(number, len(moments)), _y(value, scale)) for number, value in enumerate(series.values)]
    return _chart(title, words, unit, [*_grid(scale, label), *_line(points, series.css), *_times(moments)])


def stacked_columns(title: str, words: str, moments: Sequence[int], parts: Sequence[Series], *, unit: str) -> str:
    """What came in each span of time, in parts that add up, as columns.

    Args:
        title: What is shown.
        words: The same as a sentence.
        moments: When each span ends.
        parts: The numbers, the lowest part first; each has one for each moment.
        unit: What is counted.
    """
    totals = [sum(part.values[number] for part in parts) for number in range(len(moments))]
    scale = scale_of(max(totals, default=0))
    room = (WIDTH - _LEFT - _RIGHT) / max(len(moments), 1)
    width = min(room * 0.82, 34.0)
    columns: list[str] = []
    for at, moment in enumerate(moments):
        below = 0
        left = _LEFT + room * (at + 0.5) - width / 2
        for part in parts:
            value = part.values[at]
            if not value:
                continue
            top, bottom = _y(below + value, scale), _y(below, scale)
            said = html.escape(f"{when(moment)}: {shown(part.name)} {value:,}")
            columns.append(
                f'<rect class="fill {part.css}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{bottom - top:.1f}"><title>{said}</title></rect>'
            )
            below += value
    return _chart(title, words, unit, [*_grid(scale, number), *columns, *_times(moments)])


def stacked_steps(title: str, words: str, moments: Sequence[int], parts: Sequence[Series], *, unit: str) -> str:
    """How many there were at each moment, in parts that add up, as areas with steps.

    Args:
        title: What is shown.
        words: The same as a sentence.
        moments: When.
        parts: The numbers, the lowest part first.
        unit: What is counted.
    """
    lower = [0] * len(moments)
    upper = [sum(part.values[number] for part in parts) for number in range(len(moments))]
    scale = scale_of(max(upper, default=0))
    areas: list[str] = []
    for part in parts:
        over = [base + value for base, value in zip(lower, part.values, strict=True)]
        if any(part.values):
            outline = [*_steps(over, scale), *reversed(_steps(lower, scale))]
            areas.append(f'<path class="fill {part.css}" d="{_path(outline)}Z"/>')
        lower = over
    return _chart(title, words, unit, [*_grid(scale, number), *areas, *_times(moments)])


def number(count: float) -> str:
    """A number at the side of a chart, where there is little room: `500`, `20,000`, `1.5M`."""
    return f"{count:,.0f}" if count < 1_000_000 else f"{count / 1_000_000:,g}M"


def scale_of(highest: float, *, base: int = 1_000) -> Scale:
    """Round numbers from 0 to at least a highest one, two to five of them.

    Args:
        highest: The highest number that is drawn.
        base: What round numbers are counted in: 1,024 for bytes.
    """
    size = float(base) ** math.floor(math.log(max(highest, 1), base))
    wanted = max(highest / size, 1.0) / 3
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * 0.999)
    step = max(step * size, 1.0)
    count = max(math.ceil(highest / step - 1e-9), 1)
    return Scale(step * count, tuple(step * number for number in range(count + 1)))


def _chart(title: str, words: str, unit: str, marks: Sequence[str]) -> str:
    name = "chart-" + "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in title.lower())
    above = f'<text class="tick" x="0" y="13">{html.escape(unit)}</text>' if unit else ""
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{html.escape(title)}</title><desc id="{name}-d">{html.escape(words)}</desc>'
        f"{above}{''.join(marks)}</svg>"
    )


def _grid(scale: Scale, label: Callable[[float], str]) -> Iterator[str]:
    for tick in scale.ticks:
        y = _y(tick, scale)
        css = "axis" if tick == 0 else "grid"
        yield f'<path class="{css}" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{y:.1f}" dy=".33em" text-anchor="end">{label(tick)}</text>'


def _times(moments: Sequence[int]) -> Iterator[str]:
    """When a chart begins and ends, and where there is room the day of its middle, below it."""
    if not moments:
        return
    span = moments[-1] - moments[0]
    write = day if span >= 2 * _DAY else when if span >= _HOUR // 2 or len(moments) == 1 else to_the_second
    shown_at = {0: "start", len(moments) // 2: "middle", len(moments) - 1: "end"}
    if len(moments) == 1:
        shown_at = {0: "middle"}
    elif len(moments) == 2 or write is not day:
        shown_at = {0: "start", len(moments) - 1: "end"}
    last = ""
    for number, anchor in shown_at.items():
        words = write(moments[number])
        if words == last:
            continue
        last = words
        x = _x(number, len(moments))
        yield f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="{anchor}">{words}</text>'


def _line(points: Sequence[tuple[float, float]], css: str) -> Iterator[str]:
    if len(points) > 1:
        yield f'<path class="area {css}" d="{_path(points)}L{points[-1][0]:.1f} {_BASE}L{points[0][0]:.1f} {_BASE}Z"/>'
        yield f'<path class="line {css}" d="{_path(points)}"/>'
    if points:
        yield f'<circle class="dot {css}" cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="4.5"/>'


def _steps(values: Sequence[int], scale: Scale) -> list[tuple[float, float]]:
    """The outline of a row of steps, each over the span that ends at its moment; one alone is as wide as the chart."""
    if len(values) == 1:
        return [(_LEFT, _y(values[0], scale)), (WIDTH - _RIGHT, _y(values[0], scale))]
    points: list[tuple[float, float]] = []
    for number, value in enumerate(values):
        x, y = _x(number, len(values)), _y(value, scale)
        if points and points[-1][1] != y:
            points.append((points[-1][0], y))
        points.append((x, y))
    return points


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _x(number: int, count: int) -> float:
    if count < 2:
        return (_LEFT + WIDTH - _RIGHT) / 2
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * number / (count - 1)


def _y(value: float, scale: Scale) -> float:
    return _BASE - (_BASE - _TOP) * value / scale.top
