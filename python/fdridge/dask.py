"""Ridge regression on the partitions of Dask arrays and data frames.

Each partition is sketched where it lies, by one task that also loads it. The sketches are merged here, as a tree in
the order of the partitions, as they arrive. So a worker holds a partition and its sketch, a worker that is lost costs
only the partition it was working on, and the bits do not depend on the workers.
"""

from functools import partial

import numpy as np
from dask.base import tokenize
from dask.delayed import Delayed
from dask.optimization import SubgraphCallable, cull
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
        Those of `fdridge.Ridge`. alpha is chosen by GCV, as rows are read once.

    Returns
    -------
    Ridge
        As after `partial_fit`.
    """
    from ._ridge import Ridge

    model = Ridge(**parameters)
    of = sketch(X, y, sample_weight, target=target, size=model.size, fit_intercept=model.fit_intercept, client=client)
    left = [*np.atleast_1d(target), sample_weight] if target is not None else []
    names = [c for c in X.columns if c not in left] if left else None
    one = isinstance(target, str) if left else y.ndim == 1
    return model._adopt(of, len(names) if names else X.shape[1], names, one)


def sketch(X, y=None, sample_weight=None, *, target=None, size=256, fit_intercept=True, client=None):
    """Return the `fdridge.Sketch` of the rows of a Dask collection. The parameters are those of `fit`."""
    tasks = list(_tasks(X, y, sample_weight, target, {"size": size, "fit_intercept": fit_intercept}))
    client = client or get_client()
    futures = {f: i for i, f in enumerate(client.compute(tasks))}
    merged = _Tree(len(tasks))
    arriving = as_completed(list(futures), with_results=True)
    for future, content in arriving:
        merged.add(futures.pop(future), content)
        future.release()
        del future, content
    return Sketch.frombytes(merged.root)


class _Tree:
    """Merges neighbours as soon as both are there. The last one of an odd number moves up."""

    def __init__(self, leaves):
        self.leaves, self.waiting, self.root = leaves, {}, None

    def add(self, i, content):
        width, level = self.leaves, 0
        while width > 1:
            sibling = i ^ 1
            if sibling < width:
                other = self.waiting.pop((level, sibling), None)
                if other is None:
                    self.waiting[level, i] = content
                    return
                content = merge_sketches(*((content, other) if i < sibling else (other, content)))
            i, width, level = i // 2, (width + 1) // 2, level + 1
        self.root = content


def _tasks(X, y, sample_weight, target, options):
    """Yield a task for each partition, which loads it and sketches it."""
    if target is not None:
        for part in X.to_delayed():
            yield _task(partial(_sketch_frame, target=target, weights=sample_weight, options=options), [part])
        return
    columns = [X.rechunk({1: -1}) if X.numblocks[1] > 1 else X, y] + ([] if sample_weight is None else [sample_weight])
    if len({c.numblocks[0] for c in columns}) > 1:
        raise ValueError(f"X, y and sample_weight have {[c.numblocks[0] for c in columns]} partitions; rechunk them alike")
    for parts in zip(*(c.to_delayed().ravel() for c in columns)):
        yield _task(partial(sketch_partition, **options), parts)


def _sketch_frame(part, target, weights, options):
    left = [c for c in np.atleast_1d(target).tolist() + [weights] if c is not None]
    return sketch_partition(part.drop(columns=left), part[target], part[weights] if weights else None, **options)


def _task(function, parts):
    """Return one task that computes parts and calls function. Parts that lie on workers already are its inputs."""
    graph, keys = {}, [p.key for p in parts]
    for p in parts:
        graph.update(ensure_dict(p.dask))
    graph, _ = cull(graph, keys)
    key = f"sketch-{tokenize(keys, function.keywords)}"
    if any(isinstance(value, Future) for value in graph.values()):
        return Delayed(key, {**graph, key: (function, *keys)})
    inner = SubgraphCallable({**graph, key: (function, *keys)}, key, [])
    return Delayed(key, {key: (inner,)})
