# SPDX-License-Identifier: Apache-2.0
"""Runs a ternd for a test: starts it, waits until it listens, and ends it."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PATIENCE = 500  # Seconds. Only a failing test waits this long.


class Ternd:
    """Runs `ternd --socket SOCKET ARGS`. `more` goes to subprocess.Popen. After the constructor, ternd listens or has
    ended (`listens`)."""

    def __init__(self, ternd, socket, *args, **more):
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen([ternd, "--socket", str(socket), *args], stderr=self.log, **more)
        while f"at {socket}\n" not in self.said() and self.process.poll() is None:
            time.sleep(0.01)

    @property
    def listens(self):
        return self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def said(self):
        """Returns its messages so far."""
        self.log.flush()
        # This opens the file at its beginning.
        with open(f"/proc/self/fd/{self.log.fileno()}", encoding="utf-8") as log:
            return log.read()

    def holds(self, tern, environment):
        """Returns what clients may neither leave behind nor take away, as soon as ternd publishes it. `environment` is
        ternd's own: its statistics are in XDG_RUNTIME_DIR. The thread that moves memory is not counted, since it starts
        when it is first needed, and stays."""
        proc = pathlib.Path(f"/proc/{self.pid}")
        end = time.monotonic() + PATIENCE
        while True:
            top = subprocess.run([tern, "top", "--once", "--json"], check=True, env=environment,
                                 stdout=subprocess.PIPE, text=True)
            devices = json.loads(top.stdout)["devices"]
            if devices:
                return {"descriptors": len(list((proc / "fd").iterdir())),
                        "threads": self.threads(), "processes": devices[0]["processes"],
                        "contexts": devices[0]["contexts_alive"], "free memory": devices[0]["memory_free"]}
            if not self.listens or time.monotonic() > end:
                raise AssertionError(f"ternd publishes no statistics: {self.said()}")
            time.sleep(0.01)

    def names(self):
        """Returns the names of its threads."""
        names = []
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                names.append((task / "comm").read_text().strip())
            except OSError:  # The thread has just ended.
                pass
        return names

    def threads(self):
        names = self.names()
        return len(names) - names.count("tern-pager")

    def stop(self):
        """Returns when all threads have stopped. SIGSTOP is delivered to one thread, and the others run until that
        thread has handled it."""
        self.process.send_signal(signal.SIGSTOP)
        if os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code != os.CLD_STOPPED:
            raise AssertionError(f"ternd has ended: {self.said()}")

    def waiting(self, socket):
        """Returns the number of connections that it has not accepted."""
        lines = [x.split() for x in pathlib.Path("/proc/net/unix").read_text().splitlines()]
        return sum(x[5:6] == ["02"] and x[-1].startswith(str(socket)) for x in lines)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def end(self, how=signal.SIGTERM, patience=PATIENCE):
        """Returns its exit status, or None if it did not end and was killed."""
        self.process.send_signal(how)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()
