"""Labels against scikit-learn, proofs against exact arithmetic, and the model file."""

import subprocess
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file
from sklearn.linear_model import RidgeClassifier as Peer

from fdridge import RidgeClassifier, find

rng = np.random.default_rng(0)


@pytest.fixture(scope="module")
def sets(testdata):
    return list(load_sets(testdata))


def load_sets(testdata):
    yield "iris", *load_iris(return_X_y=True)
    yield "breast cancer", *load_breast_cancer(return_X_y=True)
    yield "digits", *load_digits(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "fewer rows than features", X[:50], y[:50]
    X, y = load_iris(return_X_y=True)
    yield "names, sparse", scipy.sparse.csr_matrix(X), load_iris().target_names[y]
    X, y = load_svmlight_file(str(testdata / "w8a.svm.gz"))
    yield "w8a", X[:5000], y[:5000]


@pytest.mark.parametrize("class_weight", [None, "balanced", "dict"])
@pytest.mark.parametrize("weighted", [False, True])
def test_agreement(sets, class_weight, weighted):
    for name, X, y in sets:
        weights = rng.exponential(size=len(y)) if weighted else None
        of = {label: k + 1.5 for k, label in enumerate(np.unique(y)[1:])} if class_weight == "dict" else class_weight
        ours = RidgeClassifier(class_weight=of).fit(X, y, weights)
        dense = X.toarray() if scipy.sparse.issparse(X) else X
        peer = Peer(class_weight=of, solver="svd").fit(dense, y, weights)
        # With two classes, scikit-learn 1.9 has a flat array for some solvers and a row for others.
        assert np.atleast_2d(ours.coef_).shape == np.atleast_2d(peer.coef_).shape, name
        assert ours.intercept_.shape == np.atleast_1d(peer.intercept_).shape, name
        assert np.array_equal(ours.classes_, peer.classes_) and ours.classes_.dtype == peer.classes_.dtype, name
        assert np.allclose(ours.decision_function(X), peer.decision_function(dense), rtol=0, atol=1e-6), name
        label, proved = ours.predict(X, return_proved=True)
        assert np.array_equal(label, peer.predict(dense)) and np.array_equal(label, ours.predict(X)), name
        assert proved.mean() > 0.99, (name, proved.mean())
        assert ours.score(X, y, weights) == peer.score(dense, y, weights), name


def exact_scores(X, y, classes, alpha):
    """Predictions of the exact ridge solution without intercept, as fractions."""
    X = [[Fraction(v) for v in row] for row in X.tolist()]
    d, targets = len(X[0]), classes[1:] if len(classes) == 2 else classes
    A = [[sum(r[i] * r[j] for r in X) + (alpha if i == j else 0) for j in range(d)] for i in range(d)]
    A = [a + [sum(r[i] * (1 if c == label else -1) for r, label in zip(X, y)) for c in targets] for i, a in enumerate(A)]
    for i in range(d):
        A[i] = [v / A[i][i] for v in A[i]]
        for j in range(d):
            if j != i:
                A[j] = [v - A[j][i] * u for v, u in zip(A[j], A[i])]
    return np.array([[sum(v * A[i][d + k] for i, v in enumerate(r)) for k in range(len(targets))] for r in X])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{}, {"method": "cg", "tol": 0.3, "size": 2}, {"method": "one-shot", "size": 4}], ids=str)
@pytest.mark.parametrize("k", [2, 3])
def test_proofs(k, options):
    """No label is proved that the exact solution does not have, also if the solution is a poor one."""
    count = wrong = 0
    for seed in range(8):
        r = np.random.default_rng(seed)
        X = r.integers(-8, 9, (40, 10)) / 8.0 * 2.0 ** -(np.arange(10) // 2)
        y = np.concatenate([np.arange(k), np.digitize(X[k:, 0], [0] if k == 2 else [-0.3, 0.3])])
        X[:4] = 0  # all classes tie
        model = RidgeClassifier(0.5, fit_intercept=False, **options).fit(X, y)
        label, proved = model.predict(X, return_proved=True)
        exact = exact_scores(X, y, model.classes_, Fraction(1, 2))
        exact = np.hstack([-exact, exact]) if k == 2 else exact
        for i, row in enumerate(exact):
            right = all(row[label[i]] > v for c, v in enumerate(row) if c != label[i])
            assert right or not proved[i], (seed, i)
            wrong += i >= 4 and not right
        count += proved.sum()
    if options.get("method") == "one-shot":
        assert wrong > 0
    else:
        assert count > 0.6 * 8 * 36, count


def test_bounds_decide():
    """A label is proved exactly if its margin is larger than the sum of two bounds."""
    X, y = load_iris(return_X_y=True)
    for y in (y, y > 0):
        model = RidgeClassifier().fit(X, y)
        scores = model.decision_function(X).reshape(len(X), -1)
        scores = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
        second, first = np.sort(scores, axis=1)[:, -2:].T
        median = np.median(first - second)
        model._solved().certificate.intercept_bound = [median / 2] * len(np.atleast_2d(model.coef_))
        _, proved = model.predict(X, return_proved=True)
        margin = first - second
        clear = abs(margin - median) > 1e-6  # the bounds are half the median and a little more
        assert np.array_equal(proved[clear], (margin > median)[clear])
        assert 0 < proved.sum() < len(X)


def test_partial_fit():
    X, y = load_iris(return_X_y=True)
    whole = RidgeClassifier(class_weight={0: 2.0}).fit(X, y)
    parts = RidgeClassifier(class_weight={0: 2.0})
    with pytest.raises(ValueError, match="classes"):
        parts.partial_fit(X, y)
    for i in range(0, 150, 30):  # no part has all labels
        parts.partial_fit(X[i : i + 30], y[i : i + 30], classes=[0, 1, 2] if i == 0 else None)
    assert np.array_equal(parts.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="not in classes"):
        parts.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="last call"):
        parts.partial_fit(X, y, classes=[0, 1])
    parts.fit(X, y > 0).partial_fit(X, y, classes=[0, 1, 2])  # starts anew
    assert list(parts.classes_) == [0, 1, 2]
    assert not hasattr(RidgeClassifier(class_weight="balanced"), "partial_fit")


@pytest.mark.parametrize("labels", [["setosa", "versicolor", "virginica"], ["no", "yes", "yes"]])
def test_saved(tmp_path, labels):
    X, y = load_iris(return_X_y=True)
    y = np.array(labels)[y]
    model = RidgeClassifier().fit(X, y)
    model.save(tmp_path / "model.json")
    np.save(tmp_path / "X.npy", X)
    text = subprocess.run([find(), "predict", "--model", tmp_path / "model.json", "--data", tmp_path / "X.npy"], check=True, capture_output=True, text=True).stdout
    lines = [line.split(",") for line in text.split()]
    label, proved = model.predict(X, return_proved=True)
    assert [a for a, _, _ in lines] == label.tolist() and proved.all()
    scores = model.decision_function(X)
    margin = abs(scores) if scores.ndim == 1 else np.diff(np.sort(scores)[:, -2:])[:, 0]
    assert np.allclose([float(b) for _, b, _ in lines], margin, rtol=1e-6, atol=1e-9)
    assert {c for _, _, c in lines} == {"true"}


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="1 class"):
        RidgeClassifier().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="--classes"):
        RidgeClassifier().fit("rows.csv", y)
    with pytest.raises(ValueError, match="Unknown label type"):
        RidgeClassifier().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="balanced"):
        RidgeClassifier(class_weight="equal").fit(X, y)
    with pytest.raises(ValueError, match="negative"):
        RidgeClassifier(class_weight={0: -1.0}).fit(X, y)
