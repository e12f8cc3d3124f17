"""Sketches: blocks, merges, files, pickles, and the same results as the command's."""

import json
import pickle
import subprocess

import joblib
import numpy as np
import pytest
import scipy.sparse

from fdridge import Ridge, RidgeCV, Sketch, find, merge_sketches, sketch_partition

rng = np.random.default_rng(3)
X = rng.standard_normal((1200, 30)) @ np.diag(np.logspace(0, -3, 30))
y = X @ rng.standard_normal(30) + 2 + 0.01 * rng.standard_normal(1200)
w = rng.random(1200)


def command(*args):
    return subprocess.run([find(), *map(str, args)], check=True, capture_output=True).stdout


@pytest.mark.parametrize("size", [10, 64])  # with 64, AᵀA itself is kept
def test_same_as_command(tmp_path, size):
    """The certificate of partial_fit is that of the command for the same rows."""
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    command("sketch", "--data", tmp_path / "rows.npz", "--target", "y", "--size", size, "--lanes", 1, "--out", tmp_path / "s.fds")
    printed = json.loads(command("solve", tmp_path / "s.fds", "--gamma", "0.1", "--json"))["fits"][0]
    s = Sketch(size=size)
    for i in range(0, 1200, 100):
        s.partial_fit(X[i : i + 100], y[i : i + 100])
    got = s.solve(0.1)
    assert {k: got.certificate.record[k] for k in ("error_bound", "shrinkage", "effective_dimension", "gcv", "rss")} == {
        k: printed[k] for k in ("error_bound", "shrinkage", "effective_dimension", "gcv", "rss")
    }
    s.save(tmp_path / "t.fds")
    assert json.loads(command("solve", tmp_path / "t.fds", "--gamma", "0.1", "--json"))["fits"][0] == printed
    loaded = Sketch.load(tmp_path / "s.fds")
    assert np.array_equal(loaded.solve(0.1).coef, got.coef) and loaded.n_rows == s.n_rows == 1200


def test_blocks_do_not_matter():
    one, many = Sketch(size=12).partial_fit(X, y, w), Sketch(size=12, n_jobs=1)
    for part in np.array_split(np.arange(1200), 7):
        many.partial_fit(X[part], y[part], w[part])
    assert one.tobytes() == many.tobytes()
    assert one.tobytes() == sketch_partition(X, y, w, size=12)
    assert one.tobytes() == Sketch(size=12).partial_fit(scipy.sparse.csr_matrix(X), y, w).tobytes()


def test_go_on_after_reading():
    """Rows can be added after the sketch was solved, saved, pickled or merged."""
    s = Sketch(size=64)
    s.partial_fit(X[:400], y[:400])
    first = s.solve(1.0).coef
    s.partial_fit(X[400:800], y[400:800])
    s = pickle.loads(pickle.dumps(s))
    s.partial_fit(X[800:], y[800:])
    assert s.n_rows == 1200
    assert np.allclose(s.solve(1.0).coef, Sketch(size=64).partial_fit(X, y).solve(1.0).coef, rtol=1e-9)
    assert not np.allclose(s.solve(1.0).coef, first, rtol=1e-9)
    other = Sketch(size=64).partial_fit(X[:400], y[:400])
    before = other.tobytes()
    s.merge(other)
    assert s.n_rows == 1600 and other.tobytes() == before
    weighted = Sketch(size=64).partial_fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200], w[100:200])
    assert weighted.n_rows == 200


def part(i):
    return sketch_partition(X[i::4], y[i::4], size=20)


def test_pickled_by_joblib():
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(part)(i) for i in range(4))
    assert parts == [part(i) for i in range(4)]
    merged = merge_sketches(merge_sketches(*parts[:2]), merge_sketches(*parts[2:]))
    s = Sketch.frombytes(merged)
    assert s.n_rows == 1200
    assert merge_sketches(*parts[:1]) == parts[0]


def test_bounds_of_a_lossy_sketch():
    s = Sketch(size=10).partial_fit(X, y)
    for solution in s.path([1e-3, 0.1, 10.0]):
        exact = Ridge(solution.alpha, tol=1e-12).fit(X, y)
        assert np.linalg.norm(solution.coef - exact.coef_) <= solution.certificate.error_bound + exact.error_bound_
        p, e = solution.predict(X, return_bound=True)
        q, f = exact.predict(X, return_bound=True)
        assert np.all(np.abs(p - q) <= e + f)
    assert [s.alpha for s in s.path([10.0, 1.0])] == [10.0, 1.0]
    chosen = s.solve([0.1, 1.0]).certificate
    assert chosen.choice["by"] == "gcv" and "GCV of 2 candidates" in repr(chosen) and "<table>" in chosen._repr_html_()


def test_partial_fit_of_ridge(tmp_path):
    model = RidgeCV(alphas="auto")
    for i in range(0, 1200, 300):
        assert model.partial_fit(X[i : i + 300], y[i : i + 300]) is model
    assert model.coef_.shape == (30,) and model.certificate_.choice["by"] == "gcv"
    before = model.coef_
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.coef_, before) and np.array_equal(copy.predict(X), model.predict(X))
    model.partial_fit(X[:300], y[:300])
    assert model.sketch_.n_rows == 1500 and not np.array_equal(model.coef_, before)
    assert model.fit(X, y).alpha_ > 0 and not hasattr(model, "sketch_")
    with pytest.raises(ValueError):
        copy.partial_fit(X[:, :5], y)


def test_prepared_by_the_command(tmp_path, testdata):
    """The bounds of a scaled sketch are about scaled columns, so Python does not predict with them."""
    command("sketch", "--data", testdata / "cal_housing.csv.gz", "--target", "last", "--standardize", "--out", tmp_path / "s.fds")
    solution = Sketch.load(tmp_path / "s.fds").solve(1.0)
    assert solution.coef.shape == (8,)
    with pytest.raises(ValueError, match="fdridge predict"):
        solution.predict(np.ones((1, 8)))


def test_errors(tmp_path):
    with pytest.raises(ValueError, match="no rows"):
        Sketch().solve(1.0)
    s = Sketch().partial_fit(X, y)
    for rows, targets, weights in ((X[:, :3], y, None), (X, np.column_stack([y, y]), None), (X, y[:5], None), (X[0], y, None), (X * np.nan, y, None), (X, y * np.inf, None), (X, y, -w), (X, y, w[:3]), (X.astype(str), y, None)):
        with pytest.raises(ValueError):
            s.partial_fit(rows, targets, weights)
    assert s.n_rows == 1200
    with pytest.raises(ValueError, match="cannot be merged"):
        s.merge(Sketch().partial_fit(X[:, :5], y))
    (tmp_path / "bad.fds").write_bytes(s.tobytes()[:-9])
    with pytest.raises(ValueError):
        Sketch.load(tmp_path / "bad.fds").solve(1.0)
    with pytest.raises(ValueError):
        s.path([-1.0])
    big = np.where(np.arange(X.size).reshape(X.shape) == 5, 1e200, X)
    with pytest.raises(ValueError, match="norm of row 1"):
        Sketch().partial_fit(big, y).solve(1.0)


def test_plot(tmp_path):
    s = Sketch(size=10).partial_fit(X, y)
    for picture in (s.plot(), s.plot("path")._repr_png_()[0], RidgeCV(alphas="auto").fit(X, y).plot("path")):
        assert picture.startswith(b"\x89PNG")
    s.plot("spectrum", tmp_path / "spectrum.svg")
    assert (tmp_path / "spectrum.svg").read_text().startswith("<?xml")
    with pytest.raises(ValueError, match="kind"):
        s.plot("colourful")
