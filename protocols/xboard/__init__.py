"""xboard's protocol: the engine for xboard, WinBoard and other front ends of theirs."""
