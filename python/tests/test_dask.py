"""fdridge.dask on a real cluster: a scheduler and worker processes, some of which are killed."""

import os
import pathlib
import random
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from test_manners import alive

dask = pytest.importorskip("dask")
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

import fdridge.dask
from fdridge import Ridge, Sketch, merge_sketches, sketch_partition

r = np.random.default_rng(0)
X, beta = r.standard_normal((6000, 40)), r.standard_normal(40)
y = X @ beta + r.standard_normal(6000)


@pytest.fixture(scope="module")
def client():
    # Workers fork from a server that has imported distributed.
    with dask.config.set({"distributed.scheduler.allowed-failures": 20, "distributed.worker.daemon": False, "distributed.worker.multiprocessing-method": "forkserver"}):
        with LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as c:
            yield c


def tree(parts):
    """The merged sketch, computed on one machine."""
    while len(parts) > 1:
        parts = [merge_sketches(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


@pytest.mark.parametrize("rows", [6000, 1000, 900])  # 1, 6 and 7 partitions
def test_same_bits(client, rows):
    want = tree([sketch_partition(X[i : i + rows], y[i : i + rows], size=10) for i in range(0, 6000, rows)])
    Xd, yd = da.from_array(X, chunks=(rows, 15)), da.from_array(y, chunks=rows)
    assert fdridge.dask.sketch(Xd, yd, size=10, client=client).tobytes() == want
    persisted = client.persist([Xd.rechunk((rows, 40)), yd])
    assert fdridge.dask.sketch(*persisted, size=10).tobytes() == want
    model = fdridge.dask.fit(Xd, yd, alpha=2.0, client=client)
    assert np.allclose(model.coef_, Ridge(2.0).fit(X, y).coef_, rtol=1e-8)
    assert model.predict(X).shape == (6000,) and model.n_features_in_ == 40


def test_frame(client):
    frame = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(y=y, z=-y, w=r.random(6000))
    parts = dd.from_pandas(frame, npartitions=5)
    model = fdridge.dask.fit(parts, target=["y", "z"], sample_weight="w", alphas="auto")
    assert list(model.feature_names_in_) == list("abcd") and model.coef_.shape == (2, 4)
    want = Ridge(model.alpha_).fit(frame[list("abcd")], frame[["y", "z"]], frame["w"])
    assert np.allclose(model.coef_, want.coef_, rtol=1e-8)
    for targets in (da.from_array(y, chunks=500), da.from_array(np.column_stack([y, y]), chunks=(1000, 1))):
        with pytest.raises(ValueError, match="rechunk"):
            fdridge.dask.fit(da.from_array(X, chunks=(1000, 40)), targets)


def test_errors_arrive(client):
    with pytest.raises(ValueError, match="y is ndarray.*from_array"):
        fdridge.dask.fit(da.from_array(X, chunks=(1000, 40)), y)
    with pytest.raises(ValueError, match="target"):
        fdridge.dask.fit(da.from_array(X, chunks=(1000, 40)))
    bad = X.copy()
    bad[3000, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        fdridge.dask.sketch(da.from_array(bad, chunks=(500, 40)), da.from_array(y, chunks=500))


def read(path):
    """A file of /proc, empty if its thread or process has ended."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def programs(worker):
    """The programs that run below a process."""
    found = []
    for task in pathlib.Path(f"/proc/{worker}/task").glob("*/children"):
        for child in read(task).split():
            if b"sketch" in read(pathlib.Path(f"/proc/{int(child)}/cmdline")):
                found.append(int(child))
    return found


def test_killed_workers(client, tmp_path):
    """Workers are killed while they sketch: the same bits, and no program outlives its worker."""
    blocks = [X[i : i + 300] for i in range(0, 6000, 300)]
    for i, block in enumerate(blocks):
        np.save(tmp_path / f"X{i}.npy", block)
        np.save(tmp_path / f"y{i}.npy", y[300 * i : 300 * i + 300])
    want = tree([sketch_partition(b, y[300 * i : 300 * i + 300], size=10) for i, b in enumerate(blocks)])

    def load(name, wait):
        time.sleep(wait)
        return np.load(name)

    kills, moments = int(os.environ.get("FDRIDGE_KILLS", 6 if os.environ.get("FDRIDGE_THOROUGH") else 3)), random.Random(2)
    for _ in range(kills):
        Xd = da.concatenate([da.from_delayed(dask.delayed(load)(tmp_path / f"X{i}.npy", 0.1), (300, 40), float) for i in range(20)])
        yd = da.concatenate([da.from_delayed(dask.delayed(load)(tmp_path / f"y{i}.npy", 0.0), (300,), float) for i in range(20)])
        deadline = time.monotonic() + 30
        while len(client.scheduler_info()["workers"]) < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        workers = [w for w in client.run(os.getpid).values()]
        left = []

        def kill(pid=moments.choice(workers)):
            left.extend(programs(pid))
            os.kill(pid, signal.SIGKILL)

        timer = threading.Timer(moments.uniform(0, 1), kill)
        timer.start()
        assert fdridge.dask.sketch(Xd, yd, size=10, client=client).tobytes() == want
        timer.join()
        time.sleep(0.3)
        assert not [p for p in left if alive(p)]
