"""The choice of alpha among candidates, with scikit-learn's interface."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import assert_all_finite

from . import _rows, _scores
from ._base import BaseRidge, arrays_of, text_flags
from ._classifier import BaseRidgeClassifier, RidgeClassifier, decide
from ._criteria import BY_SCORING
from ._loo import Leverages, predictions
from ._program import Files
from ._ridge import Ridge
from ._solution import brackets, listed, penalties


class BaseRidgeCV(BaseRidge):
    """The choice of alpha. Subclasses say what a target is."""

    _class_targets = False

    def _check_parameters(self):
        super()._check_parameters()
        if not (isinstance(self.alphas, str) and self.alphas == "auto"):
            values = penalties(self.alphas, "alphas", positive=self.cv is None)
            if values.ndim > 1:
                raise ValueError(f"alphas: an array of shape {values.shape} must be one list of candidates")
        if self.cv is not None and self._stores():
            raise ValueError("cv!=None and store_cv_results=True are incompatible")
        if self.cv is not None and self._per_target():
            raise ValueError("cv!=None and alpha_per_target=True are incompatible")
        if self.cv is not None and isinstance(self.scoring, str) and self.scoring in BY_SCORING:
            raise ValueError(f"scoring: {self.scoring!r} has no folds, so cv must be None")

    def _stores(self):
        return bool(self.store_cv_results)

    def _per_target(self):
        return bool(getattr(self, "alpha_per_target", False))

    def _candidates(self, by):
        """Return the program's flags for the choice."""
        if isinstance(self.alphas, str):
            return ["--gamma", "auto", "--select", by]
        values = np.unique(np.ravel(penalties(self.alphas, "alphas")))
        return ["--gamma", "auto:" + listed(values), "--select", by, "--gamma-tol", "1e-12"]

    def _fit_candidates(self, X, y, sample_weight, labels=None, text=None, **table):
        """Fit all candidates and keep the best one. labels are those of a classifier."""
        for name in ("cv_results_", "score_bracket_", "noise_variance_"):
            self.__dict__.pop(name, None)
        scoring = self.scoring if isinstance(self.scoring, str) or self.scoring is None else "callable"
        by_program = self.cv is None and not self._stores() and scoring in BY_SCORING
        if by_program:
            by = BY_SCORING[scoring]
            self._fit_any(X, y, sample_weight, lambda t: self._flags_by_program(by, t), text=text, **table)
            return self._read_choice(by, sample_weight)
        if _rows.is_file(X) or any(value is not None for value in (*table.values(), self.target, self.columns)):
            raise ValueError(f"scoring: {self.scoring!r} needs arrays; files and tables have None or 'gcv'")

        self._sketch = None
        self._reading = text_flags(X, text)
        original = X
        X, y, sample_weight = self._validate(X, y, sample_weight, reset=True)
        assert_all_finite(X.data if _rows.is_sparse(X) else X, estimator_name=type(self).__name__, input_name="X")
        with Files() as files:
            rows = _rows.flags(original, X, files)
            alphas = self._listed_candidates(rows, y, sample_weight, files)
            choose = self._leave_one_out if self.cv is None else self._folds
            best = choose(rows, X, y, sample_weight, labels, alphas, files)
        penalty = ["--gamma", listed(best)]
        if np.ndim(best):
            penalty.append("--per-target")
        self._fit_rows(original, X, y, sample_weight, penalty)
        return self

    def _flags_by_program(self, by, targets):
        flags = self._candidates(by)
        if self._per_target() and targets > 1:
            flags.append("--per-target")
        return flags

    def _read_choice(self, by, sample_weight):
        """Set the score of the program's choice. Scores are negative, as greater is better in scikit-learn."""
        choice = self._solution.certificate.choice
        if "candidates" in choice:
            low, high = np.array(choice["scores"], dtype=np.float64).T
            self.proved_ = np.array(choice["excess"]) <= 0
        else:
            entry = next(one for one in choice["path"] if one["gamma"] == choice["gamma"])
            pairs = np.array(brackets(entry[by]), dtype=np.float64)
            low, high = pairs.mean(axis=0) + 1e-15 * np.abs(pairs).mean(axis=0) * [-1, 1]
            self.proved_ = bool(choice["certain"])
        if np.ndim(low) == 0:
            low, high = float(low), float(high)
        if "noise_variance" in choice:
            self.noise_variance_ = np.array(brackets(choice["noise_variance"]), dtype=np.float64).mean(axis=1)
        self.score_bracket_ = (-high, -low)
        self.best_score_ = -(low + high) / 2
        return self

    def _listed_candidates(self, rows, y, sample_weight, files):
        """Return the candidates, or those that the program tries for "auto"."""
        if not isinstance(self.alphas, str):
            return np.ravel(penalties(self.alphas, "alphas"))
        solutions = self._run_rows(rows, y, sample_weight, ["--gamma", "auto", "--select", "gcv"], files, 0)
        return np.unique([one["gamma"] for one in solutions[0].certificate.choice["path"]])

    def _run_rows(self, rows, y, sample_weight, penalty, files, arrays):
        flags = ["fit", *rows, "--target", files.new(_rows.npy(y), y.nbytes)]
        if sample_weight is not None:
            flags += ["--weights", files.new(_rows.npy(sample_weight[:, None]), sample_weight.nbytes)]
        return self._run(flags, penalty, files, arrays)[0]

    def _path(self, rows, y, sample_weight, alphas, files):
        """Return a solution for each alpha, of one run of the program."""
        different = np.unique(alphas)
        arrays = arrays_of(y.shape[1], self.n_features_in_, len(different))
        solutions = self._run_rows(rows, y, sample_weight, ["--gamma", listed(different)], files, arrays)
        by_alpha = {one.alpha: one for one in solutions}
        return [by_alpha[alpha] for alpha in alphas.tolist()]

    def _leave_one_out(self, rows, X, y, sample_weight, labels, alphas, files):
        """Return the alpha with the best score of leave-one-out predictions, and set the scores."""
        leverages = Leverages(X, sample_weight, self.fit_intercept)
        split = self._per_target() and y.shape[1] > 1
        parts = [slice(j, j + 1) for j in range(y.shape[1])] if split else [slice(None)]
        scores, found, stored = [], [], []
        for solution in self._path(rows, y, sample_weight, alphas, files):
            residual, bound = predictions(solution, X, y, leverages)
            if self._stores():
                stored.append(self._stored(y, residual, sample_weight))
            pairs = [self._score(y[:, j], residual[:, j], bound[:, j], sample_weight, labels) for j in parts]
            scores.append([score for score, _ in pairs])
            found.append([bracket for _, bracket in pairs])
        if self._stores():
            results = np.stack(stored, axis=-1)
            self.cv_results_ = results[:, 0] if self._ravel or results.shape[1] == 1 and self._class_targets else results
        return self._keep_best(alphas, np.array(scores), found, split)

    def _stored(self, y, residual, sample_weight):
        """Return what cv_results_ has for one alpha: squared errors, or predictions if there is a scorer."""
        if self.scoring is not None:
            return y - residual
        return residual**2 if sample_weight is None else sample_weight[:, None] * residual**2

    def _score(self, y, residual, bound, sample_weight, labels):
        """Return the score of leave-one-out predictions, and its bracket or None."""
        if self.scoring is None:
            weighted = residual**2 if sample_weight is None else sample_weight[:, None] * residual**2
            low, high = _scores.squared(residual, bound, sample_weight)
            count = residual.size
            return -float(weighted.mean()), (-float(high) / count * (1 + 1e-15), -float(low) / count * (1 - 1e-15))

        predicted = y - residual
        if labels is not None:
            of = _scores.PredictedLabels(self.classes_)
            score = _scores.call(check_scoring(of, scoring=self.scoring), of, predicted, labels, sample_weight)
            if self.scoring != "accuracy":
                return score, None
            top, proved = decide(predicted, bound)
            return score, _scores.accuracy(self.classes_[top] == labels, proved, sample_weight)
        of = _scores.Predicted()
        scorer = check_scoring(of, scoring=self.scoring)
        shape = (lambda a: a[:, 0]) if y.shape[1] == 1 else (lambda a: a)
        score = _scores.call(scorer, of, shape(predicted), shape(y), sample_weight)
        return score, self._bracket(y, residual, bound, sample_weight)

    def _bracket(self, y, residual, bound, sample_weight):
        """Return the bracket of a score of residuals that are known up to bounds, or None without a formula."""
        if self.scoring in ("r2", None):
            return _scores.r2(y, residual, bound, sample_weight)
        if self.scoring == "neg_mean_squared_error":
            low, high = _scores.squared(residual, bound, sample_weight)
            total = y.shape[1] * (len(y) if sample_weight is None else sample_weight.sum())
            return -float(high / total) * (1 + 1e-14), -float(low / total) * (1 - 1e-14)
        return None

    def _folds(self, rows, X, y, sample_weight, labels, alphas, files):
        """Return the alpha with the best mean score of the folds, and set the scores."""
        of_fold = labels if labels is not None else y[:, 0] if self._ravel else y
        splits = list(check_cv(self.cv, of_fold, classifier=self._class_targets).split(X, of_fold))
        scores = np.empty((len(alphas), 1, len(splits)))
        ends = [[] for _ in alphas]
        for k, (train, test) in enumerate(splits):
            part = X[train]
            weights = None if sample_weight is None else sample_weight[train]
            with Files() as own:
                rows = _rows.flags(None, part, own)
                path = self._path(rows, np.ascontiguousarray(y[train]), weights, alphas, own)
            for i, solution in enumerate(path):
                model = self._single(solution)
                scorer = check_scoring(model, scoring=self.scoring)
                of_test = None if sample_weight is None else sample_weight[test]
                scores[i, 0, k] = _scores.call(scorer, model, X[test], of_fold[test], of_test)
                right = None if labels is None else labels[test]
                ends[i].append(self._bracket_of_fold(solution, X[test], y[test], right, of_test))
        found = []
        for of in ends:
            known = all(pair is not None for pair in of)
            found.append([_mean(of) if known else None])
        return self._keep_best(alphas, scores.mean(axis=2), found, split=False)

    def _bracket_of_fold(self, solution, X, y, labels, weights):
        predicted, bound = solution._predict(X, return_bound=True)
        if labels is None:
            return self._bracket(y, y - predicted, bound + _scores.UNIT * np.abs(y - predicted), weights)
        if self.scoring not in (None, "accuracy"):
            return None
        top, proved = decide(predicted, bound)
        return _scores.accuracy(self.classes_[top] == labels, proved, weights)

    def _keep_best(self, alphas, scores, found, split):
        """Set the best score, its bracket and whether it is proved to be the best. Return the best alpha.

        The first of equal scores is kept, as in scikit-learn.
        """
        best = np.argmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)
        pairs, proved = [], []
        for j, i in enumerate(best.tolist()):
            others = [of[j] for k, of in enumerate(found) if alphas[k] != alphas[i]]
            mine = found[i][j]
            pairs.append(mine)
            known = mine is not None and all(pair is not None for pair in others)
            proved.append(known and all(mine[0] >= high for _, high in others))
        columns = np.arange(len(best))
        if split:
            self.best_score_ = scores[best, columns]
            self.proved_ = np.array(proved)
            known = all(pair is not None for pair in pairs)
            self.score_bracket_ = tuple(np.array(pairs).T) if known else None
            return alphas[best]
        self.best_score_ = float(scores[best[0], 0])
        self.proved_ = bool(proved[0])
        self.score_bracket_ = pairs[0]
        return alphas[best[0]]

    def _fitted(self, model, solution):
        """Give a model a solution, as if it had been fitted."""
        model._sketch = None
        model._take(solution, None)
        model._ravel = self._ravel
        model.n_features_in_ = self.n_features_in_
        return model


def _mean(pairs):
    """Return the mean of brackets, widened by the round-off of the sums."""
    low, high = np.array(pairs, dtype=np.float64).T
    slack = (len(pairs) + 4) * _scores.UNIT
    return float(low.mean() - slack * np.abs(low).mean()), float(high.mean() + slack * np.abs(high).mean())


def _chooses_by_gcv(estimator):
    """Report whether a sketch is enough for the choice."""
    one_alpha = not estimator._per_target() and not estimator._stores()
    return one_alpha and estimator.cv is None and estimator.scoring in (None, "gcv")


class RidgeCV(MultiOutputMixin, RegressorMixin, BaseRidgeCV):
    """Ridge regression that chooses alpha, with a proof of the choice.

    The estimator takes the place of scikit-learn's `RidgeCV`.

    Parameters
    ----------
    alphas : array-like of float, or "auto"
        The candidates. "auto" finds them from the data.
    fit_intercept : bool
        Whether to fit an intercept.
    scoring : str, callable or None
        None means the mean squared leave-one-out error, or R² if there are folds. "gcv" is the score of generalised
        cross-validation. Other names and callables are those of scikit-learn.
    cv : int, splitter, iterable or None
        None means leave-one-out.
    gcv_mode : str, optional
        Has no effect: the program chooses how it computes.
    store_cv_results : bool
        Whether to keep ``cv_results_``.
    alpha_per_target : bool
        Whether to choose an alpha for each target.
    store_cv_values : bool, optional
        The name of store_cv_results before scikit-learn 1.5. ``cv_values_`` is then the same as ``cv_results_``.

    The other parameters are those of `Ridge`.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
    best_score_ : float or ndarray of shape (n_targets,)
    score_bracket_ : tuple of two numbers or arrays, or None
        Proved bounds of the score of the exact solution. None if there is no formula for the bounds of `scoring`.
    proved_ : bool or ndarray of shape (n_targets,)
        Whether no other candidate has a better score, for certain.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared leave-one-out errors, or leave-one-out predictions if there is a `scoring`.

    Examples
    --------
    >>> import numpy as np
    >>> from fdridge import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 4 + 0.1 * rng.standard_normal(200)
    >>> model = RidgeCV(alphas=[0.01, 0.1, 1, 10]).fit(X, y)
    >>> model.alpha_, model.proved_
    (0.01, True)
    """

    def __init__(
        self,
        alphas=(0.1, 1.0, 10.0),
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        gcv_mode=None,
        store_cv_results=False,
        alpha_per_target=False,
        store_cv_values=False,
        tol=1e-8,
        method="auto",
        size=256,
        max_passes=None,
        n_jobs=None,
        verbose=False,
        standard_errors=False,
        target=None,
        columns=None,
        prepare=None,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.store_cv_values = store_cv_values
        self.tol = tol
        self.method = method
        self.size = size
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.standard_errors = standard_errors
        self.target = target
        self.columns = columns
        self.prepare = prepare

    def _stores(self):
        return bool(self.store_cv_results or self.store_cv_values)

    def fit(self, X, y=None, sample_weight=None, *, target=None, columns=None, prepare=None, **text):
        """Fit the model. The parameters are those of `Ridge.fit`."""
        self._check_parameters()
        return self._fit_candidates(
            X, y, sample_weight, target=target, columns=columns, prepare=prepare, text=text
        )

    @available_if(_chooses_by_gcv)
    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to a sketch, see `Ridge.partial_fit`. alpha is chosen by GCV, as rows cannot be read again."""
        self._check_parameters()
        alphas = self.alphas if isinstance(self.alphas, str) else np.ravel(penalties(self.alphas, "alphas"))
        return self._add_rows(X, y, sample_weight, alphas)

    def _single(self, solution):
        return self._fitted(Ridge(alpha=solution.alpha), solution)

    @property
    def cv_values_(self):
        """The name of cv_results_ before scikit-learn 1.5."""
        return self.cv_results_

    predict = Ridge.predict
    _shaped = Ridge._shaped
    score = Ridge.score
    standard_errors_ = Ridge.standard_errors_
    coef_std_error_ = Ridge.coef_std_error_


class RidgeClassifierCV(BaseRidgeClassifier, BaseRidgeCV):
    """Classification by ridge regression that chooses alpha, with proved decisions.

    The estimator takes the place of scikit-learn's `RidgeClassifierCV`. `scoring` None means the squared leave-one-out
    errors of the targets ±1, or the accuracy if there are folds. With `scoring` "accuracy" and without folds, the labels
    of leave-one-out predictions are counted, also for two classes. The other parameters are those of `RidgeCV` and
    `RidgeClassifier`.
    """

    _class_targets = True
    target = columns = prepare = None  # the command fits tables with labels

    def __init__(
        self,
        alphas=(0.1, 1.0, 10.0),
        *,
        fit_intercept=True,
        scoring=None,
        cv=None,
        class_weight=None,
        store_cv_results=False,
        store_cv_values=False,
        tol=1e-8,
        method="auto",
        size=256,
        max_passes=None,
        n_jobs=None,
        verbose=False,
    ):
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results
        self.store_cv_values = store_cv_values
        self.tol = tol
        self.method = method
        self.size = size
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.verbose = verbose

    _stores = RidgeCV._stores
    cv_values_ = RidgeCV.cv_values_

    def fit(self, X, y, sample_weight=None):
        """Fit the model to rows X, an array, sparse matrix or data frame, and labels y."""
        self._check_parameters()
        if _rows.is_file(X):
            raise ValueError("X: load the file, or let the command fit it: fdridge fit --classes")
        targets, sample_weight = self._encode(y, sample_weight, learn=True)
        return self._fit_candidates(X, targets, sample_weight, labels=np.ravel(np.asarray(y)))

    def _single(self, solution):
        model = self._fitted(RidgeClassifier(alpha=solution.alpha), solution)
        model.classes_ = self.classes_
        return model
