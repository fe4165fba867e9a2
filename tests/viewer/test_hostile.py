"""`tabi view` against those who should not be there, and those who misbehave: each hostile request
is refused or ignored, and after all of them the page is served and the simulation runs."""

import json
import os
import shutil
import socket
import struct
import tempfile
import time

from client import BINARY, CLOSE, PATIENCE, PING, TEXT, Refused, Server, WebSocket
from command import Case, main

SCENE = """\
name: %s
bodies:
  - {name: floor, fixed: true, shape: {plane: {}}}
  - {name: box, mass: 2, shape: {box: [0.2, 0.2, 0.2]}, xyz: [0, 0, 0.5]}
"""
SECRETS = (b"root:", b"daemon:", b"<html", b"tabi-scene", b'"links"')


class Hostile(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        path = os.path.join(cls.folder, "box.yaml")
        with open(path, "w") as f:
            f.write(SCENE % ("x" * 10000))  # makes a long description
        cls.server = Server(path)

    @classmethod
    def tearDownClass(cls):
        code, said = cls.server.stop()
        shutil.rmtree(cls.folder)
        # a sanitizer would have had something to say
        if code != 130 or said:
            raise AssertionError((code, said))

    def tearDown(self):
        """whatever was done: the page is served and the world runs"""
        status, head, body = self.server.get()
        self.assertEqual(status, 200)
        self.assertIn(b"<html", body)
        viewer = self.patiently(lambda: WebSocket(self.server))
        viewer.do("reset")
        viewer.message("scene")
        viewer.do("play")
        viewer.picture(lambda p: p.step > 10)
        viewer.close()

    def patiently(self, attempt):
        """slots of those who left are free a little later"""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return attempt()
            except Refused:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def refused(self, request, *status):
        answer = self.server.send(request)
        if answer:
            got = int(answer.split()[1])
            self.assertIn(got, status or range(400, 600), (request[:200], answer[:200]))
            self.assertNotIn(b"Access-Control", answer)
        for secret in SECRETS:
            self.assertNotIn(secret, answer, request[:200])

    # -- who asks

    def test_good_request(self):
        """what all others are measured against"""
        for host in ("127.0.0.1", "localhost"):
            answer = self.server.send(self.server.request(host="%s:%d" % (host, self.server.port)))
            head = answer.partition(b"\r\n\r\n")[0].decode()
            self.assertTrue(head.startswith("HTTP/1.1 200 "), head)
            for line in ("Content-Security-Policy: frame-ancestors 'none'",
                         "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                         "Cache-Control: no-store", "Cross-Origin-Opener-Policy: same-origin",
                         "Cross-Origin-Resource-Policy: same-origin"):
                self.assertIn(line, head)
            self.assertNotIn("Access-Control", head)

    def test_hosts(self):
        port = self.server.port
        for host in ("evil.example", "evil.example:%d" % port, "127.0.0.1", "localhost",
                     "127.0.0.1:%d" % (port + 1), "127.0.0.1:%d.evil.example" % port,
                     "127.0.0.1.evil.example:%d" % port, "127.1:%d" % port, "0.0.0.0:%d" % port,
                     "[::1]:%d" % port, "LOCALHOST:%d" % port, "localhost.:%d" % port,
                     "user@127.0.0.1:%d" % port, "127.0.0.1:%d, evil.example" % port,
                     "127.0.0.1:0%d" % port):
            with self.subTest(host=host):
                self.refused(self.server.request(host=host), 403)
        path = self.server.path.encode()
        self.refused(b"GET %s HTTP/1.1\r\n\r\n" % path)
        self.refused(b"GET %s HTTP/1.0\r\n\r\n" % path)
        self.refused(b"GET %s HTTP/1.1\r\nHost:\r\n\r\n" % path)
        good = self.server.host
        self.refused(self.server.request(more=("Host: evil.example",)))
        self.refused(self.server.request(host="evil.example", more=("Host: " + good,)))
        self.refused(self.server.request(host="evil.example", more=("X-Forwarded-Host: " + good,)))

    def test_origins(self):
        port = self.server.port
        for origin in ("http://evil.example", "null", "https://127.0.0.1:%d" % port,
                       "http://127.0.0.1", "http://127.0.0.1:%d" % (port + 1),
                       "http://127.0.0.1:%d.evil.example" % port, "http://127.0.0.1:%d/" % port,
                       "file://", "HTTP://127.0.0.1:%d" % port,
                       "http://evil.example, http://127.0.0.1:%d" % port):
            with self.subTest(origin=origin):
                self.refused(self.server.request(origin=origin), 403)
                with self.assertRaises(Refused) as refused:
                    WebSocket(self.server, origin=origin)
                self.assertIn(" 403 ", str(refused.exception))

    def test_websocket_gate(self):
        s = self.server
        for keywords in ({"origin": ""}, {"host": "evil.example"}, {"path": "/ws"},
                         {"path": "/" + "0" * 32 + "/ws"}, {"path": s.path + "ws/"},
                         {"path": s.path + "ws/x"}, {"path": s.path + "WS"}, {"path": s.path},
                         {"path": s.path + "scene/0"}, {"path": s.path + "ws?x=1"}):
            with self.subTest(**keywords):
                with self.assertRaises(Refused):
                    WebSocket(s, **keywords)
        # without an upgrade, without a key, of another version
        self.refused(s.request(path=s.path + "ws", origin=s.origin), 400)
        self.refused(s.request(path=s.path + "ws", origin=s.origin,
                               more=("Upgrade: websocket", "Connection: Upgrade")))
        self.refused(s.request(path=s.path + "ws", origin=s.origin,
                               more=("Upgrade: h2c", "Connection: Upgrade")), 400)

    # -- what is asked for

    def test_tokens(self):
        token = self.server.path.strip("/")
        for path in ("/", "", "*", "/index.html", "/ws", "/scene/0", "/replay/0", "//",
                     "/" + token, "/" + token[:-1] + "/", "/" + token[:16] + "/",
                     "/" + token + "0/", "/0" + token + "/", "/" + token.upper() + "X/",
                     "/" + token[::-1] + "/", "/" + "0" * 32 + "/", "/" + "0" * 32 + "/scene/0",
                     "//" + token + "/", "/%2f" + token + "/", "/./" + token + "/",
                     "/x/../" + token + "/", "/?" + token, "/" + token + "%2f",
                     "/%" + "".join("%02x%%" % ord(c) for c in token)[:-1] + "/",
                     self.server.path + "?x", "/" + "\x00" + token + "/"):
            with self.subTest(path=path):
                self.refused(self.server.request(path=path))

    def test_paths(self):
        """nothing is read from the disk, however it is written"""
        up = ("..", "%2e%2e", "%2E%2e", "..%2f..", "..%5c..", "%252e%252e", "..%c0%af", "....//",
              ".%00.", "..;", "%c0%ae%c0%ae", "..\\..")
        for dots in up:
            for prefix in ("/", self.server.path, self.server.path + "scene/"):
                path = prefix + (dots + "/") * 8 + "etc/passwd"
                with self.subTest(path=path):
                    self.refused(self.server.request(path=path))
        for name in ("etc/passwd", "index.html", ".htpasswd", "scene", "scene/", "scene/1",
                     "scene/-1", "scene/00", "scene/0/", "scene/0%00", "replay/0", "replay/9999999999",
                     "/", "/etc/passwd", "file:///etc/passwd", "scene/0.html", ".", "..", "%",
                     "%zz", "~root", "a" * 2000):
            with self.subTest(name=name):
                self.refused(self.server.request(path=self.server.path + name), 400, 403, 404)

    def test_absolute_addresses(self):
        s = self.server
        for path in ("http://evil.example" + s.path, "http://mydomain.com" + s.path,
                     "https://" + s.host + s.path, "ftp://x/", "file:///etc/passwd",
                     "http://" + s.host + "@evil.example" + s.path):
            with self.subTest(path=path):
                self.refused(s.request(path=path))

    def test_methods(self):
        s = self.server
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT",
                       "PROPFIND", "MKCOL", "MOVE", "get", "GETX", "BREW"):
            with self.subTest(method=method):
                self.refused(s.request(method=method))
        self.refused(s.request(method="CONNECT", path="evil.example:80"))
        self.refused(s.request(method="OPTIONS", origin="http://evil.example",
                               more=("Access-Control-Request-Method: GET",
                                     "Access-Control-Request-Private-Network: true")))
        self.refused(s.request(more=("Content-Length: 5",)) + b"hello")
        self.refused(s.request(more=("Content-Length: -1",)))
        self.refused(s.request(more=("Content-Length: 99999999999999999999",)))
        self.refused(s.request(method="POST", more=("Transfer-Encoding: chunked",)) +
                     b"5\r\nhello\r\n0\r\n\r\n")

    def test_malformed_requests(self):
        s = self.server
        big = "X" * 100000
        for request in (b"\r\n\r\n", b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                        b"GET / \r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
                        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\xff" * 500 + b"\r\n\r\n",
                        s.request(more=("X: " + big,)), s.request(path="/" + big),
                        s.request(more=["X%d: y" % i for i in range(200)]),
                        s.request(host=big), s.request(method=big),
                        s.request(more=(" folded: y", ": nameless", "no colon")).replace(
                            b"Host", b"H\x00st")):
            with self.subTest(request=request[:60]):
                self.refused(request)

    # -- those who hold on

    def test_slow_requests(self):
        """connections that say nothing, or a letter at a time, are closed"""
        s = self.server
        lines = [s.connect() for _ in range(20)]
        request = s.request()
        for i, line in enumerate(lines[:10]):
            line.sendall(request[:i + 1])
        begun = time.monotonic()
        self.assertEqual(s.get()[0], 200)  # in its turn
        for line in lines[:4]:
            line.settimeout(PATIENCE)
            while True:
                try:
                    if not line.recv(4096):
                        break
                except OSError:
                    break
        self.assertLess(time.monotonic() - begun, PATIENCE)
        for line in lines:
            line.close()

    def test_half_open_connections(self):
        """many who say nothing, or half of a request, do not keep the page from who has the token:
        it need not wait until they are closed, 2 s for each dozen"""
        s = self.server
        for count, said in ((60, b""), (60, b"GET /"), (200, s.request(path="/")[:-2])):
            lines = []
            for _ in range(count):
                lines.append(s.connect())
                lines[-1].sendall(said)
            begun = time.monotonic()
            self.assertEqual(s.get()[0], 200)
            self.assertLess(time.monotonic() - begun, 5)
            for line in lines:
                line.close()

    def test_many_connections(self):
        s = self.server
        lines = []
        for _ in range(300):
            try:
                lines.append(s.connect(1))
            except OSError:
                break
        for line in lines:
            line.close()

    def test_loopback_only(self):
        """no address of this machine but 127.0.0.1 answers"""
        with open("/proc/net/tcp") as f:
            listening = [line.split()[1] for line in f if " 0A " in line]
        ours = [a for a in listening if int(a.split(":")[1], 16) == self.server.port]
        self.assertEqual(ours, ["0100007F:%04X" % self.server.port])
        if os.path.exists("/proc/net/tcp6"):
            with open("/proc/net/tcp6") as f:
                ports = [int(line.split()[1].split(":")[1], 16) for line in f if " 0A " in line]
            self.assertNotIn(self.server.port, ports)
        for address in ("127.0.0.2", socket.gethostbyname(socket.gethostname())):
            if address == "127.0.0.1":
                continue
            with self.assertRaises(OSError):
                socket.create_connection((address, self.server.port), timeout=2).close()

    # -- those who are in

    def viewer(self):
        viewer = self.patiently(lambda: WebSocket(self.server))
        self.addCleanup(viewer.close)
        return viewer

    def test_messages(self):
        """whatever is no order is answered with an error and changes nothing"""
        viewer = self.viewer()
        before = viewer.steps(1)
        push = {"do": "push", "link": 1, "point": [0, 0, 0], "target": [0, 0, 1], "gain": 1}
        messages = [b"", b"x", b"{}", b"[]", b"null", b"1", b'"play"', b'{"do": null}',
                    b'{"do": 1}', b'{"do": "explode"}', b'{"do": "PLAY"}', b'{"do": "play", "x": 1}',
                    b'{"do": "play"', b'{"do": "play"} {"do": "play"}', b"{'do': 'play'}",
                    b'{"do": "play", "do": "step"}', b'{"do": "\xff\xfe"}', b"\xc3\x28", b"\x00" * 9,
                    b'{"do": "pl\\u0000ay"}', b'{"do": "play\\ud800"}',
                    b"[" * 4000, b'{"do":' * 600, b"[" * 2000 + b"]" * 2000,
                    b'{"do": "speed", "value": NaN}', b'{"do": "speed", "value": Infinity}',
                    b'{"do": "speed", "value": 1e999}', b'{"do": "speed", "value": 0}',
                    b'{"do": "speed", "value": -1}', b'{"do": "speed", "value": 9}',
                    b'{"do": "speed", "value": "1"}', b'{"do": "speed"}',
                    b'{"do": "set", "path": "/etc/passwd", "value": 1}',
                    b'{"do": "set", "path": "robots.x.controller.file", "value": "/tmp/evil.so"}',
                    b'{"do": "' + b"x" * 3000 + b'"}', b" " * 4096]
        for key, value in (("link", -1), ("link", 99999), ("link", 1 << 31), ("link", 1 << 63),
                           ("link", 0), ("link", 0.5), ("link", "box"), ("link", None),
                           ("point", [0, 0]), ("point", [0, 0, 0, 0]), ("point", [0, 0, "0"]),
                           ("point", [0, 0, 1e300]), ("point", {}), ("target", None),
                           ("target", [[0], 0, 0]), ("target", [1e5, 0, 0]), ("gain", 0),
                           ("gain", 1e9), ("gain", -1), ("gain", "1"), ("more", 1)):
            messages.append(json.dumps({**push, key: value}).encode())
        for message in messages:
            with self.subTest(message=message[:60]):
                viewer.send_frame(message)
                self.assertIsInstance(viewer.message("error")["error"], str)
        viewer.do("step")
        self.assertEqual(viewer.picture(lambda p: p.step != before.step).step, before.step + 1)

    def test_frames(self):
        """frames that are no messages are refused, or the connection ends"""
        for keywords in ({"opcode": BINARY}, {"final": False}, {"opcode": 0}, {"opcode": 0,
                         "final": False}, {"opcode": 3}, {"opcode": 7}, {"opcode": 11},
                         {"opcode": 15}, {"bits": 0x40}, {"bits": 0x70}):
            with self.subTest(**keywords):
                viewer = self.viewer()
                before = viewer.pause()
                viewer.send_frame(b'{"do": "step"}', **keywords)
                try:
                    self.assertIn("error", viewer.message("error"))
                    viewer.do("pause")
                    self.assertEqual(viewer.picture().step, before.step)
                except (EOFError, OSError):
                    pass
                viewer.close()

    def test_huge_frames(self):
        viewer = self.viewer()
        viewer.send_frame(b" " * 4097)
        self.assertIn("4096", viewer.message("error")["error"])
        viewer.send_frame(b'{"do": "play"}' + b" " * 3000000)
        self.assertIn("4096", viewer.message("error")["error"])
        viewer.close()
        for size in (1 << 31, 1 << 40, (1 << 63) - 1, (1 << 64) - 1):
            viewer = self.viewer()
            viewer.send_frame(b'{"do": "play"}', size=size)
            viewer.close()

    def test_half_frames(self):
        """those who stop in the middle"""
        for data in (b"\x81", b"\x81\xfe\x00", b"\x81\xff\x00\x00\x00", b"\x81\x85\x00\x00",
                     b"\x81\xfe\x10\x00\x00\x00\x00\x00{"):
            viewer = self.viewer()
            viewer.line.sendall(data)
            viewer.close()

    def test_unmasked_frames(self):
        viewer = self.viewer()
        viewer.send_frame(b'{"do": "explode"}', masked=False)
        try:
            viewer.message("error")
        except (EOFError, OSError):
            pass

    def test_floods(self):
        """of fragments, of pings, of orders that come faster than they can be carried out, by one
        who reads no answers"""
        viewer = self.viewer()
        for _ in range(2000):
            viewer.send_frame(b"x", opcode=0, final=False)
        viewer.close()
        viewer = self.viewer()
        for _ in range(500):
            viewer.send_frame(b"ping", opcode=PING)
        viewer.close()
        viewer = self.viewer()
        for i in range(2000):
            viewer.do("set", path="contact.friction", value=i / 4000)
            viewer.do("reset")
        viewer.close()

    def test_rude_goodbyes(self):
        """connections that are reset, or close without a word"""
        for payload in (b"", b"\x03", b"\x03\xe8", b"\x03\xe8" + b"\xff" * 100):
            viewer = self.viewer()
            viewer.send_frame(payload, opcode=CLOSE)
            viewer.close()
        viewer = self.viewer()
        viewer.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        viewer.close()

    def test_one_who_does_not_read(self):
        """holds up neither the world nor the others, and loses what it has no room for"""
        lazy = self.patiently(lambda: WebSocket(self.server, buffer=4096))
        self.addCleanup(lazy.close)
        eager = self.viewer()
        size = 0
        sent = 0
        while size < 8000000:  # more than the system keeps for it
            eager.do("reset")
            size += len(json.dumps(eager.message("scene")))
            sent += 1
        eager.do("play")
        eager.picture(lambda p: p.step > 100)
        eager.pause()
        eager.close()
        lazy.line.settimeout(1)
        descriptions = 0
        try:
            while True:
                opcode, data = lazy.receive()
                descriptions += opcode == TEXT
                if opcode == TEXT:
                    json.loads(data)
        except (EOFError, OSError):
            pass
        self.assertLess(descriptions, sent)
        self.assertGreater(descriptions, 0)


if __name__ == "__main__":
    main()
