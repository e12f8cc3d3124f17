"""Ridge regression on the partitions of Dask arrays and data frames.

Each partition is sketched where it lies, by one task that also loads it. The sketches are merged here, as a tree in
the order of the partitions, as they arrive. So a worker holds a partition and its sketch, a worker that is lost costs
only the partition it was working on, and the bits do not depend on the workers.
"""

from functools import partial

import dask
import numpy as np
from dask.base import tokenize
from dask.optimization import cull
from dask.utils import ensure_dict
from distributed import Future, as_completed, get_client

from ._sketch import Sketch, merge_sketches, sketch_partition


def fit(X, y=None, sample_weight=None, *, target=None, client=None, **parameters):
    """Fit ridge regression to the rows of a Dask collection.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features), or dask.dataframe.DataFrame
    y : dask.array.Array of shape (n_samples,) or (n_samples, n_targets), optional
    sample_weight : dask.array.Array of shape (n_samples,) or str, optional
    target : str or list of str, optional
        Columns of a data frame that are targets.
    client : distributed.Client, optional
    **parameters
        Those of `fdridge.Ridge`, or of `fdridge.RidgeCV` if alphas is among them. alpha is then chosen by GCV, as rows
        are read once.

    Returns
    -------
    Ridge or RidgeCV
        As after `partial_fit`.
    """
    from ._ridge import Ridge
    from ._ridge_cv import RidgeCV

    model = RidgeCV(**parameters) if "alphas" in parameters else Ridge(**parameters)
    penalty = model.alphas if "alphas" in parameters else model.alpha
    of = sketch(X, y, sample_weight, target=target, size=model.size, fit_intercept=model.fit_intercept, client=client)
    X, y, *_ = _collections(X, y, sample_weight, target)
    names = list(X.columns) if hasattr(X, "columns") else None
    return model._adopt(of, penalty, X.shape[1], names, y.ndim == 1)


def sketch(X, y=None, sample_weight=None, *, target=None, size=256, fit_intercept=True, client=None):
    """Return the `fdridge.Sketch` of the rows of a Dask collection. The parameters are those of `fit`."""
    collections = _collections(X, y, sample_weight, target)
    if len({c.npartitions for c in collections}) > 1:
        raise ValueError(f"X, y and sample_weight have {[c.npartitions for c in collections]} partitions; rechunk them alike")
    partitions = zip(*map(_parts, collections))
    tasks = [_task(partial(sketch_partition, size=size, fit_intercept=fit_intercept), parts) for parts in partitions]
    client = client or get_client()
    futures = {f: i for i, f in enumerate(client.compute(tasks))}
    waiting = {}
    for future, content in as_completed(list(futures), with_results=True):
        i, width, level = futures.pop(future), len(tasks), 0
        future.release()
        # Neighbours merge as soon as both are there. The last one of an odd number moves up.
        while width > 1 and (i ^ 1 >= width or (level, i ^ 1) in waiting):
            if i ^ 1 < width:
                other = waiting.pop((level, i ^ 1))
                content = merge_sketches(other, content) if i % 2 else merge_sketches(content, other)
            i, width, level = i // 2, (width + 1) // 2, level + 1
        waiting[level, i] = content
        del future, content
    return Sketch.frombytes(*waiting.values())


def _collections(X, y, sample_weight, target):
    """Return the features, the targets and the sample weights, if there are any, with a column of partitions each."""
    for name, value in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        if value is not None and not isinstance(value, str) and not hasattr(value, "npartitions"):
            raise ValueError(
                f"{name} is {type(value).__name__}, but it must be a Dask collection with the partitions of the others, "
                f"for example dask.array.from_array({name}, chunks={'X.chunks[0]' if name != 'X' else 10000})"
            )
    if target is None and y is None:
        raise ValueError("y is None: pass the targets, or name the columns of a data frame by target")
    if target is not None:
        left = [c for c in [*np.atleast_1d(target), sample_weight] if c is not None]
        X, y, sample_weight = X.drop(columns=left), X[target], None if sample_weight is None else X[sample_weight]
    elif X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return [X, y] if sample_weight is None else [X, y, sample_weight]


def _parts(collection):
    """Return the partitions of a collection. Dask 2024.12 loses those that lie on workers when it optimises them."""
    kept = any(isinstance(value, Future) for value in ensure_dict(collection.__dask_graph__()).values())
    return np.ravel(collection.to_delayed(optimize_graph=not kept))


class _Partition:
    """A task of its own that computes the inputs of a function, and calls it. Its graph is hidden from Dask.

    So one worker does all of it, whatever Dask thinks of the order.
    """

    def __init__(self, function, graph, keys):
        self.function = function
        self.graph = graph
        self.keys = keys

    def __call__(self):
        return self.function(*dask.get(self.graph, self.keys))


def _task(function, parts):
    """Return one task that computes parts and calls function. Parts that lie on workers already are its inputs."""
    keys = [p.key for p in parts]
    graph = {k: v for p in parts for k, v in ensure_dict(p.dask).items()}
    name = f"sketch-{tokenize(keys, function.keywords)}"
    if any(isinstance(value, Future) for value in graph.values()):
        return dask.delayed(function, pure=False)(*parts, dask_key_name=name)
    graph, _ = cull(graph, keys)
    return dask.delayed(_Partition(function, graph, keys), name=f"of-{name}", traverse=False)(dask_key_name=name)
