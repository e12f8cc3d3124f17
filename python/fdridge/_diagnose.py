"""Diagnostics of the rows of a fit, by the program."""

import io
import json
import os
import re

import numpy as np

from . import _rows
from ._program import Files, call, contents
from ._text import quoted


class Diagnostics(dict):
    """The result of `diagnose`: a dict of arrays with an entry for each row.

    Attributes
    ----------
    leave_one_out_rmse : ndarray of shape (n_targets, 2)
        A proved bracket [low, high] for each target: the root of the mean of weight·residual² over the rows, with
        leave-one-out residuals.
    """

    leave_one_out_rmse = None


def diagnose(estimator, X, y, sample_weight=None, plot=None):
    """Return diagnostics of the training rows of a fitted `Ridge` or `RidgeCV`.

    X, y and sample_weight must be those of the fit. The program reads them twice. For a table or a file, y can be the
    name of the target or a list of names, and sample_weight the name of a column. plot is the name of a file, .png or
    .svg, to which leave-one-out residuals are drawn against leverages, or None. The picture counts rows from 1.

    Returns a `Diagnostics`, a dict of arrays with an entry for each row of the fit. ``row`` is the index of the row in
    the data, from 0: the fit of a table leaves out rows without a target. ``leverage`` includes the intercept.
    ``residual`` is the target minus the prediction, and ``leave_one_out`` is the target minus the prediction by the
    exact fit to all other rows. Both have the shape of y, without the rows that are left out. ``leverage`` also has this
    shape if the targets have different alphas; otherwise it has one number for each row. For the last three,
    ``name_low`` and ``name_high`` are proved bounds on the figure of the exact solution, at the alpha of the estimator.
    The attribute ``leave_one_out_rmse`` has a bracket [low, high] for each target.
    """
    targets = _check(estimator)
    kinds = (str, int) if _rows.is_file(X) else str  # columns of a file also have numbers
    names = [y] if isinstance(y, kinds) else y
    is_named = isinstance(names, list) and all(isinstance(name, kinds) for name in names)
    if not is_named:
        y = np.asarray(y, dtype=np.float64)
        names = None
    one = np.ndim(y) < 2 and not isinstance(y, list)
    with Files() as files:
        args = ["diagnose", "--model", files.new(estimator._bytes()), "--worst", "0", "--json"]
        if estimator._prepared or is_named or _rows.is_file(X):
            args += [*_rows.data(X, files), *(estimator._reading if _rows.is_file(X) else [])]
        else:
            if _rows.is_table(X):
                X = _rows.matrix(X)[1]
            matrix = X.astype(np.float64) if _rows.is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
            args += _rows.flags(X, matrix, files)
        if is_named:
            count = len(names)
            args += ["--target", quoted(names)]
        else:
            y = np.ascontiguousarray(y.reshape(len(y), -1))
            count = y.shape[1]
            args += ["--target", files.new(_rows.npy(y), y.nbytes)]
        if count != targets:
            raise ValueError(f"diagnose: y has {count} targets, but the model has {targets}")
        if isinstance(sample_weight, str):
            args += ["--weights", sample_weight]
        elif sample_weight is not None:
            weights = np.ascontiguousarray(sample_weight, dtype=np.float64).reshape(-1, 1)
            args += ["--weights", files.new(_rows.npy(weights), weights.nbytes)]
        if plot is not None:
            args += ["--worst", "10", "--plot", os.fspath(plot)]
        name = files.new()
        try:
            report = json.loads(call([*args, "--out", name, "--out-format", "npy"], files))
        except ValueError as e:
            raise ValueError(_in_python(str(e))) from None
        figures = np.load(io.BytesIO(contents(name)))
    row = figures[:, 0].astype(np.int64) - 1
    out = Diagnostics(row=row)
    leverages = targets if "gammas" in report else 1
    ends = ["", "_low", "_high"]
    for i, end in enumerate(ends):
        values = figures[:, 2 + i : 2 + 3 * leverages : 3]
        out["leverage" + end] = values if leverages > 1 else values[:, 0]
    for k, name in enumerate(["residual", "leave_one_out"]):
        for i, end in enumerate(ends):
            values = figures[:, 2 + 3 * leverages + 3 * k + i :: 6]
            out[name + end] = values[:, 0] if one else values
    out.leave_one_out_rmse = np.array(report["leave_one_out_rmse"], dtype=np.float64)
    return out


def _check(estimator):
    """Return the number of targets of an estimator, or raise an error if it cannot be diagnosed."""
    if hasattr(estimator, "classes_"):
        raise ValueError("diagnose: residuals are numbers, and a classifier predicts labels; use Ridge or RidgeCV")
    if not hasattr(estimator, "_solved"):
        raise ValueError(
            f"diagnose: the estimator is a {type(estimator).__name__}, and must be a fitted Ridge or RidgeCV of this "
            "package; of a pipeline, pass pipeline[-1] and the rows pipeline[:-1].transform(X)"
        )
    estimator._solved()
    if estimator._model is None:
        raise ValueError("diagnose: a model of partial_fit has no rows to diagnose; fit all rows at once")
    return len(estimator._solution._coef)


def _in_python(message):
    """Return a message of the command without what only the command has."""
    message = re.sub(r"; repeat its .*", "; pass X, y and sample_weight as to fit", message)
    return re.sub(r"^data: ", "X: ", message)
