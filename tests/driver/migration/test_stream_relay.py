# SPDX-License-Identifier: Apache-2.0
"""`tern migrate relay` over the loopback, with bytes in both directions. TLS verifies both ends: a peer with a wrong
certificate is refused with the reason. The test makes the certificates.

usage: test_stream_relay.py SAMPLE-WRITER TERN-MIGRATE
"""
import contextlib
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

TOOL, SAMPLE = (str(pathlib.Path(sys.argv.pop()).resolve()) for _ in "12")
LONG = 250  # seconds, after which a test that hangs fails


def openssl(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)


class Relay(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        for ca in "ca", "other":
            openssl(folder.name, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
        cls.made("source", "DNS:source.test")
        cls.made("target", "DNS:target.test,IP:127.0.0.1")
        cls.made("old", "IP:127.0.0.1,DNS:source.test", days="-1")
        cls.made("stranger", "IP:127.0.0.1,DNS:source.test", ca="other")
        openssl(folder.name, "ec", "-in", "source.key", "-aes128", "-passout", "pass:x", "-out", "locked.key")
        cls.file("nothing.pem", b"no certificate\n")

    @classmethod
    def made(cls, name, names, ca="ca", days="2"):
        cls.file("names", f"subjectAltName={names}\n".encode())
        openssl(cls.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                f"/CN={name}", "-keyout", f"{name}.key", "-out", "request")
        openssl(cls.folder, "x509", "-req", "-in", "request", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-days", days,
                "-extfile", "names", "-out", f"{name}.pem")

    @classmethod
    def file(cls, name, data):
        (cls.folder / name).write_bytes(data)

    def start(self, where, address, cert, *more, key=None, ca="ca", **pipes):
        p = subprocess.Popen([TOOL, "relay", where, address, "--cert", f"{cert}.pem", "--key",
                              f"{key or cert}.key", "--ca", f"{ca}.pem", *more], cwd=self.folder,
                             **{x: subprocess.PIPE for x in ("stdin", "stdout", "stderr")} | pipes)
        self.addCleanup(self.stop, p)
        return p

    @staticmethod
    def stop(p):
        p.kill()
        p.wait()
        for f in p.stdin, p.stdout, p.stderr:
            if f:
                f.close()

    def listen(self, *args, address="127.0.0.1:0", **more):
        p = self.start("--listen", address, *args, **more)
        where = re.fullmatch(rb"listening on (\S+)\n", p.stderr.readline())
        self.assertTrue(where)
        return p, where[1].decode()

    def end(self, p, stdin=None):
        out, err = p.communicate(stdin, timeout=LONG)
        return p.returncode, out, err.decode()

    def both(self, listener, connector, up, down):
        """Returns what each side printed. Both must end with status 0."""
        got = {}
        thread = threading.Thread(target=lambda: got.update(a=self.end(listener, down)))
        thread.start()
        got["b"] = self.end(connector, up)
        thread.join()
        self.assertEqual([(x[0], x[2]) for x in (got["a"], got["b"])], [(0, ""), (0, "")])
        return got["a"][1], got["b"][1]

    def test_a_stream_and_its_answer(self):
        kinds, example = (subprocess.run([SAMPLE, x], capture_output=True, check=True).stdout
                          for x in ("kinds", "example"))
        for args in ([], ["--name", "source.test"]):
            listener, where = self.listen("target", *args)
            self.assertEqual(self.both(listener, self.start("--connect", where, "source"), kinds * 5, example),
                             (kinds * 5, example))

    def test_both_directions_at_once(self):
        """More data than all buffers hold: neither direction waits for the other."""
        listener, where = self.listen("target")
        up, down = bytes(range(256)) * 20000, bytes(range(255)) * 20000
        self.assertEqual(self.both(listener, self.start("--connect", where, "source"), up, down), (up, down))

    def test_sockets_as_standard_input_and_output(self):
        mine, its = socket.socketpair()
        with mine:
            listener, where = self.listen("target")
            connector = self.start("--connect", where, "source", stdin=its, stdout=its)
            its.close()
            mine.sendall(b"question")
            mine.shutdown(socket.SHUT_WR)
            self.assertEqual(listener.stdout.read(), b"question")
            listener.stdin.write(b"answer")
            listener.stdin.close()
            self.assertEqual(mine.recv(100), b"answer")
            self.assertEqual(mine.recv(100), b"")
            self.assertEqual((connector.wait(LONG), listener.wait(LONG)), (0, 0))

    def test_whom_the_connecting_side_refuses(self):
        for listener, name, sentence in (("old", [], "its certificate is refused: certificate has expired"),
                                         ("stranger", [], "its certificate is refused: unable to get local issuer"),
                                         ("source", [], "its certificate is refused: IP address mismatch"),
                                         ("target", ["--name", "other.test"],
                                          "its certificate is refused: hostname mismatch")):
            p, where = self.listen(listener, ca="ca")
            status, out, err = self.end(self.start("--connect", where, "source", *name), b"secret")
            self.assertEqual((status, out), (1, b""), err)
            self.assertIn(f"tern migrate: {where}: {sentence}", err)
            self.assertRegex(p.stderr.readline().decode(), r"^tern migrate: 127.0.0.1: it refuses this side: ")
            p.stdin.close()
            self.stop(p)

    def test_whom_the_listening_side_refuses(self):
        """A refused peer and the listener both report the reason, and no data of the peer passes. The right peer is
        accepted afterwards."""
        listener, where = self.listen("target", "--name", "source.test")
        for cert, there, here in (("old", "certificate has expired", "certificate expired"),
                                  ("stranger", "unable to get local issuer certificate", "unknown ca"),
                                  ("target", "hostname mismatch", "bad certificate|certificate unknown")):
            status, out, err = self.end(self.start("--connect", where, cert), b"secret")
            self.assertEqual((status, out), (1, b""))
            self.assertRegex(err, rf"^tern migrate: {where}: it refuses this side: .*({here})")
            self.assertIn(f"tern migrate: 127.0.0.1: its certificate is refused: {there}",
                          listener.stderr.readline().decode())
        host, port = where.split(":")
        with socket.create_connection((host, int(port))) as s:
            s.sendall(b"GET / HTTP/1.1\r\n\r\n")
            self.assertRegex(listener.stderr.readline().decode(), "^tern migrate: 127.0.0.1: http request")
        plain = subprocess.run(["openssl", "s_client", "-connect", where, "-quiet", "-CAfile", "ca.pem"],
                               cwd=self.folder, input=b"", capture_output=True, check=False, timeout=LONG)
        self.assertIn(b"certificate required", plain.stderr)
        self.assertIn("peer did not return a certificate", listener.stderr.readline().decode())
        self.assertEqual(self.both(listener, self.start("--connect", where, "source"), b"up", b"down"),
                         (b"up", b"down"))

    def test_handshakes_beside_each_other(self):
        """Connections that do not finish their handshake keep no other out, whether they are as many as are allowed or
        more, from one address or several, and whatever they have sent. None times out, which takes an hour here."""
        patient = os.environ | {"TERND_PATIENCE": "3600"}
        hello = self.hello()
        for addresses, each, sent in ((1, 2, b""), (1, 20, b""), (1, 31, hello[:1]), (8, 15, hello[:40]),
                                      (1, 25, hello), (1, 100, b""), (20, 20, b""), (3, 100, hello)):
            with self.subTest(addresses=addresses, each=each, sent=len(sent)), contextlib.ExitStack() as stack:
                listener, where = self.listen("target", env=patient)
                said = []
                reader = threading.Thread(target=lambda p=listener, to=said: to.extend(p.stderr))
                reader.start()
                listener.stdin.close()
                host, port = where.split(":")
                for _ in range(each):  # from each address in turn
                    for a in range(addresses):
                        s = stack.enter_context(socket.create_connection((host, int(port)),
                                                                         source_address=(f"127.0.0.{a + 1}", 0)))
                        s.sendall(sent)
                connector = self.start("--connect", where, "source", env=patient)
                self.assertEqual(self.end(connector, b"question"), (0, b"", ""))
                self.assertEqual(listener.stdout.read(), b"question")
                self.assertEqual(listener.wait(LONG), 0)
                reader.join()
                for line in said:
                    self.assertRegex(line, rb"^tern migrate: 127.0.0.\d+: its handshake is given up for another conn")
                held = min(addresses * min(each, 32), 128)  # and one more, which has succeeded
                self.assertIn(len(said) - addresses * each + held, (0, 1), said)

    def hello(self):
        """Returns the first bytes that a client sends."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(incoming, outgoing, server_hostname="target.test")
        with self.assertRaises(ssl.SSLWantReadError):
            client.do_handshake()
        return outgoing.read()

    def test_a_connection_that_is_cut(self):
        """A connection that ends without TLS's close_notify is not the end of the stream."""
        listener, where = self.listen("target")
        connector = self.start("--connect", where, "source")
        connector.stdin.write(b"half of it")
        connector.stdin.flush()
        self.assertEqual(listener.stdout.read(10), b"half of it")
        connector.kill()
        status, out, err = self.end(listener)
        self.assertEqual((status, out), (1, b""))
        self.assertIn("the connection was cut off", err)

    def test_nobody_takes_the_output(self):
        listener, where = self.listen("target")
        listener.stdout.close()
        connector = self.start("--connect", where, "source")
        connector.stdin.write(b"x" * 100)
        connector.stdin.flush()
        self.assertEqual(listener.wait(LONG), 1)
        self.assertIn(b"tern migrate: standard output: Broken pipe", listener.stderr.read())
        listener.stdout = None

    def test_files(self):
        for cert, key, ca, sentence in (("missing", "source", "ca", "missing.pem: No such file"),
                                        ("nothing", "source", "ca", "nothing.pem: no start line"),
                                        ("source", "nothing", "ca", "nothing.key: No such file"),
                                        ("source", "target", "ca", "target.key: key values mismatch"),
                                        ("source", "locked", "ca", "locked.key: "),
                                        ("source", "source", "missing", "missing.pem: No such file"),
                                        ("source", "source", "nothing", "nothing.pem: ")):
            status, out, err = self.end(self.start("--connect", "127.0.0.1:1", cert, key=key, ca=ca))
            self.assertEqual((status, out), (1, b""))
            self.assertIn(f"tern migrate: {sentence}", err)

    def test_addresses_and_usage(self):
        for address, sentence in (("127.0.0.1:1", "127.0.0.1:1: Connection refused"),
                                  ("nowhere", "this is not HOST:PORT"), ("::1", "this is not HOST:PORT"),
                                  ("127.0.0.1:no-such-service", "Servname not supported")):
            status, _, err = self.end(self.start("--connect", address, "source"))
            self.assertEqual(status, 1)
            self.assertTrue(err.startswith(f"tern migrate: {address}: "))
            self.assertIn(sentence, err)
        for args, sentence in (([], "needs --listen or --connect"), (["--listen"], "--listen needs a value"),
                               (["--listen", "a:1"], "needs --cert, --key and --ca"),
                               (["--x", "y"], "unknown option"),
                               (["--listen", "a:1", "--connect", "a:1"], "or both --listen and --connect")):
            r = subprocess.run([TOOL, "relay", *args], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 2)
            self.assertIn(sentence, r.stderr)


if __name__ == "__main__":
    unittest.main()
