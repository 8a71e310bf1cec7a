"""Play matches between engines, and compute ratings and statistics.

Start reading at the module `runner`. The runner takes unplayed pairs from the schedule, plays them,
writes the games to the ledger, and notifies its listeners.
"""
