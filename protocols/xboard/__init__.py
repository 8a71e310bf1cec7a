"""The xboard protocol (CECP), for xboard, WinBoard and compatible front ends."""
