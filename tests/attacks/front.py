"""The proxies of docs/proxies.md in front of a target, started with those very configurations."""

import os
import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.cli.service import free_port
from tests.independent import need

PAGE = (Path(__file__).parents[2] / "docs" / "proxies.md").read_text()
PROGRAMS = ("nginx", "haproxy", "caddy")
HOST = "sign.example.com"


@dataclass
class Front:
    """A proxy that answers at ``port``, and a context that trusts its certificate."""

    program: str
    port: int
    trust: ssl.SSLContext

    def client(self, address: str) -> httpx.Client:
        """Return a client that calls from that loopback address (127.0.0.0/8)."""
        transport = httpx.HTTPTransport(verify=self.trust, local_address=address)
        return httpx.Client(base_url=f"https://localhost:{self.port}", transport=transport, timeout=30)

    def connect(self, address: str, buffer: int = 0) -> socket.socket:
        """Return a connection from that address on which nothing has been sent."""
        plain = socket.socket()
        plain.settimeout(30)
        plain.bind((address, 0))
        if buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        try:
            plain.connect(("127.0.0.1", self.port))
        except OSError:
            plain.close()
            raise
        return plain


def documented(language: str, changes: dict[str, str]) -> str:
    """Return the page's configuration in that language with the changes, each of which has to find its old text."""
    [text] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in the configuration any more"
        text = text.replace(old, new)
    return str(text)


def certified(folder: Path) -> Path:
    """Make ``fullchain.pem`` for this machine, its ``privkey.pem``, and ``both.pem``; return the path of the first."""
    key, certificate = folder / "privkey.pem", folder / "fullchain.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subject = ["-subj", "/CN=localhost", "-addext", names]
    subprocess.run(["openssl", "req", "-x509", *curve, *subject, *files], check=True, capture_output=True)
    (folder / "both.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate


@contextmanager
def started(program: str, folder: Path, service: int, second: int = 0) -> Iterator[Front]:
    """Yield the running proxy. ``service``: the port of the target. ``second``: of another one, for nginx or Caddy."""
    path, certificate = need(program, program), certified(folder)
    port = free_port()
    command, settings = COMMANDS[program](folder, service, port)
    if second and program == "caddy":
        settings["PARAPH_UPSTREAM"] += f" 127.0.0.1:{second}"
    elif second:
        hosts = {"10.0.0.11:8000": f"127.0.0.1:{service}", "10.0.0.12:8000": f"127.0.0.1:{second}"}
        written = folder / "nginx.conf"
        one, two = r"    upstream paraph \{.*?\n    \}\n", documented("nginx hosts", hosts)
        written.write_text(re.sub(one, lambda _: two, written.read_text(), count=1, flags=re.DOTALL))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([path, *command], stdout=log, stderr=log, env=os.environ | settings)
    front = Front(program, port, ssl.create_default_context(cafile=str(certificate)))
    try:
        _until_it_answers(front, process, folder)
        yield front
    finally:
        process.terminate()
        process.wait(30)


def _nginx(folder: Path, service: int, port: int) -> tuple[list[str], dict[str, str]]:
    places = "".join(
        f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    changes = {
        "listen 80;": f"listen {free_port()};",
        "listen [::]:80;": "",
        "listen 443 ssl;": f"listen {port} ssl;",
        "listen [::]:443 ssl;": "",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        f"/etc/ssl/{HOST}": str(folder),
        "http {": f"http {{ {places}",
    }
    (folder / "nginx.conf").write_text(documented("nginx", changes))
    account = "user root; " if os.getuid() == 0 else ""
    more = f"{account}daemon off; pid {folder / 'pid'};"
    return ["-c", str(folder / "nginx.conf"), "-e", str(folder / "errors"), "-g", more], {}


def _haproxy(folder: Path, service: int, port: int) -> tuple[list[str], dict[str, str]]:
    changes = {
        "bind :80\n": f"bind :{free_port()}\n",
        "bind :443 ": f"bind :{port} ",
        f"/etc/haproxy/{HOST}.pem": str(folder / "both.pem"),
        "127.0.0.1:8000": f"127.0.0.1:{service}",
    }
    (folder / "haproxy.cfg").write_text(documented("haproxy", changes))
    return ["-db", "-f", str(folder / "haproxy.cfg")], {}


def _caddy(folder: Path, service: int, port: int) -> tuple[list[str], dict[str, str]]:
    site = f"{{$PARAPH_BASE_URL:https://{HOST}}} {{"
    certificate = f"\ttls {folder / 'fullchain.pem'} {folder / 'privkey.pem'}"
    changes = {"admin off": f"admin off\n\thttp_port {free_port()}", site: f"{site}\n{certificate}"}
    version = subprocess.run(["caddy", "version"], capture_output=True, text=True, check=True).stdout.lstrip("v")
    if tuple(int(part) for part in version.split()[0].split(".")) < (2, 6, 3):  # older: it buffers a body of any size
        changes["request_buffers 55MB"] = "buffer_requests"
    (folder / "Caddyfile").write_text(documented("caddyfile", changes))
    settings = {
        "PARAPH_BASE_URL": f"https://localhost:{port}",
        "PARAPH_UPSTREAM": f"127.0.0.1:{service}",
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    return ["run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"], settings


COMMANDS = {"nginx": _nginx, "haproxy": _haproxy, "caddy": _caddy}


def _until_it_answers(front: Front, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(httpx.TransportError), front.client("127.0.0.1") as client:
            if client.get("/healthz").status_code == 200:
                return
        time.sleep(0.1)
    said = [path.read_text(errors="replace") for path in (folder / "log", folder / "errors") if path.exists()]
    raise AssertionError(f"{front.program} does not answer:\n" + "\n".join(said))
