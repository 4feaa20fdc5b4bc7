"""Small charts for the report page, as inline SVG."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 340, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 8, 30


@dataclass(frozen=True)
class ChartLine:
    """One line of a chart: (x, y) points and the CSS class that says how it looks."""

    look: str
    points: Sequence[tuple[float, float]]


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Return about `count` round numbers from `low` to `high`, both within them."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(index * step, 12) for index in range(first, last + 1)]


def chart(curves: Sequence[ChartLine], title: str, x_label: str) -> str:
    """Return an SVG line chart with axes; `title` is also its description for screen readers.

    Points that are not finite are left out.
    """
    kept = [
        ChartLine(curve.look, [p for p in curve.points if all(map(math.isfinite, p))])
        for curve in curves
    ]
    points = [point for curve in kept for point in curve.points]
    if not points:
        return ""
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    y_low, y_high = min(y for _, y in points), max(y for _, y in points)
    pad = 0.05 * (y_high - y_low) or 0.5
    y_low, y_high = y_low - pad, y_high + pad
    x_high = x_high if x_high > x_low else x_low + 1.0

    def across(x: float) -> float:
        return LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

    def down(y: float) -> float:
        return TOP + (y_high - y) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    floor = HEIGHT - BOTTOM
    marks = []
    for y in ticks(y_low, y_high):
        marks.append(f'<path class="grid" d="M{LEFT} {down(y):.1f}H{WIDTH - RIGHT}"/>')
        marks.append(f'<text x="{LEFT - 5}" y="{down(y) + 3:.1f}" class="y">{y:g}</text>')
    for x in ticks(x_low, x_high):
        anchor = "end" if across(x) > WIDTH - 24 else "middle"
        place = f'x="{across(x):.1f}" y="{floor + 13}" text-anchor="{anchor}"'
        marks.append(f"<text {place}>{_short(x)}</text>")
    marks.append(f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{WIDTH - RIGHT}"/>')
    label = f'x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 3}" text-anchor="middle"'
    marks.append(f"<text {label}>{html.escape(x_label)}</text>")
    lines = [
        f'<polyline class="{curve.look}" points="'
        + " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in curve.points)
        + '"/>'
        for curve in kept
    ]
    said = html.escape(title, quote=True)
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{said}"'
    return f'<svg class="curves" {box}>{"".join(marks)}{"".join(lines)}</svg>'


def whisker(
    interval: tuple[float, float],
    estimate: float,
    printed: float | None,
    edges: Sequence[float],
    label: str,
    look: str,
) -> str:
    """Return a small SVG of an interval beside what it has to leave out, or of two edges within.

    The paper's value is a tick. `look` is the CSS class of its verdict. Each picture has a scale
    of its own; 0 is in the middle.
    """
    values = [*interval, estimate, *edges, *([] if printed is None else [printed])]
    reach = max(map(abs, values)) or 1.0

    def across(x: float) -> float:
        return 90 + x / reach * 82

    low, high = interval
    said = html.escape(label, quote=True)
    band = f'<path class="band" d="M{across(edges[0]):.1f} 0V20H{across(edges[-1]):.1f}V0z"/>'
    paper = "" if printed is None else f'<path class="paper" d="M{across(printed):.1f} 3V17"/>'
    return (
        f'<svg class="whisker {look}" viewBox="0 0 180 20" role="img" aria-label="{said}">'
        f"{band if len(edges) > 1 else ''}"
        f'<path class="margin" d="{"".join(f"M{across(edge):.1f} 0V20" for edge in edges)}"/>'
        f'<path class="interval" d="M{across(low):.1f} 10H{across(high):.1f}"/>{paper}'
        f'<circle class="estimate" cx="{across(estimate):.1f}" cy="10" r="3.5"/></svg>'
    )


def _short(x: float) -> str:
    return f"{x / 1000:g}k" if abs(x) >= 10000 else f"{x:g}"
