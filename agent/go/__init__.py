"""Go as compiled kernels: begin at records.py, then board.py, playout.py and mcts.py."""
