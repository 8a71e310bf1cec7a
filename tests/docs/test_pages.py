"""The pages are short, lead somewhere, and name what is there."""

import re
import tomllib

import pytest

from tests.pages import ALL, DOCS, README, ROOT, Page, label

LONGEST_README = 200
FOLDERS = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
FOR_DEVELOPERS = ("dev", "test")
# Topics of MQTT look like files of the package.
TOPICS = "kempelen/v1"


def test_the_readme_is_short() -> None:
    assert len(README.text.splitlines()) <= LONGEST_README


@pytest.mark.parametrize("page", ALL, ids=label)
def test_links_lead_somewhere(page: Page) -> None:
    for link in page.links():
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.path.parent / path).resolve() if path else page.path
        assert target.exists(), link
        if anchor:
            assert anchor in Page(str(target.relative_to(ROOT))).anchors(), link


def test_every_page_is_reached_from_the_readme() -> None:
    linked = {link.partition("#")[0] for link in README.links()}
    for page in [*DOCS, Page("CONTRIBUTING.md"), Page("CHANGELOG.md")]:
        assert page.name in linked


@pytest.mark.parametrize("page", ALL, ids=label)
def test_every_file_that_is_named_exists(page: Page) -> None:
    for name in page.quoted():
        if re.fullmatch(rf"({FOLDERS})/[\w/.-]+", name) and not name.startswith(TOPICS):
            assert (ROOT / name).exists() or name in page.files(), name


@pytest.mark.parametrize("page", ALL, ids=label)
def test_lines_are_not_too_long(page: Page) -> None:
    """Tables and commands apart, whose lines cannot be broken."""
    for line in page.prose().splitlines():
        assert len(line) <= 120 or line.startswith("|"), line


def test_what_each_dependency_is_for_is_said() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {"": project["dependencies"], **project["optional-dependencies"]}
    for extra, requirements in extras.items():
        page = Page("CONTRIBUTING.md") if extra in FOR_DEVELOPERS else README
        for requirement in requirements:
            name = re.split(r"[<>=\[ ]", requirement)[0]
            assert name == project["name"] or re.search(rf"\b{name}\b", page.text), name
