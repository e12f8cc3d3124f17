"""The sketch and the path of numpy, scipy and scikit-learn, for bench/compare.

Reads a line `METHOD FILE D M`, FILE holding rows of D float64, runs the method and
answers with the seconds it took; until the input ends.

gram:        Frequent Directions, shrinking by dsyrk, dsyevd and one dgemm
incremental: the same, the known diagonal of the kept rows' Gram reused
ipca:        sklearn.decomposition.IncrementalPCA with batches of M rows

Of a path of M gammas, with K = AᵀA by dsyrk:

cholesky:    dpotrf and dpotrs of K + gamma·I for each
eigen:       dsyevd of K

Above D = 8192 the Cholesky decomposition is timed once, and multiplied; and dsyevd is
timed on the leading part of K, of order 8192, and multiplied by (D/8192)³.
"""
import sys
import time

import numpy as np
from scipy.linalg import blas, lapack


def gram(b, rows, kept, lam):
    return blas.dsyrk(1.0, b[:rows].T, trans=1, lower=1)


def incremental(b, rows, kept, lam):
    g = np.zeros((rows, rows), order="F")
    g[np.arange(kept), np.arange(kept)] = lam[:kept]
    new = b[kept:rows]
    g[kept:, :kept] = new @ b[:kept].T
    g[kept:, kept:] = blas.dsyrk(1.0, new.T, trans=1, lower=1)
    return g


def sketch(a, m, of):
    n, d = a.shape
    b, spare = np.zeros((2 * m, d)), np.empty((m, d))
    rows, kept, lam, i = 0, 0, np.zeros(0), 0
    while i < n or rows > m:
        take = min(2 * m - rows, n - i)
        b[rows:rows + take] = a[i:i + take]
        rows, i = rows + take, i + take
        if rows < 2 * m and i < n:
            continue
        if rows <= m:
            break
        w, u, info = lapack.dsyevd(of(b, rows, kept, lam), lower=1, overwrite_a=1)
        assert info == 0
        delta = max(w[-m - 1], 0)
        w, u = w[::-1][:m], u[:, ::-1][:, :m]
        lam = np.maximum(w - delta, 0)
        np.matmul((u * np.sqrt(lam / np.maximum(w, 1e-300))).T, b[:rows], out=spare)
        b[:m] = spare
        rows = kept = m
    return b[:rows]


def ipca(a, m):
    from sklearn.decomposition import IncrementalPCA
    p, i = IncrementalPCA(n_components=m, batch_size=m), 0
    while i < len(a):
        j = len(a) if len(a) - (i + m) < m else i + m
        p.partial_fit(a[i:j])
        i = j


def elapsed(f, *args):
    begin = time.perf_counter()
    out = f(*args)
    return time.perf_counter() - begin, out


def gramian(a):
    d = a.shape[1]
    t, k = elapsed(lambda: blas.dsyrk(1.0, a.T, trans=0, lower=1))
    s, c = elapsed(lambda: a.sum(axis=0))
    return t + s, k, c, np.trace(k) / d


def solve(k, c, gamma):
    f = k.copy(order="F")
    f.ravel("K")[::len(c) + 1] += gamma
    f, info = lapack.dpotrf(f, lower=1, overwrite_a=1)
    assert info == 0
    x, info = lapack.dpotrs(f, c, lower=1)
    return x


def cholesky(a, count):
    total, k, c, mean = gramian(a)
    if len(c) > LARGEST:
        return total + count * elapsed(solve, k, c, mean)[0]
    for gamma in mean * np.logspace(-3, 3, count):
        total += elapsed(solve, k, c, gamma)[0]
    return total


def decompose(k, c, gammas):
    w, v, info = lapack.dsyevd(k, lower=1, overwrite_a=1)
    assert info == 0
    h = v.T @ c
    return v @ (h[:, None] / (w[:, None] + gammas))


def eigen(a, count):
    total, k, c, mean = gramian(a)
    d = min(len(c), LARGEST)
    if d < len(c):
        k = k[:d, :d].copy(order="F")
    seconds = elapsed(decompose, k, c[:d], mean * np.logspace(-3, 3, count))[0]
    return total + seconds * (len(c) / d)**3


LARGEST = 8192
METHODS = {
    "gram": lambda a, m: sketch(a, m, gram),
    "incremental": lambda a, m: sketch(a, m, incremental),
    "ipca": ipca,
}
PATHS = {"cholesky": cholesky, "eigen": eigen}  # time themselves
loaded = {}
for line in sys.stdin:
    method, file, d, m = line.split()
    if file not in loaded:
        loaded = {file: np.fromfile(file).reshape(-1, int(d))}
    if method in PATHS:
        seconds = PATHS[method](loaded[file], int(m))
    else:
        seconds = elapsed(METHODS[method], loaded[file], int(m))[0]
    print(seconds, flush=True)
