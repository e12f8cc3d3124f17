"""The choice of alpha, and the brackets of scores."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import Ridge as Peer
from sklearn.linear_model import RidgeCV as PeerCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from fdridge import Ridge, RidgeClassifier, RidgeClassifierCV, RidgeCV


def data_sets():
    """Yield thirty pairs of rows and a grid."""
    r = np.random.default_rng(7)
    for i in range(26):
        n, d = int(r.integers(20, 200)), int(r.integers(1, 30))
        X = r.standard_normal((n, d)) * np.logspace(0, -r.uniform(0, 3), d) + r.uniform(-5, 5)
        y = X @ r.standard_normal(d) + 10 ** r.uniform(-2, 1) * r.standard_normal(n)
        yield X, y, np.logspace(*np.sort(r.uniform(-5, 5, 2)), int(r.integers(2, 30)))
    X, y = load_diabetes(return_X_y=True)
    for grid in (np.logspace(-4, 2, 20), [0.1, 1.0, 10.0], np.linspace(0.01, 1, 12)):
        yield X, y, grid
    X, y = load_iris(return_X_y=True)
    yield X, y.astype(float), np.logspace(-6, 3, 25)


def test_alpha_of_thirty_sets():
    """alpha_ is that of scikit-learn, or the score of ours is proved to be smaller."""
    same = 0
    for X, y, grid in data_sets():
        ours, peer = RidgeCV(grid).fit(X, y), PeerCV(grid).fit(X, y)
        if ours.alpha_ == peer.alpha_:
            same += 1
            assert np.isclose(ours.best_score_, peer.best_score_, rtol=1e-6)
            continue
        theirs = RidgeCV([peer.alpha_]).fit(X, y)
        assert ours.score_bracket_[0] >= theirs.score_bracket_[1]
    assert same >= 28


def left_out(X, y, w, alpha, fit_intercept):
    """Leave-one-out predictions, by one fit for each row in 80 bits."""
    X, y, w = (a.astype(np.longdouble) for a in (X, y, w))
    found = []
    for i in range(len(X)):
        keep = np.arange(len(X)) != i
        A, b, v = X[keep], y[keep], w[keep]
        mean, level = (v @ A / v.sum(), v @ b / v.sum()) if fit_intercept else (0, 0)
        A, b = A - mean, b - level
        K = (A.T * v) @ A + alpha * np.eye(A.shape[1])
        g = A.T @ (v * b)
        x = np.linalg.solve(K.astype(float), g.astype(float)).astype(np.longdouble)
        for _ in range(3):  # the residual in 80 bits makes the solution as good
            x = x + np.linalg.solve(K.astype(float), (g - K @ x).astype(float))
        found.append((X[i] - mean) @ x + level)
    return np.array(found)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(30, 4), (12, 20)])
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_brackets(shape, fit_intercept, offset):
    """The score of the exact leave-one-out predictions is in its bracket."""
    r = np.random.default_rng(3)
    X = r.standard_normal(shape) * np.logspace(0, -2, shape[1]) + offset
    y, w = X[:, 0] + r.standard_normal(len(X)), r.uniform(0.1, 3, len(X))
    for alpha in (0.01, 1.0):
        options = {"fit_intercept": fit_intercept, "store_cv_results": True}
        exact = left_out(X, y, w, alpha, fit_intercept)
        mse = float((w * (y - exact) ** 2).sum() / w.sum())
        model = RidgeCV([alpha], scoring="neg_mean_squared_error", **options).fit(X, y, w)
        assert np.allclose(model.cv_results_[:, 0], exact.astype(float), rtol=1e-6)
        low, high = model.score_bracket_
        assert low <= -mse <= high and high - low <= 1e-2 * mse
        assert low <= model.best_score_ <= high
        r2 = float(1 - (w * (y - exact) ** 2).sum() / (w * (y - w @ y / w.sum()) ** 2).sum())
        low, high = RidgeCV([alpha], scoring="r2", **options).fit(X, y, w).score_bracket_
        assert low <= r2 <= high
        squares = RidgeCV([alpha], **options).fit(X, y, w)
        assert np.allclose(squares.cv_results_[:, 0], w * (y - exact) ** 2, rtol=1e-5, atol=1e-12)
        program = RidgeCV([alpha], fit_intercept=fit_intercept).fit(X, y, w)
        assert np.allclose(program.best_score_, squares.best_score_, rtol=1e-6)


def test_accuracy_of_two_classes():
    """Labels of left-out rows are counted, also for two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:80], y[:80]
    model = RidgeClassifierCV([10.0], scoring="accuracy").fit(X, y)
    by_hand = cross_val_predict(RidgeClassifier(10.0), X, y, cv=LeaveOneOut())
    low, high = model.score_bracket_
    assert low <= (by_hand == y).mean() <= high and model.best_score_ < 1 and model.proved_
    wine, kinds = load_wine(return_X_y=True)
    names = np.array(["a", "b", "c"])[kinds]
    found = RidgeClassifierCV([1.0, 100.0], scoring="f1_macro").fit(wine, names)
    assert 0.8 < found.best_score_ <= 1 and found.score_bracket_ is None and not found.proved_
    folds = RidgeClassifierCV([1.0, 100.0], cv=3).fit(wine, names)
    assert folds.score_bracket_[0] <= folds.best_score_ <= folds.score_bracket_[1]


def test_hard_rows():
    """Integers, large weights and float32 with an offset give the scores of the same numbers as float64."""
    r = np.random.default_rng(1)
    X = r.integers(-9, 10, (60, 4))
    y = X[:, 0] * 2 + r.standard_normal(60)
    grid = [0.1, 1.0, 10.0]
    assert RidgeCV(grid).fit(X, y).best_score_ == RidgeCV(grid).fit(X.astype(float), y).best_score_
    moved = (X + 1000).astype(np.float32)
    assert np.isclose(RidgeCV(grid).fit(moved, y).best_score_, RidgeCV(grid).fit(X.astype(float), y).best_score_, rtol=1e-6)
    weights = 10.0 ** r.uniform(5, 11, 60)
    model = RidgeCV(grid, store_cv_results=True).fit(X, y, weights)
    for alpha, errors in zip(grid, model.cv_results_.T):
        exact = left_out(X.astype(float), y, weights, alpha, True)
        assert np.allclose(errors, weights * (y - exact) ** 2, rtol=1e-4)
    sparse = RidgeCV(grid, store_cv_results=True).fit(scipy.sparse.csr_matrix(X), y)
    assert np.allclose(sparse.cv_results_, RidgeCV(grid, store_cv_results=True).fit(X, y).cv_results_)


def test_targets_of_their_own():
    """Each target has the alpha that it has alone."""
    r = np.random.default_rng(2)
    X = r.standard_normal((80, 6))
    Y = X @ r.standard_normal((6, 40)) + 10 ** r.uniform(-1, 1.5, 40) * r.standard_normal((80, 40))
    grid = np.logspace(-2, 3, 9)
    model = RidgeCV(grid, alpha_per_target=True).fit(X, Y)
    peer = PeerCV(grid, alpha_per_target=True).fit(X, Y)
    assert np.array_equal(model.alpha_, peer.alpha_) and np.allclose(model.best_score_, peer.best_score_)
    assert np.allclose(model.coef_, peer.coef_) and model.proved_.all() and "…" in repr(model.certificate_)
    same = Ridge(model.alpha_).fit(X, Y)
    assert np.allclose(same.coef_, model.coef_) and np.array_equal(same.alpha_, model.alpha_)
    by_r2 = RidgeCV(grid, alpha_per_target=True, scoring="r2").fit(X, Y)
    assert by_r2.score_bracket_[0].shape == (40,) and by_r2.proved_.shape == (40,)
    bounds = model.error_bound_
    for j in range(0, 40, 13):
        alone = Peer(model.alpha_[j], solver="cholesky").fit(X, Y[:, j])
        assert np.linalg.norm(model.coef_[j] - alone.coef_) <= bounds[j] + 1e-10


def test_refused():
    r = np.random.default_rng(0)
    X, y = r.standard_normal((30, 3)), r.standard_normal(30)
    for bad, words in (
        (RidgeCV(cv=3, store_cv_results=True), "incompatible"),
        (RidgeCV(cv=3, alpha_per_target=True), "incompatible"),
        (RidgeCV(cv=3, scoring="gcv"), "no folds"),
        (RidgeCV([[1.0, 2.0]]), "one list"),
        (RidgeCV([0.0, 1.0]), "alphas.*positive"),
        (RidgeCV(scoring="good"), "good"),
        (Ridge(positive=True), "positive"),
        (Ridge(solver="qr"), "solver"),
        (Ridge(max_iter=0), "max_iter"),
    ):
        with pytest.raises(ValueError, match=words):
            bad.fit(X, y)
    with pytest.raises(ValueError, match="RidgeClassifierCV"):
        RidgeClassifier(alpha=[1.0, 2.0, 3.0]).fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        RidgeClassifierCV().fit(X, np.column_stack([y > 0, y < 1]))
    for old, new in ((Ridge(alpha="auto"), "RidgeCV"), (Ridge(alpha=[0.1, 1.0]), "RidgeCV"), (RidgeClassifier(alpha="auto"), "RidgeClassifierCV")):
        with pytest.warns(FutureWarning, match=new) as w:
            model = old.fit(X, y if isinstance(old, Ridge) else y > 0)
        assert model.certificate_.choice["path"] and w[0].filename == __file__


def test_criteria():
    """The names of criteria are those of the program."""
    from fdridge import _criteria, _program

    text = _program.call(["fit", "--help"], _program.Files()).decode()
    line = next(line for line in text.splitlines() if "--select NAME" in line)
    names = line.split("--select NAME")[1].split("(default")[0].replace(",", " ").split()
    assert sorted(_criteria.SCORES) == sorted(names)
    assert set(_criteria.SELECT) <= set(names) and set(_criteria.BY_SCORING.values()) <= set(names)
