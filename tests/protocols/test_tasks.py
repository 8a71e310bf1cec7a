from types import SimpleNamespace

import pytest

from protocols import tasks


@pytest.fixture
def pauses(monkeypatch):
    """Let time pass only in pauses, which are recorded."""
    recorded = []

    async def sleep(seconds):
        recorded.append(seconds)

    monkeypatch.setattr(tasks, "time", SimpleNamespace(monotonic=lambda: 1 + sum(recorded)))
    monkeypatch.setattr(tasks, "asyncio", SimpleNamespace(sleep=sleep))
    return recorded


async def test_retry_pauses_grow_until_timeout(pauses):
    reports = []

    async def attempt():
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await tasks.retry(attempt, OSError, reports.append)
    assert pauses == [0.5, 1, 2, 4, 8, 10, 10, 10, 10, 10]
    assert reports == ["gone; retrying for 60 s"]


async def test_retry_returns_first_success_and_raises_other_errors(pauses):
    results = iter([OSError(), OSError(), 5, ValueError("other")])

    async def attempt():
        result = next(results)
        if isinstance(result, Exception):
            raise result
        return result

    assert await tasks.retry(attempt, OSError, lambda text: None) == 5
    assert pauses == [0.5, 1]
    with pytest.raises(ValueError, match="other"):
        await tasks.retry(attempt, OSError, lambda text: None)
