# SPDX-License-Identifier: Apache-2.0
"""The built tree as an archive, by a key of commit, flags of the build, and contents:

    COMMIT[-CHANGES]-FLAGS-CONTENTS.tar.zst    in the folder archives of the cache (node.default_cache)

The archive has the files that a kind of campaign needs, and manifest.json with the SHA-256 of each.
"""
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile

from campaign import node
from campaign.kinds import Cannot
from testing.parts import state_of_tree
from testing.steps import ROOT

FLAGS = re.compile(r"^((?:CMAKE_BUILD_TYPE|CMAKE_(?:C|CXX)_FLAGS\w*|TERN_\w+):\w+=.*)$", re.M)


def run(words, what):
    """Runs a command of the build on this machine. Its output is shown only if it fails."""
    try:
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
    except OSError as e:
        raise Cannot(f"{what}: {words[0]} cannot be started: {e.strerror}; scripts/setup build installs it") from e
    if done.returncode:
        raise Cannot(f"{what}: {words[0]} ended with {done.returncode}; its last lines:\n  " +
                     "\n  ".join(done.stdout.strip().splitlines()[-8:]))
    return done.stdout


def targets(build):
    """Returns the names of the build's targets."""
    return set(re.findall(r"^(\S+): ", run(["ninja", "-C", str(build), "-t", "targets", "all"], "build"), re.M))


def make(build, wanted):
    """Brings the targets up to date. A target that this build is configured without must have been put there."""
    if not (build / "build.ninja").exists():
        run(["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja"], "build")
    known = targets(build)
    print(f"campaign: building {' '.join(wanted)} in {build}", flush=True)
    run(["ninja", "-C", str(build), *(t for t in wanted if t in known)], "build")


def flags(build):
    """Returns the flags of a build that decide what it makes."""
    try:
        text = (build / "CMakeCache.txt").read_text()
    except OSError as e:
        raise Cannot(f"{build} is no build of Tern: {e.strerror}; make one by cmake -S . -B {build} -G Ninja") from e
    return sorted(line for line in FLAGS.findall(text) if "_DIR:" not in line)


def short(data, digits=8):
    return hashlib.sha256(data).hexdigest()[:digits]


def of_build(build, *names):
    """Returns files of a build by their place in the archive."""
    found = {}
    for name in names:
        path = build / name
        if not path.is_file():
            raise Cannot(f"{path} is not there: build it (ninja -C {build}), or give the build by --build")
        found[f"build/{name}"] = path
    return found


class Archive:
    """The archive of some files. key: its name; path: where it is."""

    def __init__(self, files, build, cache):
        digests = {}
        for name, path in sorted(files.items()):
            try:
                digests[name] = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as e:
                raise Cannot(f"{path}: {e.strerror}") from e
        self.commit, self.flags = state_of_tree(), flags(build)
        self.key = "-".join([self.commit, short("\n".join(self.flags).encode()),
                             short(json.dumps(digests).encode(), 12)])
        self.path = cache / "archives" / f"{self.key}.tar.zst"
        if not self.path.exists():
            self.pack(files, {"key": self.key, "commit": self.commit, "flags": self.flags, "files": digests})

    def pack(self, files, manifest):
        """Writes the archive: the same bytes for the same files."""
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as work:
                work = pathlib.Path(work)
                for name, path in files.items():
                    link = work / "tree" / name
                    link.parent.mkdir(parents=True, exist_ok=True)
                    link.symlink_to(path.resolve())
                (work / "tree/manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
                names = work / "names"
                names.write_text("\n".join(sorted([*files, "manifest.json"])) + "\n")
                run(["tar", "--zstd", "--dereference", "--sort=name", "--mtime=@0", "--owner=0", "--group=0",
                     "--numeric-owner", "-cf", str(work / "archive"), "-C", str(work / "tree"), "-T", str(names)],
                    "archive")
                os.replace(work / "archive", self.path)
        except OSError as e:
            raise Cannot(node.no_room(e, folder)) from e

    def read(self):
        return self.path.read_bytes()
