# SPDX-License-Identifier: Apache-2.0
"""CLBlast: its tuners run each kernel with many parameters, and compare each result with that of a plain kernel."""
import re

from client import command, folder, run, test, true

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def tunes(tuner, least, *options):
    """Makes the test of a tuner. At least this many sets of parameters give the right result, and none a wrong one.

    A set that asks for a larger group than the kernel can have (error -54) is no failure: tuners try such ones on all
    devices.
    """
    def tune():
        told = COLOUR.sub("", command([f"clblast_tuner_{tuner}", "-runs", "1", *options], cwd=folder()))
        rows = re.findall(r"^\| +\d+ \|[^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|([^|]*)\|[^|]*\|([^|]*)\|", told, re.M)
        good = sum("results match" in row[1] for row in rows)
        bad = [row for row in rows if "results match" not in row[1]
               and not ("error -54" in row[0] and "invalid config" in row[1])]
        true("reference OK" in told and good >= least and not bad,
             f"{good} of {len(rows)} sets of parameters are right, and {least} must be; wrong are {bad}\n"
             + told[-2000:])
    tune.__name__ = tuner
    test(tune)


# The sizes are multiples of all that the parameters multiply to: the kernels have no checks of bounds.
SQUARE = "-m", "256", "-n", "256"
tunes("xaxpy", 5, "-n", "65536", "-fraction", "12")
tunes("xdot", 4, "-n", "4096", "-fraction", "1")
tunes("xger", 5, *SQUARE, "-fraction", "20")
tunes("xgemv", 3, "-m", "1024", "-n", "1024", "-fraction", "20")
tunes("copy_fast", 5, *SQUARE, "-fraction", "20")
tunes("transpose_pad", 5, *SQUARE, "-fraction", "4")
tunes("xgemm_direct", 5, "-m", "64", "-n", "64", "-k", "32", "-fraction", "1000")
run()
