"""The fair queue of a bot."""

import asyncio

from protocols.mqtt.fair_queue import MAX_IDLE_CLIENTS, FairQueue


async def order(queue, count, cost=lambda client: 1.0):
    served = []
    for _ in range(count):
        client, item = await queue.get()
        queue.charge(client, cost(client))
        served.append(item)
    return served


async def test_clients_take_turns():
    queue = FairQueue(16, 8)
    for item in ("a1", "a2", "a3", "b1", "b2", "c1"):
        assert queue.put(item[0], item) is None
    assert await order(queue, 6) == ["a1", "b1", "c1", "a2", "b2", "a3"]


async def test_expensive_client_is_served_less_often():
    queue = FairQueue(32, 16)
    for number in range(5):
        queue.put("slow", f"s{number}")
        queue.put("quick", f"q{number}")
    served = await order(queue, 8, lambda client: 3.0 if client == "slow" else 1.0)
    assert served == ["s0", "q0", "q1", "q2", "s1", "q3", "q4", "s2"]


async def test_idle_client_gains_no_priority():
    queue = FairQueue(32, 16)
    for number in range(6):
        queue.put("old", f"o{number}")
    assert await order(queue, 3) == ["o0", "o1", "o2"]
    for number in range(3):
        queue.put("new", f"n{number}")
    served = await order(queue, 6)
    assert served[:2] != ["n0", "n1"]
    assert sorted(served) == ["n0", "n1", "n2", "o3", "o4", "o5"]


async def test_full_queue_drops_items_of_the_largest_client():
    queue = FairQueue(4, 3)
    assert [queue.put("a", f"a{n}") for n in range(4)] == [None, None, None, "a3"]
    assert queue.put("b", "b0") is None
    assert queue.put("b", "b1") == "a2"
    assert queue.put("b", "b2") == "b2"
    assert queue.put("c", "c0") in ("a1", "b1")
    assert len(queue) == 4


async def test_get_waits_for_an_item_and_forgets_old_clients():
    queue = FairQueue(4, 3)
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.put("a", "item")
    assert await waiting == ("a", "item")
    for number in range(3 * MAX_IDLE_CLIENTS):
        queue.put(str(number), "x")
        await queue.get()
        queue.charge(str(number), 1.0)
    assert len(queue._time_used) <= MAX_IDLE_CLIENTS + 1
