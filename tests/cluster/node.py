# SPDX-License-Identifier: Apache-2.0
"""A machine node1 in namespaces of its own: the configuration of docs/cluster in /etc/slurm, munged, slurmctld, slurmd,
two ternd, and users. Nothing outside of the namespaces changes but the folder of logs."""
import fcntl
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 300  # Seconds. Only a failing test waits this long.
USERS = {"alice": 2001, "bob": 2002}
COVERED = ["/etc/slurm", "/etc/munge", "/run", "/var/spool", "/var/log", "/usr/local/bin"]
CONFIG = "small,mem=256M"
ADDRESS = "192.0.2.1"  # For documentation (RFC 5737); Slurm finds no host whose only address is 127.0.0.1.
HOSTS = f"127.0.0.1 localhost\n{ADDRESS} node1\n"


class NodeFailed(Exception):
    """The machine cannot be made, or one of its programs failed. The text says which and why."""


def call(*argv, env=None):
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise NodeFailed(f"{argv[0]} failed with status {done.returncode}: {done.stderr.strip()} ({argv})")
    return done.stdout


def until(condition, what):
    """Waits until the condition returns something that is true, and returns that."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise NodeFailed(f"not in {PATIENCE} s: {what}")
        time.sleep(0.1)
    return found


def loopback_up():
    """Gives the loopback device its second address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x1))  # SIOCSIFFLAGS, IFF_UP
        fcntl.ioctl(s, 0x8916, struct.pack("16sHH4s8x", b"lo:1", socket.AF_INET, 0, socket.inet_aton(ADDRESS)))


class Node:
    def __init__(self, build, logs):
        self.build, self.logs, self.daemons = build, logs, {}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("TERN", "SLURM", "XDG"))}
        self.environment["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        self.make()

    def make(self):
        """Mounts what differs from the real machine. The mounts are seen in this namespace alone."""
        call("mount", "--make-rprivate", "/")
        for folder in COVERED:
            pathlib.Path(folder).mkdir(exist_ok=True)
            call("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", folder)
        socket.sethostname("node1")
        loopback_up()
        given = pathlib.Path("/run/given")
        given.mkdir()
        (given / "hosts").write_text(HOSTS)
        users = "".join(f"{n}:x:{i}:{i}::/run/home/{n}:/bin/sh\n" for n, i in USERS.items())
        (given / "passwd").write_text(pathlib.Path("/etc/passwd").read_text() + users)
        groups = "".join(f"{n}:x:{i}:\n" for n, i in USERS.items())
        (given / "group").write_text(pathlib.Path("/etc/group").read_text() + groups)
        for file in "hosts", "passwd", "group":
            call("mount", "--bind", given / file, f"/etc/{file}")
        for name, number in USERS.items():
            home = pathlib.Path("/run/home") / name
            home.mkdir(parents=True)
            os.chown(home, number, number)
        for program in "tern", "ternd":
            pathlib.Path("/usr/local/bin", program).symlink_to(self.build / "bin" / program)
        shutil.copytree(ROOT / "docs/cluster/slurm", "/etc/slurm", dirs_exist_ok=True)
        for folder, owner in ("/etc/munge", "munge"), ("/run/munge", "munge"), ("/var/lib/munge", "munge"), \
                             ("/var/log/munge", "munge"), ("/var/spool/slurmctld", "slurm"), ("/run/tern", "root"):
            path = pathlib.Path(folder)
            if folder == "/var/lib/munge":
                call("mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", folder)
            path.mkdir(exist_ok=True)
            shutil.chown(path, owner, owner)
        key = pathlib.Path("/etc/munge/munge.key")
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        shutil.chown(key, "munge", "munge")

    def start(self, name, *argv):
        """Starts a daemon in the foreground, with its messages in the folder of logs."""
        with (self.logs / f"{name}.log").open("a") as log:
            self.daemons[name] = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log,
                                                  stderr=log, env=self.environment, cwd="/")

    def ternd(self, name, path, config=CONFIG):
        self.start(name, "ternd", "--socket", path, "--backend", "model", "--config", config, "--limits",
                   "/etc/slurm/tern/limits")
        until(lambda: pathlib.Path(path).exists(), f"{name} listens")

    def begin(self):
        self.start("munged", "runuser", "-u", "munge", "--", "munged", "--foreground")
        until(lambda: pathlib.Path("/run/munge/munge.socket.2").exists(), "munged listens")
        for name, path in ("ternd", "/run/tern/ternd.sock"), ("second", "/run/tern/second.sock"):
            self.ternd(name, path)
        self.start("slurmctld", "slurmctld", "-D")
        self.start("slurmd", "slurmd", "-D")
        until(lambda: self.state() == "idle" or self.ended(), "the node is idle")
        if self.ended():
            raise NodeFailed(f"{', '.join(self.ended())} has ended")

    def ended(self):
        """Returns the names of daemons that have ended by themselves."""
        return [n for n, d in self.daemons.items() if d.poll() is not None]

    def state(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False,
                              env=self.environment)
        return done.stdout.strip()

    def submit(self, user, script, *options):
        """Submits a job of a user, and returns its number."""
        file = pathlib.Path(f"/run/home/{user}/job.sh")
        file.write_text(script)
        out = call("runuser", "-u", user, "--", "sbatch", "--parsable", "--chdir", f"/run/home/{user}", "--output",
                   "%j.out", "--no-requeue", *options, file, env=self.environment)
        return int(out)

    def job(self, number):
        """Returns the properties of a job as scontrol prints them."""
        text = call("scontrol", "show", "job", "-o", number, env=self.environment)
        return dict(w.partition("=")[::2] for w in text.split() if "=" in w)

    def ends(self, number, state="COMPLETED"):
        """Waits until the job has ended, with its epilog."""
        ended = until(lambda: (s := self.job(number))["JobState"] not in ("PENDING", "CONFIGURING", "RUNNING",
                                                                         "COMPLETING") and s, f"job {number} ends")
        if ended["JobState"] != state:
            raise NodeFailed(f"job {number} is {ended['JobState']}, not {state}: {ended}; it said: "
                             f"{self.output(number)}")
        return ended

    def output(self, number):
        return "".join(p.read_text() for p in pathlib.Path("/run/home").glob(f"*/{number}.out"))

    def stop(self, name):
        daemon = self.daemons.pop(name)
        daemon.terminate()
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()

    def end(self):
        for name in reversed(list(self.daemons)):
            self.stop(name)
