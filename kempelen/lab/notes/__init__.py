"""The tables and figures of the lecture notes, reproduced."""
