"""Many targets, each with its own penalty."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Peer
from test_manners import ENV

import fdridge
from fdridge import Ridge, RidgeClassifier, RidgeCV, _base

r = np.random.default_rng(0)
X = r.standard_normal((60, 6))
Y = X @ r.standard_normal((6, 2000)) + 3 + r.standard_normal((60, 2000))


def test_same_as_json(monkeypatch, tmp_path):
    """A model as arrays has the numbers of a model as JSON, also in its file."""
    few = Y[:, :120]
    table = np.column_stack([X, few])
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header=",".join(f"c{j}" for j in range(126)), comments="")
    names = [f"c{j}" for j in range(6, 126)]
    fits = [
        lambda: Ridge(alpha=2.0).fit(X, few),
        lambda: Ridge(alpha=np.linspace(1, 2, 120)).fit(X, few),
        lambda: RidgeCV([0.1, 1, 10], alpha_per_target=True).fit(X, few),
        lambda: RidgeCV([0.1, 1, 10], store_cv_results=True).fit(X, few),
        lambda: RidgeCV("auto", prepare="auto").fit(tmp_path / "rows.csv", target=names),
    ]
    for fit in fits:
        a = fit()
        assert isinstance(a._model, fdridge._solution.Arrays)
        with monkeypatch.context() as m:
            m.setattr(_base, "_TARGETS", 10**9)
            m.setattr(_base, "_NUMBERS", 10**9)
            b = fit()
        assert isinstance(b._model, bytes)
        for name in ("coef_", "intercept_", "alpha_", "error_bound_", "n_iter_", "solver_"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        ours, theirs = a.certificate_, b.certificate_
        assert repr(ours) == repr(theirs)
        assert ours.record.keys() | {"r2"} == theirs.record.keys()
        for key, value in ours.record.items():
            if key != "r2":
                assert value == theirs.record[key], key
        rows = tmp_path / "rows.csv" if a._prepared else X
        assert np.array_equal(a.predict(rows), b.predict(rows))
        for name, model in (("a", a), ("b", b)):
            model.save(tmp_path / name)
        shown = [subprocess.run([fdridge.find(), "show", "--json", tmp_path / name], capture_output=True, text=True, check=True).stdout for name in "ab"]
        numbers = [re.findall(r'"(?:intercept|gamma)": [^,]*', text) for text in shown]
        assert numbers[0] == numbers[1] and len(shown[0]) > 1000
        for one in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a)):
            assert np.array_equal(one.coef_, a.coef_)
        assert np.array_equal(a.predict(tmp_path / "rows.csv") if a._prepared else a.predict(X), b.predict(rows))


def test_thousands():
    """2,000 targets with a penalty each, given and chosen, against scikit-learn."""
    alphas = np.linspace(0.5, 5, 2000)
    ours, theirs = Ridge(alpha=alphas).fit(X, Y), Peer(alpha=alphas).fit(X, Y)
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10) and np.array_equal(ours.alpha_, alphas)
    assert np.all(ours.error_bound_ < 1e-8)
    grid = np.logspace(-1, 3, 9)
    chosen = RidgeCV(grid, alpha_per_target=True).fit(X, Y)
    assert chosen.alpha_.shape == (2000,) and set(chosen.alpha_) <= set(grid) and len(set(chosen.alpha_)) > 2
    for j in (0, 777, 1999):
        one = RidgeCV(grid).fit(X, Y[:, j])
        assert one.alpha_ == chosen.alpha_[j] and np.allclose(one.coef_, chosen.coef_[j], rtol=1e-9, atol=1e-12)
    out = np.empty((60, 2000))
    assert np.allclose(chosen.predict(X, out=out), chosen.predict(X), rtol=1e-13)


def test_many_classes(tmp_path):
    """A model with arrays of a classifier has the labels."""
    labels = np.repeat(np.arange(150), 3)
    rows = r.standard_normal((450, 5)) + labels[:, None]
    model = RidgeClassifier().fit(rows, labels)
    model.save(tmp_path / "model")
    np.save(tmp_path / "rows.npy", rows)
    said = subprocess.run([fdridge.find(), "predict", "--model", tmp_path / "model", "--data", tmp_path / "rows.npy"], capture_output=True, text=True, check=True).stdout
    assert [line.split()[0].split(",")[0] for line in said.splitlines()] == [str(label) for label in model.predict(rows)]


MEMORY = """
import os, sys, numpy as np
from fdridge import Ridge
r = np.random.default_rng(0)
X, Y = r.standard_normal((20, 1000)), r.standard_normal((20, 8000))
Ridge().fit(X, Y[:, :2])

def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) // 1024

before = peak()
model = Ridge(alpha=np.linspace(1, 2, 8000)).fit(X, Y)
print(peak() - before, model.coef_.nbytes >> 20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells the peak of memory")
def test_memory():
    """Python holds the coefficients once."""
    said = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True, env=ENV).stdout
    grown, size = map(int, said.split())
    assert size == 61 and grown < 1.7 * size
