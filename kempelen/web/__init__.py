"""The web pages for playing, analysing, watching and learning.

The module server serves the pages, site_context holds their shared state, and pages lists them.
Starlette and uvicorn were chosen because they are typed, written in pure Python, and testable
without sockets. WebSockets use the same package as the server of the text protocols.
"""
