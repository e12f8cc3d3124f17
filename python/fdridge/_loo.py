"""Leave-one-out predictions with proved bounds.

The prediction for row i of the model that is fitted without row i is yᵢ − eᵢ/(1 − hᵢ). eᵢ = yᵢ − ŷᵢ is the residual of
all rows, and hᵢ the leverage (Cook & Weisberg, Residuals and Influence in Regression, 1982). The program bounds the
error of ŷᵢ. docs/math.md has the proof of the bound of hᵢ.
"""

import numpy as np

from ._rows import is_sparse

UNIT = 2.0**-52  # twice the unit round-off


class Leverages:
    """The leverages of rows for any alpha.

    X̃ has the rows √wᵢ·(xᵢ − x̄). Its smaller Gram matrix is decomposed once.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    sample_weight : ndarray of shape (n_samples,) or None
    fit_intercept : bool
    """

    def __init__(self, X, sample_weight, fit_intercept):
        X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
        n, d = X.shape
        weights = np.ones(n) if sample_weight is None else sample_weight
        total = weights.sum()
        mean = weights @ X / total if fit_intercept else np.zeros(d)
        rows = (X - mean) * np.sqrt(weights)[:, None]

        # The error of a row: the rounding of the mean, of the difference and of the product.
        size = np.abs(X).max(axis=0, initial=0) if fit_intercept else np.zeros(d)
        of_mean = (n + 4) * UNIT * np.linalg.norm(size)
        self._norms = np.linalg.norm(rows, axis=1)
        self._row_error = 4 * UNIT * self._norms + np.sqrt(weights) * of_mean
        k = min(n, d)
        self._row_error += (k + 4) * np.sqrt(k) * UNIT * self._norms  # and of its products with the eigenvectors
        self._share = weights / total if fit_intercept else np.zeros(n)
        whole = float(np.linalg.norm(rows))
        moved = float(np.linalg.norm(self._row_error))

        self._dual = d > n
        gram = rows @ rows.T if self._dual else rows.T @ rows
        values, vectors = np.linalg.eigh(gram)
        self._values = np.maximum(values, 0)
        residual = np.linalg.norm(gram @ vectors - vectors * self._values)
        self._skew = float(np.linalg.norm(vectors.T @ vectors - np.eye(k))) + 2 * k * k * UNIT
        top = whole**2
        # The distance of the exact Gram matrix from the decomposition: moved rows, the sums, and the residual.
        self._distance = (
            moved * (2 * whole + moved)
            + (max(n, d) + 4) * UNIT * top
            + residual * (1 + self._skew)
            + (k + 4) * UNIT * k * top
            + 4 * self._skew * top
        )
        if self._skew > 0.01:
            self._distance = np.inf
        self._squares = (vectors if self._dual else rows @ vectors) ** 2

    def of(self, alpha):
        """Return 1 − hᵢ for each row, and bounds on their errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = 1 / (self._values + alpha)
            least = alpha
            if not self._dual:
                least += max(float(self._values.min()) * (1 - self._skew) - self._distance, 0.0)
            distance = self._distance + 4 * alpha * self._skew
            relative = distance / (least - distance) if least > distance else np.inf
            relative += 4 * (len(self._values) + 4) * UNIT
            form = self._squares @ inverse
            if self._dual:
                left = alpha * form - self._share
                error = alpha * form * relative + 8 * UNIT * (alpha * form + self._share)
            else:
                left = 1 - form - self._share
                # √(xᵀK⁻¹x) is a norm, so the error of a row moves it by at most the error over √least.
                root = np.sqrt(form * (1 + relative)) + self._row_error / np.sqrt(least)
                error = root**2 - form + form * min(relative, 1.0) + 8 * UNIT
        return left, np.where(np.isnan(error), np.inf, error)


def predictions(solution, X, y, leverages):
    """Return the leave-one-out residuals of a solution, of shape (n_samples, n_targets), and bounds on their errors.

    The bounds are infinite for rows whose leverage cannot be distinguished from 1.
    """
    predicted, bound = solution._predict(X, return_bound=True)
    residual = y - predicted
    bound = bound + 2 * UNIT * np.abs(residual)
    left, error = (a[:, None] for a in leverages.of(solution.alpha))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        loo = residual / left
        # |e/a − e'/a'| ≤ (|e − e'| + |e/a|·|a − a'|)/|a'|
        least = left - error
        off = (bound + np.abs(loo) * error) / least * (1 + 8 * UNIT) + 4 * UNIT * np.abs(loo)
        off = np.where((least > 0) & np.isfinite(off), off, np.inf)
    return loo, off
