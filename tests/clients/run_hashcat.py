# SPDX-License-Identifier: Apache-2.0
"""hashcat: passwords that it finds, or says are not there, for hashes that Python's hashlib has made."""
import hashlib

from client import Failure, command, folder, rng, run, test, true

FOUND, EXHAUSTED = 0, 1  # the exit statuses of hashcat


def hashcat(mode, attack, hash_, *what, status=FOUND):
    """Runs an attack and returns the lines HASH:PASSWORD. hashcat's own test of its kernels is on."""
    told = command(["hashcat", "-m", mode, "-a", attack, "--potfile-disable", "-w", "1", "--opencl-device-types=1,2,3",
                    hash_, *what], status=status, cwd=folder())
    if "Finished self-test" not in told or "self-test failed" in told:
        raise Failure("hashcat's own test failed:\n" + told)
    return [line for line in told.splitlines() if line.startswith(hash_.split("*")[0] + ":")]


def finds(mode, attack, hash_, password, *what):
    found = hashcat(mode, attack, hash_, *what)
    true(found == [f"{hash_}:{password}"], f"hashcat found {found}, and the password of {hash_} is {password}")


def word_list(count=3000):
    """Writes words, and returns the file and one of them."""
    r = rng("words")
    words = ["".join(chr(c) for c in r.integers(97, 123, n)) for n in r.integers(4, 20, count)]
    file = folder() / "words"
    file.write_text("\n".join(words) + "\n")
    return file, words[int(r.integers(count))]


@test
def md5_by_mask():
    finds(0, 3, hashlib.md5(b"abc7").hexdigest(), "abc7", "?l?l?l?d")


@test
def md5_that_is_not_there():
    found = hashcat(0, 3, hashlib.md5(b"ABCD").hexdigest(), "?l?l?l", status=EXHAUSTED)
    true(not found, f"hashcat found {found}")


@test
def sha256_by_words():
    file, word = word_list()
    finds(1400, 0, hashlib.sha256(word.encode()).hexdigest(), word, file)


@test
def sha1_with_salt_by_words():
    file, word = word_list()
    finds(110, 0, hashlib.sha1(f"{word}pepper".encode()).hexdigest() + ":pepper", word, file)


run()
