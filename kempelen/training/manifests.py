"""What a file of positions says of itself, and of the files that it was made of."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

Manifest = dict[str, Any]

# Entries that tell what a file was made of, whose games are numbered anew.
RENUMBERED = "merged", "shuffled", "split"

_ENTRY_TYPES = {"rules": dict, "scores": dict, "evaluation": str, "openings": list}


def validate(manifest: object) -> Manifest:
    """Return a manifest whose entries are of the kinds that we write; ValueError for another."""
    if not isinstance(manifest, dict):
        raise ValueError("it has no entries")
    for name, kind in _ENTRY_TYPES.items():
        if not isinstance(manifest.get(name, kind()), kind):
            raise ValueError(f"its {name} cannot be read")
    for name in (*RENUMBERED, "filters"):
        sources = manifest.get(name, [])
        if not isinstance(sources, list) or not all(isinstance(each, dict) for each in sources):
            raise ValueError(f"its {name} cannot be read")
        for source in sources:
            validate(source.get("manifest", {}))
    before = manifest.get("scores", {})
    while before := before.get("before"):
        if not isinstance(before, dict):
            raise ValueError("its scores cannot be read")
    return manifest


def with_opening_counts(value: Any) -> Any:
    """Return a manifest, or a part of one, with the number of openings in place of them."""
    if isinstance(value, list):
        return [with_opening_counts(each) for each in value]
    if not isinstance(value, dict):
        return value
    openings = value.get("openings")
    number = {"openings": len(openings)} if isinstance(openings, list) else {}
    return {name: with_opening_counts(each) for name, each in value.items()} | number


def without_file_names(manifest: Manifest) -> Manifest:
    """Return a manifest without the names that its sources' files had."""
    sources = {
        name: [{key: each[key] for key in each if key != "file"} for each in manifest[name]]
        for name in RENUMBERED
        if name in manifest
    }
    return manifest | sources


@dataclass(frozen=True)
class Renumbering:
    """How a file's games were numbered anew: which part of which files, in which order."""

    operation: str  # of RENUMBERED
    sources: tuple[str, ...]  # their digests
    seed: object
    share: object
    part: object


Renumberings = tuple[Renumbering, ...]  # the last first


def lineage(manifest: Manifest, digest: str) -> Iterator[tuple[str, Renumberings]]:
    """Generate the digests of a file, the first, and of all files that it comes from.

    With each goes how its games were numbered anew until they came here. What self-play is of goes
    for a digest too: a longer file of the same has the same games.
    """
    yield digest, ()
    if "rules" in manifest:
        played = {name: manifest[name] for name in manifest if name not in ("filters", "scores")}
        yield json.dumps(played, sort_keys=True), ()
    for each in manifest.get("filters", ()):
        yield str(each.get("source")), ()
    scores = manifest.get("scores")
    while scores:
        yield str(scores.get("source")), ()
        scores = scores.get("before")
    for kind in RENUMBERED:
        sources = [each for each in manifest.get(kind, ()) if each.get("positions")]
        settings = (manifest.get(each) for each in ("seed", "share", "part"))
        digests = tuple(str(each.get("digest")) for each in sources)
        step = Renumbering(kind, digests, *settings)
        for source, known_as in zip(sources, digests, strict=True):
            for found, steps in lineage(source.get("manifest", {}), known_as):
                yield found, (step, *steps)


def are_disjoint(one: Renumberings, other: Renumberings) -> bool:
    """Tell whether two files got different parts of what they both come from."""
    return any(
        a.operation == b.operation == "split" and replace(a, part=b.part) == b and a.part != b.part
        for a, b in itertools.product(one, other)
    )


def origins(manifest: Manifest) -> Iterator[Manifest]:
    """Generate the manifests of the self-play behind a file, with whoever scored it last."""
    sources = [source for name in RENUMBERED for source in manifest.get(name, ())]
    if not sources:
        yield manifest
    scores = {"scores": manifest["scores"]} if manifest.get("scores") else {}
    for source in sources:
        for origin in origins(source.get("manifest", {})):
            yield origin | scores
