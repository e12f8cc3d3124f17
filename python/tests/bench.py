"""Times against scikit-learn, alternating, medians: FDRIDGE=… PYTHONPATH=python OMP_NUM_THREADS=2 python3 bench.py [ROUNDS]

Also prints the peak memory of both processes above that of a fit of 100 × 5.
"""

import os
import re
import statistics
import subprocess
import sys
import threading
import time

import numpy as np
from sklearn.linear_model import Ridge as Peer
from sklearn.linear_model import RidgeCV as PeerCV

from fdridge import Ridge, RidgeCV, Sketch


def alternate(rounds, **calls):
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(t) for name, t in times.items()}


def high_water(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) / 1024


def memory(fit):
    """The peak memory of this process and of its child, in MiB."""
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    peak, done = [0.0], threading.Event()

    def watch():
        while not done.wait(0.002):
            for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split():
                try:
                    if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(os.environ["FDRIDGE"]):
                        peak[0] = max(peak[0], high_water(pid))
                except (OSError, TypeError):
                    pass

    t = threading.Thread(target=watch)
    t.start()
    fit()
    done.set()
    t.join()
    return high_water("self"), peak[0]


def data(n, d):
    r = np.random.default_rng(0)
    X = r.standard_normal((n, d))
    return X, X @ r.standard_normal(d) + r.standard_normal(n)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("threads", os.environ.get("OMP_NUM_THREADS"))
    X, y = data(100, 5)
    Ridge().fit(X, y)
    t = alternate(4 * rounds, fdridge=lambda: Ridge().fit(X, y))
    print(f"100 × 5: {1000 * t['fdridge']:.1f} ms")
    own, child = memory(lambda: Ridge().fit(X, y))
    base = own
    for n, d in ((200_000, 50), (20_000, 1000), (100_000, 1000)):
        X, y = data(n, d)
        if n * d < 100_000_000:
            t = alternate(rounds, fdridge=lambda: Ridge().fit(X, y), sklearn=lambda: Peer().fit(X, y))
            print(f"{n} × {d}: fdridge {t['fdridge']:.2f} s, Ridge {t['sklearn']:.2f} s, ratio {t['fdridge'] / t['sklearn']:.2f}")
        with open("/proc/self/status") as f:
            before = int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) / 1024
        now, other = memory(lambda: Ridge().fit(X, y))
        array, square = X.nbytes / 2**20, 8 * d * d / 2**20
        print(f"{n} × {d}: array {array:.0f} MiB, Python +{now - before:.0f}, program {other:.0f} ({other - child:+.0f} MiB); (all − empty fit)/(array + d²) {(array + now - before + other - child) / (array + square):.2f}; bar {1.3 * array + square:.0f}, is {array + now - before + other - child:.0f}")
    X, y = data(20_000, 1000)
    grid = np.logspace(-3, 3, 50)
    t = alternate(max(1, rounds // 2), fdridge=lambda: RidgeCV(grid).fit(X, y), sklearn=lambda: PeerCV(alphas=grid).fit(X, y))
    print(f"50 alphas on 20000 × 1000: fdridge {t['fdridge']:.2f} s, RidgeCV {t['sklearn']:.2f} s, {t['sklearn'] / t['fdridge']:.1f} times as fast")


def blocks():
    """partial_fit of 1,000 blocks of 1,000 × 200, and one sketch of all rows by the command, from a file."""
    r = np.random.default_rng(0)
    X, beta = r.standard_normal((1000, 200)), r.standard_normal(200)
    y = X @ beta

    def partial():
        s = Sketch()
        for _ in range(1000):
            s.partial_fit(X, y)
        s.tobytes()

    name = "/tmp/bench-rows.npy"
    rows = np.lib.format.open_memmap(name, "w+", shape=(1_000_000, 201))
    for i in range(1000):
        rows[1000 * i : 1000 * i + 1000] = np.column_stack([X, y])
    del rows
    command = [os.environ["FDRIDGE"], "sketch", "--data", name, "--target", "last", "--lanes", "1", "--threads", os.environ.get("OMP_NUM_THREADS", "2"), "--out", "/tmp/bench.fds"]
    try:
        t = alternate(3, partial_fit=partial, command=lambda: subprocess.run(command, check=True, capture_output=True))
    finally:
        os.remove(name)
    print(f"1000 blocks of 1000 × 200: partial_fit {t['partial_fit']:.2f} s, command {t['command']:.2f} s, ratio {t['partial_fit'] / t['command']:.2f}")
    own, child = memory(partial)
    print(f"memory: Python {own:.0f} MiB, program {child:.0f} MiB")


if __name__ == "__main__":
    blocks() if "blocks" in sys.argv else main()
