"""Solutions of ridge regression with the bounds that the program proved."""

import html
import json
import os
import tempfile

import numpy as np

from ._program import Files, call, contents
from ._rows import is_sparse

EPS = 2.0**-52


def alone(x):
    """Return the only value of a list, or all values: attributes of a single target are no lists."""
    return x[0] if isinstance(x, list) and len(x) == 1 else x


def number(x):
    """Return a bound, or several, of the model file; null is an infinite one."""
    return [number(one) for one in x] if isinstance(x, list) else np.inf if x is None else x


class Certificate:
    """What is proved about one solution.

    Attributes
    ----------
    alpha : float
        The penalty of ‖y − Xw‖² + alpha·‖w‖².
    method, status : str
        How the solution was computed, and why the method ended.
    passes : int
        Passes over the rows.
    converged : bool
        True if the tolerance is certified.
    error_bound, relative_error_bound, intercept_bound : float or list of float
        Bounds on ‖w − w*‖, ‖w − w*‖/‖w*‖ and the error of the intercept, for each target. w* is the exact solution
        for the rows as float64. All are in the units of the file.
    effective_dimension, rss, gcv, r2 : list
        Brackets [low, high] for the exact solution; rss and R² are those of the coefficients. They belong to the
        training rows. A list of brackets if there are several targets.
    choice : dict or None
        How alpha was chosen: the criterion ``by``, ``certain``, and the ``path`` with the brackets of all candidates.
    """

    def __init__(self, record, choice=None):
        self.record, self.choice = record, choice
        self.alpha, self.method = float(record["gamma"]), record["method"]
        self.status, self.passes = record.get("status", record["stop"]), record["passes"]
        self.converged = record["converged"]
        bounds = ("error_bound", "relative_error_bound", "intercept_bound")
        self.error_bound, self.relative_error_bound, self.intercept_bound = (
            number(alone(record.get("coef_" + name, record.get(name)))) for name in bounds
        )
        brackets = ("effective_dimension", "rss", "gcv", "r2_bracket")
        self.effective_dimension, self.rss, self.gcv, self.r2 = (alone(record.get(name)) for name in brackets)

    def _lines(self):
        def bound(x):
            return ", ".join("unproved" if not x < np.inf else f"{x:.3g}" for x in np.atleast_1d(x)[:6])

        def bracket(x):
            pairs = [x] if x and not isinstance(x[0], list) else x or []
            return "; ".join("unknown" if a is None or b is None else _digits(a, b) for a, b in pairs[:6])

        yield "alpha", f"{self.alpha:.6g}" + (f" ({_chosen(self.choice)})" if self.choice else "")
        yield "method", f"{self.method}, {self.passes} pass{'es' if self.passes != 1 else ''}, {self.status}"
        yield "relative error of coefficients", "at most " + bound(self.relative_error_bound)
        yield "error of intercept", "at most " + bound(self.intercept_bound)
        for name, value in (("R² of training rows", self.r2), ("effective dimension", self.effective_dimension), ("GCV", self.gcv)):
            if value:
                yield name, bracket(value)

    def __repr__(self):
        return "\n".join(f"{name}: {text}" for name, text in self._lines())

    def _repr_html_(self):
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(a)}</th><td style='text-align:left'>{html.escape(b)}</td></tr>" for a, b in self._lines())
        return f"<table><caption>Proved by fdridge</caption>{rows}</table>"


def _digits(low, high):
    """Return the digits that two ends of a bracket share, or the bracket."""
    for digits in range(12, 2, -1):
        if f"{low:.{digits}g}" == f"{high:.{digits}g}":
            return f"{low:.{digits}g}"
    return f"[{low:.4g}, {high:.4g}]"


def _chosen(choice):
    names = {"loo": "leave-one-out error", "gcv": "GCV", "cv": "cross-validated error"}
    by, kind = names.get(choice["by"], choice["by"]), "proved" if choice.get("certain") else "estimated"
    return f"smallest {by} of {len(choice.get('path') or [])} candidates, {kind}"


class Solution:
    """The solution for one alpha.

    Attributes
    ----------
    coef : ndarray of shape (n_targets, n_features)
    intercept : ndarray of shape (n_targets,)
    has_intercept : bool
    alpha : float
    certificate : Certificate
    report : str
        What ``fdridge --json`` printed.
    """

    def __init__(self, fit, choice, report, model):
        self._prepared = bool(set(model["preparation"]) - {"inputs", "names"} or "folded_scaling" in model or "penalty" in model)
        self.has_intercept = model["intercept_fitted"]
        self.coef = np.atleast_2d(np.array(fit["coef"], dtype=np.float64))
        self.intercept = np.atleast_1d(np.array(fit["intercept"], dtype=np.float64))
        self.certificate, self.report = Certificate(fit["certificate"], choice), report
        self.alpha = self.certificate.alpha

    def predict(self, X, return_bound=False):
        """Predict the targets of rows, of shape (n_samples, n_targets), see `Ridge.predict`."""
        if self._prepared:
            raise ValueError("the program prepared the rows (scaled, encoded or expanded columns): predict by fdridge predict")
        X = X.astype(np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)
        y = np.asarray(X @ self.coef.T) + self.intercept
        return (y, self._bound(X)) if return_bound else y

    def _bound(self, X):
        """Return bounds on |y − (x·w* + b*)| for the float64 numbers y that predict returns.

        |y − (x·w* + b*)| ≤ ‖x‖·‖w − w*‖ + |b − b*| + |y − (x·w + b)|. The first two have proved bounds. A sum of
        d products and b, in any order, with or without fused products, has an error of at most
        (d + 1)·2⁻⁵²·(Σ|xⱼwⱼ| + |b|), and each underflow adds at most 2⁻¹⁰⁷⁴ (Higham, Accuracy and Stability, §3.1).
        The computed ‖x‖ and Σ|xⱼwⱼ| have relative errors of at most (d + 2)·2⁻⁵² themselves, and squares that
        underflow take at most √d·2⁻⁵³⁷ from ‖x‖. slack covers these factors; the last line covers the rounding of
        the bound. Overflow gives an infinite bound.
        """
        d = self.coef.shape[1]
        slack, tiny = (d + 8) * EPS, (d + 8) * 2.0**-537
        size = abs(X)
        squares = size.multiply(size).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = np.sqrt(np.asarray(squares, dtype=np.float64).reshape(-1, 1)) * (1 + slack) + tiny
            terms = np.asarray(size @ abs(self.coef.T)) * (1 + slack) + abs(self.intercept)
            error = np.atleast_1d(np.array(self.certificate.error_bound, dtype=np.float64))
            bound = norm * error + np.atleast_1d(number(self.certificate.intercept_bound)) + (slack * terms + tiny * 2.0**-500)
            bound = bound * (1 + 16 * EPS) + 2.0**-1070
        return np.where(np.isnan(bound), np.inf, bound)


class Picture(bytes):
    """A picture as PNG that a notebook shows."""

    def _repr_png_(self):
        width = int.from_bytes(self[16:20], "big")
        return bytes(self), {"width": width // 2}


def draw(content, kind, name=None):
    """Draw bytes of a report or a sketch by ``fdridge plot``. name is a file, .png or .svg, or None."""
    with Files() as files, tempfile.TemporaryDirectory(prefix="fdridge-") as folder:
        to = os.path.join(folder, "picture.png") if name is None else os.fspath(name)
        call(["plot", files.new(content), *(["--kind", kind] if kind else []), "--out", to], files)
        if name is not None:
            return None
        with open(to, "rb") as f:
            return Picture(f.read())


def solve(args, files, *, verbose=False):
    """Run fit or solve, and return a Solution for each alpha and the model file."""
    name = files.new()
    args = [*args, "--out", name, "--json", "--log-format", "json" if verbose else "none"]
    report = call(args, files, verbose=verbose).decode()
    text = contents(name)
    of, choice = json.loads(text), json.loads(report).get("choice")
    return [Solution(fit, choice, report, of) for fit in of["models"]], text


def options(alpha, *, tol, select=None, method="auto", max_passes=None, threads=None):
    """Return the flags of fit and solve."""
    if isinstance(alpha, str) and alpha == "auto":
        gamma = "auto"
    else:
        try:
            values = np.asarray(np.nan if isinstance(alpha, str) else alpha, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.array(np.nan)
        if not values.size or not np.all((values >= 0) & (values < np.inf)):
            raise ValueError(f'alpha: {alpha!r} must be "auto", or a number or numbers that are at least 0 and finite')
        gamma = ("auto:" if values.ndim else "") + ",".join(map(repr, values.ravel().tolist()))
    flags = ["--gamma", gamma, "--tol", repr(float(tol)), "--method", method]
    if select and gamma.startswith("auto"):
        flags += ["--select", select]
    for flag, value in (("--max-passes", max_passes), ("--threads", threads)):
        flags += [] if value is None else [flag, str(int(value))]
    return flags
