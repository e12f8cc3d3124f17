"""Programs that stay between calls, so that a fit takes no time to start a process.

A server is a process of the program that runs command lines, one after the other. It gets them through a socket
(FDRIDGE_SERVE), together with the descriptors of their files. It ends with this process, because the socket is then
closed, and because it watches its parent.

A server has the environment, the folder, the cores and the number of threads of the call that started it. A call with
other ones gets another server. Calls of several threads at a time have a server each. A process that was forked starts
its own.
"""

import atexit
import fcntl
import json
import os
import socket
import subprocess
import tempfile
import threading
import weakref


class Ended(Exception):
    """A server ended without an answer. It has an exit code and what the server wrote to its standard error."""

    def __init__(self, code, text):
        super().__init__(code, text)
        self.code = code
        self.text = text


class Server:
    """A process that stays."""

    def __init__(self, path, key):
        self.key = key
        self._owner = os.getpid()
        self._errors = tempfile.TemporaryFile(buffering=0)
        self._socket, theirs = socket.socketpair()
        inherited = []
        try:
            # The process has other files under the numbers 0 to 2.
            inherited.append(fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 3))
            try:
                memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:  # such a system lends no memory, see lends
                self._memory = None
            else:
                self._memory = fcntl.fcntl(memory, fcntl.F_DUPFD_CLOEXEC, 3)
                os.close(memory)
                inherited.append(self._memory)
            self.process = subprocess.Popen(
                [path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env={**os.environ, "FDRIDGE_PARENT": str(self._owner), "FDRIDGE_SERVE": str(inherited[0])},
                start_new_session=True,
                pass_fds=inherited,
            )
        except BaseException:
            self._close()
            raise
        finally:
            theirs.close()
            for descriptor in inherited:
                os.close(descriptor)
        _all.add(self)

    def ask(self, args, descriptors, lent):
        """Run a command line. Return its exit code, its standard output and its standard error.

        lent is the address and the size of an array that the program reads in the memory of this process, or None.
        """
        environment = {} if lent is None else {"FDRIDGE_MEMORY": f"{self._memory}:{lent[0]}:{lent[1]}"}
        text = json.dumps({"args": args, "files": descriptors, "environment": environment}).encode()
        try:
            socket.send_fds(self._socket, [len(text).to_bytes(8, "little")], descriptors)
            self._socket.sendall(text)
            head = self._receive(24)
            code, *sizes = (int.from_bytes(head[i : i + 8], "little") for i in (0, 8, 16))
            out, error = map(self._receive, sizes)
            return code, out, error
        except (BrokenPipeError, ConnectionResetError, EOFError):
            code = self.process.wait()
            self._errors.seek(0)
            raise Ended(code, self._errors.read()) from None

    def _receive(self, size):
        data = bytearray(size)
        view = memoryview(data)
        while view:
            got = self._socket.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return bytes(data)

    def is_alive(self):
        return self.process.poll() is None

    def kill(self):
        """End the process at once."""
        if os.getpid() != self._owner:
            return
        if self.is_alive():
            self.process.kill()
            self.process.wait()
        self._close()

    def _close(self):
        self._socket.close()
        self._errors.close()

    def forget(self):
        """Close the files of a forked process. The server belongs to its parent."""
        self._close()
        self.process.returncode = 0  # subprocess does not wait for it

    def __del__(self):  # a call was interrupted before it could kill its server
        if hasattr(self, "process"):
            self.kill()


_all = weakref.WeakSet()
_idle = []  # servers that answer no call, the longest idle one first
_lock = threading.Lock()


def ask(path, args, descriptors, lent, threads):
    """Run a command line in a server, see `Server.ask`. An exception, such as KeyboardInterrupt, ends the server."""
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = None
    key = path, os.stat(path).st_mtime_ns, folder, threads, os.sched_getaffinity(0), os.environ.copy()
    server = _take(key) or Server(path, key)
    try:
        answer = server.ask(args, descriptors, lent)
    except BaseException:
        server.kill()
        raise
    _put(server)
    return answer


def _take(key):
    """Return an idle server that lives, or None."""
    with _lock:
        for i in reversed(range(len(_idle))):
            if _idle[i].key == key:
                server = _idle.pop(i)
                if server.is_alive():
                    return server
                server.kill()
    return None


def _put(server):
    """Keep a server for later calls. Of many, the last ones are kept, one for each core."""
    with _lock:
        _idle.append(server)
        count = max(2, os.cpu_count() or 1)
        others = _idle[:-count]
        del _idle[:-count]
    for other in others:
        other.kill()


@atexit.register
def stop():
    """End all idle servers."""
    with _lock:
        servers = _idle[:]
        _idle.clear()
    for server in servers:
        server.kill()


def _after_fork():
    global _lock
    _lock = threading.Lock()
    for server in list(_all):
        server.forget()
    _idle.clear()


os.register_at_fork(after_in_child=_after_fork)
