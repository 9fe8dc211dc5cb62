# SPDX-License-Identifier: Apache-2.0
"""A card of XRT's emulation for a test, with the simulator that scripts/xclbin puts into an xclbin."""
import os
import pathlib
import subprocess

CALL = 300  # seconds that a call of XRT may take on a busy host; the simulator, another process, answers it
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/xclbin"

# XRT's emulation may send a signal to the whole process group. A test gets a group of its own, so that the program that
# runs it gets no such signal. A test that was started at a terminal keeps its group, so that the terminal can end it.
if not os.isatty(0) and os.getpgrp() != os.getpid():
    os.setpgid(0, 0)


def environment(build, folder, *more, device, memory="64M"):
    """Makes an xclbin in the folder, and returns the environment for it, which the script prints for a shell. Files
    that programs keep for a user are in the folder as well."""
    text = subprocess.run([SCRIPT, "--build", build, "--device", device, "--memory", memory, "--out",
                           folder / "t.xclbin", "--env", folder / "emu", *more], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    shell = subprocess.run(["sh", "-c", f"{text}env -0"], check=True, stdout=subprocess.PIPE, text=True).stdout
    env = dict(x.split("=", 1) for x in shell.split("\0") if x)
    for name in ("TERND_SOCKET", "TERN_CONFIG", "TERN_LIB_DIR", "TERN_XRT_DEVICE"):
        env.pop(name, None)
    if folder.parent == pathlib.Path("/tmp"):
        env["USER"] = folder.name  # XRT makes its sockets in /tmp/$USER
    return {**env, "XDG_RUNTIME_DIR": str(folder), "TERN_CACHE_DIR": str(folder / "cache"),
            "TERN_XRT_TIMEOUT": str(CALL), "TERND_PATIENCE": str(CALL)}


def simulators(folder):
    """Ids of the processes that XRT has started for cards whose environment was made in the folder."""
    run, found = str(folder / "emu/run"), []
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (p / "comm").read_text() == "tern-hw-emu\n" and str((p / "cwd").readlink()).startswith(run):
                found.append(int(p.name))
        except OSError:
            pass
    return found
