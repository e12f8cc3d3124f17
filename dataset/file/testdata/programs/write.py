# Writes the files of pandas, NumPy and SciPy in this folder, and table.csv, which the other scripts read:
#
#	python3 write.py && Rscript write.R && npm install @duckdb/node-api && node write.mjs && sh write.sh
#
# All files have the columns a, n, s, m and y of table.csv, or only its numbers.
import random

import numpy as np
import pandas as pd
import scipy.sparse

r = random.Random(7)
words = ["rot", "grün", "a, b", 'so "x"', "blau"]
t = pd.DataFrame({
    "a": [r.gauss(0, 1) * 10.0 ** r.randint(-3, 3) for _ in range(24)],
    "n": [r.randint(-1000, 1000) for _ in range(24)],
    "s": [words[i] if i < 5 else r.choice(words) for i in range(24)],
    "m": [None if i in (3, 11) else r.random() for i in range(24)],
})
t["y"] = 2 * t.a - t.n / 100 + t.m.fillna(0)
t.to_csv("table.csv", index=False)
t.to_csv("pandas-index.csv")
t.to_csv("pandas-semicolon.csv", index=False, sep=";", decimal=",")
t.to_csv("pandas-quoted.csv", index=False, quoting=1)
t.to_csv("pandas-na.tsv", index=False, sep="\t", na_rep="NA")
t.to_csv("pandas-utf16.csv", index=False, encoding="utf-16")
t.to_csv("pandas-bom.csv", index=False, encoding="utf-8-sig", lineterminator="\r\n")
t.to_csv("pandas.csv.gz", index=False, compression={"method": "gzip", "mtime": 1})
t.to_csv("pandas-digits.csv", index=False, float_format="%.10e")
t.to_json("pandas.jsonl", orient="records", lines=True, double_precision=15)
t.to_json("pandas-ascii.jsonl.gz", orient="records", lines=True, force_ascii=True, double_precision=15, compression={"method": "gzip", "mtime": 1})
numbers = np.ascontiguousarray(t[["a", "n", "y"]].to_numpy())
pd.DataFrame(numbers).to_csv("pandas-unnamed.csv", index=False)
pd.DataFrame(numbers).to_csv("pandas-bare.csv", index=False, header=False)
np.savetxt("numpy.txt", numbers)
np.savetxt("numpy-header.txt", numbers, header="a n y")
np.savetxt("numpy.csv", numbers, delimiter=",", header="a,n,y", comments="")
np.save("numpy.npy", numbers)
np.save("numpy-fortran.npy", np.asfortranarray(numbers))
np.save("numpy-records.npy", np.rec.fromarrays(numbers.T, names="a,n,y"))
np.savez("numpy.npz", X=numbers)
np.savez_compressed("numpy-compressed.npz", x=numbers)
scipy.sparse.save_npz("scipy-csr.npz", scipy.sparse.csr_matrix(numbers))
scipy.sparse.save_npz("scipy-csc.npz", scipy.sparse.csc_matrix(numbers))
