# SPDX-License-Identifier: Apache-2.0
"""The manual pages: mandoc reports nothing, they describe exactly the options that exist, and their examples give the
shown output.
"""
import os
import re
import subprocess
import unittest

from pages import BUILD, NEED_RTL, PAGES, ROOT, SECTIONS, Pages, sections

README = ROOT / "README.md"


class Man(Pages):
    def command(self, page):
        return page.stem.partition("-")[2]

    def built(self, page):
        return f"  {self.command(page)} " in self.works("help") and "(not built)" not in self.line(page)

    def line(self, page):
        return next((x for x in self.works("help").split("\n") if x.startswith(f"  {self.command(page)} ")), "")

    def test_mandoc_has_nothing_to_say(self):
        for page in PAGES:
            r = subprocess.run(["mandoc", "-T", "lint", "-W", "style", page], capture_output=True, text=True,
                               check=False)
            said = [x for x in (r.stdout + r.stderr).splitlines() if "referenced manual not found" not in x and
                    "mandoc.db" not in x]
            self.assertEqual(said, [])

    def test_sections(self):
        for page in PAGES:
            present = sections(page)
            self.assertEqual([s for s in present if s in SECTIONS], SECTIONS, page.name)
            for name in re.findall(r"^\.Xr (tern\S*) 1", page.read_text(), flags=re.M):
                self.assertTrue((page.parent / f"{name}.1").exists(), f"{page.name} refers to {name}(1)")
            self.assertIn(f".Nm {page.stem}\n", present["NAME"])

    def test_each_command_has_a_page_with_its_summary(self):
        listed = dict(re.findall(r"^  (\w+) +(.*?)(?: \(not built\))?$", self.works("help"), flags=re.M))
        self.assertEqual(sorted(listed), [self.command(p) for p in PAGES if self.command(p)])
        for page in PAGES:
            if self.command(page):
                self.assertIn(f".Nd {listed[self.command(page)]}\n", page.read_text())
                self.assertIn(f".It Xr {page.stem} 1\n{listed[self.command(page)]}\n",
                              (page.parent / "tern.1").read_text())

    def test_options_are_those_of_help(self):
        for page in PAGES:
            if self.command(page) and self.built(page):
                told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", self.works(self.command(page), "--help"))) | {
                    "--help"}
                listed = re.findall(r"^\.It ((?:Fl|Sx) .*)", page.read_text(), flags=re.M)
                paged = {"-" + x for line in listed for x in re.findall(r"Fl (-[a-z][a-z-]*)", line)}
                self.assertEqual(paged, told, page.name)

    def test_examples(self):
        for page in PAGES:
            if page.name not in NEED_RTL:
                self.try_page(page)

    def test_readme(self):
        """README.md shows each command indented after `$`, followed by its output."""
        tried = re.findall(r"^    \$ tern (.*)\n((?:    .*\n)*)", README.read_text(), flags=re.M)
        self.assertTrue(tried)
        for command, want in tried:
            args = [ROOT / x if (ROOT / x).is_file() else x for x in command.split()]
            self.assertEqual(self.works(*args), want.replace("    ", ""), command)

    def test_readme_moves_a_program(self):
        """The lines of README.md that begin two ternd and move a program between them do that. The test's sockets are
        in its folder, and it waits until they are there, and in place of a second until there is a program to move."""
        block = re.search(r"^(    ternd --backend .*\n(?:    .*\n)+)", README.read_text(), flags=re.M)[1]
        begin, program, move = re.fullmatch(r"((?:    ternd .*&\n)+)((?:    .*\n)+)    sleep 1; (.*)\n",
                                            block.replace("/tmp/", f"{self.folder}/")).groups()
        script = "\n".join([
            "ended() { ! kill -0 $1 2>/dev/null; }", begin.replace("&\n", "& ternds=\"$ternds $!\"\n"),
            f"until test -S {self.folder}/a.sock && test -S {self.folder}/b.sock; do",
            "  for p in $ternds; do ended $p && kill $ternds && exit; done; sleep 0.1; done",
            f"{program} program=$!", f"until {move.partition('#')[0]}; do ended $program && break; sleep 0.1; done",
            "wait $program; echo ended $?", "kill $ternds; wait"])
        env = {k: v for k, v in os.environ.items() if k not in ("TERN_BACKEND", "TERN_CONFIG")}
        env["PATH"] = f"{BUILD / 'bin'}:{env['PATH']}"
        r = subprocess.run(["bash", "-c", script], cwd=ROOT, env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        for line in (r"partition default has moved: 1 program, 1 process, .*", r"ended 0",
                     r"out: uint\[307200\] = 1 1 1 1 \.\.\."):
            self.assertRegex(r.stdout, f"(?m)^{line}$")

    def test_help_shows_the_page(self):
        self.file("man", '#!/bin/sh\necho "man $#"; head -n 4 "$1"\n').chmod(0o755)
        for args, name in ((["run"], "TERN-RUN"), (["tern"], "TERN")):
            self.assertRegex(self.works("help", *args, PATH=f"{self.folder}:/usr/bin:/bin"),
                             rf"^man 1\n(.*\n)+\.Dt {name} 1\n")

    def test_help_without_man(self):
        env = {"PATH": str(self.folder)}
        self.assertEqual(self.works("help", "run", **env), self.works("run", "--help"))
        self.assertEqual(self.works("help", "tern", **env), self.works("help"))

    def test_they_are_installed(self):
        r = subprocess.run(["cmake", "--install", BUILD, "--component", "man", "--prefix", self.folder],
                           capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual({p.name: p.read_bytes() for p in (self.folder / "share/man/man1").iterdir()},
                         {p.name: p.read_bytes() for p in PAGES})
        self.assertIn(".Nm tern_wait\n", (self.folder / "share/man/man3/tern_wait.3").read_text())

    def test_calls_have_pages(self):
        """Each function that libtern.so exports, but for those of tern_spec.h, has a page; there is no other page."""
        named = subprocess.run(["nm", "-D", "--defined-only", BUILD / "lib/libtern.so"], capture_output=True,
                               text=True, check=True).stdout
        exported = set(re.findall(r" T (\w+)", named))
        generated = set(re.findall(r"\b(tern_\w+)\(", (ROOT / "docs/spec/c/tern/tern_spec.h").read_text()))
        self.assertGreater(len(exported & generated), 5)
        self.assertEqual({p.stem for p in (BUILD / "share/man/man3").iterdir()} - {"libtern"},
                         exported - generated)


if __name__ == "__main__":
    unittest.main()
