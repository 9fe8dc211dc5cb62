# SPDX-License-Identifier: Apache-2.0
"""Parts of scripts/campaign that need no Dask: results are kept whole or not at all, also on a full disk; the same
files make the same archive; all seeds are in one task each; mistakes on the command line; the page.
test_campaign_dask.py runs campaigns."""
import contextlib
import io
import json
import re
import resource
import shutil
import signal
import unittest

from campaign_case import Case
from campaign import kinds, main, mutants, node, report, results, tree, verify


class Parts(Case):
    """Parts without a cluster."""


    def test_full_disk(self):
        """A line that does not fit is not there at all; the same line can be added when there is room."""
        store = results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        store.add({"task": "a", "result": {"x": 1}})
        size = (self.out / "results.jsonl").stat().st_size
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limit[1]))
        try:
            with self.assertRaises(kinds.Cannot) as told:
                store.add({"task": "b", "result": {"x": "y" * 100}})
            with self.assertRaises(kinds.Cannot):
                store.keep_files("b", {"large": b"x" * (size + 100)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
        self.assertRegex(str(told.exception), r"results.jsonl: File too large; free some room there; all 1 results "
                                              "before are kept")
        self.assertEqual((self.out / "results.jsonl").stat().st_size, size)
        self.assertFalse((self.out / "files/b/large").exists())
        store.add({"task": "b", "result": {"x": 2}})
        store.close()
        store = results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        self.assertEqual(store.results, {"a": {"x": 1}, "b": {"x": 2}})
        with self.assertRaisesRegex(kinds.Cannot, "is being run by another process"):
            results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        with self.assertRaisesRegex(ValueError, "has a result already"):
            store.take({"task": "a", "result": {}})
        store.close()
        with self.assertRaisesRegex(kinds.Cannot, "has the results of another campaign"):
            results.Store(self.out, {"kind": "verify", "tern": "L", "parameters": {}})
        with (self.out / "results.jsonl").open("a") as out:
            out.write("nonsense\n")
        with self.assertRaisesRegex(kinds.Cannot, r"results.jsonl:3: not a result"):
            results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})

    def test_full_disk_of_the_cache(self):
        """The archive does not fit: no part of it stays."""
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        try:
            with self.assertRaisesRegex(node.Unfit, "archives: File too large; free some room there"):
                node.keep_archive(b"x" * 2000, self.folder / "cache", "K")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
        self.assertEqual(list((self.folder / "cache/archives").iterdir()), [])

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed: scripts/setup campaign")
    def test_archive(self):
        """The same files make the same archive; another flag or another byte makes another key."""
        files = tree.of_build(self.build, "lib/tern/tern-verify", "lib/libtern_sim_rtl_small.so")
        first = tree.Archive(files, self.build, self.folder / "a")
        second = tree.Archive(files, self.build, self.folder / "b")
        self.assertEqual((first.key, first.read()), (second.key, second.read()))
        (self.build / "lib/libtern_sim_rtl_small.so").write_text("other")
        other = tree.Archive(files, self.build, self.folder / "a")
        self.assertNotEqual(other.key, first.key)
        (self.build / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Debug\nTERN_RTL:BOOL=ON\n")
        self.assertNotEqual(tree.Archive(files, self.build, self.folder / "a").key, other.key)
        with self.assertRaisesRegex(kinds.Cannot, "libtern_sim_none.so is not there: build it"):
            tree.of_build(self.build, "lib/libtern_sim_none.so")
        place = node.unpack_shared(first.path, self.folder / "c", first.key)
        node.check(place, first.key)
        with self.assertRaisesRegex(node.Unfit, "has another version of Tern"):
            node.check(place, other.key)
        with self.assertRaisesRegex(node.Unfit, "cannot be unpacked"):
            node.unpack_shared(self.build / "CMakeCache.txt", self.folder / "c", "broken")
        self.assertEqual([p.name for p in (self.folder / "c/trees").iterdir()], [first.key])

    def test_ranges(self):
        """All seeds are in one task each, whatever numbers are given."""
        for cases, chunk, seed, kind in ((2, 2, 0, "all"), (10, 4, 5, "all"), (7, 3, 1, "stream"), (6, 100, 9, "all")):
            opts = main.parse(["verify", "--cases", str(cases), "--chunk", str(chunk), "--seed", str(seed), "--kind",
                               kind])
            made = list(verify.tasks(opts, *verify.check(opts), "rtl_small", "model_small"))
            seeds = [s for t in made for s in range(int(t.argv[4]), int(t.argv[4]) + int(t.argv[6]))]
            each = 2 if kind == "all" else 1
            self.assertEqual(seeds, list(range(seed, seed + cases // each)))
            self.assertEqual(sum(t.weight for t in made), cases)
            self.assertEqual(len({t.name for t in made}), len(made))

    def test_wrong_use(self):
        for words, text in ((["--cases", "3"], "--cases is 3: it must be at least 2, and even"),
                            (["--cases", "0", "--kind", "stream"], "--cases is 0: it must be at least 1"),
                            (["--cases", "2", "--chunk", "1"], "--chunk is 1"),
                            (["--cases", "2", "--coverage", "--geometry", "tiny"], "--coverage is of the device"),
                            (["--cases", "2", "--seed", "-1"], "--seed and --stop-after")):
            with self.assertRaisesRegex(kinds.Usage, re.escape(text)):
                verify.check(main.parse(["verify", *words]))
        for words in (["verify"], ["verify", "--cases", "2", "--slurm", "1", "--scheduler", "tcp://a:1"],
                      ["verify", "--cases", "2", "--queue", "long"], ["verify", "--cases", "2", "--jobs", "0"], []):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
                main.parse(words)
            self.assertEqual(ended.exception.code, 2)
            self.assertRegex(said.getvalue(), "^campaign: .*; see scripts/campaign[ a-z]* --help\n$")

    def test_mutants(self):
        """Tasks of several mutants; one that is not caught is a result, one that is not named is none."""
        self.assertEqual(mutants.batches(list("abcde"), 4), [["a", "b"], ["c", "d", "e"]])
        task = kinds.Task("mutants-1", ("tern-verify", "--mutants", "a", "b"), 2)

        def read(*found):
            text = json.dumps({"mutants": [{"mutant": n, "name": m, "caught": c, "too_slow": False,
                                            "difference": {"again": "this"} if c else None} for n, m, c in found]})
            return mutants.read(task, kinds.Output(1, text, "the unchanged RTL differs", {}, 1.0))
        result = read((1, "a", True), (2, "b", False), (0, "unchanged", False))
        self.assertEqual(result, {"mutants": {"a": "this", "b": None}})
        total = mutants.total({"mutants-1": result})
        self.assertEqual(total.status, 1)
        self.assertEqual(total.lines, ["2 mutants, 1 caught, 1 not", "not caught: b; again: tern verify --mutants b"])
        with self.assertRaisesRegex(kinds.Wrong, "ended before the mutant 'b': the unchanged RTL differs"):
            read((1, "a", True))

    def test_page(self):
        """The page shows what was found as text, not as HTML."""
        self.assertIn("&lt;b&gt;", report.table("T", ("a",), [("<b>",)]))
        self.assertIn("None.", report.table("T", ("a",), []))


if __name__ == "__main__":
    unittest.main()
