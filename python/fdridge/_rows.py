"""Turns arrays, sparse matrices and data frames into rows for the program."""

import io
import math
import os

import numpy as np

from . import _arrow, _capsule
from ._capsule import is_table
from ._program import lends


def is_sparse(X):
    return hasattr(X, "tocsr")


def is_file(X):
    return isinstance(X, (str, os.PathLike))


def is_frame(X):
    """Report whether X is a data frame of pandas."""
    return hasattr(X, "columns") and hasattr(X, "iloc")


def flags(original, X, files):
    """Return the flags that name the rows of an array or a sparse matrix. original is what X was made from."""
    path = mapped(original)
    if path is not None:
        return ["--data", path, "--format", "npy"]
    if lendable(X):
        return ["--data", files.lend(header(X), X), "--format", "npy"]
    if is_sparse(X):
        return ["--data", files.archive(csr(X)), "--format", "npz"]
    return ["--data", files.new(npy(X), X.nbytes), "--format", "npy"]


def refuse_texts(X, reason):
    """Raise an error that names the first column of a data frame that is not numeric, if there is one."""
    if not is_frame(X):
        return
    for j, name in enumerate(X.columns):
        column = X.iloc[:, j]
        try:
            column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (ValueError, TypeError):
            kind = "dates" if getattr(column.dtype, "kind", "O") == "M" else "texts"
            raise ValueError(
                f'column {name!r} has {kind}, but numbers are needed: use prepare="auto", or encode the column'
            ) from reason


def matrix(X):
    """Return the names and the numbers of a table with the Arrow PyCapsule interface. Missing values are NaN."""
    columns = _capsule.read(X)
    for column in columns:
        if column.kind != "f8":
            raise ValueError(
                f"column {column.name!r} has {'dates' if column.kind == 'time' else 'texts'}, but numbers are needed: "
                'use prepare="auto", or encode the column'
            )
    rows = len(columns[0].values) if columns else 0
    numbers = np.empty((rows, len(columns)))
    for j, column in enumerate(columns):
        numbers[:, j] = column.values
    return [column.name for column in columns], numbers


def data(X, files):
    """Return the flags that name a table: a file, or a data frame that is written to a new file."""
    if is_file(X):
        return ["--data", str(X)]
    if not is_table(X) and not is_frame(X):
        raise ValueError("X: a table is a data frame or the name of a file")
    return ["--data", files.new(table(X), math.inf), "--format", "arrow"]


def check(X, y, sample_weight=None, finite=True):
    """Return rows as arrays, or raise a ValueError. y has two dimensions, and sample_weight is an array or None.

    finite: values have to be looked at.
    """
    X = X.tocsr() if is_sparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions, it must have 2")
    y = np.ascontiguousarray(y, dtype=np.float64)
    if y.ndim == 1:
        y = y[:, None]
    if y.ndim != 2 or len(y) != X.shape[0]:
        raise ValueError(f"y has the shape {y.shape}, but X has {X.shape[0]} rows")
    if sample_weight is not None:
        sample_weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if sample_weight.shape != (X.shape[0],):
            raise ValueError(f"sample_weight has the shape {sample_weight.shape}, but X has {X.shape[0]} rows")
        if not np.all((sample_weight >= 0) & (sample_weight < np.inf)):
            raise ValueError("sample_weight has a negative, infinite or missing value")
    for name, a in (("X", X.data if is_sparse(X) else X), ("y", y)):
        if a.dtype.kind not in "biuf":
            raise ValueError(f"{name} has values of type {a.dtype}, they must be numbers")
        # A sum is finite if all its terms are, and it is computed without a copy.
        with np.errstate(over="ignore", invalid="ignore"):
            suspect = finite and a.dtype.kind == "f" and not math.isfinite(a.sum(dtype=np.float64))
        if suspect and not np.isfinite(a).all():
            raise ValueError(f"{name} contains NaN or infinity")
    return X, y, sample_weight


def blocks(X, kind="<f8"):
    """Yield contiguous blocks of at most 8 MiB. Rows that are contiguous are not copied."""
    step = min(max((1 << 20) // max(1, X.shape[1]), 1), 8192)  # the rows of a block, which the program then uses as they are
    for i in range(0, X.shape[0], step):
        rows = X[i : i + step]
        yield i, np.ascontiguousarray(rows.toarray() if is_sparse(rows) else rows, dtype=kind)


def batches(X, y, sample_weight):
    """Yield record batches of Arrow: the lists x and y, and the weights w."""
    for i, rows in blocks(X):
        part = slice(i, i + len(rows))
        parts = [(X.shape[1], None, [rows]), (y.shape[1], None, [y[part]])]
        yield _arrow.batch(len(rows), parts if sample_weight is None else [*parts, (0, None, [sample_weight[part]])])


def csr(X):
    """Return the arrays of a sparse matrix, with the names that scipy.sparse.save_npz gives them."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return {"format": b"csr", "shape": X.shape, "data": X.data, "indices": X.indices, "indptr": X.indptr}


def header(a):
    """Return the header of an .npy file."""
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, np.lib.format.header_data_from_array_1_0(a))
    return text.getvalue()


def npy(a):
    """Yield a matrix as the buffers of an .npy file. A matrix that is contiguous is not copied."""
    yield [header(a)]
    for _, rows in blocks(a.T if a.flags.fnc else a, a.dtype):
        yield [rows]


def lendable(X):
    """Report whether the program can read the array where it lies in memory."""
    return isinstance(X, np.ndarray) and X.flags.forc and lends()


def mapped(X):
    """Return the .npy file of a memory map of all its rows, or None."""
    if not isinstance(X, np.memmap) or not X.filename or isinstance(X.base, np.ndarray) or "," in str(X.filename):
        return None
    try:
        whole = np.lib.format.open_memmap(X.filename, mode="r")
    except (OSError, ValueError):
        return None
    same = (whole.shape, whole.dtype, whole.offset, whole.strides) == (X.shape, X.dtype, X.offset, X.strides)
    return os.fspath(X.filename) if same and X.dtype in (np.float64, np.float32) else None


def table(frame):
    """Yield a data frame as an Arrow stream.

    Numbers, truth values and dates keep their types; everything else is text. pandas' missing values are missing.
    """
    if is_table(frame):
        columns = _capsule.read(frame)
        names = [column.name for column in columns]
        kinds = [column.kind for column in columns]
        rows = len(columns[0].values) if columns else 0
    else:
        names = [str(name) for name in frame.columns]
        kinds = [_kind(dtype) for dtype in frame.dtypes]
        rows = len(frame)
    if len(set(names)) < len(names):
        raise ValueError("two columns of the table have the same name")
    yield [_arrow.schema([(name, kind, 0) for name, kind in zip(names, kinds)])]

    step = max(1, (1 << 15) // max(1, len(names)))
    for i in range(0, rows, step):
        if is_table(frame):
            cells = [_part(column, slice(i, i + step)) for column in columns]
        else:
            part = frame.iloc[i : i + step]
            cells = [_cells(part.iloc[:, j], kind) for j, kind in enumerate(kinds)]
        yield _arrow.batch(min(step, rows - i), cells)
    yield [_arrow.END]


def _kind(dtype):
    """Return the kind of a column of pandas: numbers, dates or texts."""
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":
        return "f8"
    return "time" if kind == "M" else "utf8"


def _part(column, rows):
    """Return rows of a column of an Arrow table as a column of a record batch."""
    missing = column.missing[rows]
    if column.kind == "utf8":
        return 0, missing, _texts(column.values[rows])
    return 0, missing, [np.ascontiguousarray(column.values[rows])]


def _cells(column, kind):
    """Return a column of pandas as a column of a record batch."""
    missing = column.isna().to_numpy()
    if kind == "f8":
        return 0, missing, [np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan))]
    if kind == "time":
        if getattr(column.dt, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return 0, missing, [column.to_numpy().astype("datetime64[us]").view(np.int64)]
    return 0, missing, _texts([b"" if gap else str(v).encode() for gap, v in zip(missing.tolist(), column.tolist())])


def _texts(texts):
    """Return the buffers of a column of texts."""
    ends = np.zeros(len(texts) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    return [ends, np.frombuffer(b"".join(texts), dtype=np.uint8)]
