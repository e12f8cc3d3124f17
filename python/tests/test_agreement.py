"""Coefficients, predictions and alpha against scikit-learn and against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import linear_model
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_svmlight_file
from sklearn.linear_model import Ridge as Peer
from sklearn.linear_model import RidgeCV as PeerCV

from fdridge import Ridge, RidgeClassifier, RidgeCV, _rows

rng = np.random.default_rng(0)


def random(n, d, t=1):
    X = rng.standard_normal((n, d)) * np.logspace(0, -2, d) + rng.standard_normal(d)
    return X, np.squeeze(X @ rng.standard_normal((d, t)) + 0.1 * rng.standard_normal((n, t)))


def problems(housing, testdata):
    yield "housing", *housing, None, 10.0
    yield "diabetes", *load_diabetes(return_X_y=True), None, 0.01
    X, y = load_svmlight_file(str(testdata / "w8a.svm.gz"))
    yield "w8a, sparse", X, y, None, 1.0
    yield "tall", *random(20000, 40), None, 1e-3
    yield "more features than rows", *random(50, 300), None, 0.1
    yield "three targets", *random(500, 20, 3), None, 1.0
    X, y = random(400, 15)
    yield "weights", X, y, rng.exponential(size=400) * (rng.random(400) > 0.1), 0.5
    yield "sparse, weights", scipy.sparse.random(2000, 60, 0.05, random_state=1, format="csc"), rng.standard_normal(2000), rng.random(2000), 0.1
    yield "sparse, two targets", scipy.sparse.random(300, 40, 0.2, random_state=2), rng.standard_normal((300, 2)), None, 1.0
    yield "one feature", *random(30, 1), None, 2.0
    X, y = random(300, 30)
    yield "Fortran order", np.asfortranarray(X), y, None, 1.0
    yield "float32", X.astype(np.float32), y, None, 1.0
    yield "integers", rng.integers(-5, 6, (200, 6)), rng.integers(0, 9, 200), None, 3.0
    yield "a view", X[::2, ::3], y[::2], None, 1.0


def error_of(coef, X, y, w, alpha):
    """A bound on ‖coef − w*‖: the gradient in 80 bits, divided by the smallest eigenvalue."""
    X = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.longdouble)
    y, w = np.asarray(y, np.longdouble), np.ones(len(X), np.longdouble) if w is None else w.astype(np.longdouble)
    X, y = X - (w @ X) / w.sum(), y - (w @ y) / w.sum()
    gradient = X.T @ (w * (X @ coef - y)) + alpha * coef.astype(np.longdouble)
    A = np.asarray(X * np.sqrt(w)[:, None], np.float64)
    least = max(0.0, np.linalg.eigvalsh(A.T @ A)[0]) if A.shape[1] <= A.shape[0] else 0.0
    return float(1.01 * np.sqrt(gradient @ gradient) / (0.99 * least + alpha))


def test_agreement(housing, testdata):
    count = 0
    for name, X, y, w, alpha in problems(housing, testdata):
        count += 1
        ours = Ridge(alpha=alpha, tol=1e-8).fit(X, y, sample_weight=w)
        # scikit-learn solves sparse rows with an intercept by iterations only.
        numbers = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, np.float64)
        peer = Peer(alpha=alpha, solver="cholesky").fit(numbers, y, sample_weight=w)
        assert ours.certificate_.converged, name
        assert ours.coef_.shape == peer.coef_.shape and np.shape(ours.intercept_) == np.shape(peer.intercept_), name
        mine, bounds = ours.predict(X, return_bound=True)
        assert np.array_equal(mine, ours.predict(X))
        for j in range(np.ndim(y) if np.ndim(y) == 1 else y.shape[1]):
            a, b = (np.atleast_2d(c)[j] for c in (ours.coef_, peer.coef_))
            of = y if np.ndim(y) == 1 else y[:, j]
            theirs = error_of(b, numbers, of, w, alpha)
            bound = np.atleast_1d(ours.error_bound_)[j]
            assert np.linalg.norm(a - b) <= bound + theirs, (name, np.linalg.norm(a - b), bound, theirs)
            assert bound <= 1e-8 * np.linalg.norm(a), name
            p, q, e = (np.reshape(v, (len(mine), -1))[:, j] for v in (mine, peer.predict(numbers), bounds))
            # scikit-learn's intercept is ȳ − x̄·w: its error is that of w over the distance of a row from the mean,
            # and the round-off of ȳ and of the prediction.
            size = np.linalg.norm(numbers - numbers.mean(axis=0), axis=1) + np.linalg.norm(numbers.mean(axis=0))
            slack = theirs * size + 1e-12 * (np.abs(numbers) @ np.abs(b) + np.abs(np.atleast_1d(peer.intercept_)[j]) + np.abs(of).max())
            assert np.all(np.abs(p - q) <= e + slack), (name, np.max(np.abs(p - q) - e - slack))
            assert np.median(e) <= 1e-6 * np.std(of), name
    assert count >= 10


def exact(X, y, w, alpha, intercept):
    """The solution in rational numbers."""
    X = [[Fraction(v) for v in row] for row in X.tolist()]
    y, w, alpha = [Fraction(v) for v in y.tolist()], [Fraction(v) for v in w.tolist()], Fraction(alpha)
    rows = [row + [Fraction(1)] if intercept else row for row in X]
    d = len(rows[0])
    A = [[sum(v * r[i] * r[j] for r, v in zip(rows, w)) + (alpha if i == j and i < len(X[0]) else 0) for j in range(d)] for i in range(d)]
    b = [sum(v * r[i] * u for r, u, v in zip(rows, y, w)) for i in range(d)]
    for i in range(d):
        for k in range(i + 1, d):
            f = A[k][i] / A[i][i]
            A[k] = [p - f * q for p, q in zip(A[k], A[i])]
            b[k] -= f * b[i]
    x = [Fraction(0)] * d
    for i in reversed(range(d)):
        x[i] = (b[i] - sum(A[i][j] * x[j] for j in range(i + 1, d))) / A[i][i]
    return x if intercept else x + [Fraction(0)]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_bounds_are_true(intercept, scale, offset):
    """No prediction is farther from that of the exact solution than its bound says."""
    r = np.random.default_rng(int(scale + offset))
    for trial in range(3):
        X = r.standard_normal((25, 3)) * [scale, 1, 1e-2] + offset
        y, w = X @ r.standard_normal(3) + r.standard_normal(25), r.random(25) + 0.01
        new = np.vstack([X[:5], 1e5 * r.standard_normal((3, 3)), np.zeros((1, 3)), np.full((1, 3), 1e-300)])
        for model in (Ridge(0.1, fit_intercept=intercept).fit(X, y, w), Ridge(0.1, fit_intercept=intercept).partial_fit(X, y, w)):
            *x, b = exact(X, y, w, 0.1, intercept)
            got, bounds = model.predict(new, return_bound=True)
            for row, p, e in zip(new.tolist(), got.tolist(), bounds.tolist()):
                truth = sum(Fraction(v) * c for v, c in zip(row, x)) + b
                assert abs(Fraction(p) - truth) <= Fraction(e), (p, float(truth), e)
            norm = sum((Fraction(c) - t) ** 2 for c, t in zip(model.coef_.tolist(), x))
            assert norm <= Fraction(model.error_bound_) ** 2
            assert abs(Fraction(model.intercept_) - b) <= Fraction(np.atleast_1d(model.certificate_.intercept_bound)[0])


def test_bounds_of_extremes():
    model = Ridge().fit(*random(50, 3))
    with np.errstate(over="ignore"):
        _, bound = model.predict([[1e300, 1e300, 1e300], [5e-324, 0, 0]], return_bound=True)
    assert bound[0] == np.inf and 0 < bound[1] < 1e-6


def test_alpha_of_ridgecv(housing):
    X, y = housing
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for rows, grid in ((X[:2000], np.logspace(-3, 4, 15)), (X[:300] ** 2, np.logspace(-2, 3, 11)), (X, np.logspace(-2, 5, 9))):
        of = y[: len(rows)]
        peer = PeerCV(alphas=grid).fit(rows, of)
        ours = RidgeCV(alphas=grid).fit(rows, of)
        assert ours.alpha_ == peer.alpha_
        assert ours.certificate_.choice["certain"]
        assert np.allclose(ours.coef_, peer.coef_, rtol=1e-6)
    assert RidgeCV(alphas="auto").fit(X, y).alpha_ > 0
    assert RidgeCV(alphas=grid, scoring="gcv").fit(X, y).certificate_.choice["by"] == "gcv"


def test_memmap(tmp_path, monkeypatch):
    X, y = random(300, 7)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "F.npy", np.asfortranarray(X))
    columns = np.load(tmp_path / "F.npy", mmap_mode="r")
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert _rows.mapped(mapped) == str(tmp_path / "X.npy") and _rows.mapped(columns) == str(tmp_path / "F.npy")
    np.save(tmp_path / "F.npy", X)  # the map has another order than the file now
    assert _rows.mapped(columns) is None
    np.save(tmp_path / "F.npy", np.asfortranarray(X))
    assert _rows.mapped(mapped[10:]) is None and _rows.mapped(X) is None
    raw = np.memmap(tmp_path / "raw", dtype=np.float64, mode="w+", shape=X.shape)
    raw[:] = X
    assert _rows.mapped(raw) is None
    w = np.random.default_rng(1).random(300)
    want = Ridge(method="exact").fit(X, y, w)
    for rows in (mapped, columns, raw, mapped[:]):
        assert np.allclose(Ridge(method="exact").fit(rows, y, w).coef_, want.coef_, rtol=1e-10)
    assert np.allclose(Ridge().fit(mapped[100:], y[100:]).coef_, Ridge().fit(X[100:], y[100:]).coef_, rtol=1e-10)


def test_ways(monkeypatch):
    """An array that the program reads in memory gives the coefficients of the same array in a file or a pipe."""
    X, y = random(5000, 20)
    for model in (Ridge(), RidgeCV([0.1, 1.0, 10.0])):
        for A in (X, X.astype(np.float32), np.asfortranarray(X), np.asfortranarray(X.astype(np.float32))):
            lent = clone(model).fit(A, y)
            assert _rows.lendable(A)
            with monkeypatch.context() as m:
                m.setattr("fdridge._rows.lends", lambda: False)
                sent = clone(model).fit(A, y)
            assert lent.alpha_ == sent.alpha_
            assert np.linalg.norm(lent.coef_ - sent.coef_) <= lent.error_bound_ + sent.error_bound_
    X[4000, 3] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        Ridge().fit(X, y)


def kinds(X):
    """Yield arrays, matrices and frames with the numbers of X, which are small integers."""
    for dtype in (np.int8, np.int64, ">i4", np.float16, np.float32, ">f8", np.longdouble, object, str):
        yield dtype, X.astype(dtype)
    yield "list", X.tolist()
    yield "Fortran order", np.asfortranarray(X.astype(np.float32))
    yield "reversed", X[::-1, ::-1].copy()[::-1, ::-1]
    yield "columns of a wider array", np.repeat(X, 2, axis=1)[:, ::2]
    yield "read-only, not aligned", np.frombuffer(b"-" + X.astype(float).tobytes(), np.uint8)[1:].view(float).reshape(X.shape)
    yield "same names", pd.DataFrame(X, columns=list("aabbc"))
    yield "two levels of names", pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a"], range(5)]))
    yield "nullable", pd.DataFrame({f"c{j}": pd.array(X[:, j], dtype="Int64") for j in range(5)})
    for form in ("csc", "coo", "lil", "bsr"):
        yield form, scipy.sparse.csr_matrix(X).asformat(form)
    wide = scipy.sparse.csr_matrix(X.astype(np.int32))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield "indices of 64 bits", wide
    j = np.indices(X.shape)[1]
    yield "indices unsorted and twice", scipy.sparse.csr_matrix((np.hstack([X, X])[:, ::-1].ravel() / 2, np.hstack([j, j])[:, ::-1].ravel(), np.arange(0, 601, 10)), X.shape)


def test_kinds():
    """Every kind of rows and targets gives the coefficients of the same numbers as float64."""
    r = np.random.default_rng(4)
    X, y = r.integers(-9, 10, (60, 5)), r.integers(-9, 10, 60)
    want = Ridge().fit(X.astype(float), y.astype(float))
    for name, rows in kinds(X):
        if name == "same names":
            try:
                Peer().fit(rows, y)
            except Exception:  # scikit-learn 1.9 refuses two columns with one name
                continue
        for model in (Ridge().fit(rows, y), Ridge().partial_fit(rows, y)):
            assert np.allclose(model.coef_, want.coef_, rtol=1e-12) and np.isclose(model.intercept_, want.intercept_), name
    for targets in (y.tolist(), y.astype(object), y.astype(str), y.astype(">f4"), np.repeat(y, 2)[::2], pd.Series(y, index=y)):
        assert np.array_equal(Ridge().fit(X, targets).coef_, want.coef_)
    truth = Ridge().fit(X > 0, y > 0)
    assert np.allclose(truth.coef_, Peer().fit(X > 0, y > 0).coef_)
    weights = r.random(60) * (r.random(60) > 0.5)
    kept = weights > 0
    assert np.allclose(Ridge().fit(X, y, weights).coef_, Ridge().fit(X[kept], y[kept], weights[kept]).coef_, rtol=1e-10)
    one = Ridge().fit(X[:1], y[:1])
    assert not one.coef_.any() and one.intercept_ == y[0]


def test_one_column():
    """Targets of shape (n, 1), and two classes, give the shapes that the installed scikit-learn gives."""
    r = np.random.default_rng(4)
    X = r.standard_normal((60, 3))
    y = X[:, :1] + 0.1 * r.standard_normal((60, 1))
    for ours, theirs in ((Ridge(), linear_model.Ridge()), (RidgeCV([0.1, 1]), linear_model.RidgeCV([0.1, 1]))):
        a, b = ours.fit(X, y), theirs.fit(X, y)
        for name in ("coef_", "intercept_"):
            assert np.shape(getattr(a, name)) == np.shape(getattr(b, name)), name
        assert a.predict(X).shape == b.predict(X).shape
        p, bound = a.predict(X, return_bound=True)
        assert p.shape == bound.shape == b.predict(X).shape
        assert np.allclose(a.coef_, b.coef_) and np.isclose(a.score(X, y), b.score(X, y))
    a, b = RidgeClassifier().fit(X, y[:, 0] > 0), linear_model.RidgeClassifier().fit(X, y[:, 0] > 0)
    assert a.coef_.shape == b.coef_.shape and np.shape(a.intercept_) == np.shape(b.intercept_)
    assert a.decision_function(X).shape == b.decision_function(X).shape
