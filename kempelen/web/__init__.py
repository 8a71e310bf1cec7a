"""The pages that a browser shows: to play, to analyse, to watch and to learn.

Begin at server.py, which serves them; site.py is what all pages share, pages.py says which there
are. Starlette answers requests and uvicorn carries them: both are typed and pure Python, pages are
tested without sockets, and WebSocket is spoken by the package that `listen` has already.
"""
