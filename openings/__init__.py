"""Opening books: a repertoire for people to edit, and Polyglot books for programs to play from."""
