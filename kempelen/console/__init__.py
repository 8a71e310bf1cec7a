"""What the commands share: arguments, tables, pictures, progress."""
