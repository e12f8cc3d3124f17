# evaluate.py: python3 docs/programs/evaluate.py MODEL.json ROWS.csv predicts by a model of fdridge
import csv, itertools, json, math, sys
import numpy as np

GAPS = {"", "nan", "na", "n/a", "<na>", "null", "none", "?", "."}  # in any case of letters
TRUTH = {"True": 1, "TRUE": 1, "true": 1, "False": 0, "FALSE": 0, "false": 0}
KNOWN = {"inputs", "names", "encoding", "scaling", "features", "polynomial"}

model = json.load(open(sys.argv[1], encoding="utf-8"))
prep, fit = model["preparation"], model["models"][0]  # of the first γ
if model["fdridge_model"] not in (2, 3, 5) or set(prep) - KNOWN:
    sys.exit(f"version {model['fdridge_model']}, preparation {set(prep)}: not supported by this program")
cells = prep.get("encoding", prep)  # describes the columns of the file
if "names" not in cells:
    sys.exit("the model has no column names")
levels = {c["column"]: c["levels"] for c in cells.get("categories", [])}

def encoded(row):  # converts the cells of a row to numbers
    if "columns" in cells:
        import columns
        return columns.encoded(cells, row)
    gaps, made = [cell.lower() in GAPS for cell in row], []
    if any(gaps) and cells.get("missing") == "drop":
        return [math.nan] * prep["inputs"]  # no prediction for this row
    for j, (cell, gap) in enumerate(zip(row, gaps)):
        if j in levels:
            if (level := "" if gap else cell) not in levels[j]:  # with --unknown ignore: all zeros
                sys.exit(f"column {cells['names'][j]}: {level!r} is an unknown level")
            made += [float(level == other) for other in levels[j]]
        elif gap and cells.get("missing") != "mean":
            sys.exit(f"column {cells['names'][j]}: {cell!r} is missing, and the model does not fill missing values")
        else:
            made.append(cells["means"][j] if gap else float(TRUTH.get(cell, cell)))
    return made

with open(sys.argv[2], newline="", encoding="utf-8-sig") as file:  # quoted cells, too
    header, *rows = ([c.strip() for c in row] for row in csv.reader(file, skipinitialspace=True) if row)
places = [header.index(name) for name in cells["names"]]
x = np.array([encoded([row[p] for p in places]) for row in rows])
if s := prep.get("scaling"):
    x = (x - s["mean"]) / s["scale"]
if f := prep.get("features"):
    import fourier
    u, W = fourier.weights(f, x.shape[1])
    x = math.sqrt(2 / len(u)) * np.cos(x @ W + u)
if p := prep.get("polynomial"):
    of = [list(c) for k in range(1, p["degree"] + 1) for c in itertools.combinations_with_replacement(range(x.shape[1]), k)]
    x = np.stack([x[:, c].prod(axis=1) for c in of], axis=1)
print("\n".join(",".join(map(repr, y)) for y in (x @ np.atleast_2d(fit["coef"]).T + fit["intercept"]).tolist()))
