"""`make test` on a bare machine: Debian with Python, make and git, and nothing else.

`python3 -m tests.docker.bare`, as root, with debootstrap and buildah installed. In a container it
makes a fresh clone of this repository in the empty home of an ordinary user, and runs the command.
The container is removed afterwards. Tests that need other programs are skipped there.
"""

import os
import subprocess
import sys
from pathlib import Path

from tests.docker.buildah import Buildah, call, pip_settings

ROOT = Path(__file__).parents[2]
PACKAGES = ["python3", "python3-venv", "make", "git", "ca-certificates"]
USER = "user"
HOME = Path("/home") / USER
COMMAND = "git clone --quiet /source kempelen && cd kempelen && time make test"


def main() -> int:
    """Return the exit status of `make test`."""
    buildah = Buildah()
    try:
        _, container = buildah.make_base(PACKAGES)
        root = container.root()
        container.run("useradd", "--create-home", "--shell", "/bin/bash", USER)
        owner = (root / HOME.relative_to("/")).stat()
        # Clone first: git rejects a repository owned by another user.
        call("git", "clone", "--quiet", "--no-hardlinks", ROOT, root / "source")
        call("chown", "-R", f"{owner.st_uid}:{owner.st_gid}", root / "source")
        volumes = pip_settings(buildah.folder)
        os.chown(volumes[0].split(":")[0], owner.st_uid, owner.st_gid)
        line = ["su", "--login", USER, "--command", COMMAND]
        return subprocess.run(
            container.command(*line, volumes=volumes), stdin=subprocess.DEVNULL
        ).returncode
    finally:
        buildah.remove()


if __name__ == "__main__":
    sys.exit(main())
