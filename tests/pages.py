"""The pages that people read, and what is in them: text, blocks, files and links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, the name of the file that it is, if any, and its text."""

    language: str
    name: str
    text: str


@dataclass(frozen=True)
class Page:
    """A page, by its path below the root."""

    name: str

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[Block]:
        found = re.findall(r"^```([\w-]+)(?: (\S+))?\n(.*?)^```$", self.text, re.M | re.S)
        return [Block(*each) for each in found]

    def having(self, language: str) -> list[Block]:
        """The blocks in a language."""
        return [block for block in self.blocks if block.language == language]

    def files(self) -> dict[str, str]:
        """What a reader of the page saves, by its name; excerpts of our files are not of these."""
        languages = "python", "yaml", "text"
        blocks = [block for each in languages for block in self.having(each) if block.name]
        return {block.name: block.text for block in blocks if not (ROOT / block.name).exists()}

    def excerpts(self) -> list[Block]:
        """The blocks that are parts of our files, which they name."""
        return [each for each in self.blocks if each.name and (ROOT / each.name).exists()]

    def prose(self) -> str:
        """The text without its blocks."""
        return re.sub(r"^```.*?^```$", "", self.text, flags=re.M | re.S)

    def quoted(self) -> list[str]:
        """What stands between backticks in the prose, on one line each."""
        return [" ".join(each.split()) for each in re.findall(r"`([^`]+)`", self.prose())]

    def links(self) -> list[str]:
        """Where the page's links and pictures lead."""
        pictures = re.findall(r'\b(?:src|srcset)="([^"]+)"', self.prose())
        return [*re.findall(r"\]\(([^)\s]+)\)", self.prose()), *pictures]

    def anchors(self) -> set[str]:
        """What links to the page's headings say after #."""
        headings = re.findall(r"^#+ (.*)$", self.prose(), re.M)
        plain = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
        return {re.sub(r"\s", "-", heading) for heading in plain}


README = Page("README.md")
DOCS = [Page(str(path.relative_to(ROOT))) for path in sorted((ROOT / "docs").rglob("*.md"))]
MEASUREMENTS = [
    Page(str(path.relative_to(ROOT))) for path in sorted((ROOT / "benchmarks").glob("*.md"))
]
# What users and those who take the work on read, and what tests run every command of.
GUIDES = [README, *DOCS, Page("CONTRIBUTING.md")]
ALL = [*GUIDES, *MEASUREMENTS, Page("CHANGELOG.md")]


def cases(language: str) -> list[tuple[Page, Block]]:
    """Every block in a language, with its page."""
    return [(page, block) for page in GUIDES for block in page.having(language)]


def label(value: object) -> str:
    """Name a page, or a block or another text by its first line, for a report of tests."""
    if isinstance(value, Page):
        return value.name
    return (value.text if isinstance(value, Block) else str(value)).partition("\n")[0]
