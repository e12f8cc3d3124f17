"""Compute the fixtures of sklearn_test.go:   python3 make.py FOLDER

FOLDER holds abalone.data, diabetes.tab.txt and covtype.data.gz; the other data
are the repository's own. Needs numpy, scipy and scikit-learn >= 1.2.

Of every data set, in the order of the file and numbered from i = 0 after the
excerpt (every stride-th row from the first on) was taken:

    weights          w_i  = 1/2 + (i mod 7)/4
    second target    y2_i = (1 + i mod 3)*y_i
    abalone's sex    M = 0, F = 1, I = 2

A file named after its data set has, for each combination of intercept, weights
and standardisation (by StandardScaler, with the weights; sparse columns are not
centred), the coefficients and intercepts of both targets. float32.json is the
same for the one target of the .npy files; float64.npy are the very numbers of
float32.npy. ridgecv.json has GCV on a grid of alphas, exact, and the alpha that
RidgeCV chooses by its leave-one-out error. loo.json has that error itself, on a
grid of alphas, for each combination of intercept and weights; the columns of all but
the sparse data are standardised without weights. rbf.json has how far RBFSampler's
kernel is from the true one on 200 rows.

Each case of ridge regression holds scikit-learn's answer and the exact one. The
latter comes from the Gram matrix of [1 X Y], summed in exact integers or 60
decimal digits, from which weighting, centring and standardising follow without
cancellation that could be seen, and from normal equations solved by iterative
refinement with residuals in those digits. "error" bounds its relative error
before it is rounded to float64, |H^-1 r| <= |r|/alpha; "difference" is
scikit-learn's from it. All coefficients and intercepts are in the units of the
file.
"""

import decimal
import gzip
import itertools
import json
import pathlib
import sys

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.preprocessing import StandardScaler

HERE = pathlib.Path(__file__).resolve().parent
OURS = HERE.parents[2] / "testdata"
D = decimal.Decimal
decimal.getcontext().prec = 60


def exact(a):
    """The numbers of an array in decimal."""
    return np.vectorize(D, otypes=[object])(a)


def floats(a):
    return np.asarray(a, dtype=float)


def norm(v):
    return sum(e * e for e in v).sqrt()


def relative(a, b):
    """|a - b|/|b| of two vectors."""
    a, b = exact(a), exact(b)
    return float(norm(a - b) / norm(b)) if norm(b) else float(norm(a))


# ---------------------------------------------------------------- data


def table(text, **kw):
    with (gzip.open if str(text).endswith(".gz") else open)(text, "rt") as f:
        rows = (line.replace("M,", "0,").replace("F,", "1,").replace("I,", "2,") for line in f)
        a = np.loadtxt(rows, **kw)
    return a[:, :-1], a[:, -1]


def datasets(folder):
    """Yields name, stride, alpha, X, y."""
    yield "housing", 1, 1.0, *table(OURS / "cal_housing.csv.gz", delimiter=",")
    yield "diabetes", 1, 1.0, *table(folder / "diabetes.tab.txt", delimiter="\t", skiprows=1)
    yield "abalone", 1, 1.0, *table(folder / "abalone.data", delimiter=",")
    x, y = table(folder / "covtype.data.gz", delimiter=",")
    yield "covtype", 40, 1.0, x[::40], y[::40]
    x, y = load_svmlight_file(str(OURS / "w8a.svm.gz"), n_features=300)
    yield "w8a", 100, 1.0, x[::100], y[::100]


def weights(n):
    return 0.5 + np.arange(n) % 7 / 4


def targets(y):
    return np.column_stack([y, (1 + np.arange(len(y)) % 3) * y])


# ---------------------------------------------------------------- exact answers


def gram(x, y, w):
    """[1 X Y]' diag(w) [1 X Y] in decimal. Quarters are exact in binary."""
    a = np.column_stack([np.ones(len(y)), x.toarray() if sparse.issparse(x) else x, y])
    if np.all(a == np.round(a)):
        assert np.max(np.abs(a).T @ (4 * w[:, None] * np.abs(a))) < 2.0**62
        i = a.astype(np.int64)
        return exact(i.T @ ((4 * w).astype(np.int64)[:, None] * i)) / 4
    a = exact(a)
    return a.T @ (exact(w)[:, None] * a)


def solve(h, c, alpha):
    """(H + alpha I)^-1 c for the columns of c, and a bound on the relative error."""
    h = h + np.diag([D(alpha)] * len(h))
    scale = np.array([D(float(v) ** -0.5) for v in np.diag(h)])
    inverse = np.linalg.inv(floats(scale[:, None] * h * scale))
    x = c * D(0)
    for _ in range(60):
        r = c - h @ x
        error = max(float(norm(r[:, j]) / D(alpha) / norm(x[:, j])) if norm(x[:, j]) else 1.0 for j in range(c.shape[1]))
        if error < 1e-25:
            return x, error
        size = max(abs(v) for v in r.flat)
        x = x + scale[:, None] * exact(inverse @ floats(scale[:, None] * r / size)) * size
    raise ArithmeticError("the refinement does not converge")


class Problem:
    """H, c and |b|^2 of ridge regression on the data of a Gram matrix."""

    def __init__(self, m, d, intercept, standardise, is_sparse):
        self.mean = m[0, 1:] / m[0, 0]
        scatter = m[1:, 1:] - np.outer(self.mean, m[0, 1:])
        one = D(1)
        self.scale = np.array([(v / m[0, 0]).sqrt() if standardise and v > 0 else one for v in np.diag(scatter)[:d]])
        self.centre = standardise and not is_sparse
        # Columns of mean zero are orthogonal to 1: then X'WY is that of centred
        # targets too, whether or not an intercept is fitted.
        inner = scatter if intercept or self.centre else m[1:, 1:]
        self.k = inner[:d, :d] / np.outer(self.scale, self.scale)
        self.c = inner[:d, d:] / self.scale[:, None]
        self.bb = np.diag(scatter if intercept else m[1:, 1:])[d:]
        self.d, self.intercept = d, intercept

    def fit(self, alpha):
        """Coefficients, intercepts, residual sums of squares, f*, error."""
        z, error = solve(self.k, self.c, alpha)
        coef = (z / self.scale[:, None]).T
        at = self.mean[: self.d] if self.intercept or self.centre else self.mean[: self.d] * D(0)
        intercepts = (self.mean[self.d :] if self.intercept else D(0)) - coef @ at
        fit = (self.c * z).sum(axis=0)  # b'A(K + alpha I)^-1 A'b
        objective = (self.bb - fit) / 2
        rss = 2 * objective - D(alpha) * (z * z).sum(axis=0)
        return coef, intercepts + D(0) * self.bb, rss, objective, error

    def df(self, alpha):
        """tr (K + alpha I)^-1 K, and one for the intercept."""
        inverse, _ = solve(self.k, exact(np.eye(self.d)), alpha)
        return self.d - D(alpha) * np.trace(inverse) + int(self.intercept)


# ---------------------------------------------------------------- fixtures


def standardised(x, w, standardise):
    """X as StandardScaler leaves it, its means (or 0) and scales (or 1)."""
    d = x.shape[1]
    if not standardise:
        return x, np.zeros(d), np.ones(d)
    s = StandardScaler(with_mean=not sparse.issparse(x)).fit(x, sample_weight=w)
    return s.transform(x), (np.zeros(d) if sparse.issparse(x) else s.mean_), s.scale_


def sklearn_ridge(x, y, w, alpha, intercept, standardise):
    z, mean, scale = standardised(x, w, standardise)
    if sparse.issparse(z) and intercept:  # scikit-learn's Cholesky refuses that
        z = z.toarray()
    r = Ridge(alpha=alpha, solver="cholesky", tol=0, fit_intercept=intercept).fit(z, y, sample_weight=w)
    coef = np.atleast_2d(r.coef_) / scale
    return coef, np.broadcast_to(r.intercept_, len(coef)) - coef @ mean


def ridge_cases(x, y, alpha):
    """Ridge on the columns of y together, and on the first alone."""
    n, d = x.shape
    grams = {False: gram(x, y, np.ones(n)), True: gram(x, y, weights(n))}
    for intercept, weighted, standardise in itertools.product([False, True], repeat=3):
        p = Problem(grams[weighted], d, intercept, standardise, sparse.issparse(x))
        coef, intercepts, _, objective, error = p.fit(alpha)
        w = weights(n) if weighted else None
        c2, i2 = sklearn_ridge(x, y, w, alpha, intercept, standardise)
        c1, i1 = sklearn_ridge(x, y[:, 0], w, alpha, intercept, standardise)
        off = [relative(a, b) for a, b in zip(c2, coef)] + [relative(c1[0], coef[0])]
        off += [relative([a], [b]) for a, b in zip(i2, intercepts)] + [relative(i1, intercepts[:1])]
        print(f"  intercept={intercept:d} weights={weighted:d} standardise={standardise:d}: error {error:.1e}, scikit-learn off by {max(off):.1e}")
        yield {
            "intercept": intercept,
            "weights": weighted,
            "standardise": standardise,
            "error": error,
            "difference": max(off),
            "objective": floats(objective).tolist(),
            "exact": {"coef": floats(coef).tolist(), "intercept": floats(intercepts).tolist()},
            "sklearn": {"coef": c2.tolist(), "intercept": i2.tolist()},
        }


def leave_one_out(z, y, alpha, intercept):
    """Mean squared leave-one-out residual, from the hat matrix."""
    lift = 0.0
    if intercept:
        z, y, lift = z - z.mean(axis=0), y - y.mean(), 1 / len(y)
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    f = s**2 / (s**2 + alpha)
    return np.mean(((y - u @ (f * (u.T @ y))) / (1 - lift - (u**2) @ f)) ** 2)


def cv_cases(x, y):
    n, d = x.shape
    alphas = np.logspace(-2, 8, 21)
    m = gram(x, y, np.ones(n))
    for intercept, standardise in itertools.product([False, True], repeat=2):
        p = Problem(m, d, intercept, standardise, False)
        gcv = [float(n * p.fit(a)[2][0] / (n - p.df(a)) ** 2) for a in alphas]
        z = standardised(x, None, standardise)[0]
        loo = [leave_one_out(z, y, a, intercept) for a in alphas]
        choice = RidgeCV(alphas=alphas, fit_intercept=intercept).fit(z, y).alpha_
        assert choice == alphas[np.argmin(loo)]
        print(f"  intercept={intercept:d} standardise={standardise:d}: GCV chooses {alphas[np.argmin(gcv)]:.3g}, RidgeCV {choice:.3g}")
        yield {
            "intercept": intercept,
            "standardise": standardise,
            "alphas": alphas.tolist(),
            "gcv": gcv,
            "ridgecv": choice,
        }


def loo_cases(x, y):
    """The leave-one-out errors that RidgeCV chooses by, of standardised columns."""
    n = len(y)
    alphas = np.logspace(-2, 5, 15)
    z = x.toarray() if sparse.issparse(x) else StandardScaler().fit_transform(x)
    for intercept, weighted in itertools.product([False, True], repeat=2):
        r = RidgeCV(alphas=alphas, fit_intercept=intercept, store_cv_values=True).fit(z, y, sample_weight=weights(n) if weighted else None)
        loo = r.cv_values_.mean(axis=0)
        assert r.alpha_ == alphas[np.argmin(loo)]
        print(f"  intercept={intercept:d} weights={weighted:d}: RidgeCV chooses {r.alpha_:.3g}")
        yield {"intercept": intercept, "weights": weighted, "alphas": alphas.tolist(), "loo": loo.tolist(), "ridgecv": r.alpha_}


def rbf_cases(x):
    """Errors of RBFSampler's kernel on 200 rows, each the mean over ten seeds."""
    gamma, seeds = 0.1, 10
    z = StandardScaler().fit_transform(x[: 200 * 100 : 100])
    kernel = np.exp(-gamma * ((z[:, None, :] - z[None, :, :]) ** 2).sum(axis=2))
    for components in (1024, 4096):
        samplers = [RBFSampler(gamma=gamma, n_components=components, random_state=s) for s in range(seeds)]
        e = [np.abs(f @ f.T - kernel) for f in (s.fit_transform(z) for s in samplers)]
        case = {"components": components, "gamma": gamma, "seeds": seeds, "mean": np.mean(e), "max": np.mean([v.max() for v in e])}
        print(f"  {components} Fourier features: mean error {case['mean']:.4f}, largest {case['max']:.4f}")
        yield case


def write(name, head, cases):
    with open(HERE / name, "w") as f:
        f.write("{" + "".join(f"{json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items()) + '"cases": [\n')
        f.write(",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]}\n")


def main():
    cv, loo = [], []
    for name, stride, alpha, x, y in datasets(pathlib.Path(sys.argv[1])):
        print(name, x.shape)
        head = {"rows": x.shape[0], "features": x.shape[1], "stride": stride, "alpha": alpha}
        write(name + ".json", head, ridge_cases(x, targets(y), alpha))
        loo += [{"data": name, "stride": stride, **c} for c in loo_cases(x, y)]
        if name in ("housing", "diabetes"):
            cv += [{"data": name, **c} for c in cv_cases(x, y)]
        if name == "housing":
            write("rbf.json", {"rows": 200, "stride": 100}, rbf_cases(x))
            single = np.column_stack([x, y])[:: len(y) // 100][:100].astype(np.float32)
            np.save(HERE / "float32.npy", single)
            np.save(HERE / "float64.npy", single.astype(np.float64))
            a = single.astype(np.float64)
            head = {"rows": 100, "features": 8, "stride": 1, "alpha": alpha}
            cases = list(ridge_cases(a[:, :-1], a[:, -1:], alpha))
            write("float32.json", head, cases)
            for c in cases:  # for the record: given float32, scikit-learn computes in float32
                if not c["weights"]:
                    coef, _ = sklearn_ridge(single[:, :-1], single[:, -1], None, alpha, c["intercept"], c["standardise"])
                    print("  in float32 scikit-learn is off by", relative(coef[0], c["exact"]["coef"][0]))
    write("ridgecv.json", {}, cv)
    write("loo.json", {}, loo)


if __name__ == "__main__":
    main()
