"""Errors, warnings, progress, threads, and what is left behind."""

import ast
import glob
import inspect
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Ridge as Peer

import fdridge
from fdridge import FdridgeError, Ridge, RidgeCV, Sketch, _program

r = np.random.default_rng(0)
X = r.standard_normal((500, 8))
y = X @ np.arange(8.0) + r.standard_normal(500)


def children(pid):
    """The processes below pid, which have not ended."""
    found = []
    for status in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = pathlib.Path(status).read_text().rsplit(") ", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.split("/")[2]))
    return found


@pytest.fixture
def own_temp(tmp_path, monkeypatch):
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_nothing_is_left(own_temp):
    def opened():
        return len(os.listdir("/proc/self/fd"))

    Ridge().fit(X, y)
    before, others = opened(), children(os.getpid())
    for fit in (
        lambda: Ridge().fit(X, y),
        lambda: RidgeCV(alphas="auto").fit(X, y).plot("path"),
        lambda: Sketch().partial_fit(X, y).solve(),
        lambda: Sketch().partial_fit(X, y),
        lambda: Ridge(method="none").fit(X, y),
        lambda: Sketch(size=-1).partial_fit(X, y).solve(),
    ):
        try:
            fit()
        except ValueError:
            pass
        assert opened() == before and not os.listdir(own_temp) and children(os.getpid()) == others


def test_named_files(own_temp, monkeypatch):
    """Systems without /dev/fd use a folder with named files, and remove it."""
    want = RidgeCV([1.0, 2.0]).fit(X, y)
    monkeypatch.setattr(_program, "_LINUX", False)
    got = RidgeCV([1.0, 2.0]).fit(X, y)
    assert np.array_equal(got.coef_, want.coef_) and got.plot("path") == want.plot("path")
    s = Sketch(size=3).partial_fit(X, y)
    assert s.merge(Sketch(size=3).partial_fit(X, y)).n_rows == 1000
    with pytest.raises(ValueError):
        Ridge(method="none").fit(X, y)
    assert not os.listdir(own_temp)


def test_errors():
    with pytest.raises(NotFittedError):
        Ridge().predict(X)
    with pytest.raises(AttributeError):
        Ridge().coef_
    for bad in (Ridge(alpha=-1.0), Ridge(alpha="some"), Ridge(alpha=[]), Ridge(alpha=np.nan), Ridge(method="none"), Ridge(tol=-1), Ridge(n_jobs=0), Ridge(select="best"), RidgeCV(scoring="best"), RidgeCV(alphas="some")):
        with pytest.raises(ValueError) as e:
            bad.fit(X, y)
        assert "\n" not in str(e.value) and len(str(e.value)) > 10
    for bad in ({"alpha": 1j}, {"alpha": {1}}, {"alpha": None}, {"tol": None}, {"tol": "x"}, {"method": None}, {"size": 2.5}, {"n_jobs": "a"}, {"max_passes": 0}, {"fit_intercept": "no"}):
        for fit in (Ridge(**bad).fit, Ridge(**bad).partial_fit):
            with pytest.raises(ValueError, match=next(iter(bad))) as e:
                fit(X, y).coef_
            assert "\n" not in str(e.value)
    with pytest.raises(ValueError, match="sample_weight is zero"):
        Ridge().fit(X, y, np.zeros(500))
    with pytest.raises(ValueError, match="^alphas: .* positive"):
        RidgeCV([1, 0]).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="tolerance") as w:
        model = Ridge(method="cg", max_passes=1, tol=1e-14, size=2).fit(X * np.logspace(0, -4, 8), y)
    assert not model.certificate_.converged and model.error_bound_ > 0 and w[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ridge(alpha=1e-9).fit(X * np.logspace(0, -5, 8), y)  # one pass is not enough, and the rows are read again
    with pytest.warns(ConvergenceWarning, match="alpha") as w:
        least = Ridge(alpha=0).fit(np.column_stack([X, X]), y)
    assert not any("gamma" in str(one.message) for one in w)
    assert np.allclose(least.coef_[:8], least.coef_[8:])


def same_message(fit):
    """The error of scikit-learn's Ridge, word by word."""
    with pytest.raises(ValueError) as theirs:
        fit(Peer())
    with pytest.raises(ValueError) as ours:
        fit(Ridge())
    assert str(ours.value) == str(theirs.value)


def test_bad_rows():
    holes, far = X.copy(), X.copy()
    holes[499, 3], far[7, 0] = np.nan, -np.inf
    sparse = scipy.sparse.csr_matrix(holes)
    texts = np.where(X > 0, "a", "b")
    for rows in (holes, far, np.asfortranarray(holes), holes.astype(np.float32), sparse, X[:, :0], X[:, 0], X[..., None], X + 1j, texts, X[:9]):
        same_message(lambda model: model.fit(rows, y))
    same_message(lambda model: model.fit(X[:0], y[:0]))
    for targets in (np.where(y > 0, "a", "b"), y * np.nan, y[:9], y[None], y[:, None, None], y + 1j, None):
        same_message(lambda model: model.fit(X, targets))
    for weights in (np.full(500, np.nan), np.ones(3), np.ones((500, 1)), ["a"] * 500):
        with pytest.raises(ValueError):
            Ridge().fit(X, y, weights)
    for rows in (X[:, :3], X[0], holes):
        same_message(lambda model: model.fit(X, y).predict(rows))


def test_set_params():
    """Parameters that are set after a fit change the next fit only, also where partial_fit is solved later."""
    Y = np.column_stack([y, -y])
    for fit in (Ridge.fit, Ridge.partial_fit):
        want, model = fit(Ridge(), X, Y), fit(Ridge(), X, Y)
        model.set_params(alpha=100.0, fit_intercept=False)
        assert model.alpha_ == 1.0 and np.array_equal(model.coef_, want.coef_) and np.array_equal(model.intercept_, want.intercept_)
    assert model.fit(X, Y).alpha_ == 100.0 and model.intercept_ == 0.0


def test_program(tmp_path, monkeypatch):
    def program(text):
        path = tmp_path / f"p{len(os.listdir(tmp_path))}"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("FDRIDGE", str(path))

    found = fdridge.find()
    program("echo 'fdridge version v7.3.1, go1.26, linux/amd64'")
    with pytest.raises(FdridgeError, match=r"7\.3.*needs 0\.1.*FDRIDGE"):
        Ridge().fit(X, y)
    program("echo hello")
    with pytest.raises(FdridgeError, match="not the program"):
        Ridge().fit(X, y)
    program("case $1 in --version) echo 'fdridge version of commit 0, x';; *) kill -9 $$;; esac")
    with pytest.raises(MemoryError):
        Ridge().fit(X, y)
    program("case $1 in --version) echo 'fdridge version of commit 0, x';; *) echo fdridge: no luck >&2; exit 1;; esac")
    with pytest.raises(FdridgeError, match="^no luck$"):
        Ridge().fit(X, y)
    monkeypatch.setenv("FDRIDGE", str(tmp_path / "none"))
    with pytest.raises(FdridgeError, match="cannot be run"):
        Ridge().fit(X, y)
    monkeypatch.delenv("FDRIDGE")
    monkeypatch.setenv("PATH", "")
    if "/bin/fdridge" not in found.replace(str(tmp_path), "") or shutil.which("fdridge") is None:
        with pytest.raises(FdridgeError, match="PATH.*FDRIDGE"):
            Ridge().fit(X, y)


def test_threads(monkeypatch):
    cores = len(os.sched_getaffinity(0))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [_program.threads(n) for n in (None, 1, 3, -1, -2, -99)] == [cores, 1, 3, cores, max(1, cores - 1), 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "7,2")
    assert _program.threads(None) == 7 and _program.threads(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert _program.threads(None) == cores
    assert np.array_equal(Ridge(n_jobs=1).fit(X, y).coef_, Ridge(n_jobs=2).fit(X, y).coef_)


def test_progress(capfd):
    Ridge(verbose=True).fit(X, y)
    shown = capfd.readouterr().err
    assert "\r" in shown and "rows, " in shown and "GB/s" in shown
    Ridge().fit(X, y)
    assert capfd.readouterr().err == ""


def test_syntax():
    """The package and its tests are written for Python 3.9."""
    folder = pathlib.Path(fdridge.__file__).parent
    files = [*folder.glob("*.py"), *pathlib.Path(__file__).parent.glob("*.py"), *folder.parent.glob("examples/*.py")]
    assert len(files) > 20
    for name in files:
        ast.parse(name.read_text(), name.name, feature_version=(3, 9))
    with pytest.raises(SyntaxError):
        ast.parse("match x:\n    case 1: pass", feature_version=(3, 9))


def test_without_sklearn():
    """A sketch needs only numpy."""
    code = "import sys; sys.modules['sklearn'] = None; import numpy as np, fdridge; print(fdridge.Sketch().partial_fit(np.eye(3), [1, 2, 3]).solve(1.0).coef)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENV)
    assert out.stdout.startswith("[")


ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
FITS = """
import os, sys, numpy as np
from fdridge import Ridge, RidgeCV, Sketch
r = np.random.default_rng(0)
X = r.standard_normal((60000, 100)); y = r.standard_normal(60000)
for _ in sys.stdin:  # each line starts a process that fits
    if (pid := os.fork()) == 0: break
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("ended", flush=True)
else:
    sys.exit()
s = Sketch(size=20)
while True:
    Ridge().fit(X, y)
    RidgeCV(alphas="auto").fit(X, y)
    Ridge(method="cg", size=20).fit(X, y)
    s.partial_fit(X, y); s.solve(1.0); s.partial_fit(X[:1000], y[:1000])
"""


def kill_fits(count, temp, signals):
    """Kill processes that fit, at random moments, and look for what they leave."""
    moments, seen = random.Random(1), 0
    with subprocess.Popen([sys.executable, "-c", FITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env={**ENV, "TMPDIR": str(temp)}) as starts:
        for i in range(count):
            starts.stdin.write(b"\n")
            pid = int(starts.stdout.readline())
            deadline = time.monotonic() + 20
            while i % 4 and not children(pid) and time.monotonic() < deadline:
                time.sleep(0.01)  # most kills find a child, also on a machine that is busy
            time.sleep(moments.uniform(0, 0.9))
            had = children(pid)
            seen += len(had)
            os.kill(pid, signals[i % len(signals)])
            assert starts.stdout.readline() == b"ended\n"
            deadline = time.monotonic() + 5
            while time.monotonic() < deadline and any(map(alive, had)):
                time.sleep(0.02)
            assert not [c for c in had if alive(c)], f"run {i}: a child is left"
            assert not os.listdir(temp), f"run {i}: {os.listdir(temp)}"
    assert seen > count / 3, "too few fits had a child to leave"


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except OSError:
        return False


def test_killed(tmp_path):
    """A fit that is killed, interrupted or ended leaves no child and no file. FDRIDGE_KILLS: the number of kills."""
    kill_fits(int(os.environ.get("FDRIDGE_KILLS", 40 if os.environ.get("FDRIDGE_THOROUGH") else 12)), tmp_path, [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_child_that_waits(tmp_path, number):
    """A program that would never end by itself ends with its parent: it waits for rows from a named pipe."""
    os.mkfifo(tmp_path / "rows.csv")
    code = "import sys; from fdridge import Ridge; Ridge().fit(sys.argv[1], target='y')"
    parent = subprocess.Popen([sys.executable, "-c", code, tmp_path / "rows.csv"], stderr=subprocess.DEVNULL, env=ENV)
    with open(tmp_path / "rows.csv", "wb"):  # returns when the program has opened the pipe
        (child,) = children(parent.pid)
        parent.send_signal(number)
        parent.wait(timeout=20)
        deadline = time.monotonic() + 10
        while alive(child) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not alive(child)


def test_interrupted(own_temp):
    """Ctrl-C ends the child, and the next fit works."""
    code = """
import glob, os, pathlib, signal, threading, time, numpy as np
from fdridge import Ridge, RidgeCV
r = np.random.default_rng(0)
X = r.standard_normal((40000, 400)); y = r.standard_normal(40000)
CHILDREN
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True: RidgeCV(alphas="auto").fit(X, y)
except KeyboardInterrupt:
    print("interrupted", children(os.getpid()), Ridge().fit(X[:100], y[:100]).certificate_.converged)
"""
    code = code.replace("CHILDREN", inspect.getsource(children))
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**ENV, "TMPDIR": str(own_temp)})
    assert out.stdout == "interrupted [] True\n", out.stderr
    assert not os.listdir(own_temp)
