"""Matches between engines: schedules, games, adjudication, statistics, records, live events.

Begin reading at `runner`: it asks the schedule what is due, has games played, writes them to
the ledger, and tells its listeners. Everything it uses is a pure function or one small object.
"""
