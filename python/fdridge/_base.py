"""What the estimators have in common: they check rows, run the program, and predict with its solution."""

import pathlib
import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import assert_all_finite

from . import _rows, _text
from ._compat import FLATTENS, check_sample_weight, validate_data
from ._program import Files, call, contents, depth, threads
from ._sketch import Sketch
from ._solution import Arrays, as_columns, draw, flags_of, solve
from ._text import quoted

# The names of scikit-learn's solvers. All minimise the same function, and so do all methods of the program.
_SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")

# Models of more targets are written as arrays, and so are paths of more coefficients.
_TARGETS = 100
_NUMBERS = 10_000

# Iterations of these methods are passes over the rows.
_ITERATIVE = ("cg", "galerkin", "newton")


class BaseRidge(BaseEstimator):
    """The parts of an estimator that are the same for one penalty and for candidates, and for numbers and labels."""

    _reading = ()  # flags by which fit read a file of text

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self):
        """Raise an error for a parameter that is meaningless or that the program cannot serve."""
        _check(self, "tol", Real, lambda v: 0 < v < 1, "a number between 0 and 1, both excluded")
        _check(self, "method", str, None, "a text")
        _check(self, "fit_intercept", (bool, np.bool_), None, "True or False")
        _check(self, "size", Integral, lambda v: v >= 1, "an integer of at least 1")
        _check(self, "max_passes", Integral, lambda v: v >= 1, "an integer of at least 1, or None", optional=True)
        _check(self, "n_jobs", Integral, None, "an integer, or None", optional=True)
        if hasattr(self, "standard_errors"):
            _check(self, "standard_errors", (bool, np.bool_), None, "True or False")
        _check(self, "verbose", (Integral, np.bool_), lambda v: v >= 0, "True, False or a number")
        if hasattr(self, "solver"):
            _check(self, "solver", str, lambda v: v in _SOLVERS, "one of " + ", ".join(_SOLVERS))
            _check(self, "max_iter", Integral, lambda v: v >= 1, "an integer of at least 1, or None", optional=True)
            if self.positive:
                raise ValueError(
                    "positive: fdridge does not solve for coefficients of at least 0; use positive=False, or "
                    "sklearn.linear_model.Ridge"
                )

    # ------------------------------------------------------------------ fit

    def _fit_any(self, X, y, sample_weight, flags, *, target=None, columns=None, prepare=None, text=None):
        """Fit arrays, files or tables. Arguments of fit come before parameters of the estimator. text has the options
        of text files.

        flags is a function that returns the program's flags for the penalty, from the number of targets.
        """
        self._sketch = None
        self._reading = text_flags(X, text)
        target = self.target if target is None else target
        columns = self.columns if columns is None else columns
        prepare = self.prepare if prepare is None else prepare
        if _rows.is_file(X) or target is not None or columns is not None or prepare is not None:
            return self._fit_table(X, y, sample_weight, flags, target, columns, prepare)

        original = X
        X, y, sample_weight = self._validate(X, y, sample_weight, reset=True, finite=False)
        try:
            self._fit_rows(original, X, y, sample_weight, flags(y.shape[1]))
        except ValueError:  # the program refuses rows that are not finite; scikit-learn's message is preferred
            assert_all_finite(X.data if _rows.is_sparse(X) else X, estimator_name=type(self).__name__, input_name="X")
            raise
        return self

    def _validate(self, X, y, sample_weight, reset, finite=True):
        """Return the rows as arrays that the program can read. y has two dimensions."""
        original = X
        try:
            X, y = self._validate_rows(X, y, reset, finite)
            if X.dtype not in (np.float64, np.float32):
                X = X.astype(np.float64)
        except (ValueError, TypeError) as e:
            _rows.refuse_texts(original, e)
            raise
        if sample_weight is not None:
            sample_weight = check_sample_weight(sample_weight, X.shape[0])
        self._ravel = y.ndim == 1
        return _rows.check(X, y, sample_weight, finite=False)

    def _validate_rows(self, X, y, reset, finite):
        options = {"accept_sparse": "csr", "dtype": None, "multi_output": True, "y_numeric": True}
        if not _rows.is_table(X):
            return validate_data(self, X, y, finite=finite, reset=reset, **options)
        names, X = _rows.matrix(X)
        if not reset:
            self._check_names(names)
        X, y = validate_data(self, X, y, finite=finite, reset=True, **options)
        self.feature_names_in_ = np.array(names, dtype=object)
        return X, y

    def _check_names(self, names):
        """Raise an error if columns of a table are not the features of the fit."""
        fitted = list(getattr(self, "feature_names_in_", names))
        if names != fitted or len(names) != self.n_features_in_:
            raise ValueError(
                f"The feature names should match those that were passed during fit: {names} instead of {fitted}"
            )

    def _fit_rows(self, original, X, y, sample_weight, penalty):
        """Fit arrays. The program reads the memory of X, or the file of a memory map, or a temporary file."""
        with Files() as files:
            flags = _rows.flags(original, X, files)
            flags += ["--target", files.new(_rows.npy(y), y.nbytes)]
            if sample_weight is not None:
                flags += ["--weights", files.new(_rows.npy(sample_weight[:, None]), sample_weight.nbytes)]
            self._solve(["fit", *flags], penalty, files, arrays_of(y.shape[1], X.shape[1]))

    def _fit_table(self, X, y, sample_weight, penalty, target, columns, prepare):
        """Fit a file, or a data frame whose columns the program prepares."""
        if (y is None) == (target is None):
            if y is None:
                raise ValueError("target: name the columns of the targets, or pass y")
            raise ValueError("y: the targets of a table are named by target, or passed as y, not both")
        with Files() as files:
            if target is not None:
                self._ravel = isinstance(target, (str, int))
                named = [target] if self._ravel else list(target)
                count = len(named)
                flags = ["--target", quoted(named)]
            else:
                y = np.asarray(y, dtype=np.float64)
                self._ravel = y.ndim == 1
                y = y[:, None] if self._ravel else y
                if not _rows.is_file(X) and len(y) != len(X):
                    raise ValueError(f"y has {len(y)} rows, but X has {len(X)}")
                count = y.shape[1]
                flags = ["--target", files.new(_rows.npy(np.ascontiguousarray(y)), y.nbytes)]
            if isinstance(sample_weight, str):
                flags += ["--weights", sample_weight]
            elif sample_weight is not None and not _rows.is_file(X):
                weights = check_sample_weight(sample_weight, len(X))
                flags += ["--weights", files.new(_rows.npy(weights[:, None]), weights.nbytes)]
            elif sample_weight is not None:
                raise ValueError("sample_weight: name the column of a table that has the sample weights")
            if columns is not None:
                flags += ["--columns", quoted(columns)]
            flags += [*_rows.data(X, files), *self._reading]
            sketch = None
            if prepare is not None:
                flags += ["--prepare", str(prepare)]
                if self.method in ("auto", *_ITERATIVE, "one-shot"):
                    sketch = files.new()
                    flags += ["--save-sketch", sketch, "--size", str(int(self.size))]
            preparation = self._solve(["fit", *flags], penalty(count), files, arrays_of(count))["preparation"]
            self._prepared = prepare is not None
            self._interval = None if sketch is None else contents(sketch)
        inputs = preparation.get("encoding", preparation)
        names = inputs.get("names")
        self._coef_names = preparation.get("names")
        self.n_features_in_ = len(names) if names else preparation["inputs"]
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _solve(self, args, penalty, files, arrays):
        """Run the program and keep its solution. Return the model's fields as a dict."""
        if getattr(self, "standard_errors", False):
            args = [*args, "--standard-errors"]
        solutions, model, header = self._run(args, penalty, files, arrays)
        self._take(solutions[0], model)
        return header

    def _run(self, args, penalty, files, arrays):
        if not self.fit_intercept:
            args = [*args, "--intercept=false"]
        if self.method != "auto" and "--size" not in args:
            args = [*args, "--size", str(int(self.size))]
        passes = self.max_passes
        if passes is None and self.method in _ITERATIVE:
            passes = getattr(self, "max_iter", None)
        flags = flags_of(tol=self.tol, method=self.method, max_passes=passes, threads=threads(self.n_jobs))
        return solve([*args, *penalty, *flags], files, verbose=self.verbose, arrays=arrays)

    def _take(self, solution, model):
        self._solution = solution
        self._model = model
        self._prepared = False
        self._interval = None
        self._coef_names = None
        self._told = set()

    # ---------------------------------------------------------- partial_fit

    def _add_rows(self, X, y, sample_weight, penalty):
        """Add rows to the sketch. penalty is the alpha that later solves it."""
        first = getattr(self, "_sketch", None) is None
        X, y, sample_weight = self._validate(X, y, sample_weight, reset=first)
        if first:
            self._sketch = Sketch(self.size, fit_intercept=self.fit_intercept, n_jobs=self.n_jobs)
        return self._adopt(self._sketch.partial_fit(X, y, sample_weight), penalty)

    def _adopt(self, sketch, penalty, features=None, names=None, one=None):
        """Take the solution of a sketch when it is first read."""
        self._take(None, None)
        self._sketch = sketch
        self._penalty = penalty, self.tol  # set_params changes later fits only
        if features:
            self.n_features_in_ = features
            self._ravel = one
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    # ------------------------------------------------------------- solution

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

    def _has_one_dimension(self):
        """Report whether coef_ and predictions have one dimension, as they have in scikit-learn."""
        return self._ravel or FLATTENS and len(self._solved()._coef) == 1

    @property
    def coef_(self):
        coef = self._solved()._coef
        return coef[0] if self._has_one_dimension() else coef

    @property
    def intercept_(self):
        intercept = self._solved().intercept
        if self._ravel:
            return float(intercept[0])
        return intercept if self._solved().has_intercept else 0.0

    @property
    def alpha_(self):
        return self._solved().alpha

    @property
    def certificate_(self):
        return self._solved().certificate

    @property
    def error_bound_(self):
        bound = self._of_target(np.atleast_1d(self._solved().certificate.error_bound))
        return float(bound) if self._ravel else bound

    @property
    def n_iter_(self):
        """The number of passes over the rows, for each target."""
        solution = self._solved()
        return np.full(len(solution._coef), max(1, solution.certificate.passes), dtype=np.int32)

    @property
    def solver_(self):
        """The method that solved the system, by the program's name."""
        return self._solved().certificate.method

    @property
    def sketch_(self):
        """The sketch of partial_fit."""
        if getattr(self, "_sketch", None) is None:
            raise AttributeError("sketch_: only partial_fit makes a sketch")
        return self._sketch

    def get_feature_names_out(self, input_features=None):
        """Return a name for each coefficient. A prepared column can have several, such as one for each level."""
        self._solved()
        if self._coef_names:
            return np.array(self._coef_names, dtype=object)
        if hasattr(self, "feature_names_in_"):
            return self.feature_names_in_
        if input_features is not None:
            return np.asarray(input_features, dtype=object)
        return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)

    # ----------------------------------------------------------- prediction

    def _predict_targets(self, X, return_bound=False, out=None, target=None, text=None):
        """Return predictions of shape (n_samples, n_targets), and their bounds if they are wanted."""
        self._solved()
        reading = text_flags(X, text)
        if target is not None:
            if not _rows.is_file(X):
                raise ValueError("target: only a file can have targets besides its features, and X is no file")
            names = [target] if isinstance(target, (str, int)) else target
            reading = [*(reading or self._reading), "--target", quoted(names)]
        if self._prepared or _rows.is_file(X):
            y = self._predict_table(X, return_bound, reading)
            if out is None:
                return y
            values, bound = y if return_bound else (y, None)
            as_columns(out, *values.shape)[...] = values
            return (out, bound) if return_bound else out
        if _rows.is_table(X):
            names, X = _rows.matrix(X)
            self._check_names(names)
            assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
        else:
            X = validate_data(self, X, has_y=False, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._solved()._predict(X, return_bound, out)

    def _predict_table(self, X, return_bound, reading):
        """Let the program predict: it knows the preparation. reading has flags for text, by default those of fit."""
        if self._model is None:
            raise ValueError("X: a model of partial_fit predicts arrays, not files")
        with Files() as files:
            args = ["predict", "--model", files.new(self._bytes()), "--unknown", "ignore"]
            if return_bound:
                args += ["--interval", args[2] if self._interval is None else files.new(self._interval)]
            if _rows.is_file(X):
                args += reading or self._reading
            text = call([*args, *_rows.data(X, files)], files, told=self._told)
        t = len(self._solution._coef)
        y = np.array(text.replace(b",", b" ").split(), dtype=np.float64).reshape(-1, t, 3 if return_bound else 1)
        if not return_bound:
            return y[:, :, 0]
        y, low, high = y[:, :, 0], y[:, :, 1], y[:, :, 2]
        # The difference of two float64 numbers is rounded to the nearest, so the next number is above it.
        return y, np.nextafter(np.maximum(high - y, y - low), np.inf)

    # ---------------------------------------------------------------- files

    def plot(self, kind=None, name=None):
        """Return a picture of the fit, or write it to the file name, .png or .svg.

        kind is "path" (scores of the candidates of alpha with their proved brackets) or "convergence" (the certified
        error after each pass). By default it is what the fit has.
        """
        if kind not in (None, "path", "convergence"):
            raise ValueError(f'plot: kind is {kind!r}, and must be "path" or "convergence"; a file is name={kind!r}')
        solution = self._solved()
        has_path = bool(solution.certificate.choice and solution.certificate.choice.get("path"))
        if kind == "path" and not has_path:
            raise ValueError(
                "plot: there is no path to draw, because this fit has one alpha; RidgeCV(alphas=…) tries several"
            )
        if kind is None and not has_path and solution.certificate.passes <= 1:
            raise ValueError(
                "plot: there is nothing to draw, because alpha was given and one pass solved the system; "
                "RidgeCV(alphas=…) has a path"
            )
        return draw(solution.report.encode(), kind or ("path" if has_path else None), name)

    def save(self, name):
        """Write the model to a file, which ``fdridge predict`` and ``fdridge show`` read."""
        self._solved()
        if self._model is None:
            raise ValueError("save: a model of partial_fit is saved by its sketch_")
        pathlib.Path(name).write_bytes(self._model_file())

    def _model_file(self):
        return self._bytes()

    def _bytes(self):
        """Return the bytes of the model file of the program."""
        return self._model.tobytes() if isinstance(self._model, Arrays) else self._model


def arrays_of(targets, features=1, alphas=1):
    """Return the size in bytes of a model as arrays, or 0 if it is written as JSON."""
    many = targets > _TARGETS or alphas * targets * features > _NUMBERS and alphas > 1
    return 8 * alphas * targets * features if many else 0


def text_flags(X, options):
    """Return the flags for options of text files. Only a file can have them."""
    if options and not _rows.is_file(X):
        _text.check_names(options, "")
    flags = _text.flags(options or {})
    if options and not _rows.is_file(X):
        raise ValueError(f"{next(iter(options))}: only a file of text has this option, and X is no file")
    return flags


def _check(estimator, name, kind, holds, words, optional=False):
    value = getattr(estimator, name)
    if optional and value is None:
        return
    is_flag = isinstance(value, (bool, np.bool_)) and kind in (Real, Integral)
    if is_flag or not isinstance(value, kind) or (holds is not None and not holds(value)):
        raise ValueError(f"{name}: {value!r} must be {words}")


def warn_of_candidates(old, new):
    """Warn of a call that a later version will not understand."""
    warnings.warn(
        f"{old} chooses among candidates. From version 0.2 on, only {new} does; a list as alpha is one penalty for "
        "each target, as in scikit-learn",
        FutureWarning,
        stacklevel=depth(),
    )
