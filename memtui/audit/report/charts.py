"""Charts as inline SVG: how many over time, as a line or in parts, for a page without a script.

Colors come from the page's style sheet, by class, so that one chart is right in light, in dark and on paper. Every
chart says in its title and description what it shows; the numbers stand in a table beside it.
"""

import html
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from memtui.audit.report.wording import format_day, format_minute, format_second, sanitize_text
from memtui.core.lazy_dataclass import dataclass

WIDTH, HEIGHT = 560, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 14, 28, 34
_HOUR, _DAY = 3_600_000_000, 86_400_000_000
_BASE = float(HEIGHT - _BOTTOM)


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """What is drawn in one color."""

    name: str
    css: str  # the class that sets its color
    values: Sequence[int]  # A number for each moment, 0 or more


@dataclass(frozen=True, slots=True)
class AxisScale:
    """The numbers at the side of a chart."""

    top: float
    ticks: tuple[float, ...]


def draw_line(
    title: str,
    words: str,
    moments: Sequence[int],
    series: ChartSeries,
    label: Callable[[float], str],
    *,
    unit: str = "",
    base: int = 1_000,
) -> str:
    """One number over time, as a line with its area.

    Args:
        words: The description, for screen readers.
        label: Formats a number of the axis.
        base: Of round numbers: 1,024 for bytes.
    """
    scale = compute_scale(max(series.values, default=0), base=base)
    points = [(_to_x(number, len(moments)), _to_y(value, scale)) for number, value in enumerate(series.values)]
    return _render_chart(title, words, unit, moments, scale, _render_line(points, series.css), label)


def draw_stacked_columns(
    title: str, words: str, moments: Sequence[int], parts: Sequence[ChartSeries], *, unit: str
) -> str:
    """What came in each span of time, in parts that add up, as columns.

    Args:
        moments: The end of each span.
    """
    totals = [sum(part.values[number] for part in parts) for number in range(len(moments))]
    scale = compute_scale(max(totals, default=0))
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
            top, bottom = _to_y(below + value, scale), _to_y(below, scale)
            label = html.escape(f"{format_minute(moment)}: {sanitize_text(part.name)} {value:,}")
            columns.append(
                f'<rect class="fill {part.css}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
                f'height="{bottom - top:.1f}"><title>{label}</title></rect>'
            )
            below += value
    return _render_chart(title, words, unit, moments, scale, columns)


def draw_stacked_steps(
    title: str, words: str, moments: Sequence[int], parts: Sequence[ChartSeries], *, unit: str
) -> str:
    """How many there were at each moment, in parts that add up, as areas with steps."""
    lower = [0] * len(moments)
    upper = [sum(part.values[number] for part in parts) for number in range(len(moments))]
    scale = compute_scale(max(upper, default=0))
    areas: list[str] = []
    for part in parts:
        over = [base + value for base, value in zip(lower, part.values, strict=True)]
        if any(part.values):
            outline = [*_build_step_outline(over, scale), *reversed(_build_step_outline(lower, scale))]
            areas.append(f'<path class="fill {part.css}" d="{_build_path(outline)}Z"/>')
        lower = over
    return _render_chart(title, words, unit, moments, scale, areas)


def format_number(count: float) -> str:
    """A number at the side of a chart, where there is little room: `500`, `20,000`, `1.5M`."""
    return f"{count:,.0f}" if count < 1_000_000 else f"{count / 1_000_000:,g}M"


def compute_scale(highest: float, *, base: int = 1_000) -> AxisScale:
    """Round numbers from 0 to at least a highest one, two to five of them.

    Args:
        base: Of round numbers: 1,024 for bytes.
    """
    size = float(base) ** math.floor(math.log(max(highest, 1), base))
    wanted = max(highest / size, 1.0) / 3
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * 0.999)
    step = max(step * size, 1.0)
    count = max(math.ceil(highest / step - 1e-9), 1)
    return AxisScale(step * count, tuple(step * number for number in range(count + 1)))


def _render_chart(
    title: str,
    words: str,
    unit: str,
    moments: Sequence[int],
    scale: AxisScale,
    marks: Iterable[str],
    label: Callable[[float], str] = format_number,
) -> str:
    above = f'<text class="tick" x="0" y="13">{html.escape(unit)}</text>' if unit else ""
    drawn = "".join([*_render_grid(scale, label), *marks, *_render_time_labels(moments)])
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(title)}">'
        f"<title>{html.escape(title)}</title><desc>{html.escape(words)}</desc>"
        f"{above}{drawn}</svg>"
    )


def _render_grid(scale: AxisScale, label: Callable[[float], str]) -> Iterator[str]:
    for tick in scale.ticks:
        y = _to_y(tick, scale)
        css = "axis" if tick == 0 else "grid"
        yield f'<path class="{css}" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{y:.1f}" dy=".33em" text-anchor="end">{label(tick)}</text>'


def _render_time_labels(moments: Sequence[int]) -> Iterator[str]:
    """When a chart begins and ends, and where there is room the day of its middle, below it."""
    if not moments:
        return
    span = moments[-1] - moments[0]
    write = (
        format_day if span >= 2 * _DAY else format_minute if span >= _HOUR // 2 or len(moments) == 1 else format_second
    )
    shown_at = {0: "start", len(moments) // 2: "middle", len(moments) - 1: "end"}
    if len(moments) == 1:
        shown_at = {0: "middle"}
    elif len(moments) == 2 or write is not format_day:
        shown_at = {0: "start", len(moments) - 1: "end"}
    last = ""
    for number, anchor in shown_at.items():
        words = write(moments[number])
        if words == last:
            continue
        last = words
        x = _to_x(number, len(moments))
        yield f'<text class="tick" x="{x:.1f}" y="{HEIGHT - 10}" text-anchor="{anchor}">{words}</text>'


def _render_line(points: Sequence[tuple[float, float]], css: str) -> Iterator[str]:
    if len(points) > 1:
        yield (
            f'<path class="area {css}" d="{_build_path(points)}L{points[-1][0]:.1f}'
            f' {_BASE}L{points[0][0]:.1f} {_BASE}Z"/>'
        )
        yield f'<path class="line {css}" d="{_build_path(points)}"/>'
    if points:
        yield f'<circle class="dot {css}" cx="{points[-1][0]:.1f}" cy="{points[-1][1]:.1f}" r="4.5"/>'


def _build_step_outline(values: Sequence[int], scale: AxisScale) -> list[tuple[float, float]]:
    """The outline of a row of steps, each over the span that ends at its moment; one alone is as wide as the chart."""
    if len(values) == 1:
        return [(_LEFT, _to_y(values[0], scale)), (WIDTH - _RIGHT, _to_y(values[0], scale))]
    points: list[tuple[float, float]] = []
    for number, value in enumerate(values):
        x, y = _to_x(number, len(values)), _to_y(value, scale)
        if points and points[-1][1] != y:
            points.append((points[-1][0], y))
        points.append((x, y))
    return points


def _build_path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _to_x(number: int, count: int) -> float:
    if count < 2:
        return (_LEFT + WIDTH - _RIGHT) / 2
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * number / (count - 1)


def _to_y(value: float, scale: AxisScale) -> float:
    return _BASE - (_BASE - _TOP) * value / scale.top
