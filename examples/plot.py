# SPDX-License-Identifier: BSD-2-Clause
"""Draw what an example wrote with -plot FILE.

    plot.py FILE.csv [PICTURE.png]

The file: two comment lines (the title; the points along x and y), a header, and x,y,value of each point, x fastest.
Needs matplotlib (Debian: python3-matplotlib), and ends with 77 without it.
"""

import math
import sys

WITHOUT_MATPLOTLIB = 77


def read(path):
    """Title, coordinates along both axes and rows of values."""
    with open(path, encoding="utf-8") as file:
        title = file.readline().removeprefix("#").strip()
        nx, ny = (int(word) for word in file.readline().removeprefix("#").split())
        file.readline()
        points = [[float(word) for word in line.split(",")] for line in file]
    if len(points) != nx * ny:
        sys.exit(f"{path} holds {len(points)} points, not the {nx} x {ny} that it names")
    if not all(math.isfinite(number) for point in points for number in point):
        sys.exit(f"{path} holds numbers that are not finite")
    x = [point[0] for point in points[:nx]]
    y = [point[1] for point in points[::nx]]
    return title, x, y, [[point[2] for point in points[j * nx : (j + 1) * nx]] for j in range(ny)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    path = sys.argv[1]
    picture = sys.argv[2] if len(sys.argv) == 3 else path.removesuffix(".csv") + ".png"
    title, x, y, values = read(path)
    try:
        import matplotlib
    except ImportError:
        print("plot.py: matplotlib is missing; install it (Debian: python3-matplotlib)", file=sys.stderr)
        sys.exit(WITHOUT_MATPLOTLIB)
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 5.5), layout="constrained")
    figure.colorbar(axes.pcolormesh(x, y, values, shading="gouraud", cmap="viridis"), ax=axes)
    axes.set(title=title, xlabel="x", ylabel="y")
    figure.savefig(picture, dpi=120)
    print(picture)


main()
