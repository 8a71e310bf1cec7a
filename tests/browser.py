"""A browser without a window, for tests of our pages: Debian's Chromium, driven by Selenium.

One start takes a second or two, so a file's tests share a browser (a fixture of scope `module`) and
load page after page in it. It has a profile and a home of its own, and reaches nothing but what it
is given: files, and this machine.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.external import program
from tests.waiting import PATIENCE

SWITCHES = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--force-prefers-reduced-motion",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-proxy-server",
    "--window-size=1280,900",
)
# Raised if a page replaces an element.
_REPLACED = (StaleElementReferenceException, NoSuchElementException)


class Browser:
    """A browser in which a test opens pages, and asks what is seen there."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path | str) -> None:
        """Load a file or an address; what earlier pages complained of is forgotten."""
        self.complaints()
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def complaints(self) -> list[str]:
        """Return what the console was told of errors and warnings since this was last asked."""
        return [
            f"{entry['level']}: {entry['message']}"
            for entry in self.driver.get_log("browser")
            if entry["level"] in ("SEVERE", "WARNING")
        ]

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script returns that runs in the page."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, script: str, *arguments: Any) -> Any:
        """Wait until a script in the page returns something true; return it.

        A script may fail while a page is loading: it is run again.
        """
        failure = None

        def result(driver: webdriver.Chrome) -> Any:
            nonlocal failure
            try:
                return driver.execute_script(script, *arguments)
            except JavascriptException as error:
                failure = error.msg
                return None

        try:
            return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(result)
        except TimeoutException:
            raise AssertionError(f"not true within {PATIENCE:g} s: {script}, {failure}") from None

    def find(self, selector: str) -> WebElement:
        """Return the first element that a selector of CSS names."""
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        """Click the first element that a selector names, even if the page replaces it meanwhile."""

        def clicked(driver: webdriver.Chrome) -> bool:
            driver.find_element(By.CSS_SELECTOR, selector).click()
            return True

        WebDriverWait(self.driver, PATIENCE, ignored_exceptions=_REPLACED).until(clicked)

    def text(self, selector: str) -> str:
        """Return the text of the first element that a selector names, as `click` finds it."""

        def read(driver: webdriver.Chrome) -> tuple[str]:
            return (driver.find_element(By.CSS_SELECTOR, selector).text,)

        wait = WebDriverWait(self.driver, PATIENCE, ignored_exceptions=_REPLACED)
        return wait.until(read)[0]

    def find_all(self, selector: str) -> list[WebElement]:
        """Return all elements that a selector of CSS names."""
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def barriers(self, impacts: Sequence[str] = ("serious", "critical")) -> list[Any]:
        """Return what axe finds on the page with some of its impacts, and where."""
        import axe_core_python

        axe = Path(axe_core_python.__file__).with_name("axe.min.js")
        self.run(axe.read_text(encoding="utf-8"))
        found: list[Any] = self.driver.execute_async_script(
            "const [impacts, done] = arguments; axe.run().then((found) => done(found.violations"
            ".filter((each) => impacts.includes(each.impact))"
            ".map((each) => [each.id, each.nodes.map((node) => node.html)])));",
            list(impacts),
        )
        return found

    @contextmanager
    def on_a_phone(self) -> Iterator[None]:
        """Show pages on a phone's screen for the time of a block."""
        screen = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def fits(self) -> bool:
        """Tell whether nothing of the page lies beside the screen."""
        return bool(self.run("return document.documentElement.scrollWidth <= innerWidth"))

    def download_to(self, folder: Path) -> None:
        """Keep what pages have downloaded in a folder."""
        where = {"behavior": "allow", "downloadPath": str(folder)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()


@contextmanager
def started(folder: Path) -> Iterator[Browser]:
    """Start a browser whose profile is in the folder, and end it after the block.

    Where there is none the test ends as unavailable.
    """
    chromium, driver_path = program("chromium"), program("chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_argument(f"--user-data-dir={folder / 'profile'}")
    for switch in SWITCHES:
        options.add_argument(switch)
    if os.name == "posix" and os.geteuid() == 0:  # who is root has no sandbox
        options.add_argument("--no-sandbox")
    # Without proxies, which are not for this machine's own addresses.
    environment = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    environment["HOME"] = str(folder)
    service = Service(driver_path, env=environment, log_output=str(folder / "chromedriver.log"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        driver.set_page_load_timeout(PATIENCE)
        driver.set_script_timeout(PATIENCE)
        yield Browser(driver)
    finally:
        driver.quit()
