"""Ridge regression by numpy and scikit-learn, for bench/digits.

Prints the versions. Then reads lines

    SOLVER FILE N D GAMMA INTERCEPT SPARSE

until the input ends. FILE holds N·D float64 of a matrix, by rows, and N of the target;
GAMMA is scikit-learn's alpha; INTERCEPT and SPARSE are true or false. Answers with the
weights and the intercept, as hexadecimal floats, or with "failed: " and why.

lstsq    numpy.linalg.lstsq: of [X 1] where GAMMA is 0, without the ones where there is no
         intercept; else of [X; sqrt(GAMMA)·I], X and the target less their means where
         there is an intercept
lstsq-1  the same with rcond=-1, so that no small singular value is taken for zero
others   sklearn.linear_model.Ridge with this solver. After a colon: tol, and as many
         iterations as that takes, 100,000 at most; without one all is the default
"""
import platform
import sys
import warnings

import numpy as np
import scipy
import scipy.sparse
import sklearn
from sklearn.linear_model import Ridge

warnings.simplefilter("ignore")  # of systems that are ill-conditioned, as they are meant to be


def lstsq(x, y, gamma, intercept, rcond):
    n, d = x.shape
    if gamma == 0:
        a = np.hstack([x, np.ones((n, 1))]) if intercept else x
        w = np.linalg.lstsq(a, y, rcond=rcond)[0]
        return w[:d], w[d] if intercept else 0.0
    mx, my = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(d), 0.0)
    a = np.vstack([x - mx, np.sqrt(gamma) * np.eye(d)])
    w = np.linalg.lstsq(a, np.concatenate([y - my, np.zeros(d)]), rcond=rcond)[0]
    return w, my - mx @ w


def ridge(x, y, gamma, intercept, sparse, solver):
    solver, _, tol = solver.partition(":")
    options = {"tol": float(tol), "max_iter": 100000} if tol else {}
    if sparse and solver != "svd":
        x = scipy.sparse.csr_matrix(x)
    fit = Ridge(alpha=gamma, fit_intercept=intercept, solver=solver, **options).fit(x, y)
    return fit.coef_, fit.intercept_


print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}", flush=True)
for line in sys.stdin:
    solver, file, n, d, gamma, intercept, sparse = line.split()
    n, d, gamma = int(n), int(d), float(gamma)
    numbers = np.fromfile(file, "<f8")
    x, y = numbers[:n * d].reshape(n, d), numbers[n * d:]
    try:
        if solver.startswith("lstsq"):
            w, b = lstsq(x, y, gamma, intercept == "true", -1 if solver == "lstsq-1" else None)
        else:
            w, b = ridge(x, y, gamma, intercept == "true", sparse == "true", solver)
        print(*(float(v).hex() for v in [*w, b]), flush=True)
    except Exception as e:
        print("failed:", type(e).__name__, " ".join(str(e).split()), flush=True)
