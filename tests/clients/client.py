# SPDX-License-Identifier: Apache-2.0
"""Common parts of the scripts of clients: tests with names, what the device offers, and comparisons.

A script decorates its tests with @test, and ends with run(). Each test prints a line `PASS name (seconds)`, `FAIL name`
with the reason below, or `SKIP name: reason`. Exit of run(): 0 none failed, 1 one failed.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

import numpy as np

SEED = int(os.environ.get("CLIENT_SEED", "1"))
ON_RTL = os.environ.get("TERN_BACKEND") == "rtl"
TESTS = []


class Failure(AssertionError):
    """The finding of a test that fails."""


def test(function=None, *, rtl=False, needs=()):
    """Makes a test of a function. rtl: it is short enough for the RTL. needs: names of FEATURES."""
    if function is None:
        return functools.partial(test, rtl=rtl, needs=needs)
    TESTS.append((function, rtl, (needs,) if isinstance(needs, str) else needs))
    return function


@functools.cache
def device():
    """Returns the properties of the device as clinfo names them."""
    told = subprocess.run(["clinfo", "--raw"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^\[\S+\] +(CL_\w+) +(.*?) *$", told, re.M))


def extension(name):
    return name in device()["CL_DEVICE_EXTENSIONS"].split()


FEATURES = {  # By name: how the device tells that it has it, and the sentence for a test that is skipped.
    "images": (lambda: device().get("CL_DEVICE_IMAGE_SUPPORT") == "CL_TRUE", "the device has no images"),
    "double": (lambda: extension("cl_khr_fp64"), "the device has no double precision"),
    "half": (lambda: extension("cl_khr_fp16"), "the device has no half precision"),
    "atomics64": (lambda: extension("cl_khr_int64_base_atomics"), "the device has no 64-bit atomics"),
}


def rng(*words):
    """Returns a generator of random numbers that depends on the seed and these words alone."""
    return np.random.default_rng([SEED, *(int.from_bytes(str(w).encode(), "little") for w in words)])


def equal(got, expected, what="the result"):
    """All elements are the same."""
    close(got, expected, 0, 0, what)


def close(got, expected, rtol=1e-5, atol=0.0, what="the result"):
    """Each element differs by at most atol + rtol * |expected|."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        raise Failure(f"{what} has shape {got.shape}, and {expected.shape} is expected")
    same = (got == expected) | (got != got) & (expected != expected)  # infinities too, and NaN for NaN
    kind = object if got.dtype.kind in "biu" and expected.dtype.kind in "biu" else complex
    with np.errstate(invalid="ignore"):
        difference = np.abs(got.astype(kind) - expected.astype(kind)).astype(float)
        wrong = ~same & ~(difference <= atol + rtol * np.abs(expected.astype(complex)))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        most = np.max(difference, initial=0, where=difference == difference)
        raise Failure(f"{what}: {wrong.sum()} of {wrong.size} elements are wrong; the first, at {at}, is {got[at]!r}, "
                      f"and {expected[at]!r} is expected (largest difference {most:g})")


def true(condition, sentence):
    if not condition:
        raise Failure(sentence)


def command(argv, status=0, **more):
    """Runs a program and returns all that it printed. Another status than this is a failure."""
    print("+ " + " ".join(map(str, argv)), flush=True)
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more)
    if status is not None and done.returncode != status:
        raise Failure(f"{argv[0]} ended with {done.returncode}; its last lines are:\n"
                      + "\n".join(done.stdout.splitlines()[-15:]))
    return done.stdout


def pytest(*arguments, least, expression=""):
    """Runs tests of a package that use pytest, those that the expression (-k) selects. At least this many must pass,
    and none may fail."""
    told = command([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-W", "ignore", "-k",
                    expression, *arguments], status=None, cwd=folder())
    print(told)
    passed = re.search(r"\b(\d+) passed", told)
    true(not re.search(r"\b\d+ (failed|error)", told) and passed and int(passed[1]) >= least,
         f"at least {least} tests must pass, and none may fail:\n{told[-3000:]}")


def run():
    """Runs the tests that this device can run, and ends the program."""
    failed = 0
    sys.stdout.reconfigure(line_buffering=True)
    for function, rtl, needs in TESTS:
        name = function.__name__
        if ON_RTL and not rtl:
            continue
        absent = [FEATURES[n][1] for n in needs if not FEATURES[n][0]()]
        if absent:
            print(f"SKIP {name}: {absent[0]}")
            continue
        begin = time.monotonic()
        try:
            function()
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print(f"FAIL {name}\n{e if isinstance(e, Failure) else traceback.format_exc()}")
        else:
            print(f"PASS {name} ({time.monotonic() - begin:.1f} s)")
    sys.exit(failed != 0)


def compiled():
    """Returns the number of programs that Tern has compiled in this run; it begins with an empty cache."""
    return sum(1 for _ in (folder() / ".cache" / "tern").glob("*"))


def folder():
    """Returns the folder that the run of this client may write to."""
    return pathlib.Path(os.environ["HOME"])
