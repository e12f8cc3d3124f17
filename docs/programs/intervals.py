# intervals.py: python3 docs/programs/intervals.py ROWS.csv TARGET COUNT KIND=INTERVALS.csv... prints a picture as SVG.
# It shows the intervals of the last COUNT rows, and their targets as dots.
import csv
import sys

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 340, 60, 16, 70
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7"]


def read(name):
    with open(name, newline="") as file:
        return list(csv.DictReader(file))


name, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
rows = read(name)
truth = [float(row[target]) for row in rows[-count:]]
kinds = []
for argument in sys.argv[4:]:
    kind, _, file = argument.partition("=")
    intervals = read(file)
    if len(intervals) != len(rows):
        sys.exit(f"{file} has {len(intervals)} rows, {name} has {len(rows)}")
    kinds.append((kind, [(float(row["low"]), float(row["high"])) for row in intervals[-count:]]))

ends = truth + [end for _, intervals in kinds for interval in intervals for end in interval]
least, most = min(ends), max(ends)
step = (WIDTH - LEFT - 10) / count


def x(row, kind):
    """Return the position of an interval, or of the target for kind -1."""
    return LEFT + step * (row + (kind + 2) / (len(kinds) + 2))


def y(value):
    return TOP + (HEIGHT - TOP - BOTTOM) * (most - value) / (most - least)


def text(left, top, words, anchor="middle"):
    print(f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{words}</text>')


print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">')
print(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>')
for i in range(5):
    value = least + (most - least) * i / 4
    print(f'<path d="M{LEFT},{y(value):.1f}H{WIDTH - 10}" stroke="#DDDDDD"/>')
    text(LEFT - 6, y(value) + 4, f"{value:.4g}", "end")
text(LEFT - 6, HEIGHT - BOTTOM + 20, target, "end")
for row in range(count):
    text(LEFT + step * (row + 0.5), HEIGHT - BOTTOM + 20, len(rows) - count + row + 1)
    for k, (_, intervals) in enumerate(kinds):
        low, high = intervals[row]
        # A cap of 6 at both ends shows intervals that are narrower than a line.
        line = f"M{x(row, k):.1f},{y(low):.1f}V{y(high):.1f}m-3,0h6M{x(row, k) - 3:.1f},{y(low):.1f}h6"
        print(f'<path d="{line}" fill="none" stroke="{COLOURS[k]}" stroke-width="1.6"/>')
    print(f'<circle cx="{x(row, -1):.1f}" cy="{y(truth[row]):.1f}" r="3"/>')
for k, kind in enumerate([kind for kind, _ in kinds] + ["the target"]):
    left = LEFT + 170 * k
    if k < len(kinds):
        print(f'<path d="M{left},{HEIGHT - 20}h20" stroke="{COLOURS[k]}" stroke-width="2"/>')
    else:
        print(f'<circle cx="{left + 12}" cy="{HEIGHT - 20}" r="3"/>')
    text(left + 26, HEIGHT - 16, kind, "start")
print("</svg>")
