"""Diagnostics of rows agree with refits."""

import fdridge
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("targets", [None, 2])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_diagnose(weighted, targets, is_sparse):
    r = np.random.default_rng(49)
    X = r.standard_normal((25, 3))
    y = X @ r.standard_normal((3, targets or 1)) + r.standard_normal((25, targets or 1))
    if targets is None:
        y = y[:, 0]
    w = r.uniform(0.5, 2, 25) if weighted else None
    rows = sparse.csr_matrix(X) if is_sparse else X
    model = fdridge.Ridge(alpha=0.7).fit(rows, y, sample_weight=w)
    found = fdridge.diagnose(model, rows, y, sample_weight=w)
    assert found["residual"].shape == y.shape and found["leverage"].shape == (25,)
    np.testing.assert_allclose(found["residual"], y - model.predict(rows), atol=1e-7)
    for i in range(25):
        others = np.arange(25) != i
        rest = fdridge.Ridge(alpha=0.7).fit(rows[others], y[others], sample_weight=None if w is None else w[others])
        left = y[i] - rest.predict(rows[[i]])[0]
        np.testing.assert_allclose(found["leave_one_out"][i], left, atol=1e-7)
        assert np.all(found["leave_one_out_low"][i] <= left + 1e-7)
        assert np.all(found["leave_one_out_high"][i] >= left - 1e-7)
    assert found.leave_one_out_rmse.shape == (targets or 1, 2)
    squares = np.mean((found["leave_one_out"].T ** 2 * (1 if w is None else w)).T, axis=0)
    np.testing.assert_allclose(found.leave_one_out_rmse.mean(axis=1), np.sqrt(np.atleast_1d(squares)), rtol=1e-6)
    if targets is None:
        assert pd.DataFrame(found).shape == (25, 10)


def test_per_target():
    """With an alpha for each target, each target has the figures of a fit at its alpha."""
    r = np.random.default_rng(55)
    X, y = r.standard_normal((25, 3)), r.standard_normal((25, 2))
    alphas = [0.1, 9.0]
    found = fdridge.diagnose(fdridge.Ridge(alpha=alphas).fit(X, y), X, y)
    assert found["leverage"].shape == y.shape
    for j, alpha in enumerate(alphas):
        one = fdridge.diagnose(fdridge.Ridge(alpha=alpha).fit(X, y[:, j]), X, y[:, j])
        for name, values in one.items():
            np.testing.assert_allclose(found[name] if name == "row" else found[name][:, j], values, atol=1e-9)
        np.testing.assert_allclose(found.leave_one_out_rmse[j], one.leave_one_out_rmse[0])


def test_row_numbers():
    """A fit of a table leaves out rows without a target; ``row`` tells which rows are left."""
    r = np.random.default_rng(54)
    table = pd.DataFrame(r.standard_normal((40, 2)), columns=["a", "b"])
    table["y"] = table["a"] + r.standard_normal(40)
    table.loc[[0, 7, 39], "y"] = np.nan
    model = fdridge.Ridge(alpha=1, prepare="auto").fit(table, target="y")
    found = fdridge.diagnose(model, table, "y")
    kept = table.index[table["y"].notna()]
    assert np.array_equal(found["row"], kept)
    left = table.drop(columns="y").loc[kept]
    np.testing.assert_allclose(found["residual"], table["y"][kept] - model.predict(left), atol=1e-6)


def test_other_rows():
    X = np.arange(12.0).reshape(6, 2) ** 2
    model = fdridge.Ridge(alpha=1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="^X: these are not the 6 rows of the fit .*; pass X, y and sample_weight as to fit$"):
        fdridge.diagnose(model, X[:5], X[:5, 0])
    with pytest.raises(ValueError, match="y has 2 targets, but the model has 1"):
        fdridge.diagnose(model, X, X)


def test_refusals():
    """What is no regression of this package is refused with the reason."""
    r = np.random.default_rng(53)
    X, y = r.standard_normal((30, 2)), r.standard_normal(30)
    with pytest.raises(ValueError, match="a classifier predicts labels"):
        fdridge.diagnose(fdridge.RidgeClassifier().fit(X, y > 0), X, y)
    pipeline = make_pipeline(StandardScaler(), fdridge.Ridge()).fit(X, y)
    with pytest.raises(ValueError, match=r"is a Pipeline.*pass pipeline\[-1\] and the rows pipeline\[:-1\].transform\(X\)"):
        fdridge.diagnose(pipeline, X, y)
    found = fdridge.diagnose(pipeline[-1], pipeline[:-1].transform(X), y)
    np.testing.assert_allclose(found["residual"], y - pipeline.predict(X), atol=1e-7)


@pytest.mark.parametrize("by", ["a frame and a name", "a frame and an array", "a file", "a file and weights"])
def test_tables(by, flats, tmp_path):
    """Tables that the program prepares are handed over as to fit."""
    flats = flats.assign(years=1 + np.arange(len(flats)) % 7)
    rent = flats["rent"].to_numpy(dtype=np.float64)
    weights = "years" if by == "a file and weights" else None
    X, y, options = flats, "rent", {}
    if by.startswith("a file"):
        X, options = tmp_path / "flats.txt", {"sep": "|", "decimal": ",", "na_values": "n/k"}
        flats.to_csv(X, index=False, sep="|", decimal=",", na_rep="n/k")
    model = fdridge.Ridge(alpha=2.0, prepare="auto")
    if by == "a frame and an array":
        X, y = flats.drop(columns="rent"), rent
        model.fit(X, y)
    else:
        model.fit(X, target=y, sample_weight=weights, **options)
    found = fdridge.diagnose(model, X, y, sample_weight=weights)
    assert found["residual"].shape == rent.shape
    np.testing.assert_allclose(found["residual"], rent - model.predict(X), atol=1e-5)
    assert np.all(found["leverage_low"] <= found["leverage_high"])
    listed = fdridge.diagnose(model, X, [y] if isinstance(y, str) else y[:, None], sample_weight=weights)
    assert listed["leave_one_out"].shape == (len(rent), 1)


def test_plot(tmp_path):
    r = np.random.default_rng(52)
    X, y = r.standard_normal((30, 2)), r.standard_normal(30)
    model = fdridge.Ridge(alpha=1).fit(X, y)
    found = fdridge.diagnose(model, X, y, plot=tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes()[:4] == b"\x89PNG"
    np.testing.assert_array_equal(found["leverage"], fdridge.diagnose(model, X, y)["leverage"])
