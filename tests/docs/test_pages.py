"""The pages are short, and their links and file names exist."""

import re
import tomllib

from tests.pages import ALL, DOCS, README, ROOT, Page

LONGEST_README = 200
FOLDERS = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
SCREENSHOTS = ROOT / "docs" / "pages"
MAX_SCREENSHOT_BYTES = 1_500_000
FOR_DEVELOPERS = ("dev", "test")
# MQTT topics look like file names.
TOPICS = "kempelen/v1"


def test_the_readme_is_short() -> None:
    assert len(README.text.splitlines()) <= LONGEST_README


def link_target_exists(page: Page, link: str) -> bool:
    """Return whether a link leads to another site, or to an existing file and heading."""
    if re.match(r"https?://", link):
        return True
    path, _, anchor = link.partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if not target.exists():
        return False
    return not anchor or anchor in Page(str(target.relative_to(ROOT))).anchors()


def test_links_are_not_broken() -> None:
    links = [(page, link) for page in ALL for link in page.links()]
    assert len(links) > 100
    broken = [f"{page.name}: {link}" for page, link in links if not link_target_exists(page, link)]
    assert not broken


def test_screenshots_are_complete_and_small() -> None:
    sizes = {path.name: path.stat().st_size for path in SCREENSHOTS.iterdir()}
    assert sizes.keys() == {
        f"{page}-{width}-{theme}.webp"
        for page in ("play", "analyse", "go", "watch")
        for width in (1280, 390)
        for theme in ("light", "dark")
    }
    assert sum(sizes.values()) < MAX_SCREENSHOT_BYTES


def test_every_page_is_linked_from_readme() -> None:
    linked = {link.partition("#")[0] for link in README.links()}
    for page in [*DOCS, Page("CONTRIBUTING.md"), Page("CHANGELOG.md")]:
        assert page.name in linked


def test_every_file_that_is_named_exists() -> None:
    names = [
        (page, name)
        for page in ALL
        for name in page.quoted()
        if re.fullmatch(rf"({FOLDERS})/[\w/.-]+", name) and not name.startswith(TOPICS)
    ]
    assert len(names) > 100
    assert not [
        f"{page.name}: {name}"
        for page, name in names
        if not (ROOT / name).exists() and name not in page.files()
    ]


def test_lines_are_not_too_long() -> None:
    """Tables and commands are exempt, as their lines cannot be wrapped."""
    assert not [
        f"{page.name}: {line}"
        for page in ALL
        for line in page.prose().splitlines()
        if len(line) > 120 and not line.startswith("|")
    ]


def test_every_dependency_is_documented() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    for extra, requirements in extras.items():
        page = Page("CONTRIBUTING.md") if extra in FOR_DEVELOPERS else README
        for requirement in requirements:
            name = re.split(r"[<>=\[ ]", requirement)[0]
            assert name == project["name"] or re.search(rf"\b{name}\b", page.text), name
