# rarelevels.py: python3 docs/programs/rarelevels.py FDRIDGE FOLDER [SPLITS] prints the mean R² of held-out rows, for
# several shares of rows that a level needs for a column of its own. FOLDER is the folder csv of a copy of Rdatasets, and
# FDRIDGE the program.
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

# The file, the target, and the columns that are left out: names of rows, and what is known only with the target.
TABLES = [
    ("modeldata/hotel_rates", "avg_price_per_room", ["rownames"]),
    ("modeldata/ames", "Sale_Price", ["rownames"]),
    ("openintro/loans_full_schema", "interest_rate", ["rownames", "grade", "sub_grade", "installment"]),
    ("openintro/nycflights", "arr_delay", ["rownames", "dep_delay", "dep_time", "arr_time", "air_time", "hour", "minute"]),
    ("dplyr/storms", "pressure", ["rownames"]),
    ("lme4/InstEval", "y", ["rownames"]),
    ("plyr/baseball", "h", ["rownames", "ab", "r", "X2b", "X3b", "hr", "rbi"]),
    ("causaldata/restaurant_inspections", "inspection_score", ["rownames"]),
    ("agridat/barrero.maize", "yield", ["rownames"]),
    ("modeldata/lending_club", "int_rate", ["rownames", "sub_grade"]),
    ("openintro/birds", "height", ["rownames"]),
    ("openintro/comics", "appearances", ["rownames", "name"]),
]
TEXTS = {"s", "d"}  # numbers that name students and lecturers in InstEval
LOG = "appearances"  # a target whose logarithm is fitted
MOST = 6000
SHARE = 0.25  # of the rows that are held out


def fit(program, name, share, target):
    """Return R² on the held-out rows, and the number of features."""
    command = [program, "fit", "--data", name, "--target", target, "--prepare", "auto", "--min-share", repr(share)]
    command += ["--holdout", str(SHARE), "--gamma", "auto", "--json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode not in (0, 3):
        sys.exit(result.stderr)
    found = json.loads(result.stdout)
    return found["holdout"]["fits"][0]["r2"][0], found["d"]


program, folder = sys.argv[1:3]
splits = int(sys.argv[3]) if len(sys.argv) > 3 else 3
print("| table, target | levels in ≥ 3 rows and ≥ 0.2 % | ≥ 3 rows | ≥ 2 rows (the rule) | columns |")
print("|---|---|---|---|---|")
sums = [0] * 3
for path, target, left_out in TABLES:
    with open(os.path.join(folder, path + ".csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name not in left_out]
    for name in names:
        if path == "lme4/InstEval" and name in TEXTS:
            for row in rows:
                row[name] = name + row[name]
    if target == LOG:
        rows = [row for row in rows if row[target]]
        for row in rows:
            row[target] = repr(math.log(float(row[target])))
    scores, features = [0] * 3, []
    for split in range(splits):
        r = random.Random(split)
        sample = r.sample(rows, min(MOST, len(rows)))
        with tempfile.TemporaryDirectory() as at:
            file = os.path.join(at, "rows.csv")
            with open(file, "w", newline="") as out:
                writer = csv.DictWriter(out, names, extrasaction="ignore")
                writer.writeheader()
                writer.writerows(sample)
            n = (1 - SHARE) * len(sample)
            shares = [max(2.5 / n, 0.002), 2.5 / n, 1.5 / n]
            found = [fit(program, file, share, target) for share in shares]
        scores = [score + r2 / splits for score, (r2, _) in zip(scores, found)]
        features = [d for _, d in found]
    sums = [total + score / len(TABLES) for total, score in zip(sums, scores)]
    cells = [f"{score:.3f}" for score in scores]
    print(f"| {path.split('/')[1]}, {target} | {' | '.join(cells)} | {', '.join(map(str, features))} |", flush=True)
print(f"| mean | {' | '.join(f'{total:.3f}' for total in sums)} | |")
