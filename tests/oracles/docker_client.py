"""Asks the real docker client what an argument list means.

The client is pointed at a socket that records the request to create a container and answers
as an engine would, so no engine is needed and nothing runs.
"""

from __future__ import annotations

import atexit
import http.server
import json
import os
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any


class _Recorder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *args: object) -> None:
        pass

    def _send(self, code: int, body: bytes = b"") -> None:
        self.send_response(code)
        self.send_header("Api-Version", "1.50")
        self.send_header("Ostype", "linux")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self._send(200)

    def do_GET(self) -> None:
        self._send(200 if self.path.endswith("_ping") else 404, b'{"message":"not found"}')

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "/containers/create" in self.path:
            self.server.recorded = json.loads(body)
            self._send(201, json.dumps({"Id": "0" * 64, "Warnings": []}).encode())
        elif "/images/create" in self.path:
            self._send(200)
        else:
            self._send(404, b'{"message":"not found"}')


# Windows has neither such sockets nor pty; the tests that import this module are collected there, too.
if sys.platform != "win32":
    import pty

    class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
        recorded: dict[str, Any] | None = None

        def get_request(self) -> tuple[Any, tuple[str, int]]:
            request, _ = super().get_request()
            return request, ("unix", 0)


@cache
def _server() -> tuple[_Server, Path, int]:
    home = Path(tempfile.mkdtemp(prefix="judge-"))
    atexit.register(shutil.rmtree, home, True)
    server = _Server(str(home / "s"), _Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # `docker run -t` wants a terminal on its standard input.
    _, terminal = pty.openpty()
    return server, home, terminal


CWD = "/nowhere/near"
"""Stands for the directory the client was run in, in what it says of relative paths."""


def docker_create(argv: Sequence[str]) -> tuple[int, dict[str, Any] | None, str]:
    """Exit status, body of the create request (None where none was sent) and stderr of ``docker ARGV``.

    A body counts, whatever the exit status: what comes after it asks for an engine.
    """
    server, home, terminal = _server()
    work = home / "work"
    work.mkdir(exist_ok=True)
    server.recorded = None
    done = subprocess.run(
        ["docker", *argv],
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=20,
        cwd=work,
        env={"PATH": os.environ["PATH"], "DOCKER_HOST": f"unix://{home}/s", "DOCKER_CONFIG": str(home)},
    )
    body = server.recorded
    if body is not None:
        body = json.loads(json.dumps(body).replace(str(work), CWD).replace(str(home), str(Path(CWD).parent)))
    return done.returncode, body, done.stderr.decode(errors="replace")
