"""Diagnostics of rows agree with refits."""

import fdridge
import numpy as np
import pytest
from scipy import sparse


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
    assert found["leave_one_out_rmse"].shape == (targets or 1, 2)


def test_other_rows():
    X = np.arange(12.0).reshape(6, 2) ** 2
    model = fdridge.Ridge(alpha=1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="not the 6 rows of the fit"):
        fdridge.diagnose(model, X[:5], X[:5, 0])


def test_plot(tmp_path):
    r = np.random.default_rng(52)
    X, y = r.standard_normal((30, 2)), r.standard_normal(30)
    model = fdridge.Ridge(alpha=1).fit(X, y)
    found = fdridge.diagnose(model, X, y, plot=tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes()[:4] == b"\x89PNG"
    np.testing.assert_array_equal(found["leverage"], fdridge.diagnose(model, X, y)["leverage"])
