# SPDX-License-Identifier: Apache-2.0
"""Installs what a client needs below build/clients, and nothing into the system.

Packages of PyPI go into a virtual environment, in the versions of pins.txt. Packages of Debian are downloaded with
those that they need and the system lacks, and unpacked into a folder that a client sees over the system's /usr, by a
file system of its own (overlay). A program thus finds its data where it was built to find them, and no rights are
needed. The scripts that a package runs when it is installed are not run.

    build/clients/python    the virtual environment
    build/clients/debs      packages of Debian as they were downloaded
    build/clients/debian    the same unpacked; it is made anew when the system's packages have changed
"""
import hashlib
import pathlib
import re
import subprocess
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "clients"
PYTHON, DEBS, DEBIAN = PLACE / "python", PLACE / "debs", PLACE / "debian"
PINS = pathlib.Path(__file__).with_name("pins.txt")
STATUS = pathlib.Path("/var/lib/dpkg/status")
OF_VENV = {"pip", "setuptools"}
PATIENCE = 900  # seconds for one command of pip or apt


class Absent(Exception):
    """A client cannot be installed here. The text says why, in one line."""


def call(argv, hint, cwd=None):
    """Runs a command and returns its output. Raises Absent with the last line of its errors and the hint."""
    try:
        done = subprocess.run([str(a) for a in argv], cwd=cwd, capture_output=True, text=True, errors="replace",
                              timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired as e:
        raise Absent(f"{hint}: {pathlib.Path(argv[0]).name} took more than {PATIENCE} s") from e
    except OSError as e:
        raise Absent(f"{hint}: {argv[0]} cannot be started: {e.strerror}") from e
    if done.returncode:
        lines = [x.strip() for x in (done.stdout + done.stderr).splitlines() if x.strip()]
        errors = [x for x in lines if re.match(r"E:|ERROR|error", x)] or lines or [f"status {done.returncode}"]
        raise Absent(f"{hint}: {errors[-1]}")
    return done.stdout


def pins(text):
    """Returns the versions by the names of the packages, of lines NAME==VERSION."""
    return {re.sub(r"[-_.]+", "-", name).lower(): version
            for name, version in re.findall(r"^([\w.-]+)==(\S+)$", text, re.M)}


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def python(names):
    """Installs packages of PyPI. Returns their versions by name."""
    pinned = pins(PINS.read_text())
    unknown = [n for n in names if n not in pinned]
    assert not unknown, f"{PINS} has no version of {unknown}"
    key, mark = PYTHON / f".{digest(PINS.read_text())}", PYTHON / f".{digest(*sorted(names))}"
    if not (key.exists() and mark.exists()):
        if not key.exists():  # Other versions may be there.
            try:
                venv.create(PYTHON, clear=True, with_pip=True)
                key.touch()
            except (subprocess.CalledProcessError, OSError) as e:
                raise Absent("Python has no pip for a virtual environment; scripts/setup ecp5 installs it") from e
        pip = PYTHON / "bin/pip"
        call([pip, "install", "--no-input", "--disable-pip-version-check", "-c", PINS, *names],
             f"pip cannot install {' '.join(names)}")
        have = pins(call([pip, "list", "--format=freeze", "--disable-pip-version-check"], "pip cannot list"))
        others = [f"{n} {v}" for n, v in have.items() if n not in OF_VENV and pinned.get(n) != v]
        if others:
            raise Absent(f"{PINS.name} does not name what pip installed: {', '.join(sorted(others))}")
        mark.touch()
    return {n: pinned[n] for n in names}


def installed(name):
    """Returns the version of a package that the system has, or None."""
    done = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Abbrev}${Version}", name], capture_output=True,
                          text=True, check=False)
    return done.stdout[3:] if done.stdout.startswith("ii ") else None


def missing(names):
    """Returns (name, version) of each package that apt would install to have these."""
    told = call(["apt-get", "install", "--no-install-recommends", "--simulate", *names],
                f"apt cannot install {' '.join(names)}")
    return re.findall(r"^Inst (\S+)(?: \[[^]]*\])? \((\S+)", told, re.M)


def debian(wanted):
    """Installs packages of Debian. wanted: by name, what their versions begin with. Returns their versions by name."""
    DEBS.mkdir(parents=True, exist_ok=True)
    if not STATUS.exists():
        raise Absent("this is no Debian system (dpkg is missing)")
    key = digest(STATUS.read_text(errors="replace"))
    if not (DEBIAN / key).exists():
        subprocess.run(["rm", "-rf", DEBIAN], check=True)
        (DEBIAN / "usr").mkdir(parents=True)
        (DEBIAN / key).touch()
    mark = DEBIAN / digest(str(sorted(wanted.items())))
    if not mark.exists():
        needed = missing(wanted)
        versions = {n: dict(needed).get(n) or installed(n) for n in wanted}
        for name, begin in wanted.items():
            if not versions[name].startswith(begin):
                raise Absent(f"Debian has {name} {versions[name]}, and this test is of {begin}")
        for name, version in needed:
            unpack(name, version)
        mark.write_text("".join(f"{n} {v}\n" for n, v in versions.items()))
    return dict(line.split() for line in mark.read_text().splitlines())


def unpack(name, version):
    """Downloads a package of Debian, unless it was before, and unpacks it."""
    file = f"{name.split(':')[0]}_{version.replace(':', '%3a')}_*.deb"
    if not list(DEBS.glob(file)):
        call(["apt-get", "download", f"{name}={version}"], f"apt cannot download {name}", cwd=DEBS)
    for package in DEBS.glob(file):
        call(["dpkg-deb", "-x", package, DEBIAN], f"{package.name} cannot be unpacked")


def over_usr(argv):
    """Returns the command that runs argv with the unpacked packages over /usr."""
    mount = f'mount -t overlay overlay -o "lowerdir=$0/usr:/usr" /usr && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(DEBIAN), *argv]


def check_over_usr():
    """Raises Absent if this system allows no such file system."""
    call(over_usr(["true"]), "the system allows no overlay over /usr in a namespace")
