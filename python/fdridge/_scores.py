"""Scores of predictions, with brackets of the score of the exact predictions where there is a formula."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

UNIT = 2.0**-52


class Predicted(RegressorMixin, BaseEstimator):
    """An estimator whose rows are its predictions. Scorers want one."""

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def predict(self, X):
        return X


class PredictedLabels(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are the predictions of its targets."""

    def __init__(self, classes=None):
        self.classes = classes

    @property
    def classes_(self):
        return self.classes

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def decision_function(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X):
        if X.shape[1] == 1:
            return self.classes[(X[:, 0] > 0).astype(int)]
        return self.classes[X.argmax(axis=1)]


def call(scorer, estimator, X, y, weights):
    """Return a score. The weights count if the scorer accepts them, as in scikit-learn 1.9."""
    if weights is None:
        return scorer(estimator, X, y)
    try:
        return scorer(estimator, X, y, sample_weight=weights)
    except TypeError:
        return scorer(estimator, X, y)


def squared(residual, bound, weights, axis=None):
    """Return the bracket of the weighted sum of squares of residuals that are known up to bounds."""
    w = 1.0 if weights is None else weights[:, None]
    size = np.abs(residual)
    slack = (len(residual) * (1 if axis == 0 else residual.shape[1]) + 8) * UNIT
    with np.errstate(over="ignore", invalid="ignore"):
        low = (w * np.maximum(size - bound, 0) ** 2).sum(axis=axis) * (1 - slack)
        high = (w * (size + bound) ** 2).sum(axis=axis) * (1 + slack)
    return low, np.where(np.isnan(high), np.inf, high)


def r2(y, residual, bound, weights=None):
    """Return the bracket of R², averaged over the targets, or None if a target is constant."""
    low, high = squared(residual, bound, weights, axis=0)
    exact = y.astype(np.longdouble)
    w = np.ones(len(y), np.longdouble) if weights is None else weights.astype(np.longdouble)
    mean = w @ exact / w.sum()
    tss = w @ (exact - mean) ** 2
    # The error of the mean in 64 bits moves the sum of squares by its square only.
    off = float(w.sum()) * ((len(y) + 4) * 2.0**-62 * np.abs(y).max(axis=0)) ** 2
    least = np.asarray(tss, dtype=np.float64) * (1 - (len(y) + 8) * UNIT) - off
    most = np.asarray(tss, dtype=np.float64) * (1 + (len(y) + 8) * UNIT) + off
    if not np.all(least > 0):
        return None
    with np.errstate(over="ignore"):
        return float(np.mean(1 - high / least)) - 4 * UNIT, float(np.mean(1 - low / most)) + 4 * UNIT


def accuracy(right, proved, weights=None):
    """Return the bracket of the accuracy. A label that is not proved may be right or wrong."""
    w = np.ones(len(right)) if weights is None else weights
    slack = (len(right) + 8) * UNIT
    low = (w * (right & proved)).sum() / w.sum()
    high = 1 - (w * (~right & proved)).sum() / w.sum()
    if weights is None:
        return float(low), float(high)
    return float(low * (1 - slack)), float(min(1, high * (1 + slack) + slack))
