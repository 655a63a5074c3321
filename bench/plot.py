# SPDX-License-Identifier: BSD-2-Clause
"""Draw what oclspkt-bench measured, as SVG.

    plot.py RESULTS PICTURES

RESULTS: the folder with sweep.json, lines-double.json, ...; PICTURES: where performance-*.svg and
evaluation-*.svg go. The same results
give the same bytes. Needs matplotlib (./run.sh bench installs it), and ends with 77 without it.
"""

import pathlib
import statistics
import sys

import paper_table
import records

WITHOUT_MATPLOTLIB = 77


def save(figure, path):
    """Without dates and random names; text stays text, which keeps the file small."""
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    print(path)


def axes(plt, title, x, y):
    figure, plane = plt.subplots(figsize=(8, 5.2), layout="constrained")
    plane.set(title=title, xlabel=x, ylabel=y, xscale="log", yscale="log")
    plane.grid(True, which="major", linewidth=0.4)
    return figure, plane


def legend(plane):
    plane.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)


def styles(names):
    """A style for each name: streams black, ours solid, peers dashed, colours counted among their like."""
    ours = peers = 0
    for name in names:
        if name.startswith("stream"):
            yield {"color": "black", "linestyle": "-" if name == "stream" else ":", "linewidth": 2}
        elif name.split()[0] in ("LAPACK", "MKL", "Thomas"):
            yield {"color": f"C{peers % 10}", "linestyle": "--", "marker": "s", "markersize": 3}
            peers += 1
        else:
            yield {"color": f"C{ours % 10}", "linestyle": "-", "marker": "o", "markersize": 3}
            ours += 1


def plot_sweep(plt, document, scalar, path):
    """Rows a second against rows, everybody a line."""
    own = [r for r in document["results"] if r["scalar"] == scalar]
    figure, plane = axes(plt, f"{document['provenance']['matrix']}, {scalar}", "rows", "rows a second")
    series = records.by_label(own)
    for (name, points), style in zip(series.items(), styles(series)):
        rows = sorted(points)
        plane.plot(rows, [points[n]["rows_per_second"] for n in rows], label=name, **style)
    legend(plane)
    save(figure, path)
    plt.close(figure)


def plot_lines(plt, document, path):
    """Rows a second against the length of a line: end to end, and along the axes of grids."""
    scalar = document["results"][0]["scalar"]
    figure, plane = axes(plt, f"many lines, {scalar}", "rows of a line", "rows a second")
    series = {}
    for record in records.timed(document["results"]):
        if record["solver"] == "stream":
            continue
        kind = record["lines"].split()[0]
        kind = f"grid, {kind}" if kind in "xyz" else "end to end"
        points = series.setdefault(f"{records.label(record).split(',')[0]}, {kind}, {record['bands']} bands", {})
        points[record["line_length"]] = record["rows_per_second"]
    for number, (name, points) in enumerate(series.items()):
        lengths = sorted(points)
        plane.plot(lengths, [points[n] for n in lengths], label=name, color=f"C{number // 2 % 10}", marker="o",
                   markersize=3, linestyle="--" if name.endswith("shared bands") else "-")
    streams = [r["rows_per_second"] for r in records.timed(document["results"]) if r["solver"] == "stream"]
    if streams:
        plane.axhline(sorted(streams)[len(streams) // 2], color="black", linewidth=2, label="stream")
    legend(plane)
    save(figure, path)
    plt.close(figure)


def plot_stream(plane, own, size):
    """The stream of each size, as rows a second."""
    streams = {}
    for r in records.timed(own):
        streams.setdefault(r[size], []).append(r["rows"] / r["stream_seconds"])
    sizes = sorted(streams)
    plane.plot(sizes, [sorted(streams[n])[len(streams[n]) // 2] for n in sizes], color="black", linewidth=2,
               label="stream")


def plot_gpu(plt, own, size, title, names, path):
    """Rows a second on a card against a size: the stream, ours solid, peers dashed. @param names the label of a record"""
    figure, plane = axes(plt, title, "rows" if size == "rows" else "rows of a line", "rows a second")
    plot_stream(plane, own, size)
    series = {}
    for r in records.timed(own):
        series.setdefault((r["solver"] != "oclspkt", names(r)), {}).setdefault(r[size], r["rows_per_second"])
    counts = [0, 0]
    for (is_peer, name), points in series.items():
        sizes = sorted(points)
        plane.plot(sizes, [points[n] for n in sizes], label=name, color=f"C{counts[is_peer] % 10}",
                   linestyle="--" if is_peer else "-", marker="s" if is_peer else "o", markersize=3)
        counts[is_peer] += 1
    legend(plane)
    save(figure, path)
    plt.close(figure)


def plot_card(plt, document, card, pictures):
    """Pictures of one card: sizes of one system, and lengths of many lines with bands of their own. Peers, to which
    matrices make no difference, are drawn once."""
    def matrix(r):
        return f", {records.short_matrix(r)}" if r["solver"] == "oclspkt" else ""

    device = document["provenance"]["device"]
    for scalar in ("double", "float"):
        own = [r for r in document["results"] if r["scalar"] == scalar]
        systems = [r for r in own if not r["lines"] and (r["variant"] == "auto" or r["solver"] != "oclspkt")]
        plot_gpu(plt, systems, "rows", f"{device}, one system, {scalar}",
                 lambda r: records.device_label(r) + matrix(r),
                 pictures / f"performance-gpu-{card}-systems-{scalar}.svg")
        lines = [r for r in own if r["lines"] and r["bands"] == "general"]
        plot_gpu(plt, lines, "line_length", f"{device}, many lines, {scalar}",
                 lambda r: f"{records.device_label(r)}, {records.place(r)}{matrix(r)}",
                 pictures / f"performance-gpu-{card}-lines-{scalar}.svg")


def plot_shared(plt, documents, path):
    """Rows a second of every set of processors against the rows of a system, a panel for each machine."""
    figure, planes = plt.subplots((len(documents) + 1) // 2, 2, figsize=(10, 1.7 * (len(documents) + 1)),
                                  layout="constrained", squeeze=False)
    for plane in planes.flat[len(documents):]:
        plane.axis("off")
    for (name, document), plane in zip(documents.items(), planes.flat):
        plane.set(title=name, xlabel="rows", ylabel="rows a second", xscale="log", yscale="log")
        plane.grid(True, which="major", linewidth=0.4)
        series = {}
        for r in document["results"]:
            series.setdefault((r["members"] > 1, r["devices"]), {})[r["rows"]] = r["rows"] / statistics.median(r["seconds"])
        for (together, devices), points in series.items():
            plane.plot(sorted(points), [points[n] for n in sorted(points)], label=devices, marker="o", markersize=3,
                       linestyle="-" if together else "--")
        plane.legend(fontsize="x-small", frameon=False)
    save(figure, path)
    plt.close(figure)


def plot_roofline(plt, document, name, pictures):
    """Flops a second against flops a byte, below the fastest stream of reads: operations at the largest size, products."""
    for scalar, word in (("double", 8), ("float", 4)):
        own = [r for r in document["operations"] if r["precision"] == scalar and r["flops"] > 0]
        largest = max((r["rows"] for r in own), default=0)
        points = [(r["operation"], r["library"], r["flops"] / r["words"] / word, r["flops"] * r["rows"], r["seconds"])
                  for r in own if r["rows"] == largest]
        points += [(f"{r['matrix']}, {r['format']}", r["library"], 2 * r["entries"] / r.get("own_bytes", r["compulsory_bytes"]),
                    2 * r["entries"], r["seconds"])
                   for r in document["products"] if r["precision"] == scalar and "seconds" in r]
        rate = records.best_read(document, scalar)
        if not points or not rate:
            continue
        figure, plane = axes(plt, f"{document['provenance']['device']}, {scalar}", "flops a byte", "flops a second")
        ends = [min(p[2] for p in points) / 2, max(p[2] for p in points) * 2]
        plane.plot(ends, [rate * end for end in ends], color="black", linewidth=2, label="stream of reads")
        for number, (what, library, intensity, flops, seconds) in enumerate(points):
            label = what if library == "ours" else f"{what}, {library}"
            plane.plot([intensity], [flops / statistics.median(seconds)], label=label, color=f"C{number % 10}",
                       marker="ovs^D*"[number // 10 % 6], linestyle="", markersize=5)
        legend(plane)
        save(figure, pictures / f"performance-krylov-{name}-{scalar}.svg")
        plt.close(figure)


HATCHED = {"hatch": "///", "fill": False}  # what no device measured


def bars(plane, labels, values, modelled, **style):
    """A bar for each label, hatched where a model gives it."""
    for place, (value, model) in enumerate(zip(values, modelled)):
        plane.barh(place, value, **(style | ({**HATCHED, "edgecolor": style["color"]} if model else {})))
    plane.set_yticks(range(len(labels)), labels, fontsize="x-small")
    plane.invert_yaxis()


def paper_label(r):
    """Who solved the system of figure 6, and how much of it is marshalling."""
    who = {"paper": "the paper's form", "ours": "ours"}.get(r["who"], r["solver"]) + (" (model)" if r["source"] == "modelled" else "")
    marshalling = (r.get("marshalling_seconds") or 0) / r["seconds"]
    return f"{r['device'][:28]}, {who}" + (f", {100 * marshalling:.0f} % marshalling" if marshalling else "")


def plot_paper_solves(plt, document, x, value, path):
    """A bar for each solver of the system of figure 6, a panel a scalar."""
    sheet, planes = plt.subplots(1, 2, figsize=(13, 5.2), layout="constrained")
    for plane, scalar in zip(planes, ("float", "double")):
        own = [r for r in document["solves"] if r.get("seconds") is not None and r["scalar"] == scalar]
        bars(plane, list(map(paper_label, own)), list(map(value, own)), [r["source"] == "modelled" for r in own], color="C0")
        plane.set(title=f"{document['provenance']['rows']} rows, {scalar}", xlabel=x, xscale="log")
    save(sheet, path)
    plt.close(sheet)


def plot_paper_lines(plt, section, x, y, key, own, path):
    """A figure with a line for each key: a panel for each scalar that was measured, and one, dashed, for what a model gives."""
    panels = [(scalar, modelled) for modelled in (False, True) for scalar in ("float", "double")
              if any(drawn(r, y, scalar, modelled) for r in section)]
    sheet, planes = plt.subplots(1, len(panels), figsize=(6.5 * len(panels), 5.2), layout="constrained", squeeze=False)
    for plane, (scalar, modelled) in zip(planes[0], panels):
        series = {}
        for r in section:
            if drawn(r, y, scalar, modelled):
                series.setdefault(key(r), {})[r[x]] = max(r[y], 1e-17)
        for number, (name, points) in enumerate(series.items()):
            plane.plot(sorted(points), [points[n] for n in sorted(points)], label=name, color=f"C{number % 10}",
                       marker="ovs^D*"[number // 10 % 6], markersize=3, linestyle="--" if modelled else "-")
        plane.set(title=scalar + (", with a board, by the model" if modelled else ""), xlabel=x, ylabel=own, yscale="log")
        plane.grid(True, which="major", linewidth=0.4)
        plane.legend(fontsize="xx-small", frameon=False)
    save(sheet, path)
    plt.close(sheet)


def drawn(record, y, scalar, modelled):
    return record["scalar"] == scalar and record.get(y) is not None and (record.get("source") == "modelled") == modelled


def plot_paper_roofline(plt, document, path):
    """Flops a second against flops a byte, below the peak and the stream of the device: a panel for each of both scalars."""
    points = [p for p in paper_table.roofline_points(document) if p[4] and paper_table.bounds(document, *p[:2])[0]]
    if not points:
        return
    device = points[0][0]
    sheet, planes = plt.subplots(1, 2, figsize=(13, 6.4), layout="constrained")
    for plane, scalar in zip(planes, ("float", "double")):
        peak, stream = paper_table.bounds(document, device, scalar)
        own = [(what, flops / moved, flops / r["seconds"]) for who, of, what, moved, flops, r in points
               if (who, of) == (device, scalar)]
        if not own or not peak:
            continue
        ends = [min(p[1] for p in own) / 2, peak / stream, 4 * peak / stream]
        plane.plot(ends, [min(peak, stream * end) for end in ends], color="black", linewidth=2, label="stream and peak")
        for number, (what, intensity, rate) in enumerate(own):
            plane.plot([intensity], [rate], label=what, color=f"C{number % 10}", marker="ovs^D*"[number // 10 % 6], linestyle="",
                       markersize=5)
        plane.set(title=f"{device}, {scalar}", xlabel="flops a byte", ylabel="flops a second", xscale="log", yscale="log")
        plane.grid(True, which="major", linewidth=0.4)
        plane.legend(fontsize="xx-small", frameon=False, loc="lower right")
    save(sheet, path)
    plt.close(sheet)


def plot_paper(plt, document, name, pictures):
    """The paper's figures 6 to 11 of one machine."""
    draw = {
        "solves": lambda path: plot_paper_solves(plt, document, "seconds", lambda r: r["seconds"], path),
        "joules": lambda path: plot_paper_solves(plt, document, "rows a joule", lambda r: r["rows_per_joule"], path),
        "combinations": lambda path: plot_paper_lines(plt, document["combinations"], "rows", "rows_per_second",
                                                      lambda r: r["devices"], "rows a second", path),
        "accuracy": lambda path: plot_paper_lines(plt, document["accuracy"], "dominance", "error",
                                                  lambda r: f"{r['who']}, {r['device']}", "largest error", path),
        "roofline": lambda path: plot_paper_roofline(plt, document, path)}
    for figure in paper_table.figures(document):
        draw[figure](pictures / f"evaluation-{name}-{figure}.svg")


def main(results, pictures):
    try:
        import matplotlib
    except ImportError:
        print("plot.py: matplotlib is missing: no pictures", file=sys.stderr)
        return WITHOUT_MATPLOTLIB
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "oclspkt", "svg.fonttype": "none"})
    import matplotlib.pyplot as plt

    pictures = pathlib.Path(pictures)
    if sweep := records.load(results, "sweep"):
        for scalar in ("double", "float"):
            plot_sweep(plt, sweep, scalar, pictures / f"performance-sweep-{scalar}.svg")
    for scalar in ("double", "float"):
        if lines := records.load(results, f"lines-{scalar}"):
            plot_lines(plt, lines, pictures / f"performance-lines-{scalar}.svg")
    for path in sorted(pathlib.Path(results).glob("gpu/*.json")):
        plot_card(plt, records.load(results, f"gpu/{path.stem}"), path.stem, pictures)
    shared = {path.stem: records.load(results, f"balance/{path.stem}")
              for path in sorted(pathlib.Path(results).glob("balance/*.json"))}
    shared = {name: document for name, document in shared.items()
              if len({r["rows"] for r in document.get("results", [])}) > 1}
    for path in sorted(pathlib.Path(results).glob("gpu/krylov/*.json")):
        plot_roofline(plt, records.load(results, f"gpu/krylov/{path.stem}"), path.stem, pictures)
    for path in sorted(pathlib.Path(results).glob("paper/*.json")):
        plot_paper(plt, records.load(results, f"paper/{path.stem}"), path.stem, pictures)
    if shared:
        plot_shared(plt, shared, pictures / "performance-shared.svg")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
