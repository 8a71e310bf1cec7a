"""Manifests of files of positions, which describe their settings and source files as JSON."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

Manifest = dict[str, Any]

# How the games of a file are stored, see `dataset`.
POSITIONS, GAMES = FORMATS = "positions", "games"

# Entries that describe source files whose games were renumbered.
RENUMBERED = "merged", "shuffled", "split"

_ENTRY_TYPES = {"rules": dict, "scores": dict, "evaluation": str, "openings": list}


def validate(manifest: object) -> Manifest:
    """Return `manifest`. Raise ValueError if it is not a dict or an entry has the wrong type."""
    if not isinstance(manifest, dict):
        raise ValueError("not a mapping")
    for name, kind in _ENTRY_TYPES.items():
        if not isinstance(manifest.get(name, kind()), kind):
            raise ValueError(f"invalid entry {name!r}")
    for name in (*RENUMBERED, "filters"):
        sources = manifest.get(name, [])
        if not isinstance(sources, list) or not all(isinstance(each, dict) for each in sources):
            raise ValueError(f"invalid entry {name!r}")
        for source in sources:
            validate(source.get("manifest", {}))
    scores = manifest.get("scores", {})
    while scores := scores.get("before"):
        if not isinstance(scores, dict):
            raise ValueError("invalid entry 'scores'")
    return manifest


def with_opening_counts(value: Any) -> Any:
    """Return a copy of a manifest with each list of openings replaced by its length."""
    if isinstance(value, list):
        return [with_opening_counts(each) for each in value]
    if not isinstance(value, dict):
        return value
    openings = value.get("openings")
    number = {"openings": len(openings)} if isinstance(openings, list) else {}
    return {name: with_opening_counts(each) for name, each in value.items()} | number


def without_file_names(manifest: Manifest) -> Manifest:
    """Return a copy of the manifest without the names of the source files."""
    sources = {
        name: [{key: each[key] for key in each if key != "file"} for each in manifest[name]]
        for name in RENUMBERED
        if name in manifest
    }
    return manifest | sources


@dataclass(frozen=True)
class Renumbering:
    """An operation that renumbered the games of its source files, and its settings."""

    operation: str  # one of RENUMBERED
    sources: tuple[str, ...]  # digests of the source files
    seed: object
    share: object
    part: object


Renumberings = tuple[Renumbering, ...]  # latest first


def lineage(manifest: Manifest, digest: str) -> Iterator[tuple[str, Renumberings]]:
    """Yield the digests of a file and of its direct and indirect sources.

    With each digest come the operations that renumbered the games between that source and the
    file. The settings of a self-play file also serve as a digest, because a longer file with the
    same settings contains the same games.
    """
    yield digest, ()
    if "rules" in manifest:
        selfplay = {name: manifest[name] for name in manifest if name not in ("filters", "scores")}
        yield json.dumps(selfplay, sort_keys=True), ()
    for entry in manifest.get("filters", ()):
        yield str(entry.get("source")), ()
    scores = manifest.get("scores")
    while scores:
        yield str(scores.get("source")), ()
        scores = scores.get("before")
    for kind in RENUMBERED:
        sources = [entry for entry in manifest.get(kind, ()) if entry.get("positions")]
        settings = (manifest.get(entry) for entry in ("seed", "share", "part"))
        digests = tuple(str(entry.get("digest")) for entry in sources)
        step = Renumbering(kind, digests, *settings)
        for source, source_digest in zip(sources, digests, strict=True):
            for ancestor, steps in lineage(source.get("manifest", {}), source_digest):
                yield ancestor, (step, *steps)


def are_disjoint(one: Renumberings, other: Renumberings) -> bool:
    """Return whether two files contain different parts of a split of a common source.

    `one` and `other` are the renumberings from the source to each file.
    """
    return any(
        a.operation == b.operation == "split" and replace(a, part=b.part) == b and a.part != b.part
        for a, b in itertools.product(one, other)
    )


def origins(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the manifests of the self-play files from which a file was created.

    If the positions were rescored, the manifests describe the new scores.
    """
    sources = [source for name in RENUMBERED for source in manifest.get(name, ())]
    if not sources:
        yield manifest
    scores = {"scores": manifest["scores"]} if manifest.get("scores") else {}
    for source in sources:
        for origin in origins(source.get("manifest", {})):
            yield origin | scores
