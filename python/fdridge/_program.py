"""Finds the program fdridge and runs it.

On Linux, a process of the program stays between calls, see `_server`. A child process gets a session of its own, so that Ctrl-C reaches only Python, which ends the child. A child whose
parent was killed ends by itself (FDRIDGE_PARENT). On Linux, temporary files have no name: the child opens them as
/dev/fd/N, and they vanish with the last process that has them open.
"""

import contextlib
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

# Flags that have another name here.
_PARAMETERS = {
    "--gamma": "alpha",
    "--threads": "n_jobs",
    "--delimiter": "sep",
    "--missing-marks": "na_values",
    "--skip-rows": "skiprows",
    "--escape": "escapechar",
}

# Flags with values that are written in another way here.
_VALUES = (
    (r"--decimal ([,.])", r'decimal="\1"'),
    (r"--header yes or no\b", "header=0 or header=None"),
    (r"--header yes\b", "header=0"),
    (r"--header no\b", "header=None"),
    (r"--skip-rows (\d+):(\d+)", lambda m: f"skiprows={[*range(int(m[1]) - 1, int(m[2]))]}"),
    (r"--skip-rows (\d+)", r"skiprows=\1"),
    (r"--escape '(.)'", r"escapechar='\1'"),
    (r"--first-index ([01])", r"first_index=\1"),
)
_SCORES = re.compile(r"(^|: )R² = .*; RMSE = .* over \d+ rows(;|$)")  # predict tells the scores of a target
_LINUX = sys.platform.startswith("linux")
if _LINUX:
    import fcntl

    from . import _server

# Larger files of a known size are on the disk instead of in memory.
_IN_MEMORY = 16 << 20

# Linux sends at most 253 descriptors through a socket.
_SENT = 250


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
    if (n_jobs := int(n_jobs)) == 0:
        raise ValueError("n_jobs: 0 threads cannot compute anything; use None for the default")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


@functools.lru_cache(maxsize=1)
def lends():
    """Report whether the program can read the memory of this process."""
    probe = np.arange(2)
    try:
        with open("/proc/self/mem", "rb", buffering=0) as f:
            return os.pread(f.fileno(), probe.nbytes, probe.ctypes.data) == probe.tobytes()
    except OSError:
        return False


class Files(contextlib.ExitStack):
    """Temporary files that programs read or write. Leaving the context ends the programs and removes the files."""

    def __init__(self):
        super().__init__()
        self.descriptors, self.lent, self._folder = [], None, None

    def open(self, size=0):
        """Return a new open file. A file of unknown size is in memory, unless size says that it is large."""
        if _LINUX:
            while (f := self.enter_context(_nameless(size))).fileno() < 3:
                pass  # the child has others under these numbers
            self.descriptors.append(f.fileno())
            return f
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="fdridge-")
            self.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self.enter_context(tempfile.NamedTemporaryFile(dir=self._folder, delete=False, buffering=0))

    def lend(self, header, X):
        """Return the name of a file with the header of an array. The program reads the entries from this process."""
        self.lent = X.ctypes.data, X.nbytes
        return self.new(header)

    def memory(self):
        """Return the variables that tell a new process of the program where the lent array is."""
        if self.lent is None:
            return {}
        f = self.enter_context(open("/proc/self/mem", "rb", buffering=0))
        d = fcntl.fcntl(f, fcntl.F_DUPFD_CLOEXEC, 3)  # the child has others under 0 to 2
        self.callback(os.close, d)
        self.descriptors.append(d)
        return {"FDRIDGE_MEMORY": f"{d}:{self.lent[0]}:{self.lent[1]}"}

    def archive(self, arrays):
        """Return the name of a new .npz file of arrays, which are not compressed."""
        f = self.open(sum(a.nbytes for a in arrays.values() if isinstance(a, np.ndarray)))
        with os.fdopen(os.dup(f.fileno()), "wb") as buffered:
            np.savez(buffered, **arrays)
        return self._named(f)

    def new(self, content=None, size=0):
        """Return the name of a new file for the program. content is bytes, or an iterable of lists of buffers."""
        f = self.open(len(content) if isinstance(content, bytes) else size)
        for parts in [[content]] if isinstance(content, bytes) else content or []:
            send(f.fileno(), parts)
        return self._named(f)

    @staticmethod
    def _named(f):
        """Return the name by which the program opens a file."""
        if _LINUX:
            return f"/dev/fd/{f.fileno()}"
        f.close()  # the program replaces the file
        return f.name


def _nameless(size):
    """Return a new file without a name, in memory or in the folder of temporary files."""
    if size <= _IN_MEMORY and hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("fdridge"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


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

    def __init__(self, args, files, *, piped=False, verbose=False, told=None):
        self._verbose, self._log = verbose, []
        self._told = told  # warnings that were given before, without their numbers
        self._out = files.open()
        self._owner = os.getpid()
        error = subprocess.PIPE if verbose else files.open()
        memory = files.memory()
        self.process = subprocess.Popen(
            [find(), *args],
            stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
            stdout=self._out,
            stderr=error,
            bufsize=0,
            env={**os.environ, **memory, "FDRIDGE_PARENT": str(self._owner)},
            start_new_session=True,
            pass_fds=files.descriptors,
        )
        self._errors = error
        files.callback(self.kill)
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
                said = {"msg": line.decode(errors="replace")}
            if said["msg"] != "progress":
                self._log.append(said["msg"])
                continue
            total = f" of {said['rows_total']:,}" if said.get("rows_total", 0) > 0 else ""
            rate = said.get("bytes_per_second", 0) / 1e9
            print(f"\r{said['stage']}: {said['rows']:,}{total} rows, {rate:.2f} GB/s", end="  ", file=sys.stderr)
            shown = True
        if shown:
            print(file=sys.stderr)

    def feed(self, parts):
        """Send buffers. Raise the program's error if it has ended."""
        try:
            send(self.process.stdin.fileno(), parts)
        except OSError:
            self.end()

    def end(self):
        """Wait for the program and return what it printed. Raise its error, or warn."""
        if self.process.stdin:
            self.process.stdin.close()
        code = self.process.wait()
        if self._verbose:
            self._reader.join()
        text = "\n".join(self._log) if self._verbose else self._written(self._errors).decode(errors="replace")
        _judge(code, text, self._told)
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


def _judge(code, text, told):
    """Raise the error of a program that ended, or issue its warnings. text is what it wrote to the standard error."""
    lines = [_in_python(line) for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else f"the program ended with exit code {code}"
    if code in (-9, 137):
        raise MemoryError("the program fdridge was killed, usually because memory is short")
    if code == 2 and not last.startswith("goroutine"):
        raise ValueError(last)
    if code not in (0, 3):
        raise FdridgeError(last)
    level = depth()
    lines = [line for line in lines if not _SCORES.search(line)]
    for i, line in enumerate(lines):
        missed = code == 3 and i == len(lines) - 1
        if told is not None:
            kind = re.sub(r"\d+", "", line)
            if kind in told:
                continue
            told.add(kind)
        category = _missed() if missed else UserWarning
        warnings.warn(line.removeprefix("warning: "), category, stacklevel=level)


def depth():
    """Return the stack level of a warning of the caller that names the line that called this package."""
    frames = traceback.walk_stack(sys._getframe(1))
    return 1 + sum(frame.f_globals.get("__package__") == __package__ for frame, _ in frames)


def _in_python(line):
    """Return a message with the names of this package's parameters, without the name of a temporary file."""
    line = re.sub(r"^(fdridge: )?((/dev/fd/\d+|standard input): )?", "", line)
    for flag, here in _VALUES:
        line = re.sub(flag, here, line)
    line = re.sub(r"--[a-z][a-z-]+", lambda flag: _PARAMETERS.get(flag[0], flag[0][2:].replace("-", "_")), line)
    return re.sub(r"\bgamma(s?)\b|γ", r"alpha\1", line)


def _missed():
    """Return the class of scikit-learn's ConvergenceWarning, or UserWarning without scikit-learn."""
    try:
        from sklearn.exceptions import ConvergenceWarning
    except ImportError:
        return UserWarning
    return ConvergenceWarning


def call(args, files, *, verbose=False, told=None):
    """Run the program and return what it prints. told is a set of warnings that are not repeated.

    On Linux, a process that stays runs fit and solve without progress. They name the number of threads.
    """
    if verbose or not _LINUX or "--threads" not in args or len(files.descriptors) > _SENT:
        return Run(args, files, verbose=verbose, told=told).end()
    count = args[args.index("--threads") + 1]
    try:
        code, out, error = _server.ask(find(), args, files.descriptors, files.lent, count)
    except _server.Ended as e:
        _judge(e.code, e.text.decode(errors="replace"), told)
        raise FdridgeError("the program fdridge ended without an answer") from None
    _judge(code, error.decode(errors="replace"), told)
    return out
