# SPDX-License-Identifier: Apache-2.0
"""Charts as SVG: lines over a parameter, and points with their Pareto front.

Drawn here, because of Debian's libraries matplotlib brings 30 packages, svgwrite draws no axes, and pages of pygal load
a script from the network.
"""
import math
from xml.sax.saxutils import escape

WIDE, HIGH = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 96, 20, 40, 48  # Margins around the axes.
COLOURS = ("#3a6ea5", "#c8553d", "#4f8a4c", "#8a5fa8", "#b8860b", "#3f8f8f", "#7a4b32", "#666666")


def colour(i):
    return COLOURS[i % len(COLOURS)]


def dashes(i):
    """Returns the attribute by which lines of the same colour differ."""
    return ' stroke-dasharray="6 3"' if i // len(COLOURS) % 2 else ""


def front(points):
    """Returns the points that no other one beats: none has both at most its x and at most its y, one of them less. In
    order of x. points: [(x, y, ...)]."""
    best, least = [], math.inf
    for point in sorted(points, key=lambda p: (p[0], p[1])):
        if point[1] < least or (best and point[:2] == best[-1][:2]):
            best.append(point)
            least = point[1]
    return best


def ticks(low, high):
    """Returns three to seven round numbers from at most `low` to at least `high`."""
    span = (high - low) or abs(high) or 1
    step = 10 ** math.floor(math.log10(span / 3))
    step = next(step * m for m in (1, 2, 5, 10, 20) if span / (step * m) <= 5)
    first = math.floor(low / step)
    return [round(step * i, 10) for i in range(first, math.ceil(high / step - 1e-9) + 1)]


def number(value):
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}".rstrip("0")


class Axes:
    """The axes of a chart. Values of x that double stand at equal distances (a logarithmic axis); cycles begin at 0."""

    def __init__(self, title, across, up, xs, ys, marks=None):
        self.logarithmic = marks is not None and min(xs) > 0 and max(xs) >= 8 * min(xs)
        self.marks = marks or ticks(0, max(xs))
        self.rows = ticks(0, max(ys))
        ends = [self.at(x) for x in self.marks]
        pad = 0.06 * (max(ends) - min(ends)) or 1
        self.least, self.most = (min(ends) - pad, max(ends) + pad) if marks else (min(ends), max(ends))
        self.out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" '
                    f'height="{HIGH}" font-family="sans-serif" font-size="12" role="img">',
                    f"<title>{escape(title)}</title>",
                    '<rect width="100%" height="100%" fill="#ffffff"/>',
                    f'<text x="{LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
                    f'<text x="{(LEFT + WIDE - RIGHT) / 2:.1f}" y="{HIGH - 10}" text-anchor="middle">{escape(across)}'
                    "</text>",
                    f'<text x="14" y="{(TOP + HIGH - BOTTOM) / 2:.1f}" text-anchor="middle" '
                    f'transform="rotate(-90 14 {(TOP + HIGH - BOTTOM) / 2:.1f})">{escape(up)}</text>']
        for row in self.rows:
            y = self.y(row)
            self.out += [f'<line x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>',
                         f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(row)}</text>']
        for mark in self.marks:
            x = self.x(mark)
            self.out += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{HIGH - BOTTOM}" y2="{HIGH - BOTTOM + 4}" '
                         'stroke="#555555"/>',
                         f'<text x="{x:.1f}" y="{HIGH - BOTTOM + 17}" text-anchor="middle">{number(mark)}</text>']
        self.out.append(f'<line x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{HIGH - BOTTOM}" y2="{HIGH - BOTTOM}" '
                        'stroke="#555555"/>')

    def at(self, x):
        return math.log2(x) if self.logarithmic else x

    def x(self, value):
        return LEFT + (WIDE - RIGHT - LEFT) * (self.at(value) - self.least) / ((self.most - self.least) or 1)

    def y(self, value):
        return HIGH - BOTTOM - (HIGH - BOTTOM - TOP) * value / (max(self.rows) or 1)

    def path(self, points, stroke, more=""):
        places = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        self.out.append(f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-width="1.8"{more}/>')

    def dot(self, x, y, stroke, said, filled=True):
        fill = stroke if filled else "#ffffff"
        self.out.append(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="4" fill="{fill}" stroke="{stroke}" '
                        f'stroke-width="1.5"><title>{escape(said)}</title></circle>')

    def text(self):
        return "\n".join([*self.out, "</svg>"]) + "\n"


def lines(title, across, series):
    """Returns a chart of cycles over a parameter. series: {name: [(value, cycles)]}, each in order."""
    xs = sorted({x for points in series.values() for x, _ in points})
    axes = Axes(title, across, "cycles", xs, [y for points in series.values() for _, y in points], marks=xs)
    for i, (name, points) in enumerate(series.items()):
        axes.path(points, colour(i), dashes(i))
        for x, y in points:
            axes.dot(x, y, colour(i), f"{name + ': ' if name else ''}{across} {number(x)}, {number(y)} cycles")
    return axes.text()


def pareto(title, points):
    """Returns a chart of cycles against LUTs. points: [(LUTs, cycles, name)]. Those of the front are filled, named and
    joined; between two of them the front is a step, because no device is there."""
    best = front(points)
    axes = Axes(title, "LUTs", "cycles", [p[0] for p in points], [p[1] for p in points])
    steps = []
    for x, y, *_ in best:
        steps += [(x, steps[-1][1]), (x, y)] if steps else [(x, y)]
    axes.path(steps, COLOURS[1], ' stroke-dasharray="5 3"')
    for x, y, name in points:
        on_front = (x, y, name) in best
        axes.dot(x, y, COLOURS[1 if on_front else 0], f"{name}: {number(x)} LUTs, {number(y)} cycles", on_front)
    for x, y, name in best:
        at_end = axes.x(x) > (LEFT + WIDE) / 2
        axes.out.append(f'<text x="{axes.x(x) + (-7 if at_end else 7):.1f}" y="{axes.y(y) - 7:.1f}" '
                        f'text-anchor="{"end" if at_end else "start"}">{escape(name)}</text>')
    return axes.text()


def legend(names):
    """Returns HTML that names the colours of lines()."""
    return "".join('<span class="key"><svg width="22" height="8" aria-hidden="true"><line x1="0" x2="22" y1="4" y2="4" '
                   f'stroke="{colour(i)}" stroke-width="2"{dashes(i)}/></svg> {escape(name)}</span> '
                   for i, name in enumerate(names))
