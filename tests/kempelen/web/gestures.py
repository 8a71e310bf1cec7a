"""Pointers, fingers and keys on the boards of the pages."""

from typing import Any

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.mouse_button import MouseButton
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser import Browser

Point = tuple[float, float]
MODIFIERS = {"Shift": Keys.SHIFT, "Alt": Keys.ALT}
MAX_TABS = 80


def state(browser: Browser) -> dict[str, Any]:
    """Wait for the visitor's turn or the end of a game, and return the state of the page."""
    browser.wait(
        "const s = document.querySelector('main').dataset; return s.turn === 'mine' || s.result"
    )
    found: dict[str, Any] = browser.run("return {...document.querySelector('main').dataset}")
    return found


def wait_for_another_ply(browser: Browser, ply: str) -> None:
    browser.wait("return document.querySelector('main').dataset.ply !== arguments[0]", ply)


def middle(browser: Browser, element: WebElement) -> Point:
    """Return the middle of an element in the window."""
    x, y = browser.run(
        "arguments[0].scrollIntoView({block: 'nearest'});"
        "const box = arguments[0].getBoundingClientRect();"
        "return [box.left + box.width / 2, box.top + box.height / 2]",
        element,
    )
    return x, y


def square(browser: Browser, name: str, board: str = "cg-board") -> Point:
    """Return the middle of a chess square in the window; White is at the bottom."""
    x, y = middle(browser, browser.find(board))
    size = browser.run("return arguments[0].getBoundingClientRect().width / 8", browser.find(board))
    return x + ("abcdefgh".index(name[0]) - 3.5) * size, y + (4.5 - int(name[1])) * size


def drag(
    browser: Browser, start: Point, end: Point, *modifiers: str, button: int = MouseButton.LEFT
) -> None:
    """Drag with a mouse button and modifier keys."""
    keys = ActionChains(browser.driver, duration=0)
    actions = ActionChains(browser.driver, duration=40)
    for modifier in modifiers:
        keys.key_down(MODIFIERS[modifier])
    keys.perform()
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(round(start[0]), round(start[1]))
    pointer.pointer_down(button)
    pointer.move_to_location(round((start[0] + end[0]) / 2), round((start[1] + end[1]) / 2))
    pointer.move_to_location(round(end[0]), round(end[1]))
    pointer.pointer_up(button)
    actions.perform()
    keys = ActionChains(browser.driver, duration=0)
    for modifier in modifiers:
        keys.key_up(MODIFIERS[modifier])
    keys.perform()


def click(browser: Browser, place: Point) -> None:
    """Click a place of the window."""
    actions = ActionChains(browser.driver, duration=0)
    actions.w3c_actions.pointer_action.move_to_location(*map(round, place)).click()
    actions.perform()


def draw(browser: Browser, start: Point, end: Point, *modifiers: str) -> None:
    """Draw an arrow or a circle with the right button."""
    drag(browser, start, end, *modifiers, button=MouseButton.RIGHT)


def tap(browser: Browser, place: Point) -> None:
    """Touch a place of the window with a finger."""
    touch = {"x": round(place[0]), "y": round(place[1])}
    send = browser.driver.execute_cdp_cmd
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [touch]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def tab_to(browser: Browser, selector: str) -> None:
    """Move the focus by the Tab key until it is on an element."""
    passed = []
    for _ in range(MAX_TABS):
        if browser.run("return document.activeElement.matches(arguments[0])", selector):
            return
        browser.press(Keys.TAB)
        passed.append(browser.run("return document.activeElement.outerHTML.slice(0, 90)"))
    raise AssertionError(f"{selector}: not reached by Tab, but {passed}")


def focus_by_arrows(browser: Browser, row: int, column: int) -> None:
    """Move the focus on an SVG board by the arrow keys."""
    passed = []

    def place() -> list[int]:
        found: list[int] = browser.run(
            "const {row, column} = document.activeElement.dataset; return [+row, +column]"
        )
        return found

    for _ in range(MAX_TABS):
        at = place()
        if at == [row, column]:
            return
        passed.append(at)
        down, right = row - at[0], column - at[1]
        vertical = Keys.ARROW_DOWN if down > 0 else Keys.ARROW_UP
        horizontal = Keys.ARROW_RIGHT if right > 0 else Keys.ARROW_LEFT
        keys = [vertical] * bool(down) + [horizontal] * bool(right)
        browser.press(keys[0])
        if place() == at:
            browser.press(keys[-1])
    raise AssertionError(f"[{row}, {column}]: not reached by arrow keys, but {passed}")
