"""A network of its own for programs that listen on fixed ports: the loopback address alone."""

import subprocess
import sys

from tests.external import installed

# Brings the loopback interface up, and stays until told to end.
_HOLDER = """
import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
print("up", flush=True)
input()
"""


class Network:
    """Such a network while it is entered. prefix: what begins the command line of its programs."""

    def __enter__(self) -> "Network":
        self._holder = subprocess.Popen(
            [installed("unshare"), "--net", sys.executable, "-c", _HOLDER],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "up\n"
        self.prefix = [installed("nsenter"), f"--net=/proc/{self._holder.pid}/ns/net", "--"]
        return self

    def __exit__(self, *error: object) -> None:
        self._holder.communicate("\n", timeout=10)
