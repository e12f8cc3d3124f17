"""Classification by ridge regression, with scikit-learn's interface."""

import json

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y

from . import _rows
from ._ridge import Ridge


class RidgeClassifier(ClassifierMixin, Ridge):
    """Classification by ridge regression, with proved decisions.

    The target of a class is 1 for its rows and −1 for the others. The class with the largest prediction is chosen. Two
    classes share one target, which is positive for the second. `alpha` is chosen by the squared errors of the targets.
    The attributes are those of `Ridge` for these targets, and ``classes_``, the sorted labels.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes, which multiply the sample weights. "balanced" means n/(K·nₖ) for K classes and nₖ of n
        rows in the class. A class that is not in the dict has the weight 1. The other parameters are those of `Ridge`.
    """

    def __init__(self, alpha=1.0, *, tol=1e-8, method="auto", fit_intercept=True, select="loo", size=256, max_passes=None, n_jobs=None, verbose=False, class_weight=None):
        super().__init__(alpha, tol=tol, method=method, fit_intercept=fit_intercept, select=select, size=size, max_passes=max_passes, n_jobs=n_jobs, verbose=verbose)
        self.class_weight = class_weight

    def _more_tags(self):
        return {"multioutput": False}

    def fit(self, X, y, sample_weight=None):
        """Fit the model to rows X, an array, sparse matrix or data frame, and labels y."""
        if _rows.is_file(X):
            raise ValueError("X: load the file, or let the command fit it: fdridge fit --classes")
        return super().fit(X, *self._encode(y, sample_weight, learn=True))

    @available_if(lambda self: self.class_weight != "balanced")  # these weights require all rows
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows to a sketch, see `Ridge.partial_fit`. The first call requires all labels as `classes`."""
        if classes is not None and getattr(self, "_sketch", None) is None:
            self.classes_ = None
        _check_partial_fit_first_call(self, classes)
        return super().partial_fit(X, *self._encode(y, sample_weight))

    def _encode(self, y, sample_weight, learn=False):
        """Return the targets ±1 and the sample weights of the rows with the labels y. learn: y has all labels."""
        y = _check_y(y, estimator=self)
        check_classification_targets(y)
        if learn:
            self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("y has 1 class, a classifier needs at least 2 classes")
        if not np.isin(y, self.classes_).all():
            raise ValueError("y has a label that is not in classes")
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)[np.searchsorted(self.classes_, y)]
            sample_weight = _check_sample_weight(sample_weight, y, np.float64) * weights
        classes = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(y[:, None] == classes, 1.0, -1.0), sample_weight

    def decision_function(self, X):
        """Return the predictions of the targets, of shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        scores = super().predict(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X, return_proved=False):
        """Predict the labels of rows. With `return_proved`, also return whether the exact solution has the same label.

        A label is proved if its margin to each other class is larger than the sum of the two predictions' bounds.
        """
        scores, bound = super().predict(X, return_bound=True) if return_proved else (super().predict(X), None)
        if scores.shape[1] == 1:  # the exact predictions of both classes also have opposite signs
            scores = np.hstack([-scores, scores])
        top = scores.argmax(axis=1)
        if not return_proved:
            return self.classes_[top]
        at = np.arange(len(top)), top
        with np.errstate(over="ignore", invalid="ignore"):  # the exact ends are inside the next numbers
            low, high = np.nextafter(scores - bound, -np.inf)[at], np.nextafter(scores + bound, np.inf)
        high[at] = -np.inf
        return self.classes_[top], low > high.max(axis=1)

    def _model_file(self):
        return json.dumps({**json.loads(self._model), "classes": [*map(str, self.classes_)]}).encode()
