"""Write small data sets of scikit-learn as csv files to a folder, for the study of coverage in uncertainty.md.

Usage: python3 sets.py FOLDER
"""

import pathlib
import sys

from sklearn import datasets

folder = pathlib.Path(sys.argv[1])
for name, load in [
    ("wine", datasets.load_wine),
    ("breast_cancer", datasets.load_breast_cancer),
    ("digits", datasets.load_digits),
    ("iris", datasets.load_iris),
    ("linnerud", datasets.load_linnerud),
]:
    table = load(as_frame=True).frame
    table.to_csv(folder / f"{name}.csv", index=False)
    print(f"{name}.csv: {len(table)} rows, {len(table.columns)} columns")
