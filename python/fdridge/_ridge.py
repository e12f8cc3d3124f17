"""Ridge regression for one penalty, with scikit-learn's interface."""

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ._base import BaseRidge, warn_of_candidates
from ._criteria import check_select
from ._solution import listed, penalties


def penalty_flags(alpha, targets, select, old, new):
    """Return the program's flags for alpha.

    One number is the penalty of all targets, and an array has one for each target. "auto", and a list with another
    number of entries than there are targets, choose among candidates; they are understood for one more version.
    """
    if isinstance(alpha, str) and alpha == "auto":
        warn_of_candidates(f'{old}(alpha="auto")', f'{new}(alphas="auto")')
        return ["--gamma", "auto", "--select", select]
    values = penalties(alpha, "alpha")
    if values.ndim == 0 or values.shape == (1,) and targets == 1:
        return ["--gamma", listed(values)]
    if values.shape == (targets,):
        return ["--gamma", listed(values), "--per-target"]
    if values.ndim > 1:
        raise ValueError(f"alpha: an array of shape {values.shape} must be a number, or one for each of {targets} targets")
    plural = "s" if targets > 1 else ""
    warn_of_candidates(f"{old}(alpha=…) with {len(values)} penalties for {targets} target{plural}", f"{new}(alphas=…)")
    return ["--gamma", "auto:" + listed(values), "--select", select]


class Ridge(MultiOutputMixin, RegressorMixin, BaseRidge):
    """Ridge regression with proved error bounds.

    Minimises ‖y − Xw‖² + alpha·‖w‖², with sample weights on the squares of the first term. The intercept is not
    penalised. The estimator takes the place of scikit-learn's `Ridge`.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,)
        The penalty, or one for each target.
    fit_intercept : bool
        Whether to fit an intercept.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Maximum number of passes after the first, for methods that iterate.
    tol : float
        The relative error of the coefficients to certify. If it is not reached, a ``ConvergenceWarning`` is issued,
        and ``certificate_`` has the bound that was proved.
    solver : str
        A name of a solver of scikit-learn. It has no effect: all minimise the same function, see `method`.
    positive : bool
        Must be False.
    random_state
        Has no effect: results do not depend on random numbers.
    method : str
        "auto", "exact", "cg", "galerkin" or another method of ``fdridge fit --method``.
    select : {"loo", "gcv", "cv", "evidence"}
        How alpha is chosen among candidates. Use `RidgeCV` instead.
    size : int
        Number of rows of the sketch, for methods that use one and for `partial_fit`.
    max_passes : int, optional
        Maximum number of passes after the first.
    n_jobs : int, optional
        Number of threads; None means ``OMP_NUM_THREADS`` or all cores, -1 all cores.
    verbose : bool
        Whether to show progress.
    standard_errors : bool
        Whether to compute ``standard_errors_`` and ``coef_std_error_``, by one more pass over the rows.
    target : str or list of str, optional
        Columns of a table that are targets.
    columns : list of str, optional
        Columns of a table that are features. By default all others are.
    prepare : "auto" or str, optional
        "auto" decides what becomes of each column of a table: numbers, categories, dates, missing values. A file name
        is a plan of ``fdridge fit --prepare-out``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float or ndarray of shape (n_targets,)
        The penalty that was used.
    n_iter_ : ndarray of shape (n_targets,)
        Number of passes over the rows.
    solver_ : str
        The method that solved the system.
    error_bound_ : float or ndarray of shape (n_targets,)
        Proved bound on ‖coef_ − w*‖, where w* is the exact solution.
    certificate_ : Certificate
        All that is proved.
    coef_std_error_ : ndarray of the shape of coef_
        With `standard_errors`: ``standard_errors_["coef_sampling"]``.
    standard_errors_ : dict of ndarray
        With `standard_errors`: standard deviations of the coefficients and of the intercept, if the noise of the targets is
        independent and has the same variance. "coef_sampling" and "intercept_sampling" are those over repeated samples
        with the same features. "coef_posterior" and "intercept_posterior" are those given the data, if the coefficients
        are normal a priori. "sigma" is the estimated deviation of the noise. For each name, ``name_low`` and
        ``name_high`` are proved bounds.
    n_features_in_, feature_names_in_
        Features of the rows, and their names if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from fdridge import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = X @ [1.0, -2.0, 0.5] + 4 + 0.1 * rng.standard_normal(200)
    >>> model = Ridge(alpha=0.1).fit(X, y)
    >>> model.coef_.round(1)
    array([ 1. , -2. ,  0.5])
    >>> y_pred, bound = model.predict(X, return_bound=True)
    >>> bool(bound.max() < 1e-8)
    True
    """

    def __init__(
        self,
        alpha=1.0,
        *,
        fit_intercept=True,
        copy_X=True,
        max_iter=None,
        tol=1e-8,
        solver="auto",
        positive=False,
        random_state=None,
        method="auto",
        select="loo",
        size=256,
        max_passes=None,
        n_jobs=None,
        verbose=False,
        standard_errors=False,
        target=None,
        columns=None,
        prepare=None,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.method = method
        self.select = select
        self.size = size
        self.max_passes = max_passes
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.standard_errors = standard_errors
        self.target = target
        self.columns = columns
        self.prepare = prepare

    def fit(self, X, y=None, sample_weight=None, *, target=None, columns=None, prepare=None, **text):
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or file name
            Rows. The program reads a file itself: csv, JSON lines, svmlight, npy, npz, Parquet or Arrow.
            It also reads the file of a ``np.memmap`` of a whole .npy file.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Targets, unless `target` names them.
        sample_weight : array-like of shape (n_samples,) or str, optional
            Sample weights; for tables also the name of their column.
        target, columns, prepare
            Come before the parameters of the estimator with the same name.
        **text
            How a file of text is written, if detection fails. `predict` uses the same options. Those with a name of
            ``pandas.read_csv`` mean the same:

            - sep: the character between the fields.
            - decimal: the decimal mark, "." or ",".
            - header: the number of the line with the names, None for a file without names, or "infer".
            - na_values: a text or number that stands for a missing value, or a list.
            - skiprows: the number of lines to skip, or a list of lines that are counted from 0.
            - comment: the character with which lines begin that are skipped.
            - escapechar: the character before a quote within quotes: a backslash, or a quote.
            - first_index: the smallest index of svmlight rows: 0, 1 or "auto".
        """
        self._check_parameters()
        return self._fit_any(
            X, y, sample_weight, self._penalty_flags, target=target, columns=columns, prepare=prepare, text=text
        )

    def _check_parameters(self):
        super()._check_parameters()
        check_select(self.select)
        if not (isinstance(self.alpha, str) and self.alpha == "auto"):
            penalties(self.alpha, "alpha")

    def _penalty_flags(self, targets):
        return penalty_flags(self.alpha, targets, self.select, "Ridge", "RidgeCV")

    def partial_fit(self, X, y, sample_weight=None):
        """Add rows to a sketch, in constant memory. The first attribute or prediction that is read solves it.

        The parameters are those of `Sketch.partial_fit`. After `fit`, the first call starts anew.
        """
        self._check_parameters()
        if np.ndim(self.alpha) > 0 or isinstance(self.alpha, str):
            warn_of_candidates("Ridge.partial_fit with several penalties", "RidgeCV.partial_fit")
        return self._add_rows(X, y, sample_weight, self.alpha)

    @property
    def standard_errors_(self):
        solution = self._solved()
        if solution.standard_errors is None:
            raise AttributeError(solution.no_standard_errors or "standard errors need fit with standard_errors=True")
        shape = np.shape(self.coef_)
        out = {}
        for name, values in solution.standard_errors.items():
            out[name] = values.reshape(shape) if name.startswith("coef") else self._of_target(values)
        return out

    @property
    def coef_std_error_(self):
        return self.standard_errors_["coef_sampling"]

    def score(self, X, y=None, sample_weight=None):
        """Return R² of the predictions.

        For a data frame X, y can be the name of a column. If y is None, it is the columns `target` of the constructor.
        y must have no missing values.
        """
        name = self.target if y is None else y if isinstance(y, str) else None
        if name is not None:
            y = X[name]
        return RegressorMixin.score(self, X, y, sample_weight)

    def predict(self, X, return_bound=False, out=None, *, target=None, **text):
        """Predict the targets of rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or file name
            Rows. Those of a table that was prepared need the same columns.
        return_bound : bool
            Also return proved bounds on the difference to the prediction of the exact solution.
        out : ndarray of shape (n_samples,) or (n_samples, n_targets), optional
            Where the predictions are written, block by block. It may be a ``np.memmap``.
        target : str, int or list, optional
            Columns of a file that are no features. A file without names needs it if it has the targets too.
        **text
            How a file of text is written, see `fit`. By default it is written as the file of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets), or two of them
        """
        y = self._predict_targets(X, return_bound, out, target, text)
        if out is not None:
            return (out, self._shaped(y[1])) if return_bound else out
        return tuple(map(self._shaped, y)) if return_bound else self._shaped(y)

    def _shaped(self, values):
        return values[:, 0] if self._has_one_dimension() else values
