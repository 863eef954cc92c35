"""Machines on one cable each, in network namespaces of this machine. ``python -m lab.hosts.run`` starts in a network
of its own, so that nothing is left behind on the machine."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.cli.service import wait_until

ALONE = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
"""Starts a program in a network and process tree of its own: when it ends, so does everything that it has started."""
CENTRE = "10.99.0.1"
"""The address of this machine, which has everything that the hosts share."""
_SWITCH = "switch"


def refusal() -> str:
    """Return why no networks can be made on this machine; "" where they can."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    script = "ip link add name try type bridge && ip link add name out type veth peer name in"
    tried = subprocess.run([*ALONE, "sh", "-c", script], capture_output=True, text=True, check=False)
    return f"no networks can be made here: {tried.stderr.strip()}" if tried.returncode else ""


def make_network() -> None:
    """Make the switch that the hosts are plugged into."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "name", _SWITCH, "type", "bridge")
    _ip("address", "add", f"{CENTRE}/24", "dev", _SWITCH)
    _ip("link", "set", _SWITCH, "up")


class Host:
    """A machine with an address and a cable."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.address = f"10.99.0.{10 + number}"
        self._namespace = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        wait_until(lambda: self._network() not in ("", _network_of("self")))
        self._enter = ["nsenter", f"--net=/proc/{self._namespace.pid}/ns/net"]
        own = f"{name}-own"
        _ip("link", "add", "name", name, "type", "veth", "peer", "name", own)
        _ip("link", "set", own, "netns", str(self._namespace.pid))
        for words in (f"address add {self.address}/24 dev {own}", f"link set {own} up", "link set lo up"):
            subprocess.run([*self._enter, "ip", *words.split()], check=True)
        _ip("link", "set", name, "master", _SWITCH)
        self.plug()

    def begin(self, command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Start a program on the host."""
        return subprocess.Popen([*self._enter, *command], **options)

    def pull(self) -> None:
        """Pull out the cable: neither end of a connection is told."""
        _ip("link", "set", self.name, "down")

    def plug(self) -> None:
        _ip("link", "set", self.name, "up")

    def kill(self) -> None:
        """Kill every process of the host."""
        while found := self._processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _processes(self) -> list[int]:
        here = self._network()
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if pid != self._namespace.pid and _network_of(str(pid)) == here]

    def _network(self) -> str:
        return _network_of(str(self._namespace.pid))


def _network_of(pid: str) -> str:
    """Return the kernel's name of the process's network; "" for a process that has ended."""
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
