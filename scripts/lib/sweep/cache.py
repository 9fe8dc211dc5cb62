# SPDX-License-Identifier: Apache-2.0
"""The cache of sweeps: devices by a key of RTL sources, geometry and tools; results of points and figures of synthesis.

    FOLDER/devices/KEY/libtern_sim_rtl_default.so    a device, as the device `default` of this folder
    FOLDER/devices/KEY/tern                          link to `tools`, so that TERN_LIB_DIR can be the device's folder
    FOLDER/devices/KEY.lock                          held by the process that builds the device
    FOLDER/points/KEY.json, FOLDER/synth/KEY.json    a result

A file that is there is whole: it is written beside its place, and renamed. Nothing is ever removed from the cache: `rm
-r` of the folder forgets it.
"""
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import tempfile

from sweep import device


def default_folder():
    """The folder of the compiler's cache (docs/runtime.md), in it the folder sweeps."""
    own, base = os.environ.get("TERN_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "")
    base = pathlib.Path(base) if base.startswith("/") else pathlib.Path.home() / ".cache"
    return (pathlib.Path(own) if own else base / "tern") / "sweeps"


def digest(*parts):
    """Returns a key of 20 hexadecimal digits: a hash of bytes, texts, and values that JSON has."""
    h = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else json.dumps(part, sort_keys=True).encode()
        h.update(len(data).to_bytes(8, "little") + data)
    return h.hexdigest()[:20]


class Cache:
    """A cache in a folder, for the build or installation at `prefix`, which has bin/tern. tree: the sources of devices,
    which have rtl/ and sim/. tools: the folder of Tern's own programs. jobs: compilers at a time for one device."""

    def __init__(self, folder, prefix, tree, tools=None, jobs=1):
        self.folder, self.prefix, self.tree = pathlib.Path(folder), pathlib.Path(prefix), pathlib.Path(tree)
        self.tools = pathlib.Path(tools) if tools else self.prefix / "lib/tern"
        self.jobs, self.full = jobs, ""

    @property
    def in_build(self):
        return (self.prefix / "CMakeCache.txt").exists()

    def device(self, point):
        """Returns the Device of a point, building it if it is not there. Raises device.Gap."""
        return device.get(self, point)

    @functools.cached_property
    def software(self):
        """The key of all that takes part in a run but the device: command, benches, runtime, compiler."""
        lib = self.tools
        files = [self.prefix / "bin/tern", lib / "tern-bench", lib / "tern-cc1", *sorted(lib.glob("*.bc")),
                 *sorted(lib.glob("*.o")), *sorted(lib.glob("*.h"))]
        return digest(*(hashlib.sha256(f.read_bytes()).digest() for f in files if f.is_file()),
                      device.tool_version("clang-19"))

    @functools.cached_property
    def rtl(self):
        """The key of the sources of devices."""
        return digest(*(part for f in device.sources(self.tree)
                        for part in (str(f.relative_to(self.tree)), f.read_bytes())))

    def load(self, kind, key):
        """Returns a result, or None."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.folder / kind / f"{key}.json").read_text())
        return None

    def store(self, kind, key, value):
        """Keeps a result. A failure loses nothing but the copy on disk; `full` then has the reason."""
        try:
            place = self.folder / kind
            place.mkdir(parents=True, exist_ok=True)
            write(place / f"{key}.json", json.dumps(value))
        except OSError as e:
            self.full = self.full or f"{self.folder}: cannot be written: {e.strerror}"


def write(file, text):
    """Replaces a file: a reader finds the old or the new content, and after a failure the old one."""
    handle, part = tempfile.mkstemp(dir=file.parent, prefix=file.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(part, 0o644)
        os.replace(part, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
