"""A compiled game over GTP: it plays by default, in time, with a user's evaluation."""

import time

import pytest

from agent.compiled import warming
from agent.compiled.source import CompiledSource
from agent.connect_four.parts import CONNECT_FOUR
from agent.connect_four.search import ConnectFourSearch
from agent.search.searcher import GameSearcher
from agent.search.source import GameSource
from agent.threads.latch import wait_for_any
