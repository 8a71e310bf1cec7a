"""Access tokens: created, stored as hashes, checked, revoked."""

import contextlib
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from protocols.server import admission
from protocols.server.limits import MAX_TRACKED_CLIENTS, ServerLimits
from protocols.server.tokens import TokenError, TokenFile, new_token
from tests.protocols.server.credentials import Tokens
from tests.protocols.server.support import calling, running
from tests.systems import needs_links, posix_only


def test_token_file_identifies_tokens_without_storing_them(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    assert file.find_name(tokens.alice) == "alice"
    assert file.find_name(tokens.bob) == "bob"
    text = Path(tokens.path).read_text()
    assert tokens.alice not in text
    assert tokens.bob not in text
    assert len(tokens.alice) >= 43  # 256 bits
    for wrong in (
        "",
        "alice",
        tokens.alice[:-1],
        tokens.alice + "x",
        tokens.alice.swapcase(),
        "\ud800",
    ):
        assert file.find_name(wrong) is None


@posix_only("files have no mode there")
def test_token_file_is_readable_only_by_owner(tokens: Tokens) -> None:
    assert stat.S_IMODE(os.stat(tokens.path).st_mode) == 0o600
    os.chmod(tokens.path, 0o644)
    new_token(tokens.path, "carol")
    assert stat.S_IMODE(os.stat(tokens.path).st_mode) == 0o600


def test_equal_tokens_have_different_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_urlsafe", lambda _: "same")
    path = str(tmp_path / "tokens")
    assert new_token(path, "a") == new_token(path, "b") == "same"
    first, second = (line.split()[1:] for line in Path(path).read_text().splitlines()[1:])
    assert first[0] != second[0]
    assert first[1] != second[1]


@pytest.mark.parametrize("name", ["", "a b", "a\n", "ä", "x" * 65, "a=b"])
def test_invalid_user_name_is_rejected(tmp_path: Path, name: str) -> None:
    with pytest.raises(TokenError, match="a name must have 1 to 64 letters"):
        new_token(str(tmp_path / "tokens"), name)
    assert not list(tmp_path.iterdir())


def test_second_token_for_same_name_is_rejected(tokens: Tokens) -> None:
    with pytest.raises(TokenError, match="alice already has a token; remove that line first"):
        new_token(tokens.path, "alice")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nobody\n", r"no tokens \(add one with --new-token NAME\)"),
        ("alice 00 00\n", "line 1: invalid token"),
        ("\n\nalice secret\n", "line 3: invalid token"),
        ("\xff", "line 1: invalid token"),
    ],
)
def test_invalid_token_file_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TokenError, match=message):
        TokenFile(str(path))


def test_missing_token_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(TokenError, match=r"nothing: "):
        TokenFile(str(tmp_path / "nothing"))


def test_token_file_changes_apply_immediately(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    path = Path(tokens.path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not line.startswith("alice ")))
    assert file.find_name(tokens.alice) is None
    assert file.find_name(tokens.bob) == "bob"
    path.write_text("nonsense\n")
    assert file.find_name(tokens.bob) is None
    assert "line 1: invalid token" in file.problem
    path.write_text("".join(lines))
    assert file.find_name(tokens.alice) == "alice"
    assert file.problem == ""
    path.unlink()
    assert file.find_name(tokens.alice) is None


async def test_a_token_opens_a_session(tokens: Tokens) -> None:
    async with running(tokens=TokenFile(tokens.path)) as run, calling(run) as caller:
        assert await caller.ask(f"authorize {tokens.alice}") == "authorized"
        assert await caller.ask("say hello") == "hello"
        assert "name=alice" in await run.logged("began")
        assert tokens.alice not in "".join(run.events)


async def test_lines_sent_with_token_are_answered(tokens: Tokens) -> None:
    async with running(tokens=TokenFile(tokens.path)) as run, calling(run) as caller:
        caller.say(f"authorize {tokens.alice}", "say 1", "say 2")
        assert [await caller.hear() for _ in range(3)] == ["authorized", "1", "2"]


async def test_unneeded_token_is_accepted() -> None:
    async with running() as run, calling(run) as caller:
        assert await caller.ask("authorize something") == "authorized"
        assert await caller.ask("say hello") == "hello"


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        ("authorize wrong", "wrong token"),
        ("authorize", "wrong token"),
        ("say hello", "expected as first line: authorize TOKEN"),
        ("", "expected as first line: authorize TOKEN"),
        ("x" * 100_000, "expected as first line: authorize TOKEN"),
    ],
)
async def test_missing_or_wrong_token_is_refused(tokens: Tokens, sent: str, refused: str) -> None:
    async with running(tokens=TokenFile(tokens.path)) as run, calling(run) as caller:
        assert await caller.ask(sent, "say hello") == f"refused {refused}"
        assert await caller.hear() == ""
        await run.empty()
        assert run.server.metrics.value("refused", "token") == 1
        assert not any("began" in line for line in run.events)
        assert sent == "" or not any(sent in line for line in run.events)


async def test_late_token_is_refused(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    async with running(tokens=file, auth_timeout=0.2) as run, calling(run) as caller:
        assert await caller.hear() == "refused no token for 0.2 seconds"
        assert await caller.hear() == ""


async def test_sessions_per_token_are_limited(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    async with (
        running(tokens=file, max_sessions_per_token=1) as run,
        calling(run) as one,
        calling(run) as two,
        calling(run) as three,
    ):
        assert await one.ask(f"authorize {tokens.alice}") == "authorized"
        refused = "refused too many sessions with your token"
        assert await two.ask(f"authorize {tokens.alice}") == refused
        assert await three.ask(f"authorize {tokens.bob}") == "authorized"
        one.say("quit")
        assert await one.gone()
        async with calling(run) as four:
            assert await four.ask(f"authorize {tokens.alice}") == "authorized"


@pytest.mark.parametrize("limits", [{"sessions": 2}, {"max_sessions_per_ip": 2}])
async def test_silent_clients_do_not_keep_out_token_holders(
    tokens: Tokens, limits: dict[str, int]
) -> None:
    """Of those who wait, a random one is disconnected for each newcomer."""
    file = TokenFile(tokens.path)
    async with contextlib.AsyncExitStack() as stack:
        run = await stack.enter_async_context(running(tokens=file, **limits))
        for _ in range(5):
            await stack.enter_async_context(calling(run))
        friend = await stack.enter_async_context(calling(run))
        assert await friend.ask(f"authorize {tokens.alice}") == "authorized"
        for _ in range(5):
            await stack.enter_async_context(calling(run))
        assert await friend.ask("say still here") == "still here"
        await run.logged('reason="too many clients are waiting for authorization"')
        assert run.server.metrics.value("refused", "crowd") >= 8
        assert run.server.admission.waiting <= 2


async def test_clients_waiting_for_login_do_not_use_up_sessions(tokens: Tokens) -> None:
    file = TokenFile(tokens.path)
    async with running(tokens=file, sessions=2) as run, calling(run) as friend, calling(run):
        assert await friend.ask(f"authorize {tokens.alice}") == "authorized"
        async with calling(run) as other:
            assert await other.ask(f"authorize {tokens.alice}") == "authorized"


async def test_address_is_blocked_after_wrong_tokens(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(admission, "time", SimpleNamespace(monotonic=lambda: now[0]))
    async with running(tokens=TokenFile(tokens.path), max_auth_failures=3) as run:
        for expected in ["wrong token"] * 3 + [
            "too many wrong tokens from your address; wait a minute"
        ]:
            async with calling(run) as caller:
                assert await caller.ask("authorize wrong") == f"refused {expected}"
        async with calling(run) as caller:  # a valid token is rejected too
            assert "too many" in await caller.ask(f"authorize {tokens.alice}")
        now[0] += 61.0
        async with calling(run) as caller:
            assert await caller.ask(f"authorize {tokens.alice}") == "authorized"


async def test_number_of_remembered_wrong_guesses_is_bounded(tokens: Tokens) -> None:
    one = admission.AdmissionControl(ServerLimits(), TokenFile(tokens.path))
    for number in range(MAX_TRACKED_CLIENTS + 50):
        with pytest.raises(admission.RejectedError, match="wrong token"):
            one.authenticate("wrong", f"10.0.{number >> 8}.{number & 255}")
    assert len(one._auth_failures) == MAX_TRACKED_CLIENTS


@pytest.mark.parametrize(
    ("host", "grouped"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("nobody", "nobody"),
    ],
)
def test_ipv6_addresses_are_grouped_by_64_bit_prefix(host: str, grouped: str) -> None:
    assert admission.address_group(host) == grouped


def test_client_of_the_largest_crowd_is_dropped() -> None:
    """All networks in one /48 are a crowd, since one customer of a provider may have them."""
    control = admission.AdmissionControl(ServerLimits(sessions=9), None)
    dropped: list[str] = []

    def come(host: str, *, busy: bool = False) -> admission.ConnectionSlot:
        def drop() -> bool:
            if not busy:
                dropped.append(host)
            return not busy

        return control.open_slot(host, drop)

    kept = [come("192.0.2.7"), come("2001:db8:2::1"), come("2001:db8:1::1", busy=True)]
    strangers = [f"2001:db8:1:{number:x}::1" for number in range(1, 300)]
    slots = [come(stranger) for stranger in strangers]
    assert set(dropped) < set(strangers)
    assert len(dropped) == len(set(dropped)) == 300 + 2 - 9
    assert control.waiting == 9
    assert not any(slot.dropped for slot in kept)
    with pytest.raises(admission.RejectedError, match="too many clients are waiting"):
        next(slot for slot in slots if slot.dropped).admit("alice")


@needs_links
def test_symlink_to_token_file_is_kept(tokens: Tokens, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tokens.path)
    token = new_token(str(link), "dora")
    assert link.is_symlink()
    assert TokenFile(tokens.path).find_name(token) == "dora"
