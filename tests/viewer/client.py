"""client.py - a `tabi view` that runs, and what a browser would say to it, by plain sockets."""

import base64
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections import namedtuple
from urllib.parse import urlsplit

from command import TABI

PATIENCE = 60  # s, that an answer may take when the machine has much to do
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PAUSED, CONVERGED, DIVERGED = 1, 2, 4

HEAD = struct.Struct("<IIddIIIIfI")
Picture = namedtuple("Picture", "time step factor flags links signals ncontact bytes")


def read_picture(data):
    (magic, size, time_, step, nlink, nsignal, ncontact, _, factor, flags) = HEAD.unpack_from(data)
    assert magic == 0x69626174 and size <= len(data)
    at = HEAD.size
    links = [struct.unpack_from("<7f", data, at + 28 * i) for i in range(nlink)]
    signals = struct.unpack_from("<%df" % nsignal, data, at + 28 * nlink)
    return Picture(time_, int(step), factor, flags, links, signals, ncontact,
                   data[at:at + 28 * nlink])


class Server:
    """`tabi view ... --no-browser` or another command that shows something, until it is stopped"""

    def __init__(self, *args, command=("view", "--no-browser")):
        self.process = subprocess.Popen([TABI, *command, *args],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise AssertionError(self.process.communicate()[1].decode())
        parts = urlsplit(self.url)
        self.port, self.path = parts.port, parts.path
        self.host = "127.0.0.1:%d" % self.port
        self.origin = "http://" + self.host

    def stop(self, number=signal.SIGINT):
        """the exit code, and what it said"""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode() + err.decode()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self, timeout=PATIENCE, buffer=0):
        line = socket.socket()
        if buffer:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        line.settimeout(timeout)
        try:
            line.connect(("127.0.0.1", self.port))
        except OSError:
            line.close()
            raise
        return line

    def send(self, request, timeout=PATIENCE):
        """bytes to the server, and all it answers until it closes the connection"""
        with self.connect(timeout) as line:
            try:
                line.sendall(request)
            except OSError:
                pass  # it may close before it has read all
            answer = b""
            try:
                while data := line.recv(1 << 16):
                    answer += data
            except OSError:
                pass
            return answer

    def request(self, method="GET", path=None, host=None, origin=None, more=(), version="HTTP/1.1"):
        lines = ["%s %s %s" % (method, self.path if path is None else path, version),
                 "Host: " + (host or self.host)]
        if origin:
            lines.append("Origin: " + origin)
        return "\r\n".join([*lines, *more, "", ""]).encode("latin-1")

    def get(self, path=""):
        """status and body of what is below the token"""
        answer = self.send(self.request(path=self.path + path))
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), body


class Refused(Exception):
    pass


class WebSocket:
    def __init__(self, server, origin=None, host=None, path=None, key=None, buffer=0):
        self.line = server.connect(buffer=buffer)
        self.pending = b""
        key = key or base64.b64encode(os.urandom(16)).decode()
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                   "Sec-WebSocket-Key: " + key)
        self.line.sendall(server.request(path=path or server.path + "ws", host=host,
                                         origin=server.origin if origin is None else origin,
                                         more=upgrade))
        while b"\r\n\r\n" not in self.pending:
            data = self.line.recv(4096)
            if not data:
                break
            self.pending += data
        head, _, self.pending = self.pending.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0] + b" ":
            self.line.close()
            raise Refused(head.decode("latin-1"))

    def close(self):
        self.line.close()

    def send_frame(self, payload, opcode=TEXT, final=True, masked=True, size=None, bits=0):
        size = len(payload) if size is None else size
        head = bytes([(0x80 if final else 0) | bits | opcode])
        mask = 0x80 if masked else 0
        if size < 126:
            head += bytes([mask | size])
        elif size < 65536:
            head += bytes([mask | 126]) + struct.pack(">H", size)
        else:
            head += bytes([mask | 127]) + struct.pack(">Q", size)
        key = b"\x11\x22\x33\x44"
        if masked:
            payload = bytes(b ^ key[i & 3] for i, b in enumerate(payload))
        self.line.sendall(head + (key if masked else b"") + payload)

    def do(self, do, **more):
        self.send_frame(json.dumps({"do": do, **more}).encode())

    def read(self, size):
        while len(self.pending) < size:
            data = self.line.recv(1 << 16)
            if not data:
                raise EOFError
            self.pending += data
        data, self.pending = self.pending[:size], self.pending[size:]
        return data

    def receive(self):
        """opcode and payload of the next frame"""
        first, size = self.read(2)
        if size == 126:
            size, = struct.unpack(">H", self.read(2))
        elif size == 127:
            size, = struct.unpack(">Q", self.read(8))
        return first & 15, self.read(size)

    def until(self, good):
        """the first thing that is good: a Picture, or an object"""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            opcode, data = self.receive()
            if opcode == PING:
                self.send_frame(data, PONG)
            elif opcode in (TEXT, BINARY):
                thing = json.loads(data) if opcode == TEXT else read_picture(data)
                if good(thing):
                    return thing
        raise AssertionError("nothing came that was waited for")

    def picture(self, good=lambda picture: True):
        return self.until(lambda thing: isinstance(thing, Picture) and good(thing))

    def message(self, key):
        return self.until(lambda thing: isinstance(thing, dict) and key in thing)

    def pause(self):
        self.do("pause")
        return self.picture(lambda p: p.flags & PAUSED)

    def steps(self, count):
        """steps of a paused world; the last picture"""
        picture = self.pause()
        while count > 0:
            now = min(count, 32)
            for _ in range(now):
                self.do("step")
            last = picture.step + now
            picture = self.picture(lambda p: p.step >= last)
            count -= now
        return picture
