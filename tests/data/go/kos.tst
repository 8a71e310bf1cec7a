# Made by scripts/generate_tactics.py, seed 1.

# ko; Black is X, white to move
# . X O O . O O O O
# X X O O O O X O .
# . X O O . O X X O
# X X O O O O X X O
# . X O O . O X . X
# X X O O O O X X O
# . X O O . O X O .
# X X O O O O X X X
# . X O O . O O O O
boardsize 9
clear_board
komi -34.5
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
play black G8
play white H8
play black B7
play white C7
play white D7
play white F7
play black G7
play black H7
play white J7
play black A6
play black B6
play white C6
play white D6
play white E6
play white F6
play black G6
play black H6
play white J6
play black B5
play white C5
play white D5
play white F5
play black G5
play black J5
play black A4
play black B4
play white C4
play white D4
play white E4
play white F4
play black G4
play black H4
play white J4
play black B3
play white C3
play white D3
play white F3
play black G3
play white H3
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
play white C1
play white D1
play white F1
play white G1
play white H1
play white J1
1 reg_genmove white
#? [H5]

# ko; Black is X, black to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X . X .
# X . X . X X X X X
# X X X X X O O O .
# X . X . X O . X O
# X X X X X O X O O
# X . X . X X O . O
boardsize 9
clear_board
komi 37.5
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
play black A5
play black C5
play black E5
play black F5
play black G5
play black H5
play black J5
play black A4
play black B4
play black C4
play black D4
play black E4
play white F4
play white G4
play white H4
play black A3
play black C3
play black E3
play white F3
play black H3
play white J3
play black A2
play black B2
play black C2
play black D2
play black E2
play white F2
play black G2
play white H2
play white J2
play black A1
play black C1
play black E1
play black F1
play white G1
play white J1
2 reg_genmove black
#? [H1]

# ko; Black is X, black to move
# X X X X X . X O .
# . X O O X X X O O
# X O . O X . X O .
# O X O O X X X O O
# . X O O X . X O .
# O O O O X X X O O
# X X X X X X X O .
# . X . X . X X O O
# X X X X X X X O .
boardsize 9
clear_board
komi 35.5
play black A9
play black B9
play black C9
play black D9
play black E9
play black G9
play white H9
play black B8
play white C8
play white D8
play black E8
play black F8
play black G8
play white H8
play white J8
play black A7
play white B7
play white D7
play black E7
play black G7
play white H7
play white A6
play black B6
play white C6
play white D6
play black E6
play black F6
play black G6
play white H6
play white J6
play black B5
play white C5
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
3 reg_genmove black
#? [C7]

# ko; Black is X, white to move
# O . O . O . O X .
# O O O O O X X X O
# O . O . O X X . X
# O O O O O X X X O
# O . O . O O O O O
# O O O O O O . O .
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -37.5
play white A9
play white C9
play white E9
play white G9
play black H9
play white A8
play white B8
play white C8
play white D8
play white E8
play black F8
play black G8
play black H8
play white J8
play white A7
play white C7
play white E7
play black F7
play black G7
play black J7
play white A6
play white B6
play white C6
play white D6
play white E6
play black F6
play black G6
play black H6
play white J6
play white A5
play white C5
play white E5
play white F5
play white G5
play white H5
play white J5
play white A4
play white B4
play white C4
play white D4
play white E4
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
4 reg_genmove white
#? [H7]

# ko; Black is X, black to move
# . O X X . X . X O
# O O X X X X X O .
# . O X X . X O . O
# O O X X X X O O .
# . O X X . X O O O
# O O X X X X X X X
# . O X X . X . X .
# O O X X X X X X X
# . O X X . X . X .
boardsize 9
clear_board
komi 37.5
play white B9
play black C9
play black D9
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
play white H8
play white B7
play black C7
play black D7
play black F7
play white G7
play white J7
play white A6
play white B6
play black C6
play black D6
play black E6
play black F6
play white G6
play white H6
play white B5
play black C5
play black D5
play black F5
play white G5
play white H5
play white J5
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
5 reg_genmove black
#? [J8]

# ko; Black is X, white to move
# . O . O . O O X .
# O O O O O O O X X
# . O . O . O O X .
# O O O O O O O X X
# . X X O . O O X .
# O X X O O O O X X
# X . X O . O O X .
# O X X O O O O X X
# . X O O . O O X .
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
play black B5
play black C5
play white D5
play white F5
play white G5
play black H5
play white A4
play black B4
play black C4
play white D4
play white E4
play white F4
play white G4
play black H4
play black J4
play black A3
play black C3
play white D3
play white F3
play white G3
play black H3
play white A2
play black B2
play black C2
play white D2
play white E2
play white F2
play white G2
play black H2
play black J2
play black B1
play white C1
play white D1
play white F1
play white G1
play black H1
6 reg_genmove white
#? [B3]

# ko; Black is X, white to move
# . X O O . O O O O
# X X O O O O X X .
# . X O O . O X O O
# X X O O O O X X X
# . X O O . O X . O
# X X O O O O X X O
# . X O O . O X . X
# X X O O O O X X O
# . X O O . O O O O
boardsize 9
clear_board
komi -34.5
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
play black G8
play black H8
play black B7
play white C7
play white D7
play white F7
play black G7
play white H7
play white J7
play black A6
play black B6
play white C6
play white D6
play white E6
play white F6
play black G6
play black H6
play black J6
play black B5
play white C5
play white D5
play white F5
play black G5
play white J5
play black A4
play black B4
play white C4
play white D4
play white E4
play white F4
play black G4
play black H4
play white J4
play black B3
play white C3
play white D3
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
play white J2
play black B1
play white C1
play white D1
play white F1
play white G1
play white H1
play white J1
7 reg_genmove white
#? [H3]

# ko; Black is X, white to move
# . X . X . X . X .
# X X X X X X X X X
# O O O O O O O O O
# O O O O O O O O O
# . O . O . O . O .
# O O O O O O O O O
# O X X X X X X X O
# O O X X . X . X O
# O O O O X O . X O
boardsize 9
clear_board
komi -34.5
play black B9
play black D9
play black F9
play black H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play black H8
play black J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play white H7
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
play black B3
play black C3
play black D3
play black E3
play black F3
play black G3
play black H3
play white J3
play white A2
play white B2
play black C2
play black D2
play black F2
play black H2
play white J2
play white A1
play white B1
play white C1
play white D1
play black E1
play white F1
play black H1
play white J1
8 reg_genmove white
#? [E2]

# ko; Black is X, black to move
# X . X O X O . O O
# X X X O . X O . .
# X . X O O O O X .
# X X X X X X X X X
# . X . X . X . X .
# X X X X X X X X X
# X X X X X X X X X
# O O O O O O O O O
# . O . O . O . O .
boardsize 9
clear_board
komi 36.5
play black A9
play black C9
play white D9
play black E9
play white F9
play white H9
play white J9
play black A8
play black B8
play black C8
play white D8
play black F8
play white G8
play black A7
play black C7
play white D7
play white E7
play white F7
play white G7
play black H7
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
play black H5
play black A4
play black B4
play black C4
play black D4
play black E4
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
9 reg_genmove black
#? [G9]

# ko; Black is X, white to move
# . O X . X O . O .
# O X . X X O O O O
# . O X X X O . O .
# O O O O O O O O O
# . O . O . O . O .
# O O O O O O O O O
# O O O O O O O O O
# X X X X X X X X X
# . X . X . X . X .
boardsize 9
clear_board
komi -37.5
play white B9
play black C9
play black E9
play white F9
play white H9
play white A8
play black B8
play black D8
play black E8
play white F8
play white G8
play white H8
play white J8
play white B7
play black C7
play black D7
play black E7
play white F7
play white H7
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
10 reg_genmove white
#? [C8]

# ko: not to be taken back; Black is X, white to move
# X O . X O X X . X
# X O X O . O O X X
# X O O O O O O O X
# X X X X X X X X X
# . X . X . X . X .
# X X X X X X X X X
# X X X X X X X X X
# O O O O O O O O O
# . O . O . O . O .
boardsize 9
clear_board
komi 34.5
play black A9
play white B9
play black D9
play white E9
play black F9
play black G9
play black J9
play black A8
play white B8
play black C8
play white D8
play white F8
play white G8
play black H8
play black J8
play black A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play white H7
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
play black H5
play black A4
play black B4
play black C4
play black D4
play black E4
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
play black E8
11 reg_genmove white
#? [!E9]

# ko: not to be taken back; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# . X . X X X X X X
# X X X X X . X . X
# . O O O X X X X X
# O X . O X . X . X
# O O X O X X X X X
# O . O X X . X . X
boardsize 9
clear_board
komi 37.5
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
play black E6
play black F6
play black G6
play black H6
play black J6
play black A5
play black B5
play black C5
play black D5
play black E5
play black G5
play black J5
play white B4
play white C4
play white D4
play black E4
play black F4
play black G4
play black H4
play black J4
play white A3
play black B3
play white D3
play black E3
play black G3
play black J3
play white A2
play white B2
play black C2
play white D2
play black E2
play black F2
play black G2
play black H2
play black J2
play white A1
play white C1
play black D1
play black E1
play black G1
play black J1
play black B1
12 reg_genmove white
#? [!C1]

# ko: not to be taken back; Black is X, black to move
# . X . X . X . X .
# X X X X X X X X X
# O O O O O O O O O
# . O . O . O O O O
# O O O O O O O . O
# O X X X X X O O O
# O X . X X X O . O
# O O X O O X O O O
# O . O X . X O . O
boardsize 9
clear_board
komi -35.5
play black B9
play black D9
play black F9
play black H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play black H8
play black J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play white H7
play white J7
play white B6
play white D6
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
play white G5
play white J5
play white A4
play black B4
play black C4
play black D4
play black E4
play black F4
play white G4
play white H4
play white J4
play white A3
play black B3
play black D3
play black E3
play black F3
play white G3
play white J3
play white A2
play white B2
play black C2
play white D2
play white E2
play black F2
play white G2
play white H2
play white J2
play white A1
play white C1
play black D1
play black F1
play white G1
play white J1
play white C3
13 reg_genmove black
#? [!C2]

# ko: not to be taken back; Black is X, black to move
# . X . X . X . X .
# X X X X X X X X X
# O O O O O O O O O
# . O . O O O O O O
# O O O O O . O . O
# O X X X O O O O O
# X . X X O . O . O
# O X X X O O O O O
# . X O . O . O . O
boardsize 9
clear_board
komi -37.5
play black B9
play black D9
play black F9
play black H9
play black A8
play black B8
play black C8
play black D8
play black E8
play black F8
play black G8
play black H8
play black J8
play white A7
play white B7
play white C7
play white D7
play white E7
play white F7
play white G7
play white H7
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
play white E5
play white G5
play white J5
play white A4
play black B4
play black C4
play black D4
play white E4
play white F4
play white G4
play white H4
play white J4
play black A3
play black C3
play black D3
play white E3
play white G3
play white J3
play white A2
play black B2
play black C2
play black D2
play white E2
play white F2
play white G2
play white H2
play white J2
play black B1
play white C1
play white E1
play white G1
play white J1
play white B3
14 reg_genmove black
#? [!A3]

# ko: not to be taken back; Black is X, white to move
# . O . O . O . O .
# O O O O O O O O O
# X X X X X X X X X
# X X X X X X X X X
# . X . X . X . X .
# X X X X X X X X X
# . X . X O O O X .
# X X X X O O . O X
# . X . X O . O . O
boardsize 9
clear_board
komi 37.5
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
play black H5
play black A4
play black B4
play black C4
play black D4
play black E4
play black F4
play black G4
play black H4
play black J4
play black B3
play black D3
play white E3
play white F3
play white G3
play black H3
play black A2
play black B2
play black C2
play black D2
play white E2
play white F2
play white H2
play black J2
play black B1
play black D1
play white E1
play white G1
play white J1
play black H1
15 reg_genmove white
#? [!J1]

# ko: not to be taken back; Black is X, white to move
# . O X X . X X O .
# X O O X X X X O O
# O . O X . X X O .
# X O O X X X X O O
# . O O X . X X O .
# X X X X X X X O O
# . X . X . X X O .
# X X X X X X X O O
# . X . X . X X O .
boardsize 9
clear_board
komi 37.5
play white B9
play black C9
play black D9
play black F9
play black G9
play white H9
play black A8
play white B8
play white C8
play black D8
play black E8
play black F8
play black G8
play white H8
play white J8
play white A7
play white C7
play black D7
play black F7
play black G7
play white H7
play black A6
play white B6
play white C6
play black D6
play black E6
play black F6
play black G6
play white H6
play white J6
play white B5
play white C5
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
play black B3
play black D3
play black F3
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
play white J2
play black B1
play black D1
play black F1
play black G1
play white H1
play black B7
16 reg_genmove white
#? [!A7]
