# Made by scripts/generate_tactics.py, seed 1.

# net; Black is X, white to move
# . . . . . . O X X
# . . . . . O O X X
# . X . . . . X X X
# . . . . . . . O O
# . . . . . . . . .
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . O . .
# . . . . . . . . .
boardsize 9
clear_board
komi -3.5
play white G9
play black H9
play black J9
play white F8
play white G8
play black H8
play black J8
play black B7
play black G7
play black H7
play black J7
play white H6
play white J6
play black C3
play white G2
1 reg_genmove white
#? [E7|F6|G5]

# net; Black is X, black to move
# . . . . . . X O O
# . . . . . X X O O
# . O . . . . O O O
# . . . . . . . X X
# . . . . . . . . .
# . . . . . . . . .
# . . O . . . . . .
# . . . . . . X . .
# . . . . . . . . .
boardsize 9
clear_board
komi 3.5
play black G9
play white H9
play white J9
play black F8
play black G8
play white H8
play white J8
play white B7
play white G7
play white H7
play white J7
play black H6
play black J6
play white C3
play black G2
2 reg_genmove black
#? [E7|F6|G5]

# net; Black is X, black to move
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . . . . . . . . .
# X X . . . . . . .
# O O O . . . . O .
# O O X X . . . . .
# O O X . . . . . .
boardsize 9
clear_board
komi 3.5
play black C8
play white G7
play black A4
play black B4
play white A3
play white B3
play white C3
play white H3
play white A2
play white B2
play black C2
play black D2
play white A1
play white B1
play black C1
3 reg_genmove black
#? [C5|D4|E3]

# net; Black is X, white to move
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . X . .
# . . . . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# O O X . . . . O .
# X X X O . . . . .
# X X X O . . . . .
boardsize 9
clear_board
komi -3.5
play black C8
play black G7
play white B4
play white A3
play white B3
play black C3
play white H3
play black A2
play black B2
play black C2
play white D2
play black A1
play black B1
play black C1
play white D1
4 reg_genmove white
#? [C5|D4|E3]

# net; Black is X, black to move
# . . . . . . . . .
# . . O . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# X X O . . . . X .
# O O O X . . . . .
# O O O X . . . . .
boardsize 9
clear_board
komi 3.5
play white C8
play white G7
play black B4
play black A3
play black B3
play white C3
play black H3
play white A2
play white B2
play white C2
play black D2
play white A1
play white B1
play white C1
play black D1
5 reg_genmove black
#? [C5|D4|E3]

# net; Black is X, white to move
# . . . . . . O X X
# . . . . . O O X X
# . . . . . . X X X
# . X . . . . . O O
# . . . . . . . . .
# . . . X . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -3.5
play white G9
play black H9
play black J9
play white F8
play white G8
play black H8
play black J8
play black G7
play black H7
play black J7
play black B6
play white H6
play white J6
play black D4
6 reg_genmove white
#? [E7|F6|G5]

# net; Black is X, white to move
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . X . . .
# . . . . . . . . .
# O O . . . . . X .
# X X X . . . . . .
# X X O O . . . . .
# X X O . . . . . .
boardsize 9
clear_board
komi -3.5
play black F6
play white A4
play white B4
play black H4
play black A3
play black B3
play black C3
play black A2
play black B2
play white C2
play white D2
play black A1
play black B1
play white C1
7 reg_genmove white
#? [C5|D4|E3]

# net; Black is X, white to move
# . . . . . . . . .
# . . . X . . . . .
# . . . . . . . . .
# . . . . . X . . .
# . . . . . . . . .
# . O . . . . . . .
# O O X . . . . . .
# X X X O . . . . .
# X X X O . . . . .
boardsize 9
clear_board
komi -3.5
play black D8
play black F6
play white B4
play white A3
play white B3
play black C3
play black A2
play black B2
play black C2
play white D2
play black A1
play black B1
play black C1
play white D1
8 reg_genmove white
#? [C5|D4|E3]

# net; Black is X, black to move
# . . . . . X O O O
# . . . . . X O O O
# . . . . . . O X X
# . . . . . . . X .
# . . . . . . . . .
# . . . O . . . . .
# . . . . . . . . .
# . . . . . O . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 3.5
play black F9
play white G9
play white H9
play white J9
play black F8
play white G8
play white H8
play white J8
play white G7
play black H7
play black J7
play black H6
play white D4
play white F2
9 reg_genmove black
#? [E7|F6|G5]

# net; Black is X, black to move
# . . . . . . . . .
# . . . . . O . . .
# . . . . . . . . .
# . . . O . . . . .
# . . . . . . . . .
# . . . . . . . X .
# . . . . . . O X X
# . . . . . X O O O
# . . . . . X O O O
boardsize 9
clear_board
komi 3.5
play white F8
play white D6
play black H4
play white G3
play black H3
play black J3
play black F2
play white G2
play white H2
play white J2
play black F1
play white G1
play white H1
play white J1
10 reg_genmove black
#? [E3|F4|G5]

# net; Black is X, white to move
# . . . . . . O X X
# . . . . O . O X X
# . X . . . . X X X
# . . . . . . . O O
# . . . . . . . O .
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . O . .
# . . . . . . . . .
boardsize 9
clear_board
komi -3.5
play white G9
play black H9
play black J9
play white E8
play white G8
play black H8
play black J8
play black B7
play black G7
play black H7
play black J7
play white H6
play white J6
play white H5
play black C3
play white G2
11 reg_genmove white
#? [F6|F7]

# net; Black is X, black to move
# O O O X . . . . .
# O O O X X . . . .
# X X O . . . . X .
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# . . . . . . O . .
# . . O . . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 3.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play black E8
play black A7
play black B7
play white C7
play black H7
play black B5
play white G3
play white C2
12 reg_genmove black
#? [C6|D6]

# net; Black is X, black to move
# . . . . . . . . .
# . . O . . . . . .
# . . . . . . O . .
# . . . . . . . . .
# . X . . . . . . .
# . . . . . . . . .
# X X O . . . . X .
# O O O X X . . . .
# O O O X . . . . .
boardsize 9
clear_board
komi 3.5
play white C8
play white G7
play black B5
play black A3
play black B3
play white C3
play black H3
play white A2
play white B2
play white C2
play black D2
play black E2
play white A1
play white B1
play white C1
play black D1
13 reg_genmove black
#? [C4|D4]

# net; Black is X, white to move
# . . . . . O X X X
# . . . . O O X X X
# . O . . . . X O O
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . . X . . . . . .
# . . . . . . X . .
# . . . . . . . . .
boardsize 9
clear_board
komi -3.5
play white F9
play black G9
play black H9
play black J9
play white E8
play white F8
play black G8
play black H8
play black J8
play white B7
play black G7
play white H7
play white J7
play white H5
play black C3
play black G2
14 reg_genmove white
#? [F6|G6]

# net; Black is X, white to move
# . . . . . . . . .
# . . . . . . X . .
# . . X . . . . . .
# . . . . . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . O . . . . X O O
# . . . . O O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -3.5
play black G8
play black C7
play white H5
play white B3
play black G3
play white H3
play white J3
play white E2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
15 reg_genmove white
#? [F4|G4]

# net; Black is X, black to move
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . . . O . . .
# . X . . . . . . .
# X X . . . . . O .
# O O O . . . . . .
# O O X . X . . . .
# O O X . . . . . .
boardsize 9
clear_board
komi 3.5
play white F6
play black B5
play black A4
play black B4
play white H4
play white A3
play white B3
play white C3
play white A2
play white B2
play black C2
play black E2
play white A1
play white B1
play black C1
16 reg_genmove black
#? [D3|D4]

# net; Black is X, white to move
# . . . . . . . . .
# . . . . . . . . .
# . . . . . . . . .
# . . . X . . . . .
# . . . . . . . O .
# . X . . . . . O O
# . . . . . . X X X
# . . . . O . O X X
# . . . . . . O X X
boardsize 9
clear_board
komi -3.5
play black D6
play white H5
play black B4
play white H4
play white J4
play black G3
play black H3
play black J3
play white E2
play white G2
play black H2
play black J2
play white G1
play black H1
play black J1
17 reg_genmove white
#? [F3|F4]

# net; Black is X, white to move
# X X X O . . . . .
# X X X O O . . . .
# O O X . . . . . .
# . . . . . . . . .
# . O . . . . . . .
# . . . . . X . . .
# . . . . . . . . .
# . . . X . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi -3.5
play black A9
play black B9
play black C9
play white D9
play black A8
play black B8
play black C8
play white D8
play white E8
play white A7
play white B7
play black C7
play white B5
play black F4
play black D2
18 reg_genmove white
#? [C6|D6]

# net; Black is X, black to move
# O O O X . . . . .
# O O O X X . . . .
# X X O . . . . . .
# . . . . . . . . .
# . X . . . . . . .
# . . . . . O . . .
# . . . . . . . . .
# . . . O . . . . .
# . . . . . . . . .
boardsize 9
clear_board
komi 3.5
play white A9
play white B9
play white C9
play black D9
play white A8
play white B8
play white C8
play black D8
play black E8
play black A7
play black B7
play white C7
play black B5
play white F4
play white D2
19 reg_genmove black
#? [C6|D6]

# net; Black is X, white to move
# . . . . . . . . .
# . . . . . X . . .
# . . . . . . . . .
# . . . X . . . . .
# . . . . . . . O .
# . . . . . . . . .
# . . . . . . X O O
# . . . . O O X X X
# . . . . . O X X X
boardsize 9
clear_board
komi -3.5
play black F8
play black D6
play white H5
play black G3
play white H3
play white J3
play white E2
play white F2
play black G2
play black H2
play black J2
play white F1
play black G1
play black H1
play black J1
20 reg_genmove white
#? [F4|G4]
