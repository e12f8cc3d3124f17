"""Finds the program fdridge and runs it.

A child process gets a session of its own, so that Ctrl-C reaches only Python, which ends the child. A child whose
parent was killed ends by itself (FDRIDGE_PARENT). On Linux, temporary files have no name: the child opens them as
/dev/fd/N, and they vanish with the last process that has them open.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings

import numpy as np

from ._version import __version__

_LINUX = sys.platform.startswith("linux")
if _LINUX:
    import fcntl


class FdridgeError(RuntimeError):
    """The program failed, or is missing. The message says what to do."""


def find():
    """Return the path of the program: from FDRIDGE, from the wheel, or from PATH."""
    name = "fdridge.exe" if os.name == "nt" else "fdridge"
    inside = os.path.join(os.path.dirname(__file__), "bin", name)
    path = os.environ.get("FDRIDGE") or (inside if os.path.exists(inside) else shutil.which(name))
    if not path:
        raise FdridgeError(
            "the program fdridge was not found: install a wheel that contains it, put it on PATH, or set the "
            "environment variable FDRIDGE to its path"
        )
    try:
        _check(path, os.stat(path).st_mtime_ns)
    except OSError as e:
        raise FdridgeError(f"the program fdridge cannot be run: {path}: {e.strerror or e}") from e
    return path


@functools.lru_cache(maxsize=8)
def _check(path, changed):
    """Raise an error if the program is a release of another version. Builds between releases have none."""
    of = subprocess.run([path, "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if not of.stdout.startswith("fdridge version"):
        raise FdridgeError(f"{path} is not the program fdridge; set the environment variable FDRIDGE to its path")
    release = re.match(r"fdridge version v(\d+)\.(\d+)\.\d+,", of.stdout)
    ours = __version__.split(".")
    if release and [release[1], release[2]] != ours[:2]:
        raise FdridgeError(
            f"{path} has version {release[1]}.{release[2]}, but this package needs {ours[0]}.{ours[1]}: install the "
            f"wheel of version {ours[0]}.{ours[1]}, or set FDRIDGE to a program of that version"
        )


def threads(n_jobs):
    """Return the number of threads: n_jobs as in joblib; None means OMP_NUM_THREADS, or all cores."""
    cores = len(os.sched_getaffinity(0)) if _LINUX else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return int(limit) if limit.isdecimal() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs: 0 threads cannot compute anything; use None for the default")
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


@functools.lru_cache(maxsize=1)
def lends():
    """Report whether the program can read the memory of this process."""
    probe = np.arange(2)
    try:
        with open("/proc/self/mem", "rb", buffering=0) as f:
            return os.pread(f.fileno(), probe.nbytes, probe.ctypes.data) == probe.tobytes()
    except OSError:
        return False


class Files:
    """Temporary files that the program reads or writes. Leaving the context removes them."""

    def __init__(self):
        self.descriptors, self._open, self._folder = [], [], None
        self.environment = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for f in self._open:
            f.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def open(self):
        """Return a new open file."""
        if _LINUX:
            while (f := tempfile.TemporaryFile(buffering=0)).fileno() < 3:  # the child has others under these numbers
                self._open.append(f)
            self.descriptors.append(f.fileno())
        else:
            self._folder = self._folder or tempfile.mkdtemp(prefix="fdridge-")
            f = open(os.path.join(self._folder, str(len(self._open))), "w+b", buffering=0)
        self._open.append(f)
        return f

    def lend(self, header, X):
        """Return the name of a file with the header of an array. The program reads the entries from this process."""
        self._open.append(f := open("/proc/self/mem", "rb", buffering=0))
        self.descriptors.append(d := fcntl.fcntl(f, fcntl.F_DUPFD_CLOEXEC, 3))  # the child has others under 0 to 2
        self._open.append(os.fdopen(d, "rb", buffering=0))
        self.environment["FDRIDGE_MEMORY"] = f"{d}:{X.ctypes.data}:{X.nbytes}"
        return self.new(header)

    def new(self, content=None):
        """Return the name of a new file for the program. content is bytes, or an iterable of lists of buffers."""
        f = self.open()
        for parts in [[content]] if isinstance(content, bytes) else content or []:
            send(f.fileno(), parts)
        if _LINUX:
            return f"/dev/fd/{f.fileno()}"
        f.close()  # the program replaces the file
        return f.name


def contents(name):
    """Return the bytes of a file that the program wrote. Opening /dev/fd/N anew starts at the beginning."""
    with open(name, "rb") as f:
        return f.read()


def send(descriptor, parts):
    """Write buffers to a descriptor."""
    for part in parts:
        view = memoryview(part).cast("B")
        while view:
            view = view[os.write(descriptor, view) :]


class Run:
    """A running program. Its rows go to its standard input by feed."""

    def __init__(self, args, files, *, piped=False, verbose=False):
        self._verbose, self._log = verbose, []
        self._out = files.open()
        self._owner = os.getpid()
        error = subprocess.PIPE if verbose else files.open()
        self.process = subprocess.Popen(
            [find(), *args],
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=self._out,
            stderr=error,
            bufsize=0,
            env={**os.environ, **files.environment, "FDRIDGE_PARENT": str(self._owner)},
            start_new_session=True,
            pass_fds=files.descriptors,
        )
        self._errors = error
        if verbose:
            self._reader = threading.Thread(target=self._show, daemon=True)
            self._reader.start()

    def _show(self):
        """Print the progress, and keep all other lines."""
        shown = False
        for line in self.process.stderr:
            try:
                said = json.loads(line)
            except ValueError:
                self._log.append(line)
                continue
            if said.get("msg") != "progress":
                self._log.append(said.get("msg", "").encode())
                continue
            total = f" of {said['rows_total']:,}" if said.get("rows_total", 0) > 0 else ""
            rate = said.get("bytes_per_second", 0) / 1e9
            print(f"\r{said['stage']}: {said['rows']:,}{total} rows, {rate:.2f} GB/s", end="  ", file=sys.stderr)
            shown = True
        if shown:
            print(file=sys.stderr)

    def feed(self, parts):
        """Send buffers. Return False if the program has ended."""
        try:
            send(self.process.stdin.fileno(), parts)
        except (BrokenPipeError, OSError):
            if self.process.poll() is None and os.name != "nt":
                self.process.wait()
            return False
        return True

    def end(self):
        """Wait for the program and return what it printed. Raise its error, or warn."""
        if self.process.stdin:
            self.process.stdin.close()
        code = self.process.wait()
        if self._verbose:
            self._reader.join()
            self.process.stderr.close()
            lines = b"\n".join(self._log)
        else:
            lines = self._written(self._errors)
        lines = [line.removeprefix("fdridge: ") for line in lines.decode(errors="replace").splitlines() if line.strip()]
        self._raise(code, lines)
        return self._written(self._out)

    @staticmethod
    def _written(f):
        f.seek(0)
        return f.read()

    def kill(self):
        """End the program at once. A process that has forked does not end the child of its parent."""
        if os.getpid() == self._owner and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for f in (self.process.stdin, self.process.stderr):
            if f:
                f.close()

    @staticmethod
    def _raise(code, lines):
        last = lines[-1] if lines else f"the program ended with exit code {code}"
        # A warning names the line that called this package.
        level = 1 + sum(f.f_globals.get("__package__") == __package__ for f, _ in traceback.walk_stack(sys._getframe()))
        if code == 0 or code == 3:
            for line in lines if code == 0 else lines[:-1]:
                warnings.warn(line.removeprefix("warning: "), UserWarning, stacklevel=level)
            if code == 3:
                warnings.warn(last.removeprefix("warning: "), convergence_warning(), stacklevel=level)
        elif code in (-9, 137):
            raise MemoryError("the program fdridge was killed, usually because memory is short")
        elif code == 2 and not last.startswith("goroutine"):
            raise ValueError(last)
        else:
            raise FdridgeError(last)


def convergence_warning():
    """Return the class of scikit-learn's ConvergenceWarning, or UserWarning without scikit-learn."""
    try:
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:
        return UserWarning
    return ConvergenceWarning


def call(args, files, rows=None, *, verbose=False):
    """Run the program, send it rows, and return what it prints. No child is left, whatever happens."""
    args = [*args, "--log-format", "json" if verbose else "none"] if args[0] in ("fit", "solve") else args
    run = Run(args, files, piped=rows is not None, verbose=verbose)
    try:
        for parts in rows or ():
            if not run.feed(parts):
                break
        return run.end()
    finally:
        run.kill()
