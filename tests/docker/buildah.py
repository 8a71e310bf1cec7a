"""Images built and run without a container engine or daemon: by buildah, in a folder of its own.

Isolation is that of chroot: processes, the network and the host's users are shared.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from ast import literal_eval
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from platform import freedesktop_os_release

from tests.external import installed

LEAST_MEMORY = 10 << 30
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# Makes the root read-only and gives every privilege up, then runs a program as another user.
_CONFINE = """
mount -o remount,bind,ro / && HOME=$(getent passwd "$0" | cut -d: -f6) && export HOME &&
exec setpriv --reuid="$0" --regid="$(id -g "$0")" --init-groups \
    --inh-caps=-all --bounding-set=-all --no-new-privs "$@"
"""


def call(*command: str | Path, timeout: float = 900.0, status: int = 0) -> str:
    """Run a program to its end, or end it with all that it started, and return its output."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == status, f"{command}\n{output[-4000:]}\n{errors[-4000:]}"
    return output.strip()


class Buildah:
    """A store of images and containers of our own."""

    def __init__(self) -> None:
        if os.name != "posix" or os.geteuid() != 0:
            raise PermissionError("building an image needs root")
        self._program = installed("buildah")
        self.folder = Path(tempfile.mkdtemp(prefix="kempelen-image-"))
        self.prefix: list[str] = []
        # A hundred thousand files that come and go are minutes on some disks.
        self._in_memory = available_memory() > LEAST_MEMORY
        if self._in_memory:
            call("mount", "-t", "tmpfs", "-o", "mode=700", "tmpfs", self.folder)

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the command line of buildah with such arguments."""
        return [
            *self.prefix,
            self._program,
            *("--root", str(self.folder / "root"), "--runroot", str(self.folder / "run")),
            *("--storage-driver", "vfs"),
            *map(str, arguments),
        ]

    def __call__(self, *arguments: str | Path, timeout: float = 900.0) -> str:
        return call(*self.command(*arguments), timeout=timeout)

    def remove(self) -> None:
        """Leave nothing behind."""
        with suppress(AssertionError):
            self("umount", "--all")
        if self._in_memory:
            call("umount", "--lazy", self.folder)
        shutil.rmtree(self.folder)

    def make_base(self, packages: Sequence[str]) -> tuple[str, "Container"]:
        """Return the name of an image of this machine's Debian, and the container it is made of.

        As in Python's own images, there is no bytecode in it.
        """
        container = Container(self, self("from", "scratch"))
        root = container.root()
        fast = root / "etc" / "dpkg" / "dpkg.cfg.d" / "unsafe-io"
        fast.parent.mkdir(parents=True)
        fast.write_text("force-unsafe-io\n")  # what is half made is not kept
        mirror, release = debian()
        call(
            installed("debootstrap"), "--variant=minbase", f"--include={','.join(packages)}",
            release, root, mirror,
        )  # fmt: skip
        for folder in ("var/cache/apt", "var/lib/apt/lists"):
            shutil.rmtree(root / folder)
        for file in (root / "usr").rglob("*.pyc"):
            file.unlink()
        self("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", container.name)
        self("commit", "--quiet", container.name, "base")
        return "localhost/base", container

    def build(self, base: str, source: Path, target: str = "") -> "Image":
        """Build the image of a Dockerfile in a folder on `base`, by default its last one."""
        volumes = _volumes(pip_settings(self.folder))
        name = f"kempelen-{target}" if target else "kempelen"
        self(
            *("build-using-dockerfile", "--isolation", "chroot", "--build-arg", f"BASE={base}"),
            # Images in the format of OCI have no health check.
            *("--format", "docker", *(["--target", target] if target else [])),
            *(*volumes, "--tag", name, source),
        )
        return Image(self, f"localhost/{name}")


class Image:
    """An image, and what it says of itself."""

    def __init__(self, buildah: Buildah, name: str) -> None:
        self._buildah = buildah
        self.name = name
        found = json.loads(buildah("inspect", "--type", "image", name))
        self.config = found["OCIv1"]["config"]
        self.healthcheck: list[str] = found["Docker"]["config"]["Healthcheck"]["Test"]

    @property
    def megabytes(self) -> float:
        """How large it is with its base."""
        images = json.loads(self._buildah("images", "--json"))
        (size,) = (i["size"] for i in images if f"{self.name}:latest" in i["names"])
        number, unit = size.split()
        return float(number) * {"KB": 1e-3, "MB": 1.0, "GB": 1e3}[unit]

    @property
    def entrypoint(self) -> list[str]:
        """What every command line of a container begins with."""
        return list(self.config["Entrypoint"])

    def line(self, *arguments: str) -> list[str]:
        """Return the command line inside that a container engine runs for such arguments."""
        return [*self.entrypoint, *(arguments or self.config["Cmd"])]

    def container(self) -> "Container":
        """Return a new container."""
        return Container(self._buildah, self._buildah("from", self.name))


class Container:
    """A container that commands are run in, several at once if need be."""

    def __init__(self, buildah: Buildah, name: str) -> None:
        self._buildah = buildah
        self.name = name

    def root(self) -> Path:
        """Return where its files are."""
        return Path(self._buildah("mount", self.name))

    def command(
        self,
        *line: str,
        volumes: Sequence[str] = (),
        hosts: Path | None = None,
        environment: Mapping[str, str] | None = None,
        confined_to: str = "",
        user: str = "",
        as_process_1: bool = False,
        terminal: bool = False,
    ) -> list[str]:
        """Return what runs a command line inside.

        volumes: SOURCE:TARGET[:ro]. hosts: a file in place of /etc/hosts. confined_to: a user,
        who then has a read-only root and no capabilities. user: a user, or an unknown id, who
        then has no home. as_process_1: in a namespace of its own, as container engines do.
        terminal: it is to find a terminal.
        """
        options = [word for name, value in (environment or {}).items()
                   for word in ("--env", f"{name}={value}")]  # fmt: skip
        if terminal:
            options.append("--terminal")
        if hosts:
            options += ["--no-hosts", "--volume", f"{hosts}:/etc/hosts:ro"]
        if confined_to:
            options += ["--user", "root", "--cap-add", "CAP_SYS_ADMIN"]
            line = ("sh", "-c", _CONFINE, confined_to, *line)
        if user:
            options += ["--user", user]
            line = ("env", "--unset", "HOME", *line)
        if as_process_1:
            options += ["--user", "root", "--cap-add", "CAP_SYS_ADMIN"]
            line = ("unshare", "--pid", "--fork", "--kill-child", *line)
        options += ["--isolation", "chroot", *_volumes(volumes), self.name]
        return self._buildah.command("run", *options, "--", *line)

    def run(self, *line: str, timeout: float = 300.0, **options: object) -> str:
        """Run a command line inside to its end, and return its output."""
        return call(*self.command(*line, **options), timeout=timeout)  # type: ignore[arg-type]


def _volumes(volumes: Sequence[str]) -> list[str]:
    return [word for volume in volumes for word in ("--volume", volume)]


def available_memory() -> int:
    """Return how much memory is free, in bytes; 0 where that is not told."""
    with suppress(OSError):
        text = Path("/proc/meminfo").read_text()
        if found := re.search(r"^MemAvailable: +(\d+) kB$", text, re.MULTILINE):
            return 1024 * int(found[1])
    return 0


def debian() -> tuple[str, str]:
    """Return where this machine's apt gets its release of Debian from, and the release's name."""
    release = freedesktop_os_release().get("VERSION_CODENAME", "")
    targets = call(
        installed("apt-get"), "indextargets", "--format", "$(CODENAME) $(RELEASE) $(SITE)",
        "Identifier: Packages",
    )  # fmt: skip
    for target in targets.splitlines():
        *names, site = target.split()
        if release in names:
            return site, release
    raise LookupError(f"apt knows no source of {release or 'Debian'}")


def pip_settings(folder: Path) -> list[str]:
    """Return volumes by which pip finds in a container what it finds on this machine.

    They hold a file with all that it is told here, and the files and folders that this names.
    """
    sections = defaultdict(dict)
    listing = call(sys.executable, "-m", "pip", "config", "list")
    for line in sorted(listing.splitlines(), key=lambda line: line.startswith(":env:")):
        key, value = line.split("=", 1)
        section, _, option = key.replace(":env:", "global").rpartition(".")
        sections[section][option] = literal_eval(value)
    file = folder / "pip.conf"
    file.touch(0o600)
    named = {CERTIFICATES}
    with file.open("w") as settings:
        for section, options in sections.items():
            print(f"[{section}]", file=settings)
            for option, value in options.items():
                words = value.split()
                print(option, "=", *words, file=settings)
                # The pages of an index lead to files beside it.
                named |= {Path(word) for word in words if word.startswith("/")}
                named |= {
                    Path(word.removeprefix("file://")).parent
                    for word in words
                    if word.startswith("file:///")
                }
    return [
        f"{file}:/etc/pip.conf:ro",
        *(f"{path}:{path}:ro" for path in sorted(named) if path.exists() and path != Path("/")),
    ]
