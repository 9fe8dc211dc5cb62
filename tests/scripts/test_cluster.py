# SPDX-License-Identifier: Apache-2.0
"""The files of docs/cluster fit together, and tests/cluster/run says why it cannot run. The nightly tier runs it."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / "docs/cluster"
SLURM = FILES / "slurm"
RUN = ROOT / "tests/cluster/run"


class Slurm(unittest.TestCase):
    def test_units_agree(self):
        count = int(re.search(r"^Name=tern Count=(\d+) Flags=CountOnly$", (SLURM / "gres.conf").read_text(), re.M)[1])
        conf = (SLURM / "slurm.conf").read_text()
        self.assertIn(f"Gres=tern:{count}\n", conf)
        self.assertIn("\nInclude tern.conf\n", conf)
        self.assertIn("\nGresTypes=tern\n", (SLURM / "tern.conf").read_text())

    def test_every_script_is_there_and_is_a_script(self):
        named = re.findall(r"=/etc/slurm/(\S+)$", (SLURM / "tern.conf").read_text(), re.M)
        self.assertEqual(named, ["tern/prolog", "tern/epilog", "tern/task-prolog"])
        for name in *named, "tern/move-job":
            path = SLURM / name
            self.assertTrue(os.access(path, os.X_OK), name)
            self.assertTrue(path.read_text().startswith("#!/bin/sh\n"), name)
            self.assertEqual(subprocess.run(["sh", "-n", path], check=False).returncode, 0, name)
        for name in "tern/settings", "tern/limits":
            self.assertFalse(os.access(SLURM / name, os.X_OK), name)

    def test_the_page_has_every_file(self):
        page = (ROOT / "docs/cluster.md").read_text()
        for path in FILES.rglob("*"):
            if path.is_file():
                self.assertIn(f"({path.relative_to(ROOT / 'docs')})", page)


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.plugin = yaml.safe_load((FILES / "kubernetes/device-plugin.yaml").read_text())
        self.pod = yaml.safe_load((FILES / "kubernetes/pod.yaml").read_text())

    def test_names_agree(self):
        self.assertEqual((self.plugin["kind"], self.pod["kind"]), ("DaemonSet", "Pod"))
        template = self.plugin["spec"]["template"]
        self.assertEqual(self.plugin["spec"]["selector"]["matchLabels"], template["metadata"]["labels"])
        container = template["spec"]["containers"][0]
        args = container["args"]
        device = yaml.safe_load(args[args.index("--device") + 1])
        program = self.pod["spec"]["containers"][0]
        self.assertEqual(list(program["resources"]["limits"]), [f"{args[args.index('--domain') + 1]}/{device['name']}"])
        volumes = {v["name"]: v["hostPath"]["path"] for v in template["spec"]["volumes"]}
        self.assertEqual({m["name"]: m["mountPath"] for m in container["volumeMounts"]}, volumes)
        path = device["groups"][0]["paths"][0]
        self.assertEqual(path["type"], "Mount")
        env = {e["name"]: e.get("value") for e in program["env"]}
        self.assertEqual(str(pathlib.Path(env["TERND_SOCKET"]).parent), path["mountPath"])
        self.assertEqual(subprocess.run(["sh", "-n", "-c", program["command"][2]], check=False).returncode, 0)


class Script(unittest.TestCase):
    def test_reasons(self):
        with tempfile.TemporaryDirectory() as d:  # such a folder is closed to other users
            build = pathlib.Path(d)
            r = subprocess.run([RUN, "--build", build], capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stdout), (2, ""))
            self.assertIn("has no bin/ternd", r.stderr)
            for name in "bin/ternd", "tests/ternd_soak_client":
                (build / name).parent.mkdir()
                (build / name).touch()
            r = subprocess.run([RUN, "--build", build], capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertRegex(r.stdout, r"^SKIP cluster: (it needs root|namespaces cannot be made here|"
                             r".* is not installed; scripts/setup cluster installs it|.* is closed to other users.*)$")


if __name__ == "__main__":
    unittest.main()
