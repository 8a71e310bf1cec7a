"""Code shared by the commands: arguments, tables, pictures and progress bars."""
