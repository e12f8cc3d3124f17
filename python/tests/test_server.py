"""Processes of the program that stay between fits."""

import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse
from test_manners import ENV, alive, children

from fdridge import Ridge, RidgeClassifierCV, RidgeCV, Sketch, _program, _server

r = np.random.default_rng(0)
X = r.standard_normal((500, 8))
y = X @ np.arange(8.0) + r.standard_normal(500)

pytestmark = pytest.mark.skipif(not _program._LINUX, reason="only Linux has processes that stay")


@pytest.fixture(autouse=True)
def fresh():
    _server.stop()
    yield
    _server.stop()


def servers(pid):
    """The processes below pid that answer requests. Other tests may have left other children."""
    found = []
    for child in children(pid):
        try:
            environment = pathlib.Path(f"/proc/{child}/environ").read_bytes()
        except OSError:  # it has ended since
            continue
        if b"FDRIDGE_SERVE=" in environment:
            found.append(child)
    return found


def server():
    (pid,) = servers(os.getpid())
    return pid


def resident(pid):
    """The resident memory of a process in KiB."""
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))


def outcome(fit):
    """What a fit gives: numbers, warnings or an error."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            model = fit()
        except Exception as e:
            return type(e), str(e)
    said = [(w.category, str(w.message), w.filename) for w in given]
    return model.coef_.tobytes(), np.ravel(model.intercept_).tobytes(), np.ravel(model.alpha_).tobytes(), model.certificate_.record, said


FITS = [
    lambda: Ridge().fit(X, y),
    lambda: Ridge(alpha=[1.0, 2.0]).fit(X, np.column_stack([y, -y])),
    lambda: Ridge(n_jobs=1).fit(np.asfortranarray(X), y, np.abs(y)),
    lambda: Ridge(fit_intercept=False).fit(X.astype(np.float32), y),
    lambda: Ridge(method="none").fit(X, y),
    lambda: Ridge().fit(X * np.inf, y),
    lambda: Ridge(method="cg", max_passes=1, tol=1e-14, size=2).fit(X * np.logspace(0, -4, 8), y),
    lambda: Ridge(alpha=0).fit(np.column_stack([X, X]), y),
    lambda: Ridge().fit(scipy.sparse.random(300, 20, density=0.2, format="csr", random_state=0), y[:300]),
    lambda: Ridge().fit(X[::2], y[::2]),
    lambda: RidgeCV(alphas=[0.1, 1, 10]).fit(X, y),
    lambda: RidgeCV(alphas="auto", scoring="gcv").fit(X, y),
    lambda: RidgeCV(alphas=[0.1, 1, 10], cv=3).fit(X, y),
    lambda: RidgeClassifierCV(alphas=[0.1, 1], scoring="accuracy").fit(X, y > 0),
    lambda: Ridge(target="y").fit("nowhere.csv"),
]


def test_same(monkeypatch):
    """Numbers, warnings and errors are those of a process for each call, in any order, and one process serves all."""
    once = []
    with monkeypatch.context() as m:
        m.setattr(_program, "_SENT", -1)
        once = [outcome(fit) for fit in FITS]
        assert not servers(os.getpid())
    order = [*range(len(FITS)), *r.permutation(len(FITS)).tolist()]
    seen = set()
    for i in order:
        assert outcome(FITS[i]) == once[i], i
        seen.update(servers(os.getpid()))
    # One for each number of threads. Other tests may have set the default to one thread, as dask does.
    assert 1 <= len(seen) <= 2


def test_stays():
    """One process serves all fits, also after errors, and its memory does not grow."""
    large = r.standard_normal((200_000, 20))
    Ridge().fit(large, large[:, 0])
    pid = server()
    for i in range(300):
        Ridge().fit(X, y)
        if i % 50 == 0:
            Ridge().fit(large, large[:, 0])
            with pytest.raises(ValueError):
                Ridge(method="none").fit(X, y)
        if i == 60:
            before, held = len(os.listdir("/proc/self/fd")), resident(pid)
    assert server() == pid
    assert len(os.listdir("/proc/self/fd")) == before
    assert resident(pid) < held + 24 * 1024


def test_idle():
    """A process that waits returns the memory of a large fit."""
    large = r.standard_normal((3000, 1500))
    Ridge().fit(X, y)
    pid = server()
    usual = resident(pid)
    RidgeCV([1.0, 2.0]).fit(large, large[:, 0])
    held = resident(pid)
    assert held > usual + 100 * 1024 and server() == pid
    end = time.monotonic() + 30
    while resident(pid) > usual + 64 * 1024:
        assert time.monotonic() < end, (usual, held, resident(pid))
        time.sleep(0.1)


def test_environment(tmp_path, monkeypatch):
    """A variable, the folder and the cores are those of the call."""

    def kernel():
        return Ridge().fit(X, y)._solution.report.split('"kernel": "')[1].split(",")[0].split('"')[0]

    usual = kernel()
    first = server()
    monkeypatch.setenv("FDRIDGE_KERNEL", "generic")
    assert kernel() == "generic" and len(servers(os.getpid())) == 2
    monkeypatch.delenv("FDRIDGE_KERNEL")
    assert kernel() == usual and first in servers(os.getpid())
    monkeypatch.setenv("FDRIDGE_KERNEL", "none")
    with pytest.raises(ValueError, match="FDRIDGE_KERNEL"):
        kernel()
    monkeypatch.delenv("FDRIDGE_KERNEL")

    for name, slope in (("a", 2.0), ("b", 3.0)):
        (tmp_path / name).mkdir()
        np.savetxt(tmp_path / name / "rows.csv", np.column_stack([X, slope * X[:, 0]]), delimiter=",", header="a,b,c,d,e,f,g,h,y", comments="")
        monkeypatch.chdir(tmp_path / name)
        assert abs(Ridge(alpha=1e-9).fit("rows.csv", target="y").coef_[0] - slope) < 1e-6

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    Ridge().fit(X, y)


def test_killed_servers():
    """A server that was killed between two fits is replaced. If it is killed in a fit, this fit fails."""
    want = Ridge().fit(X, y).coef_
    for number in (signal.SIGKILL, signal.SIGTERM):
        pid = server()
        os.kill(pid, number)
        while _server._idle[0].is_alive():  # until its last thread has ended
            time.sleep(0.01)
        assert np.array_equal(Ridge().fit(X, y).coef_, want) and server() != pid
    large = r.standard_normal((300_000, 100))
    for number, kind in ((signal.SIGKILL, MemoryError), (signal.SIGTERM, _program.FdridgeError)):
        pid = server()
        with pytest.raises(kind):
            while True:
                timer = threading.Timer(0.05, os.kill, (server(), number))
                timer.start()
                Ridge().fit(large, large[:, 0])
                timer.join()  # the fit was faster: the signal comes between two fits
                while _server._idle[0].is_alive():
                    time.sleep(0.01)
                Ridge().fit(X, y)
        assert np.array_equal(Ridge().fit(X, y).coef_, want) and server() != pid


def test_threads_share_nothing():
    """Calls of several threads have a server each, and at most one for each core stays."""
    want = [Ridge(alpha=a).fit(X, y).coef_ for a in (1.0, 2.0, 3.0, 4.0, 5.0)]
    wrong = []

    def fits(a):
        for _ in range(10):
            if not np.array_equal(Ridge(alpha=a).fit(X, y).coef_, want[int(a) - 1]):
                wrong.append(a)

    threads = [threading.Thread(target=fits, args=(a,)) for a in (1.0, 2.0, 3.0, 4.0, 5.0)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong and len(servers(os.getpid())) <= max(2, os.cpu_count())


def _fit_in_child(_):
    coef = Ridge().fit(X, y).coef_
    return coef, server()


def test_forked():
    """A forked process starts its own server, leaves none, and does not end that of its parent."""
    want = Ridge().fit(X, y).coef_
    pid = server()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map(_fit_in_child, range(6), chunksize=1)
    assert all(np.array_equal(coef, want) for coef, _ in found)
    others = {of for _, of in found}
    assert pid not in others
    deadline = time.monotonic() + 10
    while any(map(alive, others)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, others))
    assert np.array_equal(Ridge().fit(X, y).coef_, want) and server() == pid


LEAVES = """
import os, signal, sys, numpy as np
from test_manners import children
from fdridge import Ridge
Ridge().fit(np.eye(5), np.arange(5.0))
(pid,) = children(os.getpid())
if sys.argv[1] == "fork":
    if os.fork() == 0:  # the child lives on, and has copies of the parent's files
        signal.pause()
print(pid, flush=True)
if sys.argv[1] == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "exit":
    sys.exit()
os._exit(0)
"""


@pytest.mark.parametrize("way", ["exit", "_exit", "kill", "fork"])
def test_end(way):
    """A server ends with its parent, however that ends."""
    path = os.pathsep.join([os.path.dirname(__file__), ENV["PYTHONPATH"]])
    with subprocess.Popen([sys.executable, "-W", "error", "-c", LEAVES, way], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, env={**ENV, "PYTHONPATH": path}) as parent:
        pid = int(parent.stdout.readline())
        parent.wait()
        deadline = time.monotonic() + 10
        while alive(pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not alive(pid)
        if way == "fork":
            os.killpg(parent.pid, signal.SIGKILL)
        assert parent.stderr.read() == b""


def test_without_limit():
    """A list of penalties may be longer than an argument of a new process."""
    t = 9000
    Y = r.standard_normal((20, t))
    alphas = np.linspace(1, 2, t) / 3
    model = Ridge(alpha=alphas).fit(X[:20], Y)
    assert np.array_equal(model.alpha_, alphas)
    one = Ridge(alpha=alphas[-1]).fit(X[:20], Y[:, -1])
    assert np.allclose(model.coef_[-1], one.coef_, rtol=1e-6, atol=1e-9)


def test_sketches():
    """The program that sketches rows is another one, and solutions use the one that stays."""
    s = Sketch().partial_fit(X, y)
    one = s.solve(1.0).coef
    assert np.array_equal(s.solve(1.0).coef, one) and len(servers(os.getpid())) == 1
