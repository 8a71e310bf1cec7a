"""The services of compose.yaml as command lines for containers of buildah, with their volumes."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.docker.buildah import Container


def services_of(files: Sequence[Path]) -> dict[str, Any]:
    """Return the services of a file of compose, and of those that are laid over it."""
    first, *others = (yaml.safe_load(file.read_text())["services"] for file in files)
    for other in others:
        for name, entries in other.items():
            # Such entries take the place of those below, where lists would be added to them.
            assert all(isinstance(entry, str) for entry in entries.values())
            first[name] |= entries
    return dict(first)


class Composition:
    """What compose.yaml and what is laid over it say, its named volumes in folders of our own.

    containers: by the image that a service names.
    """

    def __init__(
        self, files: Sequence[Path], folder: Path, containers: dict[str, Container]
    ) -> None:
        self._clone = files[0].parent
        self._folder = folder
        self._containers = containers
        self.services = services_of(files)
        hosts = (f"127.0.0.1 {name}\n" for name in ("localhost", *self.services))
        (folder / "hosts").write_text("".join(hosts))

    def container(self, service: str) -> Container:
        """Return the container that a service runs in."""
        return self._containers[self.services[service]["image"]]

    def volume(self, service: str, volume: str) -> str:
        """Return a volume for buildah; a named one begins with the owner of what it covers."""
        source, target, *options = volume.split(":")
        if source.startswith("."):
            path = self._clone / source
            assert path.is_file(), f"{service}: {source}"
        else:
            path = self._folder / source
            path.mkdir(exist_ok=True)
            covered = self.container(service).root() / target.lstrip("/")
            if covered.exists() and not any(path.iterdir()):
                os.chown(path, covered.stat().st_uid, covered.stat().st_gid)
        return ":".join((str(path), target, *options))

    def command(self, service: str, line: list[str], user: str = "") -> list[str]:
        """Return what runs a service; `line` begins what it runs, if it has no entrypoint."""
        entries = self.services[service]
        begin = entries.get("entrypoint", line)
        end = entries.get("command", [])
        volumes = [self.volume(service, volume) for volume in entries.get("volumes", [])]
        if entries.get("read_only"):
            assert entries["cap_drop"] == ["ALL"]
            assert entries["security_opt"] == ["no-new-privileges:true"]
            assert user
        return self.container(service).command(
            *begin,
            *(shlex.split(end) if isinstance(end, str) else end),
            volumes=volumes,
            hosts=self._folder / "hosts",
            confined_to=user if entries.get("read_only") else "",
            terminal=entries.get("tty", False),
        )

    def healthcheck(self, service: str) -> list[str]:
        """Return what tells whether a service is there."""
        kind, *line = self.services[service]["healthcheck"]["test"]
        assert kind == "CMD"
        return self.container(service).command(*line)
