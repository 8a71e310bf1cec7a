"""What a file of positions says of itself, and of the files that it was made of."""

from collections.abc import Iterator
from typing import Any

Manifest = dict[str, Any]

# Entries that tell what a file was made of, whose games are numbered anew.
RENUMBERED = "merged", "shuffled", "split"

_KINDS = {"rules": dict, "scores": dict, "evaluation": str, "openings": list}


def require_known(manifest: object) -> Manifest:
    """Return a manifest whose entries are of the kinds that we write; ValueError for another."""
    if not isinstance(manifest, dict):
        raise ValueError("it has no entries")
    for name, kind in _KINDS.items():
        if not isinstance(manifest.get(name, kind()), kind):
            raise ValueError(f"its {name} cannot be read")
    for name in (*RENUMBERED, "filters"):
        sources = manifest.get(name, [])
        if not isinstance(sources, list) or not all(isinstance(each, dict) for each in sources):
            raise ValueError(f"its {name} cannot be read")
        for source in sources:
            require_known(source.get("manifest", {}))
    before = manifest.get("scores", {})
    while before := before.get("before"):
        if not isinstance(before, dict):
            raise ValueError("its scores cannot be read")
    return manifest


def counted(value: Any) -> Any:
    """Return a manifest, or a part of one, with the number of openings in place of them."""
    if isinstance(value, list):
        return [counted(each) for each in value]
    if not isinstance(value, dict):
        return value
    openings = value.get("openings")
    number = {"openings": len(openings)} if isinstance(openings, list) else {}
    return {name: counted(each) for name, each in value.items()} | number


def nameless(manifest: Manifest) -> Manifest:
    """Return a manifest without the names that its sources' files had."""
    sources = {
        name: [{key: each[key] for key in each if key != "file"} for each in manifest[name]]
        for name in RENUMBERED
        if name in manifest
    }
    return manifest | sources


def ancestors(manifest: Manifest) -> set[str]:
    """Return the digests of all files that a file was made of."""
    found: set[str] = set()
    for name in RENUMBERED:
        for source in manifest.get(name, ()):
            found.add(str(source.get("digest")))
            found |= ancestors(source.get("manifest", {}))
    found |= {str(each.get("source")) for each in manifest.get("filters", ())}
    scores = manifest.get("scores")
    while scores:
        found.add(str(scores.get("source")))
        scores = scores.get("before")
    return found


def origins(manifest: Manifest) -> Iterator[Manifest]:
    """Generate the manifests of the self-play behind a file, with whoever scored it last."""
    sources = [source for name in RENUMBERED for source in manifest.get(name, ())]
    if not sources:
        yield manifest
    scores = {"scores": manifest["scores"]} if manifest.get("scores") else {}
    for source in sources:
        for origin in origins(source.get("manifest", {})):
            yield origin | scores
