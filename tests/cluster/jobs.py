# SPDX-License-Identifier: Apache-2.0
"""The tests of tests/cluster/run, inside its namespaces: jobs.py BUILD LOGS."""
import json
import pathlib
import re
import subprocess
import sys
import time
import traceback

import yaml

import node as machine
from node import NodeFailed, call, until

BUILD, LOGS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
FIRST, SECOND, OTHER = "/run/tern/ternd.sock", "/run/tern/second.sock", "/run/tern/other.sock"
# A job that computes and checks until its user makes a file: ternd_soak_client compares each result with the host's.
JOB = f"""#!/bin/sh
export OCL_ICD_VENDORS={BUILD}/tern.icd TERN_CACHE_DIR=$HOME/cache
echo "partition ${{TERN_PARTITION-none}} at ${{TERND_SOCKET-none}}"
{BUILD}/tests/ternd_soak_client $SLURM_JOB_ID &
while [ ! -e $HOME/end-$SLURM_JOB_ID ]; do sleep 0.2; done
kill -TERM $!
wait $!
"""


def partitions(socket):
    """Returns the partitions of a ternd by name, but the default one."""
    text = call("tern", "partition", "list", "--json", env={**node.environment, "TERND_SOCKET": socket})
    return {p["name"]: p for p in json.loads(text)["partitions"] if p["name"] != "default"}


def computes(number):
    """Waits until the program of a job has begun to compute."""
    until(lambda: "begins" in node.output(number), f"job {number} computes")


def finish(number, user):
    """Lets a job end, and checks that all of its results were right."""
    pathlib.Path(f"/run/home/{user}/end-{number}").touch()
    node.ends(number)
    rounds = json.loads(re.search(r"^{.*}$", node.output(number), re.M)[0])["rounds"]
    check(rounds > 0, f"job {number} has checked {rounds} kernels")
    return rounds


def check(condition, text):
    if not condition:
        raise NodeFailed(f"it is not so that {text}")


def clean():
    """Neither ternd has a partition of a job, and the node takes jobs."""
    check(not partitions(FIRST) and not partitions(SECOND), "no partition is left")
    until(lambda: node.state() == "idle", "the node is idle")


def two_jobs_share_a_device_and_one_moves():
    one = node.submit("alice", JOB, "--gres=tern:1")
    two = node.submit("bob", JOB, "--gres=tern:2")
    third = node.submit("alice", JOB, "--gres=tern:2")
    for number in one, two:
        computes(number)
    here = partitions(FIRST)
    for number, units, user in (one, 1, "alice"), (two, 2, "bob"):
        found = here[f"job-{number}"]
        check((found["memory_bytes"], found["share"], found["owner"], found["processes"]) ==
              (units * 32 << 20, units * 100, machine.USERS[user], 1), f"job {number} has {units} units: {found}")
        check(f"partition job-{number} at {FIRST}" in node.output(number), f"job {number} is in its partition")
    check(node.job(third)["JobState"] == "PENDING", "a job waits whose units are not free")
    call("/etc/slurm/tern/move-job", one, SECOND, env=node.environment)
    check(list(partitions(FIRST)) == [f"job-{two}"], "the first job has left the first ternd")
    moved = partitions(SECOND)[f"job-{one}"]
    check(moved["processes"] == 1, "the program of the first job is at the second ternd")
    check(node.job(one)["JobState"] == "RUNNING", "the first job runs meanwhile")
    later = call("runuser", "-u", "alice", "--", "srun", "--jobid", one, "--overlap", "sh", "-c",
                 "echo $TERN_PARTITION at $TERND_SOCKET", env=node.environment)
    check(later == f"job-{one} at {SECOND}\n", f"a task that begins later is there too: {later}")
    until(lambda: partitions(SECOND)[f"job-{one}"]["cycles"] > moved["cycles"] + 1000, "it computes there")
    finish(one, "alice")
    check(f"job-{one}" not in partitions(SECOND), "the epilog finds a partition that has moved")
    finish(two, "bob")
    computes(third)
    finish(third, "alice")
    clean()


def a_job_without_units_has_no_partition():
    number = node.submit("bob", JOB)
    until(lambda: "partition none at none" in node.output(number), "it says that it has none")
    call("scancel", number, env=node.environment)
    node.ends(number, "CANCELLED")
    clean()


def a_cancelled_job_leaves_nothing():
    number = node.submit("alice", JOB, "--gres=tern:4")
    computes(number)
    check(partitions(FIRST)[f"job-{number}"]["memory_bytes"] == 128 << 20, "all units are one partition")
    call("scancel", number, env=node.environment)
    node.ends(number, "CANCELLED")
    until(lambda: not partitions(FIRST), "its partition is gone")
    clean()


def the_command_of_the_pod_runs_in_namespaces():
    """The manifest's command as its user, in namespaces as those of a container, with the folder of the socket."""
    spec = yaml.safe_load((machine.ROOT / "docs/cluster/kubernetes/pod.yaml").read_text())["spec"]
    container, user = spec["containers"][0], spec["securityContext"]
    program = pathlib.Path("/usr/local/bin/program")
    program.write_text(f"#!/bin/sh\ncd /run/home/alice || exit 1\n{JOB.split(chr(10), 1)[1]}")
    program.chmod(0o755)
    given = {e["name"]: e.get("value", "tern-example") for e in container["env"]}
    env = {**node.environment, **given, "HOME": "/run/home/alice", "SLURM_JOB_ID": "pod"}
    with open("/run/home/alice/pod.out", "w", encoding="utf-8") as out:
        pod = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount", "--mount-proc", "--net",
                                "--ipc", "--uts", "setpriv", "--reuid", str(user["runAsUser"]), "--regid",
                                str(user["runAsGroup"]), "--clear-groups", *container["command"]], env=env, stdout=out)
    try:
        computes("pod")
        found = partitions(FIRST)["tern-example"]
        check((found["processes"], found["owner"]) == (1, user["runAsUser"]), f"the pod has its partition: {found}")
        pathlib.Path("/run/home/alice/end-pod").touch()
        check(pod.wait(machine.PATIENCE) == 0, "the pod ends with status 0")
    finally:
        pod.kill()
    check(json.loads(re.search(r"^{.*}$", node.output("pod"), re.M)[0])["rounds"] > 0, "its results were right")
    clean()


def a_move_that_fails_leaves_the_job_where_it_is():
    number = node.submit("alice", JOB, "--gres=tern")
    computes(number)
    node.stop("second")
    node.ternd("other", OTHER, "default,mem=256M")  # of another geometry
    for job, to, told in ((number, OTHER, "lanes|warps"), (number, SECOND, "."),
                          (number + 1, SECOND, "no unit of tern")):
        r = subprocess.run(["/etc/slurm/tern/move-job", str(job), to], capture_output=True, text=True, check=False,
                           env=node.environment)
        check(r.returncode == 1 and re.search(told, r.stderr), f"move-job says what is wrong: {r}")
    check(not partitions(OTHER), "the target of a move that fails keeps no partition")
    finish(number, "alice")
    check(not partitions(FIRST), "no partition is left")


def a_job_whose_partition_cannot_be_made_does_not_run():
    call("tern", "partition", "create", "other", "--memory", "200M", env={**node.environment, "TERND_SOCKET": FIRST})
    number = node.submit("alice", JOB, "--gres=tern:2")
    until(lambda: "drain" in node.state(), "the node is drained")
    check("partition" not in node.output(number), "the job has not run")


def workers_of_a_campaign_are_jobs():
    """docs/campaigns.md: all cases have a result, and the jobs end with the campaign."""
    out = pathlib.Path("/run/campaign")
    call(machine.ROOT / "scripts/campaign", "verify", "--cases", "400", "--chunk", "50", "--rtl", "model_small",
         "--build", BUILD, "--no-build", "--output", out, "--slurm", "2", "--wait", str(machine.PATIENCE),
         env={**node.environment, "TERN_CACHE_DIR": "/run/cache"})
    lines = [json.loads(x) for x in (out / "results.jsonl").read_text().splitlines()]
    check(len({x["task"] for x in lines}) == len(lines) == 8, f"8 tasks have a result each: {lines}")
    check(sum(x["result"]["cases"] for x in lines) == 400, "all cases are there")
    until(lambda: not call("squeue", "-h", env=node.environment).strip(), "the jobs have ended")
    clean()


# The last two end a ternd and drain the node; the others leave the machine as it was.
TESTS = [two_jobs_share_a_device_and_one_moves, a_job_without_units_has_no_partition, a_cancelled_job_leaves_nothing,
         the_command_of_the_pod_runs_in_namespaces, workers_of_a_campaign_are_jobs,
         a_move_that_fails_leaves_the_job_where_it_is, a_job_whose_partition_cannot_be_made_does_not_run]


def main():
    failed = 0
    try:
        node.begin()
    except NodeFailed as e:
        print(f"FAIL begin\n    {e}\n  logs {LOGS}", flush=True)
        return 1
    if not (machine.ROOT / "build/campaign/tools/bin/dask").exists():
        TESTS.remove(workers_of_a_campaign_are_jobs)
        print("SKIP workers_of_a_campaign_are_jobs: scripts/campaign has not installed Dask yet", flush=True)
    for test in TESTS:
        begin = time.monotonic()
        try:
            test()
            check(not node.ended(), f"no daemon has ended: {node.ended()}")
            print(f"PASS {test.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
        except (NodeFailed, KeyError, TypeError, ValueError):
            failed += 1
            print(f"FAIL {test.__name__}\n    " + traceback.format_exc().replace("\n", "\n    "), flush=True)
            print(f"  logs {LOGS}\n  rerun tests/cluster/run --build {BUILD}", flush=True)
            break  # what it has left would disturb the next ones
    node.end()
    return 1 if failed else 0


if __name__ == "__main__":
    node = machine.Node(BUILD, LOGS)
    sys.exit(main())
