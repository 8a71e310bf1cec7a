"""The chess evaluations: the neural network (NNUE) and the hand-written evaluation."""
