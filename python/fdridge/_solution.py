"""Solutions of ridge regression with the bounds that the program proved."""

import html
import io
import json
import os
import tempfile
import zipfile

import numpy as np

from ._criteria import SCORES
from ._program import Files, call, contents
from ._rows import is_sparse

EPS = 2.0**-52


def number(x):
    """Return a bound, or several, of the model file; null is an infinite one."""
    if isinstance(x, list):
        return [number(one) for one in x]
    return np.inf if x is None else x


def brackets(value):
    """Return a list of brackets. A record has a list of them, or one bracket if there is one target."""
    if not value:
        return []
    return value if isinstance(value[0], list) else [value]


def unwrapped(value):
    """Return the only number or bracket of a list, or the list."""
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    return value


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
        self.record = record
        self.choice = choice
        alphas = record.get("gammas")
        self.alpha = float(record["gamma"]) if alphas is None else np.array(alphas, dtype=np.float64)
        self.method = record["method"]
        self.status = record.get("status", record["stop"])
        self.passes = record["passes"]
        self.converged = record["converged"]
        self.error_bound = _bound_of(record, "error_bound")
        self.relative_error_bound = _bound_of(record, "relative_error_bound")
        self.intercept_bound = _bound_of(record, "intercept_bound")
        self.effective_dimension = unwrapped(record.get("effective_dimension"))
        self.rss = unwrapped(record.get("rss"))
        self.gcv = unwrapped(record.get("gcv"))
        self.r2 = unwrapped(record.get("r2_bracket"))

    def _lines(self):
        """Yield the names and the texts of what is proved. At most six targets are shown."""
        chosen = f" ({_chosen(self.choice)})" if self.choice else ""
        yield "alpha", _few(f"{a:.6g}" for a in np.atleast_1d(self.alpha)) + chosen
        yield "method", f"{self.method}, {self.passes} pass{'es' if self.passes != 1 else ''}, {self.status}"
        yield "relative error of coefficients", "at most " + _bounds(self.relative_error_bound)
        yield "error of intercept", "at most " + _bounds(self.intercept_bound)
        for name, value in (
            ("R² of training rows", self.r2),
            ("effective dimension", self.effective_dimension),
            ("GCV", self.gcv),
        ):
            if value:
                yield name, "; ".join(_digits(low, high) for low, high in brackets(value)[:6])

    def __repr__(self):
        return "\n".join(f"{name}: {text}" for name, text in self._lines())

    def _repr_html_(self):
        left = "style='text-align:left'"
        rows = [
            f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
            for name, text in self._lines()
        ]
        return f"<table><caption>Proved by fdridge</caption>{''.join(rows)}</table>"


def _bound_of(record, name):
    """Return a bound. If columns were scaled, the record has one in the units of the file besides."""
    return number(unwrapped(record.get("coef_" + name, record.get(name))))


def _few(texts):
    """Join the first six texts."""
    texts = list(texts)
    return ", ".join(texts[:6]) + (", …" if len(texts) > 6 else "")


def _bounds(values):
    return _few("unproved" if not x < np.inf else f"{x:.3g}" for x in np.atleast_1d(values))


def _digits(low, high):
    """Return the digits that two ends of a bracket share, or the bracket."""
    if low is None or high is None or np.isinf(low) or np.isinf(high):
        return "unknown"
    for digits in range(12, 2, -1):
        if f"{low:.{digits}g}" == f"{high:.{digits}g}":
            return f"{low:.{digits}g}"
    return f"[{low:.4g}, {high:.4g}]"


def _chosen(choice):
    """Return how alpha was chosen, in words."""
    by = SCORES.get(choice["by"], choice["by"])
    if "candidates" in choice:  # one alpha for each target
        return f"smallest {by} of {len(choice['candidates'])} candidates, proved for {choice['proved']} targets"
    kind = "proved" if choice.get("certain") else "estimated"
    return f"smallest {by} of {len(choice.get('path') or [])} candidates, {kind}"


class Solution:
    """The solution for one alpha, or for one alpha for each target.

    Attributes
    ----------
    coef : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept : float or ndarray of shape (n_targets,)
    has_intercept : bool
    alpha : float or ndarray of shape (n_targets,)
    certificate : Certificate
    report : str
        What ``fdridge --json`` printed.
    standard_errors : dict of ndarray, or None
        See `Ridge.standard_errors_`. If it is None although it was wanted, ``no_standard_errors`` has the reason.
    """

    standard_errors = None
    no_standard_errors = None

    def __init__(self, fit, choice, report, model):
        preparation = set(model["preparation"]) - {"inputs", "names"}
        self._prepared = bool(preparation or "folded_scaling" in model or "penalty" in model)
        self._ravel = False
        self.has_intercept = model["intercept_fitted"]
        self._coef = np.atleast_2d(np.asarray(fit.pop("coef"), dtype=np.float64))
        self._intercept = np.atleast_1d(np.array(fit["intercept"], dtype=np.float64))
        self.certificate = Certificate(fit["certificate"], choice)
        self.report = report

    @property
    def alpha(self):
        return self.certificate.alpha

    @property
    def coef(self):
        return self._coef[0] if self._ravel else self._coef

    @property
    def intercept(self):
        return float(self._intercept[0]) if self._ravel else self._intercept

    def __repr__(self):
        count = len(self._coef)
        targets = f", {count} targets" if count > 1 else ""
        error = np.max(self.certificate.relative_error_bound)
        bound = f"{error:.2g}" if error < np.inf else "unproved"
        alpha = _few(f"{a:.6g}" for a in np.atleast_1d(self.alpha))
        return f"<Solution: alpha {alpha}, {self._coef.shape[1]} features{targets}, relative error at most {bound}>"

    def predict(self, X, return_bound=False):
        """Predict the targets of rows, of shape (n_samples,) or (n_samples, n_targets), see `Ridge.predict`."""
        if self._prepared:
            raise ValueError(
                "the program prepared the rows (scaled, encoded or expanded columns): predict by fdridge predict"
            )
        X = X.astype(np.float64) if is_sparse(X) else np.asarray(X, dtype=np.float64)
        y = self._predict(X, return_bound)
        if not self._ravel:
            return y
        return tuple(a[:, 0] for a in y) if return_bound else y[:, 0]

    def _predict(self, X, return_bound=False, out=None):
        """Return the predictions of rows, of shape (n_samples, n_targets). They are written to out if it is given."""
        if out is None:
            y = np.asarray(X @ self._coef.T) + self._intercept
        else:
            y = self._predict_into(X, out)
        return (y, self._bound(X)) if return_bound else y

    def _predict_into(self, X, out):
        """Write predictions to an array, such as a memory map, in blocks of rows and targets of about 8 MiB."""
        t = len(self._coef)
        y = as_columns(out, X.shape[0], t)
        width = min(t, 1 << 10)
        step = max(1, (1 << 20) // max(1, width))
        for i in range(0, X.shape[0], step):
            rows = X[i : i + step]
            for j in range(0, t, width):
                part = slice(j, j + width)
                y[i : i + step, part] = np.asarray(rows @ self._coef[part].T) + self._intercept[part]
        return y

    def _bound(self, X):
        """Return bounds on |y − (x·w* + b*)| for the float64 numbers y that predict returns.

        |y − (x·w* + b*)| ≤ ‖x‖·‖w − w*‖ + |b − b*| + |y − (x·w + b)|. The first two have proved bounds. A sum of
        d products and b, in any order, with or without fused products, has an error of at most
        (d + 1)·2⁻⁵²·(Σ|xⱼwⱼ| + |b|), and each underflow adds at most 2⁻¹⁰⁷⁴ (Higham, Accuracy and Stability, §3.1).
        The computed ‖x‖ and Σ|xⱼwⱼ| have relative errors of at most (d + 2)·2⁻⁵² themselves, and squares that
        underflow take at most √d·2⁻⁵³⁷ from ‖x‖. slack covers these factors; the last line covers the rounding of
        the bound. Overflow gives an infinite bound.
        """
        d = self._coef.shape[1]
        slack, tiny = (d + 8) * EPS, (d + 8) * 2.0**-537
        size = abs(X)
        squares = size.multiply(size).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = np.sqrt(np.asarray(squares, dtype=np.float64).reshape(-1, 1)) * (1 + slack) + tiny
            terms = np.asarray(size @ abs(self._coef.T)) * (1 + slack) + abs(self._intercept)
            error = np.atleast_1d(self.certificate.error_bound)
            bound = norm * error + np.atleast_1d(self.certificate.intercept_bound)
            bound = bound + (slack * terms + tiny * 2.0**-500)
            bound = bound * (1 + 16 * EPS) + 2.0**-1070
        return np.where(np.isnan(bound), np.inf, bound)


def as_columns(out, n, t):
    """Return an array for predictions as a view of shape (n, t), or raise an error."""
    if t == 1 and out.shape == (n,):
        return out[:, None]
    if out.shape != (n, t):
        raise ValueError(f"out: the array has the shape {out.shape}, but the predictions have {(n, t)}")
    return out


class Picture(bytes):
    """A picture as PNG that a notebook shows."""

    def __repr__(self):
        width, height = (int.from_bytes(self[i : i + 4], "big") for i in (16, 20))
        return f"<Picture: PNG of {width} × {height} pixels, {len(self):,} bytes>"

    __str__ = __repr__

    def _repr_png_(self):
        width = int.from_bytes(self[16:20], "big")
        return bytes(self), {"width": width // 2}


def draw(content, kind, name=None):
    """Draw bytes of a report or a sketch by ``fdridge plot``. name is a file, .png or .svg, or None."""
    with Files() as files, tempfile.TemporaryDirectory(prefix="fdridge-") as folder:
        to = os.path.join(folder, "picture.png") if name is None else os.fspath(name)
        kinds = ["--kind", kind] if kind else []
        call(["plot", files.new(content), *kinds, "--out", to], files)
        if name is not None:
            return None
        with open(to, "rb") as f:
            return Picture(f.read())


class Arrays:
    """A model as arrays, which solutions share. header has what is not in an array, see docs/model.md."""

    def __init__(self, name):
        with open(name, "rb") as f, np.load(f) as archive:
            self.header = json.loads(archive[_HEADER])
            self.members = {key: archive[key] for key in archive.files if key != _HEADER}

    def fits(self, has_gammas):
        """Return the fits with the lists of a JSON model. has_gammas: each target has its own gamma."""
        fits = self.header["models"]
        count = len(self.members["coef"]) // len(fits)
        found = []
        for i, fit in enumerate(fits):
            rows = {key: a if len(fits) == 1 else a[i * count : (i + 1) * count] for key, a in self.members.items()}
            record = dict(fit["certificate"])
            for key in _RECORDED:
                if key in rows:
                    record[key] = (rows[key][:, 0] if rows[key].shape[1] == 1 else rows[key]).tolist()
            if has_gammas:
                record["gammas"] = rows["gamma"][:, 0].tolist()
            found.append({**fit, "coef": rows["coef"], "intercept": rows["intercept"][:, 0], "certificate": record})
        return found

    def tobytes(self, **fields):
        """Return the bytes of the file. fields are added to the header."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(_HEADER, json.dumps({**self.header, **fields}))
            for key, a in self.members.items():
                with archive.open(key + ".npy", "w", force_zip64=True) as to:
                    np.lib.format.write_array(to, a, version=(1, 0))
        return file.getvalue()


_HEADER = "fdridge_model.json"
_RECORDED = (
    "error_bound",
    "relative_error_bound",
    "energy_bound",
    "intercept_bound",
    "coef_error_bound",
    "coef_relative_error_bound",
    "objective",
    "rss",
    "gcv",
    "r2_bracket",
)


def solve(args, files, *, verbose=False, arrays=0):
    """Run fit or solve. Return a Solution for each alpha, the model, and the model's fields as a dict.

    The model is the bytes of a JSON file, or `Arrays` if arrays is their expected size in bytes.
    """
    name = files.new(size=arrays)
    args = [*args, "--out", name, "--json", "--log-format", "json" if verbose else "none"]
    report = call([*args, "--out-format", "npz"] if arrays else args, files, verbose=verbose).decode()
    if arrays:
        model = Arrays(name)
        header, fits = model.header, model.fits("--per-target" in args)
    else:
        model = contents(name)
        header = json.loads(model)
        fits = header["models"]
    told = json.loads(report)
    choice = told.get("choice") or told.get("per_target")
    solutions = [Solution(fit, choice, report, header) for fit in fits]
    for solution, record in zip(solutions, told.get("standard_errors") or []):
        solution.standard_errors = errors_of(record)
    for solution in solutions:
        solution.no_standard_errors = told.get("no_standard_errors")
    return solutions, model, header


def errors_of(record):
    """Return standard errors as arrays, from the list of the program's report, which has an element for each target."""
    out = {}
    for name, values in (
        ("sigma", [one["sigma"] for one in record]),
        ("coef_sampling", [one["sampling"] for one in record]),
        ("coef_posterior", [one["posterior"] for one in record]),
        ("intercept_sampling", [one.get("intercept_sampling") for one in record]),
        ("intercept_posterior", [one.get("intercept_posterior") for one in record]),
    ):
        if None in values:
            continue
        pairs = np.array([number(one) for one in values], dtype=np.float64)
        low, high = pairs[..., 0], pairs[..., 1]
        out[name], out[name + "_low"], out[name + "_high"] = (low + high) / 2, low, high
    return out


def flags_of(*, tol, method="auto", max_passes=None, threads=None):
    """Return the flags of fit and solve that do not concern alpha."""
    flags = ["--tol", repr(float(tol)), "--method", method]
    if max_passes is not None:
        flags += ["--max-passes", str(int(max_passes))]
    if threads is not None:
        flags += ["--threads", str(int(threads))]
    return flags


def penalties(values, name, *, positive=False):
    """Return penalties as an array of float64, or raise an error. positive: 0 is an error."""
    try:
        array = np.asarray(np.nan if isinstance(values, str) else values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    good = (array > 0 if positive else array >= 0) & (array < np.inf)
    if not array.size or not np.all(good):
        least = "positive" if positive else "at least 0"
        raise ValueError(f"{name}: {values!r} must be a number, or several, that are {least} and finite")
    return array


def listed(values):
    """Return numbers as one text for a flag, with all their digits."""
    return ",".join(map(repr, np.ravel(values).tolist()))
