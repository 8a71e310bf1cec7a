"""The classical search algorithms, one module each."""
