# Made by scripts/generate_tactics.py, seed 1.

# ladder: capture; Black is X, black to move
# O O O X . . . . .
# O O O X . . O O .
# O O O O . . . . .
# X X X . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play white G8
play white H8
play white A7
play white B7
play white C7
play white D7
play black A6
play black B6
play black C6
play black B2
1 reg_genmove black
#? [E7]

# ladder: capture; Black is X, white to move
# X X X O . . . . .
# X X X O . . X X .
# X X X X . . . . .
# O O O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play black G8
play black H8
play black A7
play black B7
play black C7
play black D7
play white A6
play white B6
play white C6
play white B2
2 reg_genmove white
#? [E7]

# ladder: capture; Black is X, black to move
# . . . . . X O O O
# . O O . . X O O O
# . . . . . O O O O
# . . . . . . X X X
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play black F9
play white G9
play white H9
play white J9
play white B8
play white C8
play black F8
play white G8
play white H8
play white J8
play white F7
play white G7
play white H7
play white J7
play black G6
play black H6
play black J6
play black H2
3 reg_genmove black
#? [E7]

# ladder: capture; Black is X, white to move
# . . . . . O X X X
# . X X . . O X X X
# . . . . . X X X X
# . . . . . . O O O
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play white F9
play black G9
play black H9
play black J9
play black B8
play black C8
play white F8
play black G8
play black H8
play black J8
play black F7
play black G7
play black H7
play black J7
play white G6
play white H6
play white J6
play white H2
4 reg_genmove white
#? [E7]

# ladder: capture; Black is X, black to move
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# X X X . . . . . .
# O O O O . . . . .
# O O O X . . O O .
# O O O X . . . . .
boardsize 9
clear_board
komi 10.5
play black B8
play black A4
play black B4
play black C4
play white A3
play white B3
play white C3
play white D3
play white A2
play white B2
play white C2
play black D2
play white G2
play white H2
play white A1
play white B1
play white C1
play black D1
5 reg_genmove black
#? [E3]

# ladder: capture; Black is X, white to move
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# O O O . . . . . .
# X X X X . . . . .
# X X X O . . X X .
# X X X O . . . . .
boardsize 9
clear_board
komi -10.5
play white B8
play white A4
play white B4
play white C4
play black A3
play black B3
play black C3
play black D3
play black A2
play black B2
play black C2
play white D2
play black G2
play black H2
play black A1
play black B1
play black C1
play white D1
6 reg_genmove white
#? [E3]

# ladder: capture; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . X X X
# . . . . . O O O O
# . O O . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi 10.5
play black H8
play black G4
play black H4
play black J4
play white F3
play white G3
play white H3
play white J3
play white B2
play white C2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
7 reg_genmove black
#? [E3]

# ladder: capture; Black is X, white to move
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O O O
# . . . . . X X X X
# . X X . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -10.5
play white H8
play white G4
play white H4
play white J4
play black F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
8 reg_genmove white
#? [E3]

# ladder: capture; Black is X, black to move
# O O O X . . . . .
# O O O X . . . X .
# O O O X . . . . .
# X X O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play black H8
play white A7
play white B7
play white C7
play black D7
play black A6
play black B6
play white C6
play white B3
play white B2
9 reg_genmove black
#? [C5]

# ladder: capture; Black is X, white to move
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
# O O X . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white H8
play black A7
play black B7
play black C7
play white D7
play white A6
play white B6
play black C6
play black B3
play black B2
10 reg_genmove white
#? [C5]

# ladder: capture; Black is X, black to move
# . . . . . . . . .
# . O . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# X X O . . . . . .
# O O O X . . . . .
# O O O X . . . X .
# O O O X . . . . .
boardsize 9
clear_board
komi 10.5
play white B8
play white B7
play black A4
play black B4
play white C4
play white A3
play white B3
play white C3
play black D3
play white A2
play white B2
play white C2
play black D2
play black H2
play white A1
play white B1
play white C1
play black D1
11 reg_genmove black
#? [C5]

# ladder: capture; Black is X, white to move
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# O O X . . . . . .
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
boardsize 9
clear_board
komi -10.5
play black B8
play black B7
play white A4
play white B4
play black C4
play black A3
play black B3
play black C3
play white D3
play black A2
play black B2
play black C2
play white D2
play white H2
play black A1
play black B1
play black C1
play white D1
12 reg_genmove white
#? [C5]

# ladder: capture; Black is X, black to move
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
# . . . . . . O X X
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play black F9
play white G9
play white H9
play white J9
play black B8
play black F8
play white G8
play white H8
play white J8
play black F7
play white G7
play white H7
play white J7
play white G6
play black H6
play black J6
play white H3
play white H2
13 reg_genmove black
#? [G5]

# ladder: capture; Black is X, white to move
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
# . . . . . . X O O
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play white F9
play black G9
play black H9
play black J9
play white B8
play white F8
play black G8
play black H8
play black J8
play white F7
play black G7
play black H7
play black J7
play black G6
play white H6
play white J6
play black H3
play black H2
14 reg_genmove white
#? [G5]

# ladder: capture; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O X X
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi 10.5
play white H8
play white H7
play white G4
play black H4
play black J4
play black F3
play white G3
play white H3
play white J3
play black B2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
15 reg_genmove black
#? [G5]

# ladder: capture; Black is X, white to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . X O O
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -10.5
play black H8
play black H7
play black G4
play white H4
play white J4
play white F3
play black G3
play black H3
play black J3
play white B2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
16 reg_genmove white
#? [G5]

# ladder: do not run; Black is X, black to move
# X X X O . . . . .
# X X X O . . X X .
# X X X X O . . . .
# O O O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -38.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play black G8
play black H8
play black A7
play black B7
play black C7
play black D7
play white E7
play white A6
play white B6
play white C6
play white B2
17 reg_genmove black
#? [!D6]

# ladder: do not run; Black is X, white to move
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# X X X . . . . . .
# O O O O X . . . .
# O O O X . . O O .
# O O O X . . . . .
boardsize 9
clear_board
komi 38.5
play black B8
play black A4
play black B4
play black C4
play white A3
play white B3
play white C3
play white D3
play black E3
play white A2
play white B2
play white C2
play black D2
play white G2
play white H2
play white A1
play white B1
play white C1
play black D1
18 reg_genmove white
#? [!D4]

# ladder: do not run; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O O O
# . . . . O X X X X
# . X X . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -38.5
play white H8
play white G4
play white H4
play white J4
play white E3
play black F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
19 reg_genmove black
#? [!F4]

# ladder: do not run; Black is X, black to move
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
# O O X . . . . . .
# . . O . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -38.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white H8
play black A7
play black B7
play black C7
play white D7
play white A6
play white B6
play black C6
play white C5
play black B3
play black B2
20 reg_genmove black
#? [!D6]

# ladder: do not run; Black is X, black to move
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# . . O . . . . . .
# O O X . . . . . .
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
boardsize 9
clear_board
komi -38.5
play black B8
play black B7
play white C5
play white A4
play white B4
play black C4
play black A3
play black B3
play black C3
play white D3
play black A2
play black B2
play black C2
play white D2
play white H2
play black A1
play black B1
play black C1
play white D1
21 reg_genmove black
#? [!D4]

# ladder: do not run; Black is X, black to move
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
# . . . . . . X O O
# . . . . . . O . .
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . . . . . . . .
boardsize 9
clear_board
komi -38.5
play white F9
play black G9
play black H9
play black J9
play white B8
play white F8
play black G8
play black H8
play black J8
play white F7
play black G7
play black H7
play black J7
play black G6
play white H6
play white J6
play white G5
play black H3
play black H2
22 reg_genmove black
#? [!F6]

# ladder: do not run; Black is X, white to move
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
# . . . . . . O X X
# . . . . . . X . .
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi 38.5
play black F9
play white G9
play white H9
play white J9
play black B8
play black F8
play white G8
play white H8
play white J8
play black F7
play white G7
play white H7
play white J7
play white G6
play black H6
play black J6
play black G5
play white H3
play white H2
23 reg_genmove white
#? [!F6]

# ladder: do not run; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . O . .
# . . . . . . X O O
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -38.5
play black H8
play black H7
play white G5
play black G4
play white H4
play white J4
play white F3
play black G3
play black H3
play black J3
play white B2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
24 reg_genmove black
#? [!F4]

# ladder: broken, run 1; Black is X, white to move
# O O O X . . . . .
# O O O X . . O O .
# O O O O X . . . .
# X X X . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -0.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play white G8
play white H8
play white A7
play white B7
play white C7
play white D7
play black E7
play black A6
play black B6
play black C6
play white G3
play black B2
25 reg_genmove white
#? [D6]

# ladder: broken, run 1; Black is X, black to move
# X X X O . . . . .
# X X X O . . X X .
# X X X X O . . . .
# O O O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . X . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 0.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play black G8
play black H8
play black A7
play black B7
play black C7
play black D7
play white E7
play white A6
play white B6
play white C6
play black G3
play white B2
26 reg_genmove black
#? [D6]

# ladder: broken, run 1; Black is X, white to move
# . . . . . X O O O
# . O O . . X O O O
# . . . . X O O O O
# . . . . . . X X X
# . . . . . . . . .
# . . . . . . . . .
# . . O . . . . . .
# . . . . . . . X .
# . . . . . . . . .
boardsize 9
clear_board
komi -0.5
play black F9
play white G9
play white H9
play white J9
play white B8
play white C8
play black F8
play white G8
play white H8
play white J8
play black E7
play white F7
play white G7
play white H7
play white J7
play black G6
play black H6
play black J6
play white C3
play black H2
27 reg_genmove white
#? [F6]

# ladder: broken, run 1; Black is X, black to move
# . . . . . O X X X
# . X X . . O X X X
# . . . . O X X X X
# . . . . . . O O O
# . . . . . . . . .
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi 0.5
play white F9
play black G9
play black H9
play black J9
play black B8
play black C8
play white F8
play black G8
play black H8
play black J8
play white E7
play black F7
play black G7
play black H7
play black J7
play white G6
play white H6
play white J6
play black C3
play white H2
28 reg_genmove black
#? [F6]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . . . . . . . . .
# X X X . . . . . .
# O O O O X . . . .
# O O O X . . O O .
# O O O X . . . . .
boardsize 9
clear_board
komi -0.5
play black B8
play white G7
play black A4
play black B4
play black C4
play white A3
play white B3
play white C3
play white D3
play black E3
play white A2
play white B2
play white C2
play black D2
play white G2
play white H2
play white A1
play white B1
play white C1
play black D1
29 reg_genmove white
#? [D4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . X . .
# . . . . . . . . .
# . . . . . . . . .
# O O O . . . . . .
# X X X X O . . . .
# X X X O . . X X .
# X X X O . . . . .
boardsize 9
clear_board
komi 0.5
play white B8
play black G7
play white A4
play white B4
play white C4
play black A3
play black B3
play black C3
play black D3
play white E3
play black A2
play black B2
play black C2
play white D2
play black G2
play black H2
play black A1
play black B1
play black C1
play white D1
30 reg_genmove black
#? [D4]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . .
# . . . . . . . X .
# . . O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . X X X
# . . . . X O O O O
# . O O . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi -0.5
play black H8
play white C7
play black G4
play black H4
play black J4
play black E3
play white F3
play white G3
play white H3
play white J3
play white B2
play white C2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
31 reg_genmove white
#? [F4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . . X . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O O O
# . . . . O X X X X
# . X X . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi 0.5
play white H8
play black C7
play white G4
play white H4
play white J4
play white E3
play black F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
32 reg_genmove black
#? [F4]

# ladder: broken, run 1; Black is X, white to move
# O O O X . . . . .
# O O O X . . . X .
# O O O X . . . . .
# X X O . . . . . .
# . . X . . . . . .
# . . . . . . . . .
# . O . . . . O . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -0.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play black H8
play white A7
play white B7
play white C7
play black D7
play black A6
play black B6
play white C6
play black C5
play white B3
play white G3
play white B2
33 reg_genmove white
#? [D6]

# ladder: broken, run 1; Black is X, black to move
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
# O O X . . . . . .
# . . O . . . . . .
# . . . . . . . . .
# . X . . . . X . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 0.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white H8
play black A7
play black B7
play black C7
play white D7
play white A6
play white B6
play black C6
play white C5
play black B3
play black G3
play black B2
34 reg_genmove black
#? [D6]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . .
# . O . . . . . . .
# . O . . . . O . .
# . . . . . . . . .
# . . X . . . . . .
# X X O . . . . . .
# O O O X . . . . .
# O O O X . . . X .
# O O O X . . . . .
boardsize 9
clear_board
komi -0.5
play white B8
play white B7
play white G7
play black C5
play black A4
play black B4
play white C4
play white A3
play white B3
play white C3
play black D3
play white A2
play white B2
play white C2
play black D2
play black H2
play white A1
play white B1
play white C1
play black D1
35 reg_genmove white
#? [D4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . X . .
# . . . . . . . . .
# . . O . . . . . .
# O O X . . . . . .
# X X X O . . . . .
# X X X O . . . O .
# X X X O . . . . .
boardsize 9
clear_board
komi 0.5
play black B8
play black B7
play black G7
play white C5
play white A4
play white B4
play black C4
play black A3
play black B3
play black C3
play white D3
play black A2
play black B2
play black C2
play white D2
play white H2
play black A1
play black B1
play black C1
play white D1
36 reg_genmove black
#? [D4]

# ladder: broken, run 1; Black is X, white to move
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
# . . . . . . O X X
# . . . . . . X . .
# . . . . . . . . .
# . . O . . . . O .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi -0.5
play black F9
play white G9
play white H9
play white J9
play black B8
play black F8
play white G8
play white H8
play white J8
play black F7
play white G7
play white H7
play white J7
play white G6
play black H6
play black J6
play black G5
play white C3
play white H3
play white H2
37 reg_genmove white
#? [F6]

# ladder: broken, run 1; Black is X, black to move
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
# . . . . . . X O O
# . . . . . . O . .
# . . . . . . . . .
# . . X . . . . X .
# . . . . . . . X .
# . . . . . . . . .
boardsize 9
clear_board
komi 0.5
play white F9
play black G9
play black H9
play black J9
play white B8
play white F8
play black G8
play black H8
play black J8
play white F7
play black G7
play black H7
play black J7
play black G6
play white H6
play white J6
play white G5
play black C3
play black H3
play black H2
38 reg_genmove black
#? [F6]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . .
# . . . . . . . O .
# . . O . . . . O .
# . . . . . . . . .
# . . . . . . X . .
# . . . . . . O X X
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi -0.5
play white H8
play white C7
play white H7
play black G5
play white G4
play black H4
play black J4
play black F3
play white G3
play white H3
play white J3
play black B2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
39 reg_genmove white
#? [F4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . X . . . . X .
# . . . . . . . . .
# . . . . . . O . .
# . . . . . . X O O
# . . . . . O X X X
# . O . . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi 0.5
play black H8
play black C7
play black H7
play white G5
play black G4
play white H4
play white J4
play white F3
play black G3
play black H3
play black J3
play white B2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
40 reg_genmove black
#? [F4]

# ladder: broken, run 2; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O O O
# . . . . O X X X X
# . X X . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi 0.5
play white H8
play black B7
play white G4
play white H4
play white J4
play white E3
play black F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
41 reg_genmove black
#? [F4]

# ladder: broken, run 2; Black is X, white to move
# . . . . . . . . .
# . . . . . . . X .
# . O . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . X X X
# . . . . X O O O O
# . O O . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi -0.5
play black H8
play white B7
play black G4
play black H4
play black J4
play black E3
play white F3
play white G3
play white H3
play white J3
play white B2
play white C2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
42 reg_genmove white
#? [F4]

# ladder: broken, run 2; Black is X, white to move
# . . . . . . . . .
# . O . . . . O . .
# . O . . . . . . .
# . . . . . . . . .
# . . X . . . . . .
# X X O . . . . . .
# O O O X . . . . .
# O O O X . . . X .
# O O O X . . . . .
boardsize 9
clear_board
komi -0.5
play white B8
play white G8
play white B7
play black C5
play black A4
play black B4
play white C4
play white A3
play white B3
play white C3
play black D3
play white A2
play white B2
play white C2
play black D2
play black H2
play white A1
play white B1
play white C1
play black D1
43 reg_genmove white
#? [D4]

# ladder: broken, run 2; Black is X, white to move
# . . . . . . . . .
# . . O . . . . O .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . X . .
# . . . . . . O X X
# . . . . . X O O O
# . X . . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi -0.5
play white C8
play white H8
play white H7
play black G5
play white G4
play black H4
play black J4
play black F3
play white G3
play white H3
play white J3
play black B2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
44 reg_genmove white
#? [F4]

# ladder: capture; Black is X, white to move
# X X O . . . . . .
# X X O . . . X X .
# X X X . . . . . .
# O O . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play black A9
play black B9
play white C9
play black A8
play black B8
play white C8
play black G8
play black H8
play black A7
play black B7
play black C7
play white A6
play white B6
play white B2
45 reg_genmove white
#? [D7]

# ladder: capture; Black is X, black to move
# O O X . . . . . .
# O O X . . . O O .
# O O O . . . . . .
# X X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play white A9
play white B9
play black C9
play white A8
play white B8
play black C8
play white G8
play white H8
play white A7
play white B7
play white C7
play black A6
play black B6
play black B2
46 reg_genmove black
#? [D7]

# ladder: capture; Black is X, white to move
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O O
# . . . . . . X X X
# . X X . . . O X X
# . . . . . . O X X
boardsize 9
clear_board
komi -10.5
play white H8
play white H4
play white J4
play black G3
play black H3
play black J3
play black B2
play black C2
play white G2
play black H2
play black J2
play white G1
play black H1
play black J1
47 reg_genmove white
#? [F3]

# ladder: capture; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . X X
# . . . . . . O O O
# . O O . . . X O O
# . . . . . . X O O
boardsize 9
clear_board
komi 10.5
play black H8
play black H4
play black J4
play white G3
play white H3
play white J3
play white B2
play white C2
play black G2
play white H2
play white J2
play black G1
play white H1
play white J1
48 reg_genmove black
#? [F3]

# ladder: do not run; Black is X, white to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . X X
# . . . . . X O O O
# . O O . . . X O O
# . . . . . . X O O
boardsize 9
clear_board
komi 20.5
play black H8
play black H4
play black J4
play black F3
play white G3
play white H3
play white J3
play white B2
play white C2
play black G2
play white H2
play white J2
play black G1
play white H1
play white J1
49 reg_genmove white
#? [!G4]

# ladder: do not run; Black is X, black to move
# X X X O . . . . .
# X X X O . . . O .
# O O X . . . . . .
# . . O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -20.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white H8
play white A7
play white B7
play black C7
play white C6
play black B3
play black B2
50 reg_genmove black
#? [!D7]

# ladder: do not run; Black is X, white to move
# . . . . . X O O O
# . X . . . X O O O
# . . . . . . O X X
# . . . . . . X . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . O .
# . . . . . . . . .
boardsize 9
clear_board
komi 20.5
play black F9
play white G9
play white H9
play white J9
play black B8
play black F8
play white G8
play white H8
play white J8
play white G7
play black H7
play black J7
play black G6
play white H3
play white H2
51 reg_genmove white
#? [!F7]

# ladder: do not run; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O . .
# . . . . . . X O O
# . O . . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -20.5
play black H8
play black H7
play white G4
play black G3
play white H3
play white J3
play white B2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
52 reg_genmove black
#? [!F3]

# ladder: broken, run 1; Black is X, white to move
# O O X . . . . . .
# O O X . . . O O .
# O O O X . . . . .
# X X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . O . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play white A9
play white B9
play black C9
play white A8
play white B8
play black C8
play white G8
play white H8
play white A7
play white B7
play white C7
play black D7
play black A6
play black B6
play white G3
play black B2
53 reg_genmove white
#? [C6]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . . . . . . . . .
# X X . . . . . . .
# O O O X . . . . .
# O O X . . . O O .
# O O X . . . . . .
boardsize 9
clear_board
komi -10.5
play black B8
play white G7
play black A4
play black B4
play white A3
play white B3
play white C3
play black D3
play white A2
play white B2
play black C2
play white G2
play white H2
play white A1
play white B1
play black C1
54 reg_genmove white
#? [C4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . . X . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O O
# . . . . . O X X X
# . X X . . . O X X
# . . . . . . O X X
boardsize 9
clear_board
komi 10.5
play white H8
play black C7
play white H4
play white J4
play white F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white G2
play black H2
play black J2
play white G1
play black H1
play black J1
55 reg_genmove black
#? [G4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . X . .
# . . . . . . . . .
# . . . . . . . . .
# . . O . . . . . .
# O O X . . . . . .
# X X X O . . . O .
# X X X O . . . . .
boardsize 9
clear_board
komi 10.5
play black B8
play black B7
play black G7
play white C4
play white A3
play white B3
play black C3
play black A2
play black B2
play black C2
play white D2
play white H2
play black A1
play black B1
play black C1
play white D1
56 reg_genmove black
#? [D3]

# ladder: broken, run 2; Black is X, black to move
# X X O . . . . . .
# X X O . . . X X .
# X X X O . . . . .
# O O . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . X .
# . O . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play black A9
play black B9
play white C9
play black A8
play black B8
play white C8
play black G8
play black H8
play black A7
play black B7
play black C7
play white D7
play white A6
play white B6
play black H3
play white B2
57 reg_genmove black
#? [C6]

# ladder: broken, run 2; Black is X, black to move
# . . . . . . . . .
# . O . . . . . . .
# . . . . . . . X .
# . . . . . . . . .
# . . . . . . . . .
# O O . . . . . . .
# X X X O . . . . .
# X X O . . . X X .
# X X O . . . . . .
boardsize 9
clear_board
komi 10.5
play white B8
play black H7
play white A4
play white B4
play black A3
play black B3
play black C3
play white D3
play black A2
play black B2
play white C2
play black G2
play black H2
play black A1
play black B1
play white C1
58 reg_genmove black
#? [C4]

# ladder: broken, run 2; Black is X, black to move
# . . . . . . . . .
# . . . . . . . O .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . O O
# . . . . . O X X X
# . X X . . . O X X
# . . . . . . O X X
boardsize 9
clear_board
komi 10.5
play white H8
play black B7
play white H4
play white J4
play white F3
play black G3
play black H3
play black J3
play black B2
play black C2
play white G2
play black H2
play black J2
play white G1
play black H1
play black J1
59 reg_genmove black
#? [G4]

# ladder: broken, run 2; Black is X, black to move
# X X X O . . . . .
# X X X O . . . O .
# O O X . . . . . .
# . . O . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . X . . . . X . .
# . . . . . . . . .
boardsize 9
clear_board
komi 10.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white H8
play white A7
play white B7
play black C7
play white C6
play black B3
play black B2
play black G2
60 reg_genmove black
#? [D7]

# ladder: broken, run 3; Black is X, white to move
# O O X . . . . . .
# O O X . . . O O .
# O O O X . . . . .
# X X . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . O . . .
# . X . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -10.5
play white A9
play white B9
play black C9
play white A8
play white B8
play black C8
play white G8
play white H8
play white A7
play white B7
play white C7
play black D7
play black A6
play black B6
play white F3
play black B2
61 reg_genmove white
#? [C6]

# ladder: broken, run 3; Black is X, white to move
# . . . . . . . . .
# . O . . . . . . .
# . O . . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . . X . . . . . .
# X X O . . . . . .
# O O O X . . . X .
# O O O X . . . . .
boardsize 9
clear_board
komi -10.5
play white B8
play white B7
play white G6
play black C4
play black A3
play black B3
play white C3
play white A2
play white B2
play white C2
play black D2
play black H2
play white A1
play white B1
play white C1
play black D1
62 reg_genmove white
#? [D3]

# ladder: broken, run 3; Black is X, black to move
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . . X .
# . . X . . . . . .
# . . . . . . . . .
# . . . . . . O . .
# . . . . . . X O O
# . O . . . O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi 10.5
play black H8
play black H7
play black C6
play white G4
play black G3
play white H3
play white J3
play white B2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
63 reg_genmove black
#? [F3]

# ladder: broken, run 3; Black is X, white to move
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . O .
# . . O . . . . . .
# . . . . . . . . .
# . . . . . . X . .
# . . . . . . O X X
# . X . . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi -10.5
play white H8
play white H7
play white C6
play black G4
play white G3
play black H3
play black J3
play black B2
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
64 reg_genmove white
#? [F3]

# ladder: capture; Black is X, black to move
# O O O X . . . . . . . . .
# O O O X . . . . . . . . .
# O O O O . . . . . O . . .
# X X X . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . O . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . X . . . . . . . . . .
# . . . . . X . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
boardsize 13
clear_board
komi 15.5
play white A13
play white B13
play white C13
play black D13
play white A12
play white B12
play white C12
play black D12
play white A11
play white B11
play white C11
play white D11
play white K11
play black A10
play black B10
play black C10
play white K8
play black C4
play black F3
65 reg_genmove black
#? [E11]

# ladder: capture; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . X . . . . .
# . . . . . . . . . . X . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . O . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . X X X
# . . . O . . . . . O O O O
# . . . . . . . . . X O O O
# . . . . . . . . . X O O O
boardsize 13
clear_board
komi 15.5
play black H11
play black L10
play white D6
play black L4
play black M4
play black N4
play white D3
play white K3
play white L3
play white M3
play white N3
play black K2
play white L2
play white M2
play white N2
play black K1
play white L1
play white M1
play white N1
66 reg_genmove black
#? [J3]

# ladder: capture; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . O . . O . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . X . .
# . . . . . . . . . . . . .
# X X O . . . . . . . . . .
# O O O X . . . . . X . . .
# O O O X . . . . . . . . .
# O O O X . . . . . . . . .
boardsize 13
clear_board
komi 15.5
play white C10
play white F10
play black L6
play black A4
play black B4
play white C4
play white A3
play white B3
play white C3
play black D3
play black K3
play white A2
play white B2
play white C2
play black D2
play white A1
play white B1
play white C1
play black D1
67 reg_genmove black
#? [C5]

# ladder: capture; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . O . . O . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . X . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . O X X
# . . . X . . . . . X O O O
# . . . . . . . . . X O O O
# . . . . . . . . . X O O O
boardsize 13
clear_board
komi 15.5
play white H10
play white L10
play black C6
play white L4
play black M4
play black N4
play black D3
play black K3
play white L3
play white M3
play white N3
play black K2
play white L2
play white M2
play white N2
play black K1
play white L1
play white M1
play white N1
68 reg_genmove black
#? [L5]

# ladder: do not run; Black is X, white to move
# O O O X . . . . . . . . .
# O O O X . . . . . . . . .
# O O O O X . . . . O . . .
# X X X . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . O . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . X . . . . . . . . . .
# . . . . . X . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
boardsize 13
clear_board
komi 38.5
play white A13
play white B13
play white C13
play black D13
play white A12
play white B12
play white C12
play black D12
play white A11
play white B11
play white C11
play white D11
play black E11
play white K11
play black A10
play black B10
play black C10
play white K8
play black C4
play black F3
69 reg_genmove white
#? [!D10]

# ladder: do not run; Black is X, white to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . X . . . . .
# . . . . . . . . . . X . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . O . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . X X X
# . . . O . . . . X O O O O
# . . . . . . . . . X O O O
# . . . . . . . . . X O O O
boardsize 13
clear_board
komi 38.5
play black H11
play black L10
play white D6
play black L4
play black M4
play black N4
play white D3
play black J3
play white K3
play white L3
play white M3
play white N3
play black K2
play white L2
play white M2
play white N2
play black K1
play white L1
play white M1
play white N1
70 reg_genmove white
#? [!K4]

# ladder: do not run; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . X . . X . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . O . .
# . . O . . . . . . . . . .
# O O X . . . . . . . . . .
# X X X O . . . . . O . . .
# X X X O . . . . . . . . .
# X X X O . . . . . . . . .
boardsize 13
clear_board
komi -38.5
play black C10
play black F10
play white L6
play white C5
play white A4
play white B4
play black C4
play black A3
play black B3
play black C3
play white D3
play white K3
play black A2
play black B2
play black C2
play white D2
play black A1
play black B1
play black C1
play white D1
71 reg_genmove black
#? [!D4]

# ladder: do not run; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . X . . X . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . O . . . . . . . . . .
# . . . . . . . . . . O . .
# . . . . . . . . . . X O O
# . . . O . . . . . O X X X
# . . . . . . . . . O X X X
# . . . . . . . . . O X X X
boardsize 13
clear_board
komi -38.5
play black H10
play black L10
play white C6
play white L5
play black L4
play white M4
play white N4
play white D3
play white K3
play black L3
play black M3
play black N3
play white K2
play black L2
play black M2
play black N2
play white K1
play black L1
play black M1
play black N1
72 reg_genmove black
#? [!K4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . O . . . . .
# . . . . . . . . . . O . .
# . . . . X . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . X . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . O O O
# . . . X . . . . O X X X X
# . . . . . . . . . O X X X
# . . . . . . . . . O X X X
boardsize 13
clear_board
komi -5.5
play white H11
play white L10
play black E9
play black D6
play white L4
play white M4
play white N4
play black D3
play white J3
play black K3
play black L3
play black M3
play black N3
play white K2
play black L2
play black M2
play black N2
play white K1
play black L1
play black M1
play black N1
73 reg_genmove black
#? [K4]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . . O X X X
# . . . . . . . . . O X X X
# . . . O . . . . . O X X X
# . . . . . . . . . . X O O
# . . . . . . . . . . O . .
# . . O . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . X . . . . . . . .
# . . . . . . . X . . X . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
boardsize 13
clear_board
komi -5.5
play white K13
play black L13
play black M13
play black N13
play white K12
play black L12
play black M12
play black N12
play white D11
play white K11
play black L11
play black M11
play black N11
play black L10
play white M10
play white N10
play white L9
play white C8
play black E5
play black H4
play black L4
74 reg_genmove black
#? [K10]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . . X O O O
# . . . . . . . . . X O O O
# . . . X . . . . . X O O O
# . . . . . . . . . . O X X
# . . . . . . . . . . X . .
# . . X . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . O . . . . . . . .
# . . . . . . . O . . O . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
boardsize 13
clear_board
komi 5.5
play black K13
play white L13
play white M13
play white N13
play black K12
play white L12
play white M12
play white N12
play black D11
play black K11
play white L11
play white M11
play white N11
play white L10
play black M10
play black N10
play black L9
play black C8
play white E5
play white H4
play white L4
75 reg_genmove white
#? [K10]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . X . . X . .
# . . . . X . . . . . . . .
# . . . . . . . . . . . . .
# . . . . . . . . . . . . .
# . . O . . . . . . . . . .
# . . . . . . . . . . O . .
# . . . . . . . . . . X O O
# . . . O . . . . . O X X X
# . . . . . . . . . O X X X
# . . . . . . . . . O X X X
boardsize 13
clear_board
komi -5.5
play black H10
play black L10
play black E9
play white C6
play white L5
play black L4
play white M4
play white N4
play white D3
play white K3
play black L3
play black M3
play black N3
play white K2
play black L2
play black M2
play black N2
play white K1
play black L1
play black M1
play black N1
76 reg_genmove black
#? [K4]

# ladder: capture; Black is X, white to move
# . . . . . . . . . . . . . . . . O X X
# . . . . . . . . . . . . . . . . O X X
# . . . . . . . . . . . . . . . . X X X
# . . . X . . . . . . . . . . . . . O O
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . X . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . O . . . . . . . . . O . . .
# . . . . . . . . . O . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi -15.5
play white R19
play black S19
play black T19
play white R18
play black S18
play black T18
play black R17
play black S17
play black T17
play black D16
play white S16
play white T16
play black C10
play black D4
play white F4
play white Q4
play white K3
77 reg_genmove white
#? [Q17]

# ladder: capture; Black is X, white to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . O . . . . . . . . .
# . . . O . . . . . . . . . O . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . X . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# O O . . . . . . . . . . . . . X . . .
# X X X . . . . . . . . . . . . . . . .
# X X O . . . . . . . . . . . . . . . .
# X X O . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi -15.5
play white K17
play white D16
play white O16
play black Q16
play black R10
play white A4
play white B4
play black Q4
play black A3
play black B3
play black C3
play black A2
play black B2
play white C2
play black A1
play black B1
play white C1
78 reg_genmove white
#? [D3]

# ladder: capture; Black is X, white to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . O . . . . . . . . .
# . . . X . O . . . . . . . . . O . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . X . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . . . . . . . . . . . . . O O
# . . . . . . . . . . . . . . . . X X X
# . . . . . . . . . . . . . . . . O X X
# . . . . . . . . . . . . . . . . O X X
boardsize 19
clear_board
komi -15.5
play white K17
play black D16
play white F16
play white Q16
play black C10
play black D4
play white S4
play white T4
play black R3
play black S3
play black T3
play white R2
play black S2
play black T2
play white R1
play black S1
play black T1
79 reg_genmove white
#? [Q3]

# ladder: capture; Black is X, black to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . O . . . . . . . . .
# . . . O . . . . . . . . . . . O . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . X . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . X . . .
# X X O . . . . . . . . . . . . . . . .
# O O O X . . . . . . . . . . . . . . .
# O O O X . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi 15.5
play white K17
play white D16
play white Q16
play black Q14
play black R10
play black Q4
play black A3
play black B3
play white C3
play white A2
play white B2
play white C2
play black D2
play white A1
play white B1
play white C1
play black D1
80 reg_genmove black
#? [C4]

# ladder: do not run; Black is X, white to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . X . . . . . . . . .
# . . . X . . . . . . . . . X . O . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . O . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# X X . . . . . . . . . . . . . O . . .
# O O O X . . . . . . . . . . . . . . .
# O O X . . . . . . . . . . . . . . . .
# O O X . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi 33.5
play black K17
play black D16
play black O16
play white Q16
play white R10
play black A4
play black B4
play white Q4
play white A3
play white B3
play white C3
play black D3
play white A2
play white B2
play black C2
play white A1
play white B1
play black C1
81 reg_genmove white
#? [!C4]

# ladder: do not run; Black is X, black to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . O . . . . . . . . .
# . . . X . O . . . . . . . . . O . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . X . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . . . . . . . . . . . . . O O
# . . . . . . . . . . . . . . . O X X X
# . . . . . . . . . . . . . . . . O X X
# . . . . . . . . . . . . . . . . O X X
boardsize 19
clear_board
komi -33.5
play white K17
play black D16
play white F16
play white Q16
play black C10
play black D4
play white S4
play white T4
play white Q3
play black R3
play black S3
play black T3
play white R2
play black S2
play black T2
play white R1
play black S1
play black T1
82 reg_genmove black
#? [!R4]

# ladder: do not run; Black is X, white to move
# . . . . . . . . . . . . . . . X O O O
# . . . . . . . . . . . . . . . X O O O
# . . . . . . . . . . . . . . . . O X X
# . . . X . . . . . . . . . . . . X . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . X . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . O . . .
# . . . . . . . . . O . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi 33.5
play black Q19
play white R19
play white S19
play white T19
play black Q18
play white R18
play white S18
play white T18
play white R17
play black S17
play black T17
play black D16
play black R16
play black C10
play black D6
play white D4
play white Q4
play white K3
83 reg_genmove white
#? [!Q17]

# ladder: do not run; Black is X, black to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . X . . . . . . . . .
# . . . X . . . . . . . . . . . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . O . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . . O . .
# . . . . . . . . . . . . . . . . X O O
# . . . . . . . . . . . . . . . O X X X
# . . . . . . . . . . . . . . . O X X X
boardsize 19
clear_board
komi -33.5
play black K17
play black D16
play black Q16
play white D14
play white C10
play white D4
play white R4
play black R3
play white S3
play white T3
play white Q2
play black R2
play black S2
play black T2
play white Q1
play black R1
play black S1
play black T1
84 reg_genmove black
#? [!Q3]

# ladder: broken, run 1; Black is X, white to move
# O O X . . . . . . . . . . . . . . . .
# O O X . . . . . . . . . . . . . . . .
# O O O X . . . . . . . . . . . . . . .
# X X . . . . . . . . . . . . . O . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . O . .
# . . . . . . . . . . O . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . . . . . . . . . X . O . . .
# . . . . . . . . . X . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi 0.5
play white A19
play white B19
play black C19
play white A18
play white B18
play black C18
play white A17
play white B17
play white C17
play black D17
play black A16
play black B16
play white Q16
play white R10
play white L9
play black D4
play black O4
play white Q4
play black K3
85 reg_genmove white
#? [C16]

# ladder: broken, run 1; Black is X, white to move
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . X . . . . . . . . .
# . . . O . X . . . . . . . . . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . O . . . . . . . . . .
# . . O . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . . . X X
# . . . . . . . . . . . . . . . X O O O
# . . . . . . . . . . . . . . . . X O O
# . . . . . . . . . . . . . . . . X O O
boardsize 19
clear_board
komi 0.5
play black K17
play white D16
play black F16
play black Q16
play white J11
play white C10
play white D4
play black S4
play black T4
play black Q3
play white R3
play white S3
play white T3
play black R2
play white S2
play white T2
play black R1
play white S1
play white T1
86 reg_genmove white
#? [R4]

# ladder: broken, run 1; Black is X, white to move
# O O O X . . . . . . . . . . . . . . .
# O O O X . . . . . . . . . . . . . . .
# X X O . . . . . . . . . . . . . . . .
# . . X . . . . . . . . . . . . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . X . .
# . . . . . . . . . . O . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . X . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . O . . .
# . . . . . . . . . O . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi 0.5
play white A19
play white B19
play white C19
play black D19
play white A18
play white B18
play white C18
play black D18
play black A17
play black B17
play white C17
play black C16
play black Q16
play black R10
play white L9
play black Q6
play white D4
play white Q4
play white K3
87 reg_genmove white
#? [D17]

# ladder: broken, run 1; Black is X, black to move
# . . . . . . . . . . . . . . . O X X X
# . . . . . . . . . . . . . . . O X X X
# . . . . . . . . . . . . . . . . X O O
# . . . O . . . . . . . . . . . . O . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . O . . . . . . . . . . . . . . . .
# . . . . . . . . X . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . O . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . X . . . . . . . . . . . X . . .
# . . . . . . . . . X . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
# . . . . . . . . . . . . . . . . . . .
boardsize 19
clear_board
komi -0.5
play white Q19
play black R19
play black S19
play black T19
play white Q18
play black R18
play black S18
play black T18
play black R17
play white S17
play white T17
play white D16
play white R16
play white C10
play black J9
play white D6
play black D4
play black Q4
play black K3
88 reg_genmove black
#? [Q17]
