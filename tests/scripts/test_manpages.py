# SPDX-License-Identifier: Apache-2.0
"""scripts/manpages: each call of the public headers has a page with all words of its comment; mandoc reports nothing;
a call without a comment is refused. Invented headers have each kind of comment and definition.
"""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = [ROOT / "driver/include/tern" / name for name in ("tern.h", "tern_checkpoint.h")]
# Calls whose one comment speaks of all. Every other call has a comment of its own.
TOGETHER = [{"tern_allocation_read", "tern_allocation_write"},
            {"tern_checkpoint_process", "tern_checkpoint_context", "tern_checkpoint_memory"}]

INVENTED = """/** A header. */
struct tern_a;

/* ---------------------------------------- first, second */

/** How. */
enum tern_how {
    TERN_NOW = 1, /**< At once. */
};
#define TERN_FLAG_ONE 1u /**< One, of
                          *   two lines. */
#define TERN_FLAG_TWO 2u
#define TERN_UNUSED 3u

/**
 * Does it, e.g. soon. how (copied): when; NULL: see tern_b. flags: TERN_FLAG_*. Blocks (tern_b).
 *
 * Next paragraph. .Sh is no macro here, nor \\fB.
 *
 *     an example;   of two
 *       lines
 *
 * -EINVAL: how; -EIO, through ternd: it is lost, or gone; -EAGAIN, -ENFILE and others: of files; -ENOMEM.
 */
TERN_API int tern_do(struct tern_a *a, enum tern_how how,
                     uint32_t flags);
TERN_API uint32_t tern_b(const struct tern_a *a); /**< The b. */
/** Returns how many, at most max. Errors as tern_do; also -EPERM: you. */
TERN_API int tern_many(struct tern_a *a, uint32_t max);
/** Errors of a ternd are none. Why it failed: one sentence. */
TERN_API const char *tern_why(void);
"""


def words(text):
    return set(re.findall(r"[a-z0-9_]+", text.lower()))


def declared(text):
    """{call: its comment}, read from a header in a way that is not that of scripts/manpages."""
    out, comment = {}, ""
    for part in re.split(r"\n(?=/\*|TERN_API|struct|enum|#)", text):
        if part.startswith("/*"):
            comment = part[:part.index("*/")]
        for m in re.finditer(r"^TERN_API\s[^(;]*?(\w+)\([^;]*;[ \t]*(/\*\*<.*?\*/)?", part, re.M):
            out[m[1]] = (m[2] or comment).strip("/*< ")
    return out


class ManPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, *headers):
        return subprocess.run([ROOT / "scripts/manpages", self.folder / "man3", *headers], capture_output=True,
                              text=True, check=False)

    def pages(self, *headers):
        r = self.make(*headers)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
        return {p.stem: p.read_text() for p in (self.folder / "man3").glob("*.3")}

    def shown(self, name):
        r = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=1000", self.folder / "man3" / f"{name}.3"],
                           capture_output=True, text=True, check=True)
        return re.sub(".\b", "", r.stdout)

    def test_nothing_is_missing(self):
        calls = {}
        for header in HEADERS:
            calls |= declared(header.read_text())
            self.assertEqual(header.read_text().count("\nTERN_API "), len(declared(header.read_text())))
        pages, text = self.pages(), "".join(h.read_text() for h in HEADERS)
        self.assertEqual(set(pages), {*calls, "libtern"})
        self.assertGreater(len(pages), 60)
        for name, comment in calls.items():
            self.assertEqual(words(comment) - words(self.shown(name)), set(), name)
            self.assertIn(f".It Xr {name} 3\n", pages["libtern"])
            inside = re.search(rf"^TERN_API [^(]*\b{name}\((.*?)\);", text, re.S | re.M)[1]
            for parameter in inside.split(","):
                self.assertIn(f'.Fa "{" ".join(parameter.split())}"\n', pages[name])
        for header in HEADERS:
            overview = re.search(r"/\*\*.*?\*/", header.read_text(), re.S)[0]
            self.assertEqual(words(overview) - words(self.shown("libtern")), set())

    def test_each_call_has_a_comment_of_its_own(self):
        of = {}
        for header in HEADERS:
            for name, comment in declared(header.read_text()).items():
                of.setdefault(comment, set()).add(name)
        self.assertEqual([names for names in of.values() if len(names) > 1], TOGETHER)

    def test_errors_are_items(self):
        """Each error that a sentence of a comment begins with, or that stands behind a semicolon, is an item."""
        self.pages()
        for header in HEADERS:
            for name, comment in declared(header.read_text()).items():
                text = " ".join(re.sub(r"^ \* ?", "", comment, flags=re.M).split())
                begun = set(re.findall(r"(?:[.;] |also |ternd: |^)-(E[A-Z0-9]+)", text))
                items = set(re.findall(r"\bEr (E[A-Z0-9]+)", (self.folder / f"man3/{name}.3").read_text()))
                self.assertEqual(begun - items, set(), name)

    def test_mandoc_has_nothing_to_say(self):
        self.pages()
        r = subprocess.run(["mandoc", "-T", "lint", "-W", "style", *sorted((self.folder / "man3").iterdir())],
                           capture_output=True, text=True, check=False)
        self.assertEqual([x for x in (r.stdout + r.stderr).splitlines()
                          if "referenced manual not found" not in x and "mandoc.db" not in x], [])

    def test_references_are_pages(self):
        pages = self.pages()
        for name, text in pages.items():
            self.assertEqual(set(re.findall(r"Xr (\S+) 3", text)) - set(pages), set(), name)

    def test_an_invented_header(self):
        header = self.folder / "a.h"
        header.write_text(INVENTED)
        pages = self.pages(header)
        self.assertEqual(set(pages), {"libtern", "tern_do", "tern_b", "tern_many", "tern_why"})
        do = " ".join(self.shown("tern_do").split())
        for text in ("tern_do - does it, e.g. soon LIBRARY", "#include <tern/a.h>",
                     "int tern_do(struct tern_a *a, enum tern_how how, uint32_t flags);",
                     "Does it, e.g. soon. how (copied): when; NULL: see tern_b(3). flags: TERN_FLAG_*. Blocks "
                     "(tern_b(3)). Next paragraph. .Sh is no macro here, nor \\fB.",
                     "enum tern_how { TERN_NOW = 1, /* At once. */ };", "/* How. */ enum",
                     "#define TERN_FLAG_ONE 1u /* One, of * two lines. */ #define TERN_FLAG_TWO 2u",
                     "EINVAL How. EIO Through ternd: it is lost, or gone. EAGAIN, ENFILE and others Of files. "
                     "ENOMEM Host memory.", "SEE ALSO libtern(3), tern_b(3), tern_many(3), tern_why(3)"):
            self.assertIn(text, do)
        self.assertIn("an example;   of two\n", self.shown("tern_do"))
        self.assertIn("RETURN VALUES The b.", " ".join(self.shown("tern_b").split()))
        many = " ".join(self.shown("tern_many").split())
        self.assertIn("Returns how many, at most max. Otherwise a negative error number.", many)
        self.assertIn("Errors as tern_do(3), and: EPERM You.", many)
        self.assertIn("tern_why - why it failed", " ".join(self.shown("tern_why").split()))

    def test_a_call_without_a_comment(self):
        """Also one behind a struct, a constant, or an empty line, whose comment is not the call's."""
        for above in ("", "/** Of the struct. */\nstruct tern_s {\n    int a;\n};\n",
                      "/** One. */\n#define TERN_ONE 1\n", "/** Away. */\n\n",
                      "/** Of a. */\nTERN_API int tern_a(void);\n\n"):
            header = self.folder / "a.h"
            header.write_text(f"/** A header. */\n\n{above}TERN_API int tern_bare(void);\n")
            r = self.make(header)
            line = header.read_text().count("\n")
            self.assertEqual((r.returncode, r.stderr),
                             (1, f"{header}:{line}: no comment says what tern_bare does\n"), above)

    def test_an_error_without_a_meaning(self):
        header = self.folder / "a.h"
        header.write_text("/** A header. */\n\n/** Does it. -EPERM; -EIO: lost. */\nTERN_API int tern_a(void);\n")
        r = self.make(header)
        self.assertEqual((r.returncode, r.stderr), (1, "manpages: tern_a: say when -EPERM comes\n"))

    def test_pages_of_calls_that_are_gone(self):
        (self.folder / "man3").mkdir()
        (self.folder / "man3/tern_other.3").write_text(".Sh NAME\n")
        header = self.folder / "a.h"
        header.write_text(INVENTED)
        self.pages(header)
        header.write_text(INVENTED.replace("TERN_API uint32_t tern_b(", "uint32_t tern_b("))
        self.assertEqual(set(self.pages(header)), {"libtern", "tern_do", "tern_many", "tern_why", "tern_other"})

    def test_wrong_use(self):
        for args, status in ([], 2), (["-x"], 2), (["--help"], 0):
            r = subprocess.run([ROOT / "scripts/manpages", *args], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, status)
            self.assertIn("usage: manpages FOLDER", r.stdout if status == 0 else r.stderr)


if __name__ == "__main__":
    unittest.main()
