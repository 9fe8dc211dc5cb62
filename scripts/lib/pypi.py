# SPDX-License-Identifier: Apache-2.0
"""Installs packages of PyPI for one purpose, in fixed versions, into a virtual environment below build/."""
import json
import subprocess
import venv


class Failed(Exception):
    """A package cannot be installed. The text is a message for the user."""


def pinned(file):
    """Returns the versions that a file of requirements pins, by the packages' names."""
    lines = (line.split("#")[0].strip() for line in file.read_text().splitlines())
    return dict(line.split("==") for line in lines if line)


def present(place, versions):
    """Returns whether the environment `place` has been made with these versions, which are by the packages' names."""
    mark = place / "versions.json"
    return mark.exists() and json.loads(mark.read_text()) == versions


def install(place, versions, group):
    """Makes the environment, unless it is there already, and returns the folder of its programs. The output of pip is
    in `place`.log. group: the group of scripts/setup that has what Python needs for it."""
    if present(place, versions):
        return place / "bin"
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        venv.create(place, clear=True, with_pip=True)
    except (subprocess.CalledProcessError, OSError) as e:
        raise Failed(f"Python has no pip for a folder of its own; scripts/setup {group} installs it") from e
    log = place.with_name(place.name + ".log")
    with log.open("w") as out:
        status = subprocess.run([place / "bin/pip", "install", "--no-input", "--disable-pip-version-check",
                                 *(f"{n}=={v}" for n, v in versions.items())], stdout=out, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, check=False).returncode
    if status:
        errors = [line for line in log.read_text(errors="replace").splitlines() if "ERROR" in line][-3:]
        raise Failed("\n  ".join([f"pip failed with status {status}; all of it is in {log}", *errors,
                                  "It needs a network, or a pip.conf that names a local index."]))
    (place / "versions.json").write_text(json.dumps(versions))
    return place / "bin"
