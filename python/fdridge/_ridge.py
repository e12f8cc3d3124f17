"""Ridge regression with scikit-learn's interface."""

import json
import pathlib
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, assert_all_finite

from . import _rows
from ._program import Files, call, contents, threads
from ._sketch import Sketch
from ._solution import draw, options, solve


class Ridge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression with proved error bounds.

    Minimises ‖y − Xw‖² + alpha·‖w‖², with sample weights on the squares of the first term. The intercept is not
    penalised.

    Parameters
    ----------
    alpha : float, list of float or "auto"
        The penalty. Of a list, or of candidates that "auto" finds, the best by `select` is chosen.
    tol : float
        The relative error of the coefficients to certify. If it is not reached, a ``ConvergenceWarning`` is issued,
        and ``certificate_`` has the bound that was proved.
    method : str
        "auto", "exact", "cg", "galerkin" or another method of ``fdridge fit --method``.
    fit_intercept : bool
        Whether to fit an intercept.
    select : {"loo", "gcv", "cv"}
        How alpha is chosen: leave-one-out errors, generalised or 5-fold cross-validation. `partial_fit` chooses by
        GCV, as it cannot read rows again.
    size : int
        Number of rows of the sketch, for methods that use one and for `partial_fit`.
    max_passes : int, optional
        Maximum number of passes after the first.
    n_jobs : int, optional
        Number of threads; None means ``OMP_NUM_THREADS`` or all cores, -1 all cores.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float
        The penalty that was used.
    error_bound_ : float or ndarray of shape (n_targets,)
        Proved bound on ‖coef_ − w*‖, where w* is the exact solution.
    certificate_ : Certificate
        All that is proved.
    n_features_in_, feature_names_in_
        Features of the rows, and their names if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from fdridge import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 4 + 0.1 * rng.standard_normal(200)
    >>> model = Ridge(alpha=[0.01, 0.1, 1, 10]).fit(X, y)
    >>> model.alpha_
    0.01
    >>> model.coef_.round(1)
    array([ 1. , -2. ,  0.5])
    >>> y_pred, bound = model.predict(X, return_bound=True)
    >>> bool(bound.max() < 1e-8)
    True
    """

    _parameter_constraints = {
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "method": [str],
        "fit_intercept": ["boolean"],
        "select": [StrOptions({"loo", "gcv", "cv"})],
        "size": [Interval(Integral, 1, None, closed="left")],
        "max_passes": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(self, alpha=1.0, *, tol=1e-8, method="auto", fit_intercept=True, select="loo", size=256, max_passes=None, n_jobs=None, verbose=False):
        self.alpha = alpha
        self.tol = tol
        self.method = method
        self.fit_intercept = fit_intercept
        self.select = select
        self.size = size
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None, *, target=None, columns=None, prepare=None):
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or file name
            Rows. The program reads a file itself: csv, svmlight, npy, npz, Parquet or Arrow. It also reads the file of
            a ``np.memmap`` of a whole .npy file.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Targets, unless `target` names them.
        sample_weight : array-like of shape (n_samples,) or str, optional
            Sample weights; for tables also the name of their column.
        target : str or list of str, optional
            Columns of the table that are targets.
        columns : list of str, optional
            Columns of the table that are features. By default all others are.
        prepare : "auto" or str, optional
            "auto" decides what becomes of each column of a table: numbers, categories, dates, missing values. A file
            name is a plan of ``fdridge fit --prepare-out``.
        """
        self._sketch = None
        self._validate_params()
        if _rows.is_file(X) or any(option is not None for option in (target, columns, prepare)):
            return self._fit_table(X, y, sample_weight, target, columns, prepare)
        original = X
        X, y, sample_weight = self._validate(X, y, sample_weight, reset=True, finite=False)
        try:
            self._fit_rows(original, X, y, sample_weight)
        except ValueError:  # the program refuses rows that are not finite; scikit-learn's message is preferred
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        return self

    def _fit_rows(self, original, X, y, sample_weight):
        """Fit arrays. The program reads the memory of X, or the file of a memory map, or a temporary file."""
        path, flags = _rows.mapped(original), ["--format", "npy"]
        with Files() as files:
            if path is None and _rows.lendable(X):
                path = files.lend(_rows.header(X), X)
            elif path is None and _rows.is_sparse(X):
                path, flags = files.new(_rows.svmlight(X)), ["--format", "svmlight", "--n-features", str(X.shape[1])]
            elif path is None:
                path = files.new(_rows.npy(X))
            flags += ["--target", files.new(_rows.npy(y))]
            if sample_weight is not None:
                flags += ["--weights", files.new(_rows.npy(sample_weight[:, None]))]
            self._solve(["fit", "--data", path, *flags], files)

    def _validate(self, X, y, sample_weight, reset, finite=True):
        X, y = self._validate_data(
            X, y, accept_sparse="csr", dtype=None, multi_output=True, y_numeric=True, force_all_finite=finite, reset=reset
        )
        if X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._ravel = y.ndim == 1
        return _rows.check(X, y, sample_weight, finite=False)

    def _fit_table(self, X, y, sample_weight, target, columns, prepare):
        """Fit a file, or a data frame whose columns the program prepares."""
        if y is not None:
            raise ValueError("y: the targets of a table are named by target")
        if target is None:
            raise ValueError("target: name the columns of the targets")
        self._ravel = isinstance(target, (str, int))
        flags = ["--target", _quoted([target] if self._ravel else target)]
        if sample_weight is not None:
            if not isinstance(sample_weight, str):
                raise ValueError("sample_weight: name the column of a table that has the sample weights")
            flags += ["--weights", sample_weight]
        if columns is not None:
            flags += ["--columns", _quoted(columns)]
        with Files() as files:
            flags += _rows.data(X, files)
            sketch = None
            if prepare is not None:
                flags += ["--prepare", str(prepare)]
                if self.method in ("auto", "cg", "galerkin", "newton", "one-shot"):
                    sketch = files.new()
                    flags += ["--save-sketch", sketch, "--size", str(int(self.size))]
            preparation = self._solve(["fit", *flags], files)["preparation"]
            self._prepared = prepare is not None
            self._interval = None if sketch is None else contents(sketch)
        names = preparation.get("encoding", preparation).get("names")
        self.n_features_in_ = len(names) if names else preparation["inputs"]
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _solve(self, args, files):
        if not self.fit_intercept:
            args = [*args, "--intercept=false"]
        if self.method != "auto" and "--size" not in args:
            args = [*args, "--size", str(int(self.size))]
        flags = options(self.alpha, tol=self.tol, select=self.select, method=self.method, max_passes=self.max_passes, threads=threads(self.n_jobs))
        (self._solution,), self._model = solve([*args, *flags], files, verbose=self.verbose)
        self._prepared, self._interval = False, None
        return json.loads(self._model)

    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to a sketch, in constant memory. The first attribute or prediction that is read solves it.

        The parameters are those of `Sketch.partial_fit`. After `fit`, the first call starts anew.
        """
        self._validate_params()
        first = getattr(self, "_sketch", None) is None
        X, y, sample_weight = self._validate(X, y, sample_weight, reset=first)
        if first:
            self._sketch = Sketch(self.size, fit_intercept=self.fit_intercept, n_jobs=self.n_jobs)
        return self._adopt(self._sketch.partial_fit(X, y, sample_weight))

    def _adopt(self, sketch, features=None, names=None, one=None):
        """Take the solution of a sketch when it is first read."""
        self._sketch, self._solution, self._model, self._prepared, self._interval = sketch, None, None, False, None
        self._penalty = self.alpha, self.tol  # set_params changes later fits only
        if features:
            self.n_features_in_, self._ravel = features, one
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_solution")

    def _solved(self):
        """Return the solution. After partial_fit, the sketch is solved here."""
        if not hasattr(self, "_solution"):
            raise NotFittedError(f"This {type(self).__name__} is not fitted yet: call fit or partial_fit first")
        if self._solution is None:
            self._solution = self._sketch.solve(self._penalty[0], tol=self._penalty[1])
        return self._solution

    def _of_target(self, values):
        return values[0] if self._ravel else values

    coef_ = property(lambda self: self._of_target(self._solved().coef))
    alpha_ = property(lambda self: self._solved().alpha)
    certificate_ = property(lambda self: self._solved().certificate)

    @property
    def intercept_(self):
        intercept = self._solved().intercept
        return float(intercept[0]) if self._ravel else intercept if self._solved().has_intercept else 0.0

    @property
    def error_bound_(self):
        bound = self._of_target(np.atleast_1d(self._solved().certificate.error_bound))
        return float(bound) if self._ravel else bound

    def predict(self, X, return_bound=False):
        """Predict the targets of rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or file name
            Rows. Those of a table that was prepared need the same columns.
        return_bound : bool
            Also return proved bounds on the difference to the prediction of the exact solution.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets), or two of them
        """
        self._solved()
        if self._prepared or _rows.is_file(X):
            y = self._predict_table(X, return_bound)
        else:
            X = self._validate_data(X, accept_sparse="csr", dtype=np.float64, reset=False)
            y = self._solved().predict(X, return_bound)
        if not self._ravel:
            return y
        return tuple(a[:, 0] for a in y) if return_bound else y[:, 0]

    def _predict_table(self, X, return_bound):
        """Let the program predict: it knows the preparation."""
        if self._model is None:
            raise ValueError("X: a model of partial_fit predicts arrays, not files")
        with Files() as files:
            args = ["predict", "--model", files.new(self._model), "--unknown", "ignore"]
            if return_bound:
                args += ["--interval", args[2] if self._interval is None else files.new(self._interval)]
            text = call([*args, *_rows.data(X, files)], files)
        t = len(self._solution.coef)
        y = np.array(text.replace(b",", b" ").split(), dtype=np.float64).reshape(-1, t, 3 if return_bound else 1)
        if not return_bound:
            return y[:, :, 0]
        y, low, high = y[:, :, 0], y[:, :, 1], y[:, :, 2]
        # The difference of two float64 numbers is rounded to the nearest, so the next number is above it.
        return y, np.nextafter(np.maximum(high - y, y - low), np.inf)

    def plot(self, kind=None, name=None):
        """Return a picture of the fit, or write it to the file name, .png or .svg.

        kind is "path" (scores of the candidates of alpha with their proved brackets) or "convergence" (the certified
        error after each pass).
        """
        return draw(self._solved().report.encode(), kind, name)

    def save(self, name):
        """Write the model to a file, which ``fdridge predict`` and ``fdridge show`` read."""
        self._solved()
        if self._model is None:
            raise ValueError("save: a model of partial_fit is saved by its sketch_")
        pathlib.Path(name).write_bytes(self._model_file())

    def _model_file(self):
        return self._model

    @property
    def sketch_(self):
        """The sketch of partial_fit."""
        if getattr(self, "_sketch", None) is None:
            raise AttributeError("sketch_: only partial_fit makes a sketch")
        return self._sketch


def _quoted(names):
    """Return a list of names for a flag."""
    return ",".join('"' + str(n).replace('"', '""') + '"' if "," in str(n) or '"' in str(n) else str(n) for n in names)
