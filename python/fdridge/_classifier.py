"""Classification by ridge regression, with scikit-learn's interface."""

import json

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from . import _rows
from ._base import BaseRidge
from ._compat import check_sample_weight, refuse_namespace
from ._criteria import check_select
from ._ridge import penalty_flags
from ._solution import Arrays, penalties


def _rows_needed_once(estimator):
    """Report whether the weights of the classes are known before all rows are."""
    return estimator.class_weight != "balanced"


class BaseRidgeClassifier(ClassifierMixin, BaseRidge):
    """Labels as targets, and labels from predictions."""

    def _encode(self, y, sample_weight, learn=False):
        """Return the targets ±1 and the sample weights of the rows with the labels y. learn: y has all labels."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None"
            )
        refuse_namespace(y, "y")
        y = check_array(
            y, dtype=None, ensure_2d=False, ensure_min_samples=0, accept_sparse=True, input_name="y", estimator=self
        )
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(
                "y has several columns, but this classifier predicts one label a row: use "
                f"sklearn.multioutput.MultiOutputClassifier({type(self).__name__}())"
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if learn:
            self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("y has 1 class, a classifier needs at least 2 classes")
        if not np.isin(y, self.classes_).all():
            raise ValueError("y has a label that is not in classes")
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weights = weights[np.searchsorted(self.classes_, y)]
            sample_weight = weights if sample_weight is None else check_sample_weight(sample_weight, len(y)) * weights
        classes = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(y[:, None] == classes, 1.0, -1.0), sample_weight

    def decision_function(self, X):
        """Return the predictions of the targets, of shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        scores = self._predict_targets(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X, return_proved=False):
        """Predict the labels of rows. With `return_proved`, also return whether the exact solution has the same label.

        A label is proved if its margin to each other class is larger than the sum of the two predictions' bounds.
        """
        if not return_proved:
            top, _ = decide(self._predict_targets(X))
            return self.classes_[top]
        top, proved = decide(*self._predict_targets(X, return_bound=True))
        return self.classes_[top], proved

    def _model_file(self):
        labels = [str(label) for label in self.classes_]
        if isinstance(self._model, Arrays):
            return self._model.tobytes(classes=labels)
        return json.dumps({**json.loads(self._model), "classes": labels}).encode()


def decide(scores, bound=None):
    """Return the class with the largest score of each row, and whether the bounds of the scores prove it."""
    if scores.shape[1] == 1:  # the exact predictions of both classes also have opposite signs
        scores = np.hstack([-scores, scores])
    top = scores.argmax(axis=1)
    if bound is None:
        return top, None
    at = np.arange(len(top)), top
    with np.errstate(over="ignore", invalid="ignore"):  # the exact ends are inside the next numbers
        low = np.nextafter(scores - bound, -np.inf)[at]
        high = np.nextafter(scores + bound, np.inf)
    high[at] = -np.inf
    return top, low > high.max(axis=1)


class RidgeClassifier(BaseRidgeClassifier):
    """Classification by ridge regression, with proved decisions.

    The target of a class is 1 for its rows and −1 for the others. The class with the largest prediction is chosen. Two
    classes share one target, which is positive for the second. The estimator takes the place of scikit-learn's
    `RidgeClassifier`. The attributes are those of `Ridge` for these targets, and ``classes_``, the sorted labels.

    Parameters
    ----------
    alpha : float
        The penalty.
    class_weight : dict, "balanced" or None
        Weights of the classes, which multiply the sample weights. "balanced" means n/(K·nₖ) for K classes and nₖ of n
        rows in the class. A class that is not in the dict has the weight 1. The other parameters are those of `Ridge`.
    """

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-8,
        class_weight=None,
        solver="auto",
        positive=False,
        random_state=None,
        method="auto",
        select="loo",
        size=256,
        max_passes=None,
        n_jobs=None,
        verbose=False,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.method = method
        self.select = select
        self.size = size
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.verbose = verbose

    target = columns = prepare = None  # the command fits tables with labels

    def _check_parameters(self):
        super()._check_parameters()
        check_select(self.select)
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            penalties(self.alpha, "alpha")

    def fit(self, X, y, sample_weight=None):
        """Fit the model to rows X, an array, sparse matrix or data frame, and labels y."""
        self._check_parameters()
        if _rows.is_file(X):
            raise ValueError("X: load the file, or let the command fit it: fdridge fit --classes")
        targets, sample_weight = self._encode(y, sample_weight, learn=True)
        return self._fit_any(X, targets, sample_weight, self._penalty_flags)

    def _penalty_flags(self, targets):
        # A list is never one penalty for each class.
        alpha = self.alpha
        if np.ndim(alpha) == 1 and len(alpha) == targets:
            raise ValueError(f"alpha: {alpha!r} must be one number; RidgeClassifierCV(alphas=…) chooses among several")
        return penalty_flags(alpha, targets, self.select, "RidgeClassifier", "RidgeClassifierCV")

    @available_if(_rows_needed_once)
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Add rows to a sketch, see `Ridge.partial_fit`. The first call requires all labels as `classes`."""
        self._check_parameters()
        if getattr(self, "_sketch", None) is None:
            if classes is not None:
                self.classes_ = np.unique(classes)
            elif not hasattr(self, "classes_"):
                raise ValueError("classes must be passed on the first call to partial_fit.")
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}"
            )
        return self._add_rows(X, *self._encode(y, sample_weight), self.alpha)
