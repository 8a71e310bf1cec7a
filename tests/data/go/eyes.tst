# Made by scripts/generate_tactics.py, seed 1.

# eyes: prevent the second; Black is X, white to move
# . X O O . O . O .
# X X O O O O O O O
# . X O O X X X X O
# X X O O X . . X O
# . X O O X . O X O
# X X O O X O X X O
# . X O O X X X X O
# X X O O O O O O O
# . X O O . O . O .
boardsize 9
clear_board
komi -35.5
play black B9
play white C9
play white D9
play white F9
play white H9
play black A8
play black B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black B7
play white C7
play white D7
play black E7
play black F7
play black G7
play black H7
play white J7
play black A6
play black B6
play white C6
play white D6
play black E6
play black H6
play white J6
play black B5
play white C5
play white D5
play black E5
play white G5
play black H5
play white J5
play black A4
play black B4
play white C4
play white D4
play black E4
play white F4
play black G4
play black H4
play white J4
play black B3
play white C3
play white D3
play black E3
play black F3
play black G3
play black H3
play white J3
play black A2
play black B2
play white C2
play white D2
play white E2
play white F2
play white G2
play white H2
play white J2
play black B1
play white C1
play white D1
play white F1
play white H1
1 reg_genmove white
#? [F5]

# eyes: prevent the second; Black is X, white to move
# O O O O O O O X .
# . O . O . O O X X
# O O O O O O O X .
# . O . O . O O X X
# O O O O O O O X .
# O X X X X O O X X
# O X X X X O O X .
# O X . X X O O X X
# O X . . X O O X .
boardsize 9
clear_board
komi -37.5
play white A9
play white B9
play white C9
play white D9
play white E9
play white F9
play white G9
play black H9
play white B8
play white D8
play white F8
play white G8
play black H8
play black J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play black H7
play white B6
play white D6
play white F6
play white G6
play black H6
play black J6
play white A5
play white B5
play white C5
play white D5
play white E5
play white F5
play white G5
play black H5
play white A4
play black B4
play black C4
play black D4
play black E4
play white F4
play white G4
play black H4
play black J4
play white A3
play black B3
play black C3
play black D3
play black E3
play white F3
play white G3
play black H3
play white A2
play black B2
play black D2
play black E2
play white F2
play white G2
play black H2
play black J2
play white A1
play black B1
play black E1
play white F1
play white G1
play black H1
2 reg_genmove white
#? [C1]

# eyes: prevent the second; Black is X, black to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X . X .
# . X . X . X X X X
# X X X X X X O O O
# . X . X . X O O X
# X X X X X X O . .
# . X . X . X O . .
boardsize 9
clear_board
komi 39.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black H6
play black B5
play black D5
play black F5
play black G5
play black H5
play black J5
play black A4
play black B4
play black C4
play black D4
play black E4
play black F4
play white G4
play white H4
play white J4
play black B3
play black D3
play black F3
play white G3
play white H3
play black J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play white G2
play black B1
play black D1
play black F1
play white G1
3 reg_genmove black
#? [J2]

# eyes: make the second; Black is X, white to move
# . O X X O O . O X
# O O X X O . X O X
# . O X X O . O O X
# O O X X O O O O X
# . O X X X X X X X
# O O X X . X . X .
# . O X X X X X X X
# O O X X . X . X .
# . O X X X X X X X
boardsize 9
clear_board
komi 36.5
play white B9
play black C9
play black D9
play white E9
play white F9
play white H9
play black J9
play white A8
play white B8
play black C8
play black D8
play white E8
play black G8
play white H8
play black J8
play white B7
play black C7
play black D7
play white E7
play white G7
play white H7
play black J7
play white A6
play white B6
play black C6
play black D6
play white E6
play white F6
play white G6
play white H6
play black J6
play white B5
play black C5
play black D5
play black E5
play black F5
play black G5
play black H5
play black J5
play white A4
play white B4
play black C4
play black D4
play black F4
play black H4
play white B3
play black C3
play black D3
play black E3
play black F3
play black G3
play black H3
play black J3
play white A2
play white B2
play black C2
play black D2
play black F2
play black H2
play white B1
play black C1
play black D1
play black E1
play black F1
play black G1
play black H1
play black J1
4 reg_genmove white
#? [F8]

# eyes: make the second; Black is X, white to move
# . O X X . X X X X
# O O X X X X . X .
# . O X X . X X X X
# O O X X X X O O O
# . O X X . X O X X
# O O X X X X O . .
# . O X X . X O . .
# O O X X X X O O O
# . O X X . X X X X
boardsize 9
clear_board
komi 37.5
play white B9
play black C9
play black D9
play black F9
play black G9
play black H9
play black J9
play white A8
play white B8
play black C8
play black D8
play black E8
play black F8
play black H8
play white B7
play black C7
play black D7
play black F7
play black G7
play black H7
play black J7
play white A6
play white B6
play black C6
play black D6
play black E6
play black F6
play white G6
play white H6
play white J6
play white B5
play black C5
play black D5
play black F5
play white G5
play black H5
play black J5
play white A4
play white B4
play black C4
play black D4
play black E4
play black F4
play white G4
play white B3
play black C3
play black D3
play black F3
play white G3
play white A2
play white B2
play black C2
play black D2
play black E2
play black F2
play white G2
play white H2
play white J2
play white B1
play black C1
play black D1
play black F1
play black G1
play black H1
play black J1
5 reg_genmove white
#? [H4|J4]

# eyes: make the second; Black is X, white to move
# . X . X . X X O .
# X X X X X X X O O
# . X . X . X X O .
# X X X X X X X O O
# X O O O O X X O .
# X O O O O X X O O
# X O O . O X X O .
# X O . X O X X O O
# X O . O O X X O .
boardsize 9
clear_board
komi 34.5
play black B9
play black D9
play black F9
play black G9
play white H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play white H8
play white J8
play black B7
play black D7
play black F7
play black G7
play white H7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play white H6
play white J6
play black A5
play white B5
play white C5
play white D5
play white E5
play black F5
play black G5
play white H5
play black A4
play white B4
play white C4
play white D4
play white E4
play black F4
play black G4
play white H4
play white J4
play black A3
play white B3
play white C3
play white E3
play black F3
play black G3
play white H3
play black A2
play white B2
play black D2
play white E2
play black F2
play black G2
play white H2
play white J2
play black A1
play white B1
play white D1
play white E1
play black F1
play black G1
play white H1
6 reg_genmove white
#? [C2]

# eyes: make the second; Black is X, white to move
# . O X O X . . O X
# O O X O O X . O X
# . O X O O O O O X
# O O X X X X X X X
# . O X X . X . X .
# O O X X X X X X X
# . O X X . X . X .
# O O X X X X X X X
# . O X X . X . X .
boardsize 9
clear_board
komi 37.5
play white B9
play black C9
play white D9
play black E9
play white H9
play black J9
play white A8
play white B8
play black C8
play white D8
play white E8
play black F8
play white H8
play black J8
play white B7
play black C7
play white D7
play white E7
play white F7
play white G7
play white H7
play black J7
play white A6
play white B6
play black C6
play black D6
play black E6
play black F6
play black G6
play black H6
play black J6
play white B5
play black C5
play black D5
play black F5
play black H5
play white A4
play white B4
play black C4
play black D4
play black E4
play black F4
play black G4
play black H4
play black J4
play white B3
play black C3
play black D3
play black F3
play black H3
play white A2
play white B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play white B1
play black C1
play black D1
play black F1
play black H1
7 reg_genmove white
#? [F9]

# eyes: prevent the second; Black is X, white to move
# O O O O O O O X .
# . O . O . O O X X
# O O O O O O O X .
# . O . O . O O X X
# O O O O O O O X .
# X X X X O O O X X
# . . X X O . O X .
# X . O X O O O X X
# . . O X O . O X .
boardsize 9
clear_board
komi -37.5
play white A9
play white B9
play white C9
play white D9
play white E9
play white F9
play white G9
play black H9
play white B8
play white D8
play white F8
play white G8
play black H8
play black J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play black H7
play white B6
play white D6
play white F6
play white G6
play black H6
play black J6
play white A5
play white B5
play white C5
play white D5
play white E5
play white F5
play white G5
play black H5
play black A4
play black B4
play black C4
play black D4
play white E4
play white F4
play white G4
play black H4
play black J4
play black C3
play black D3
play white E3
play white G3
play black H3
play black A2
play white C2
play black D2
play white E2
play white F2
play white G2
play black H2
play black J2
play white C1
play black D1
play white E1
play white G1
play black H1
8 reg_genmove white
#? [B2]

# two eyes: fill none; Black is X, black to move
# . X . X O . O . O
# X X X X O O O O O
# O O O O O . O . O
# . O . O O O O O O
# O O O O . O . O .
# . O . O O O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -40.5
play black B9
play black D9
play white E9
play white G9
play white J9
play black A8
play black B8
play black C8
play black D8
play white E8
play white F8
play white G8
play white H8
play white J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white G7
play white J7
play white B6
play white D6
play white E6
play white F6
play white G6
play white H6
play white J6
play white A5
play white B5
play white C5
play white D5
play white F5
play white H5
play white B4
play white D4
play white E4
play white F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
9 reg_genmove black
#? [!A9|C9]

# two eyes: fill none; Black is X, black to move
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# X X X O . O O X .
# X . X O O O O X X
# . X X O . O O X .
boardsize 9
clear_board
komi -40.5
play white B9
play white D9
play white F9
play white G9
play black H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play black H8
play black J8
play white B7
play white D7
play white F7
play white G7
play black H7
play white A6
play white B6
play white C6
play white D6
play white E6
play white F6
play white G6
play black H6
play black J6
play white B5
play white D5
play white F5
play white G5
play black H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play black H4
play black J4
play black A3
play black B3
play black C3
play white D3
play white F3
play white G3
play black H3
play black A2
play black C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play black B1
play black C1
play white D1
play white F1
play white G1
play black H1
10 reg_genmove black
#? [!A1|B2]

# two eyes: fill none; Black is X, black to move
# . X O O . O . O .
# X X O O O O O O O
# . X O O . O . O .
# X X O O O O O O O
# . X O O . O X X X
# X X O O O O X . X
# . X O O . O X X X
# X X O O O O O X X
# . X O . O . O X .
boardsize 9
clear_board
komi -38.5
play black B9
play white C9
play white D9
play white F9
play white H9
play black A8
play black B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black B7
play white C7
play white D7
play white F7
play white H7
play black A6
play black B6
play white C6
play white D6
play white E6
play white F6
play white G6
play white H6
play white J6
play black B5
play white C5
play white D5
play white F5
play black G5
play black H5
play black J5
play black A4
play black B4
play white C4
play white D4
play white E4
play white F4
play black G4
play black J4
play black B3
play white C3
play white D3
play white F3
play black G3
play black H3
play black J3
play black A2
play black B2
play white C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play black B1
play white C1
play white E1
play white G1
play black H1
11 reg_genmove black
#? [!H4|J1]

# two eyes: fill none; Black is X, black to move
# . X O O O O . O .
# X X X X X O O O O
# O O X . X O . O .
# . O X X X O O O O
# O O O O O O . O .
# . O . O . O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -38.5
play black B9
play white C9
play white D9
play white E9
play white F9
play white H9
play black A8
play black B8
play black C8
play black D8
play black E8
play white F8
play white G8
play white H8
play white J8
play white A7
play white B7
play black C7
play black E7
play white F7
play white H7
play white B6
play black C6
play black D6
play black E6
play white F6
play white G6
play white H6
play white J6
play white A5
play white B5
play white C5
play white D5
play white E5
play white F5
play white H5
play white B4
play white D4
play white F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
12 reg_genmove black
#? [!A9|D7]

# two eyes: fill none; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X X X X
# . X . X . X O O O
# X X X X X X O . O
# . X . X . X O O O
# X X X X X X X O O
# X . X . X . X O .
boardsize 9
clear_board
komi 38.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play black H6
play black J6
play black B5
play black D5
play black F5
play white G5
play white H5
play white J5
play black A4
play black B4
play black C4
play black D4
play black E4
play black F4
play white G4
play white J4
play black B3
play black D3
play black F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play white H2
play white J2
play black A1
play black C1
play black E1
play black G1
play white H1
13 reg_genmove white
#? [!H4|J1]

# two eyes: fill none; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# . X X X X X X X X
# X X X . X . X . X
# O O X X X X X X X
# . O X . X . X . X
# O O X X X X X X X
# . O X . X . X . X
boardsize 9
clear_board
komi 40.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play black H6
play black J6
play black A5
play black B5
play black C5
play black E5
play black G5
play black J5
play white A4
play white B4
play black C4
play black D4
play black E4
play black F4
play black G4
play black H4
play black J4
play white B3
play black C3
play black E3
play black G3
play black J3
play white A2
play white B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play white B1
play black C1
play black E1
play black G1
play black J1
14 reg_genmove white
#? [!A1|A3]

# two eyes: fill none; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X X X X
# X X X X X X . X .
# . X . X . X X X X
# X X X X X X X . X
# X O O O O O X X X
# X O . O . O X . X
boardsize 9
clear_board
komi 39.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black B6
play black D6
play black F6
play black G6
play black H6
play black J6
play black A5
play black B5
play black C5
play black D5
play black E5
play black F5
play black H5
play black B4
play black D4
play black F4
play black G4
play black H4
play black J4
play black A3
play black B3
play black C3
play black D3
play black E3
play black F3
play black G3
play black J3
play black A2
play white B2
play white C2
play white D2
play white E2
play white F2
play black G2
play black H2
play black J2
play black A1
play white B1
play white D1
play white F1
play black G1
play black J1
15 reg_genmove white
#? [!C1|E1]

# two eyes: fill none; Black is X, black to move
# O . O . O X . X X
# O O O O O X X . X
# O . O . O O X X X
# O O O O O O O O O
# . O . O . O . O .
# O O O O O O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -39.5
play white A9
play white C9
play white E9
play black F9
play black H9
play black J9
play white A8
play white B8
play white C8
play white D8
play white E8
play black F8
play black G8
play black J8
play white A7
play white C7
play white E7
play white F7
play black G7
play black H7
play black J7
play white A6
play white B6
play white C6
play white D6
play white E6
play white F6
play white G6
play white H6
play white J6
play white B5
play white D5
play white F5
play white H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
16 reg_genmove black
#? [!G9|H8]

# two eyes: fill none; Black is X, black to move
# O O O . O . O X .
# X X O O O O O X X
# . X X O . O O X .
# X . X O O O O X X
# X X X O . O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
boardsize 9
clear_board
komi -39.5
play white A9
play white B9
play white C9
play white E9
play white G9
play black H9
play black A8
play black B8
play white C8
play white D8
play white E8
play white F8
play white G8
play black H8
play black J8
play black B7
play black C7
play white D7
play white F7
play white G7
play black H7
play black A6
play black C6
play white D6
play white E6
play white F6
play white G6
play black H6
play black J6
play black A5
play black B5
play black C5
play white D5
play white F5
play white G5
play black H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play black H4
play black J4
play white B3
play white D3
play white F3
play white G3
play black H3
play white A2
play white B2
play white C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play white B1
play white D1
play white F1
play white G1
play black H1
17 reg_genmove black
#? [!A7|B6]

# two eyes: fill none; Black is X, white to move
# X O . O X X . X .
# X O O O O X X X X
# X X O . O X . X .
# . X O O O X X X X
# X X X X X X . X .
# . X . X . X X X X
# X X X X X X X X X
# O O O O O O O O O
# . O . O . O . O .
boardsize 9
clear_board
komi 38.5
play black A9
play white B9
play white D9
play black E9
play black F9
play black H9
play black A8
play white B8
play white C8
play white D8
play white E8
play black F8
play black G8
play black H8
play black J8
play black A7
play black B7
play white C7
play white E7
play black F7
play black H7
play black B6
play white C6
play white D6
play white E6
play black F6
play black G6
play black H6
play black J6
play black A5
play black B5
play black C5
play black D5
play black E5
play black F5
play black H5
play black B4
play black D4
play black F4
play black G4
play black H4
play black J4
play black A3
play black B3
play black C3
play black D3
play black E3
play black F3
play black G3
play black H3
play black J3
play white A2
play white B2
play white C2
play white D2
play white E2
play white F2
play white G2
play white H2
play white J2
play white B1
play white D1
play white F1
play white H1
18 reg_genmove white
#? [!C9|D7]

# two eyes: fill none; Black is X, black to move
# . O O O O X . X O
# O O X X X X X X O
# . O X . X O O O O
# O O X X X O . O .
# . O O O O O O O O
# O O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -37.5
play white B9
play white C9
play white D9
play white E9
play black F9
play black H9
play white J9
play white A8
play white B8
play black C8
play black D8
play black E8
play black F8
play black G8
play black H8
play white J8
play white B7
play black C7
play black E7
play white F7
play white G7
play white H7
play white J7
play white A6
play white B6
play black C6
play black D6
play black E6
play white F6
play white H6
play white B5
play white C5
play white D5
play white E5
play white F5
play white G5
play white H5
play white J5
play white A4
play white B4
play white D4
play white F4
play white H4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
19 reg_genmove black
#? [!D7|G9]

# two eyes: fill none; Black is X, black to move
# O . O X . X X X X
# O O O X X X X . X
# O . O O O O X X X
# O O O O . O O O O
# . O . O O O . O .
# O O O O . O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -37.5
play white A9
play white C9
play black D9
play black F9
play black G9
play black H9
play black J9
play white A8
play white B8
play white C8
play black D8
play black E8
play black F8
play black G8
play black J8
play white A7
play white C7
play white D7
play white E7
play white F7
play black G7
play black H7
play black J7
play white A6
play white B6
play white C6
play white D6
play white F6
play white G6
play white H6
play white J6
play white B5
play white D5
play white E5
play white F5
play white H5
play white A4
play white B4
play white C4
play white D4
play white F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
20 reg_genmove black
#? [!E9|H8]

# two eyes: fill none; Black is X, black to move
# . O X X . X O . O
# O O X . X X O O O
# . O X X X O O . O
# O O O O O O O O O
# . O . O . O . O .
# O O O O O O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -39.5
play white B9
play black C9
play black D9
play black F9
play white G9
play white J9
play white A8
play white B8
play black C8
play black E8
play black F8
play white G8
play white H8
play white J8
play white B7
play black C7
play black D7
play black E7
play white F7
play white G7
play white J7
play white A6
play white B6
play white C6
play white D6
play white E6
play white F6
play white G6
play white H6
play white J6
play white B5
play white D5
play white F5
play white H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
21 reg_genmove black
#? [!D8|E9]

# two eyes: fill none; Black is X, black to move
# . X O O . O O O O
# X X O O O O . O .
# . X O O . O O O O
# X X O O O O O X X
# . X O . O X X X .
# X X O O O X . X X
# . X O . O X X X O
# X X O O O O O O O
# . X O O . O . O .
boardsize 9
clear_board
komi -38.5
play black B9
play white C9
play white D9
play white F9
play white G9
play white H9
play white J9
play black A8
play black B8
play white C8
play white D8
play white E8
play white F8
play white H8
play black B7
play white C7
play white D7
play white F7
play white G7
play white H7
play white J7
play black A6
play black B6
play white C6
play white D6
play white E6
play white F6
play white G6
play black H6
play black J6
play black B5
play white C5
play white E5
play black F5
play black G5
play black H5
play black A4
play black B4
play white C4
play white D4
play white E4
play black F4
play black H4
play black J4
play black B3
play white C3
play white E3
play black F3
play black G3
play black H3
play white J3
play black A2
play black B2
play white C2
play white D2
play white E2
play white F2
play white G2
play white H2
play white J2
play black B1
play white C1
play white D1
play white F1
play white H1
22 reg_genmove black
#? [!G4|J5]

# two eyes: fill none; Black is X, black to move
# . O O X . X O O .
# O O O X X X X O O
# . O O O X . X O .
# O O . O X X X O O
# . O O O O O O O .
# O O . O . O . O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -38.5
play white B9
play white C9
play black D9
play black F9
play white G9
play white H9
play white A8
play white B8
play white C8
play black D8
play black E8
play black F8
play black G8
play white H8
play white J8
play white B7
play white C7
play white D7
play black E7
play black G7
play white H7
play white A6
play white B6
play white D6
play black E6
play black F6
play black G6
play white H6
play white J6
play white B5
play white C5
play white D5
play white E5
play white F5
play white G5
play white H5
play white A4
play white B4
play white D4
play white F4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
23 reg_genmove black
#? [!E9|F7]

# two eyes: fill none; Black is X, black to move
# X X X O . O O X .
# X . X O O O O X X
# X X X O . O O X .
# X . X O O O O X X
# X X X O . O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
boardsize 9
clear_board
komi -37.5
play black A9
play black B9
play black C9
play white D9
play white F9
play white G9
play black H9
play black A8
play black C8
play white D8
play white E8
play white F8
play white G8
play black H8
play black J8
play black A7
play black B7
play black C7
play white D7
play white F7
play white G7
play black H7
play black A6
play black C6
play white D6
play white E6
play white F6
play white G6
play black H6
play black J6
play black A5
play black B5
play black C5
play white D5
play white F5
play white G5
play black H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play black H4
play black J4
play white B3
play white D3
play white F3
play white G3
play black H3
play white A2
play white B2
play white C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play white B1
play white D1
play white F1
play white G1
play black H1
24 reg_genmove black
#? [!B6|B8]

# nakade: live, 4 points, corner; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X X X X
# X . X . X . X O O
# X X X X X X X O .
# X . X . X . X O .
# X X X X X X X O .
# X . X . X . X O .
boardsize 9
clear_board
komi 39.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play black H6
play black J6
play black A5
play black C5
play black E5
play black G5
play white H5
play white J5
play black A4
play black B4
play black C4
play black D4
play black E4
play black F4
play black G4
play white H4
play black A3
play black C3
play black E3
play black G3
play white H3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play white H2
play black A1
play black C1
play black E1
play black G1
play white H1
25 reg_genmove white
#? [!J1|J4]

# nakade: live, 4 points, edge; Black is X, black to move
# . O . O . O O X .
# O O O O O O O X X
# X X X X X O O X .
# . . . . X O O X X
# X X X X X O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
boardsize 9
clear_board
komi -37.5
play white B9
play white D9
play white F9
play white G9
play black H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play black H8
play black J8
play black A7
play black B7
play black C7
play black D7
play black E7
play white F7
play white G7
play black H7
play black E6
play white F6
play white G6
play black H6
play black J6
play black A5
play black B5
play black C5
play black D5
play black E5
play white F5
play white G5
play black H5
play white A4
play white B4
play white C4
play white D4
play white E4
play white F4
play white G4
play black H4
play black J4
play white B3
play white D3
play white F3
play white G3
play black H3
play white A2
play white B2
play white C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play white B1
play white D1
play white F1
play white G1
play black H1
26 reg_genmove black
#? [!A6|D6]

# nakade: live, 4 points, edge; Black is X, white to move
# X . X O . . O X .
# X X X O O . O X X
# X . X X O . O X .
# X X X X O O O X X
# . X . X X X X X .
# X X X X . X . X X
# X X X X X X X X X
# O O O O O O O O O
# . O . O . O . O .
boardsize 9
clear_board
komi 37.5
play black A9
play black C9
play white D9
play white G9
play black H9
play black A8
play black B8
play black C8
play white D8
play white E8
play white G8
play black H8
play black J8
play black A7
play black C7
play black D7
play white E7
play white G7
play black H7
play black A6
play black B6
play black C6
play black D6
play white E6
play white F6
play white G6
play black H6
play black J6
play black B5
play black D5
play black E5
play black F5
play black G5
play black H5
play black A4
play black B4
play black C4
play black D4
play black F4
play black H4
play black J4
play black A3
play black B3
play black C3
play black D3
play black E3
play black F3
play black G3
play black H3
play black J3
play white A2
play white B2
play white C2
play white D2
play white E2
play white F2
play white G2
play white H2
play white J2
play white B1
play white D1
play white F1
play white H1
27 reg_genmove white
#? [!E9|F7]

# nakade: live, 4 points, centre; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X O O O X X X X
# . X O . O X X . X
# X X O . O O X X X
# . X O . . O X . X
# X X O O O O X X X
# . X X X X X X . X
boardsize 9
clear_board
komi 35.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black A6
play black B6
play white C6
play white D6
play white E6
play black F6
play black G6
play black H6
play black J6
play black B5
play white C5
play white E5
play black F5
play black G5
play black J5
play black A4
play black B4
play white C4
play white E4
play white F4
play black G4
play black H4
play black J4
play black B3
play white C3
play white F3
play black G3
play black J3
play black A2
play black B2
play white C2
play white D2
play white E2
play white F2
play black G2
play black H2
play black J2
play black B1
play black C1
play black D1
play black E1
play black F1
play black G1
play black J1
28 reg_genmove white
#? [!D5|E3]

# nakade: live, 4 points, corner; Black is X, white to move
# . X . X . X X O .
# X X X X X X X O O
# . X . X . X X O .
# X X X X X X X O O
# . X . X . X X O .
# X X X X X X X O O
# O O O O X . X O .
# O . . O X X X O O
# . . O O X . X O .
boardsize 9
clear_board
komi 38.5
play black B9
play black D9
play black F9
play black G9
play white H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play white H8
play white J8
play black B7
play black D7
play black F7
play black G7
play white H7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play white H6
play white J6
play black B5
play black D5
play black F5
play black G5
play white H5
play black A4
play black B4
play black C4
play black D4
play black E4
play black F4
play black G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play black E3
play black G3
play white H3
play white A2
play white D2
play black E2
play black F2
play black G2
play white H2
play white J2
play white C1
play white D1
play black E1
play black G1
play white H1
29 reg_genmove white
#? [!A1|C2]

# nakade: live, 4 points, edge; Black is X, white to move
# . X . X . X X O .
# X X X X X X X O O
# O O O X X . X O .
# . . O O X X X O O
# O . . O X . X O .
# O O O O X X X O O
# X X X X X X X O .
# . X . X . X X O O
# X X X X X X X O .
boardsize 9
clear_board
komi 37.5
play black B9
play black D9
play black F9
play black G9
play white H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play white H8
play white J8
play white A7
play white B7
play white C7
play black D7
play black E7
play black G7
play white H7
play white C6
play white D6
play black E6
play black F6
play black G6
play white H6
play white J6
play white A5
play white D5
play black E5
play black G5
play white H5
play white A4
play white B4
play white C4
play white D4
play black E4
play black F4
play black G4
play white H4
play white J4
play black A3
play black B3
play black C3
play black D3
play black E3
play black F3
play black G3
play white H3
play black B2
play black D2
play black F2
play black G2
play white H2
play white J2
play black A1
play black B1
play black C1
play black D1
play black E1
play black F1
play black G1
play white H1
30 reg_genmove white
#? [!A6|C5]

# nakade: live, 4 points, centre; Black is X, black to move
# . O . O O O O O .
# O O O O X X X O O
# O . O X X . X O .
# O O O X . . X O O
# O . O X . X X O .
# O O O X X X O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -35.5
play white B9
play white D9
play white E9
play white F9
play white G9
play white H9
play white A8
play white B8
play white C8
play white D8
play black E8
play black F8
play black G8
play white H8
play white J8
play white A7
play white C7
play black D7
play black E7
play black G7
play white H7
play white A6
play white B6
play white C6
play black D6
play black G6
play white H6
play white J6
play white A5
play white C5
play black D5
play black F5
play black G5
play white H5
play white A4
play white B4
play white C4
play black D4
play black E4
play black F4
play white G4
play white H4
play white J4
play white A3
play white B3
play white C3
play white D3
play white E3
play white F3
play white G3
play white H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play black B1
play black D1
play black F1
play black H1
31 reg_genmove black
#? [!E5|F7]

# nakade: live, 5 points, corner; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X X X X
# O O X . X . X . X
# . O X X X X X X X
# . O X X . X . X .
# . O O X X X X X X
# . . O X . X . X .
boardsize 9
clear_board
komi 38.5
play white B9
play white D9
play white F9
play white H9
play white A8
play white B8
play white C8
play white D8
play white E8
play white F8
play white G8
play white H8
play white J8
play black A7
play black B7
play black C7
play black D7
play black E7
play black F7
play black G7
play black H7
play black J7
play black A6
play black B6
play black C6
play black D6
play black E6
play black F6
play black G6
play black H6
play black J6
play white A5
play white B5
play black C5
play black E5
play black G5
play black J5
play white B4
play black C4
play black D4
play black E4
play black F4
play black G4
play black H4
play black J4
play white B3
play black C3
play black D3
play black F3
play black H3
play white B2
play white C2
play black D2
play black E2
play black F2
play black G2
play black H2
play black J2
play white C1
play black D1
play black F1
play black H1
32 reg_genmove white
#? [!A4]
