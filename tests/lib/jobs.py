# SPDX-License-Identifier: Apache-2.0
"""Runs named checks in parallel and prints one line for each, for tests/rtl/run and tests/formal/run.

A check is a function name -> (passed, log, rerun). An exception in it ends the run. Lines are in order of completion.
"""
import concurrent.futures
import subprocess
import time

TAIL = 25


def call(argv, cwd, log, timeout):
    """Runs argv, appends what it prints to the open file log; its exit code, or -1 when it took longer than timeout."""
    log.write("+ " + " ".join(argv) + "\n")
    log.flush()
    try:
        return subprocess.run(argv, cwd=cwd, stdout=log, stderr=subprocess.STDOUT, timeout=timeout,
                              check=False).returncode
    except subprocess.TimeoutExpired:
        log.write(f"timeout after {timeout} s\n")
        return -1


def run_all(names, check, parallel):
    """Runs the checks. Returns the exit code: 0 when every check passed. Without a name it is 1, so that a wrong glob
    does not pass."""
    if not names:
        print("FAIL nothing to run")
        return 1

    raised = []

    def timed(name):
        if raised:
            raise raised[0]
        start = time.monotonic()
        try:
            result = check(name)
        except Exception as e:
            raised.append(e)
            raise
        return name, time.monotonic() - start, result

    failed = 0
    pool = concurrent.futures.ThreadPoolExecutor(max_workers=parallel)
    try:
        for future in concurrent.futures.as_completed([pool.submit(timed, n) for n in names]):
            name, seconds, (passed, log, rerun) = future.result()
            if passed:
                print(f"PASS {name} ({seconds:.1f} s)", flush=True)
                continue
            failed += 1
            print(f"FAIL {name}", flush=True)
            for line in log.read_text(errors="replace").splitlines()[-TAIL:]:
                print("    " + line)
            print(f"  log   {log}\n  rerun {rerun}", flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    return 1 if failed else 0
