"""Turns arrays, sparse matrices and data frames into rows for the program."""

import io
import math
import os

import numpy as np

from . import _arrow
from ._program import lends


def is_sparse(X):
    return hasattr(X, "tocsr")


def is_file(X):
    return isinstance(X, (str, os.PathLike))


def names_of(X):
    """Return the names of the columns of a data frame, or None."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") and hasattr(X, "iloc") else None


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


def columns_of(X, y, sample_weight, kind=None):
    """Return the columns of the Arrow stream: the lists x and y, and the weights w."""
    kind = kind or ("f4" if not is_sparse(X) and X.dtype == np.float32 else "f8")
    columns = [("x", kind, X.shape[1]), ("y", "f8", y.shape[1])]
    return columns if sample_weight is None else [*columns, ("w", "f8", 0)]


def batches(X, y, sample_weight, columns):
    """Yield record batches of at most 8 MiB. Rows that are contiguous are not copied."""
    (_, kind, d), t = columns[0], y.shape[1]
    step = min(max(_arrow.BLOCK // (8 * max(1, d)), 1), 8192)  # the rows of a block, which the program then uses as they are
    for i in range(0, X.shape[0], step):
        rows = X[i : i + step]
        rows = np.ascontiguousarray(rows.toarray() if is_sparse(rows) else rows, dtype=kind)
        parts = [(d, None, [rows]), (t, None, [y[i : i + step]])]
        if sample_weight is not None:
            parts.append((0, None, [sample_weight[i : i + step]]))
        yield _arrow.batch(len(rows), parts)


def stream(X, y, sample_weight=None):
    """Yield an Arrow stream as lists of buffers."""
    columns = columns_of(X, y, sample_weight)
    yield [_arrow.schema(columns)]
    yield from batches(X, y, sample_weight, columns)
    yield [_arrow.END]


def flags(columns):
    """Return the flags that tell the program which columns of the stream are which."""
    weights = ["--weights", "w"] if len(columns) > 2 else []
    return ["--format", "arrow", "--columns", "x", "--target", "y", *weights]


def svmlight(X, y):
    """Yield lines of svmlight. Python writes the shortest text with the bits of a number."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    step = 1 << 14
    for i in range(0, X.shape[0], step):
        ends = X.indptr[i : i + step + 1]
        at = (X.indices[ends[0] : ends[-1]] + 1).tolist()
        pairs = [f"{j}:{v!r}" for j, v in zip(at, X.data[ends[0] : ends[-1]].astype(np.float64).tolist())]
        labels, ends = y[i : i + step, 0].tolist(), (ends - ends[0]).tolist()
        yield ["".join(f"{b!r} {' '.join(pairs[lo:hi])}\n" for b, lo, hi in zip(labels, ends, ends[1:])).encode()]


def header(a):
    """Return the header of an .npy file."""
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, np.lib.format.header_data_from_array_1_0(a))
    return text.getvalue()


def npy(a):
    """Yield an array as the buffers of an .npy file."""
    a = np.ascontiguousarray(a, dtype=np.float64)
    yield [header(a), a]


def lendable(X):
    """Report whether the program can read the array where it lies in memory."""
    return isinstance(X, np.ndarray) and X.dtype in (np.float64, np.float32) and X.flags.c_contiguous and lends()


def mapped(X):
    """Return the .npy file of a memory map of all its rows, or None."""
    if not isinstance(X, np.memmap) or not X.filename or isinstance(X.base, np.ndarray):
        return None
    try:
        with open(X.filename, "rb") as f:
            version = np.lib.format.read_magic(f)
            read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, fortran, dtype = read(f)
            whole = shape == X.shape and dtype == X.dtype and f.tell() == X.offset and not fortran
    except (OSError, ValueError, KeyError):
        return None
    return os.fspath(X.filename) if whole and X.dtype in (np.float64, np.float32) and "," not in str(X.filename) else None


def table(frame):
    """Return the Arrow columns of a data frame and a function that yields its stream.

    Numbers, truth values and dates keep their types; everything else is text. pandas' missing values are missing.
    """
    names, kinds = names_of(frame), []
    if len(set(names)) < len(names):
        raise ValueError("two columns of the table have the same name")
    for j in range(frame.shape[1]):
        kind = getattr(frame.dtypes.iloc[j], "kind", "O")
        kinds.append("f8" if kind in "biuf" else "time" if kind == "M" else "utf8")

    def rows():
        yield [_arrow.schema([(name, kind, 0) for name, kind in zip(names, kinds)])]
        step = max(1, (1 << 15) // max(1, len(names)))
        for i in range(0, len(frame), step):
            part = frame.iloc[i : i + step]
            yield _arrow.batch(len(part), [_cells(part.iloc[:, j], kind) for j, kind in enumerate(kinds)])
        yield [_arrow.END]

    return names, rows


def _cells(column, kind):
    """Return a column of a record batch."""
    missing = column.isna().to_numpy()
    if kind == "f8":
        return 0, missing, [np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan))]
    if kind == "time":
        if getattr(column.dt, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return 0, missing, [column.to_numpy().astype("datetime64[us]").view(np.int64)]
    texts = [b"" if gap else str(v).encode() for gap, v in zip(missing.tolist(), column.tolist())]
    ends = np.zeros(len(texts) + 1, dtype=np.int32)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    return 0, missing, [ends, np.frombuffer(b"".join(texts), dtype=np.uint8)]
