"""The web server for playing, analysing, watching and learning, based on Starlette and uvicorn."""
