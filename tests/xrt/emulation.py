# SPDX-License-Identifier: Apache-2.0
"""A card of XRT's emulation for a test, with the simulator that scripts/xclbin puts into an xclbin."""
import os
import pathlib
import subprocess

CALL = 300  # seconds of a busy host for a call of XRT, which is answered by the simulator, another process
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/xclbin"

# XRT's emulation may send a signal to the whole process group: to a test, then, and not to what runs it as well. Who
# started it at a terminal can end it there, as before.
if not os.isatty(0) and os.getpgrp() != os.getpid():
    os.setpgid(0, 0)


def environment(build, folder, *more, device, memory="64M"):
    """Makes an xclbin in the folder; the environment for it, as the script prints it for a shell. What programs keep
    for a user is in the folder, too."""
    text = subprocess.run([SCRIPT, "--build", build, "--device", device, "--memory", memory, "--out",
                           folder / "t.xclbin", "--env", folder / "emu", *more], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    shell = subprocess.run(["sh", "-c", f"{text}env -0"], check=True, stdout=subprocess.PIPE, text=True).stdout
    env = dict(x.split("=", 1) for x in shell.split("\0") if x)
    for name in ("TERND_SOCKET", "TERN_CONFIG", "TERN_LIB_DIR", "TERN_XRT_DEVICE"):
        env.pop(name, None)
    if folder.parent == pathlib.Path("/tmp"):
        env["USER"] = folder.name  # XRT has its sockets in /tmp/$USER
    return {**env, "XDG_RUNTIME_DIR": str(folder), "TERN_CACHE_DIR": str(folder / "cache"),
            "TERN_XRT_TIMEOUT": str(CALL), "TERND_PATIENCE": str(CALL)}


def simulators(folder):
    """The processes that XRT has started for cards whose environment was made in the folder: their ids."""
    run, found = str(folder / "emu/run"), []
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (p / "comm").read_text() == "tern-hw-emu\n" and str((p / "cwd").readlink()).startswith(run):
                found.append(int(p.name))
        except OSError:
            pass
    return found
