# SPDX-License-Identifier: Apache-2.0
"""Progress on standard error: on a terminal a line that is rewritten, elsewhere a line every ten seconds."""
import sys
import threading
import time

WIDTH, EVERY_TERMINAL, EVERY = 79, 0.25, 10.0


class Progress:
    """Counts the steps of a phase. The time left is that of the steps which took time, for those that are left."""

    def __init__(self, jobs, stream=None):
        self.jobs, self.stream = jobs, stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.lock, self.end = threading.Lock(), threading.Event()
        self.what, self.last, self.done, self.all = "", "", 0, 0  # Guarded by lock, as the next line.
        self.begun = self.phase = time.monotonic()
        self.took, self.counted, self.told, self.shown = 0.0, 0, 0.0, False
        self.thread = threading.Thread(target=self.tell, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join()
        self.hide()

    def begin(self, what, steps):
        with self.lock:
            self.what, self.all, self.done, self.last = what, steps, 0, ""
            self.took, self.counted, self.phase = 0.0, 0, time.monotonic()

    def step(self, last, seconds=None):
        """Counts a step. seconds: the time that it took, None if that says nothing of the others."""
        with self.lock:
            self.done, self.last = self.done + 1, last
            if seconds is not None:
                self.took, self.counted = self.took + seconds, self.counted + 1

    def left(self):
        """Returns the seconds that are left of the phase, or None if nothing is known."""
        if not self.counted or self.done == self.all:
            return None
        return self.took / self.counted * (self.all - self.done) / min(self.jobs, self.all - self.done)

    def line(self):
        left = self.left()
        last = f" {self.last}" if self.last else ""
        text = f"tern sweep: {self.what} [{self.done}/{self.all}]{last}; {time.monotonic() - self.begun:.0f} s"
        end = f", {left:.0f} s left" if left is not None else ""
        return text[:WIDTH - len(end)] + end

    def tell(self):
        every = EVERY_TERMINAL if self.terminal else EVERY
        while not self.end.wait(every):
            with self.lock:
                if self.what:
                    self.stream.write(f"\r\033[K{self.line()}" if self.terminal else f"{self.line()}\n")
                    self.stream.flush()
                    self.shown = self.terminal

    def hide(self):
        with self.lock:
            if self.shown:
                self.stream.write("\r\033[K")
                self.stream.flush()
                self.shown = False

    def say(self, message):
        self.hide()
        print(f"tern sweep: {message}", file=self.stream, flush=True)
