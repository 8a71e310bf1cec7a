"""The hand-written evaluation and the neural network (NNUE)."""
