"""Sketches of rows: made block by block, merged, saved and solved."""

import os
import pathlib
import struct
import weakref

import numpy as np

from . import _arrow, _rows
from ._program import Files, Run, call, contents, threads
from ._solution import draw, flags_of, listed, penalties, solve


def sketch_partition(X, y, sample_weight=None, *, size=256, fit_intercept=True, n_jobs=1):
    """Return the sketch of a partition of the rows, as the bytes of its file.

    They depend only on the rows and on size, not on the machine's number of cores. Dask and Spark call this function
    where a partition lies. The parameters are those of `Sketch` and `Sketch.partial_fit`.
    """
    part = Sketch(size, fit_intercept=fit_intercept, n_jobs=n_jobs)
    return part.partial_fit(X, y, sample_weight).tobytes()


def merge_sketches(*parts):
    """Return the sketch of the rows of several sketches. All are bytes of files, and their order decides the bits."""
    if len(parts) == 1:
        return parts[0]
    with Files() as files:
        names, name = [files.new(part) for part in parts], files.new()
        call(["merge", *names, "--out", name], files)
        return contents(name)


class _Feed:
    """A program that sketches the rows that are sent to it."""

    def __init__(self, flags, columns):
        self.columns = columns
        flags = [*flags, "--format", "arrow", "--columns", "x", "--target", "y", *(["--weights", "w"] if len(columns) > 2 else [])]
        with Files() as files:
            self.result = files.new()
            self.run = Run(["sketch", "--data", "-", "--out", self.result, *flags, "--log-format", "none"], files, piped=True)
            self.run.feed([_arrow.schema(columns)])
            self.stop = weakref.finalize(self, files.pop_all().close)  # also when Python ends

    def end(self):
        try:
            self.run.feed([_arrow.END])
            self.run.end()
            return contents(self.result)
        finally:
            self.stop()


class Sketch:
    """A summary of rows from which ridge regression is solved for any alpha.

    It has a fixed size, however many rows it has seen. If the features are few, it keeps AᵀA itself and loses
    nothing but round-off.

    Parameters
    ----------
    size : int
        Number of rows of the sketch. More rows give smaller error bounds.
    fit_intercept : bool
        Whether solutions have an intercept.
    n_jobs : int, optional
        Number of threads; None means ``OMP_NUM_THREADS`` or all cores. Results have the same bits for any number.

    Examples
    --------
    >>> import numpy as np
    >>> from fdridge import Sketch
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 4))
    >>> y = X @ [1.0, 2.0, 0.0, -1.0] + 3
    >>> monday, tuesday = Sketch(), Sketch()
    >>> week = monday.partial_fit(X[:100], y[:100]).merge(tuesday.partial_fit(X[100:], y[100:]))
    >>> week.n_rows
    300
    >>> week.solve(1e-6).coef.round(4)
    array([ 1.,  2.,  0., -1.])
    >>> week
    <Sketch: 300 rows, size 256>
    """

    def __init__(self, size=256, *, fit_intercept=True, n_jobs=None):
        self.size = size
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self._content = None
        self._feed = None
        self._fed = 0  # rows that were sent to the program
        self._ravel = True  # y of one dimension, as far as is known

    def partial_fit(self, X, y, sample_weight=None):
        """Add rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        Sketch
            This sketch.
        """
        if np.ndim(y) > 1:
            self._ravel = False
        X, y, sample_weight = _rows.check(X, y, sample_weight)
        columns = [("x", "f8", X.shape[1]), ("y", "f8", y.shape[1]), ("w", "f8", 0)][: 2 if sample_weight is None else 3]
        if self._feed and self._feed.columns != columns:
            if self._feed.columns[:2] != columns[:2]:
                had = [width for _, _, width in self._feed.columns[:2]]
                raise ValueError(f"X has {X.shape[1]} features and y {y.shape[1]} targets, the rows before had {had[0]} and {had[1]}")
            self._finish()
        if self._feed is None:
            flags = ["--size", str(int(self.size)), "--lanes", "1", "--threads", str(threads(self.n_jobs))]
            self._feed = _Feed(flags if self.fit_intercept else [*flags, "--intercept=false"], columns)
        try:
            for parts in _rows.batches(X, y, sample_weight):
                self._feed.run.feed(parts)
        except BaseException:
            self._feed.stop()
            self._feed = None
            self._fed = 0
            raise
        self._fed += X.shape[0]
        return self

    def _finish(self):
        """Let the program write the rows that it was sent, and merge them with those before."""
        if self._feed:
            feed, self._feed = self._feed, None
            self._fed = 0
            new = feed.end()
            self._content = new if self._content is None else merge_sketches(self._content, new)

    def tobytes(self):
        """Return the sketch as the bytes of its file."""
        self._finish()
        if self._content is None:
            raise ValueError("the sketch has no rows; call partial_fit first")
        return self._content

    @classmethod
    def frombytes(cls, content):
        """Return a sketch of the bytes of its file. Its solutions tell if they are damaged."""
        self = cls()
        self._content = bytes(content)
        return self

    def merge(self, other):
        """Add the rows of another sketch, which stays as it is. Return this sketch."""
        added = other.tobytes()
        self._finish()
        self._content = added if self._content is None else merge_sketches(self._content, added)
        return self

    def save(self, name):
        """Write the sketch to a file, which ``fdridge solve`` and ``fdridge merge`` read too."""
        content, new = self.tobytes(), pathlib.Path(f"{os.fspath(name)}.{os.getpid()}.new")
        try:
            new.write_bytes(content)
            new.replace(name)
        finally:
            new.unlink(missing_ok=True)

    @classmethod
    def load(cls, name):
        """Return the sketch of a file of `save` or of ``fdridge sketch``."""
        return cls.frombytes(pathlib.Path(name).read_bytes())

    def solve(self, alpha="auto", *, tol=1e-8):
        """Solve for one alpha.

        Parameters
        ----------
        alpha : float, list of float or "auto"
            The penalty. Of a list, or of candidates that "auto" finds, the one with the smallest GCV is chosen.
        tol : float
            Relative error from which on the certificate counts as converged.

        Returns
        -------
        Solution
        """
        if isinstance(alpha, str) and alpha == "auto":
            gamma = "auto"
        else:
            values = penalties(alpha, "alpha")
            gamma = ("auto:" if values.ndim else "") + listed(values)
        return self._solve(["--gamma", gamma, *flags_of(tol=tol)])[0]

    def path(self, alphas, *, tol=1e-8):
        """Return a list of `Solution`, one for each alpha."""
        alphas = penalties(alphas, "alphas").ravel()
        flags = ["--gamma", listed(alphas), *flags_of(tol=tol)]
        by_alpha = {s.alpha: s for s in self._solve(flags)}
        return [by_alpha[a] for a in alphas.tolist()]

    def _solve(self, flags):
        with Files() as files:
            args = ["solve", files.new(self.tobytes()), *flags, "--threads", str(threads(self.n_jobs))]
            solutions = solve(args, files)[0]
        for one in solutions:
            one._ravel = len(one._coef) == 1 and self._ravel
        return solutions

    def __repr__(self):
        rows = self._fed + (0 if self._content is None else _count(self._content))
        return f"<Sketch: {rows:,} rows, size {self.size}>"

    def plot(self, kind="spectrum", name=None):
        """Return a picture of the sketch, or write it to the file name, .png or .svg.

        kind is "spectrum" (squared singular values and the bound of their error) or "path" (what is proved for the
        candidates of alpha).
        """
        if kind not in ("spectrum", "path"):
            raise ValueError(f'plot: kind is {kind!r}, and must be "spectrum" or "path"; a file is name={kind!r}')
        return draw(self.solve().report.encode() if kind == "path" else self.tobytes(), kind, name)

    @property
    def n_rows(self):
        """Number of rows that the sketch has seen."""
        if self._content is None and self._feed is None:
            return 0
        return _count(self.tobytes())

    def __getstate__(self):
        content = self.tobytes() if self._feed or self._content else None
        return {**self.__dict__, "_content": content, "_feed": None, "_fed": 0}


def _count(content):
    """Return the number of rows of a sketch. See docs/format.md for the places in the file."""
    at, lanes, rows = 0, 1, 0
    if struct.unpack_from("<I", content, 12)[0] == 5:
        lanes, meta = struct.unpack_from("<QQ", content, 48)
        at = 64 + meta
    for _ in range(lanes):
        rows += struct.unpack_from("<Q", content, at + 48)[0]
        at += struct.unpack_from("<Q", content, at + 16)[0]
    return rows
