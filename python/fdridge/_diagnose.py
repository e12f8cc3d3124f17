"""Diagnostics of the rows of a fit, by the program."""

import io
import json
import os

import numpy as np

from . import _rows
from ._program import Files, call, contents


def diagnose(estimator, X, y, sample_weight=None, plot=None):
    """Return diagnostics of the training rows of a fitted `Ridge` or `RidgeCV`.

    X, y and sample_weight must be those of the fit. The program reads them twice. plot is the name of a file, .png or
    .svg, to which leave-one-out residuals are drawn against leverages, or None.

    Returns a dict of arrays. ``leverage``, of shape (n_samples,), includes the intercept. ``residual`` is the target
    minus the prediction, and ``leave_one_out`` is the target minus the prediction by the exact fit to all other rows.
    Both have the shape of y. For each of the three, ``name_low`` and ``name_high`` are proved bounds on the figure of
    the exact solution, at the alpha of the estimator. ``leave_one_out_rmse`` has a bracket [low, high] for each target.
    """
    estimator._solved()
    if estimator._model is None:
        raise ValueError("diagnose: a model of partial_fit has no rows to diagnose; fit all rows at once")
    y = np.asarray(y, dtype=np.float64)
    shape = y.shape
    y = np.ascontiguousarray(y.reshape(len(y), -1))
    with Files() as files:
        args = ["diagnose", "--model", files.new(estimator._bytes()), "--worst", "0", "--json"]
        if _rows.is_table(X):
            X = _rows.matrix(X)[1]
        matrix = X.astype(np.float64) if _rows.is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        args += _rows.flags(X, matrix, files)
        args += ["--target", files.new(_rows.npy(y), y.nbytes)]
        if sample_weight is not None:
            weights = np.ascontiguousarray(sample_weight, dtype=np.float64).reshape(-1, 1)
            args += ["--weights", files.new(_rows.npy(weights), weights.nbytes)]
        if plot is not None:
            args += ["--worst", "10", "--plot", os.fspath(plot)]
        name = files.new()
        report = json.loads(call([*args, "--out", name, "--out-format", "npy"], files))
        figures = np.load(io.BytesIO(contents(name)))
    out = {"leverage": figures[:, 2], "leverage_low": figures[:, 3], "leverage_high": figures[:, 4]}
    for k, name in enumerate(["residual", "leave_one_out"]):
        for i, end in enumerate(["", "_low", "_high"]):
            out[name + end] = figures[:, 5 + 3 * k + i :: 6].reshape(shape)
    out["leave_one_out_rmse"] = np.array(report["leave_one_out_rmse"], dtype=np.float64)
    return out
