"""Chess: the compiled kernel, and its adapter to Game."""
