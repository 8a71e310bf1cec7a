"""What is remembered of opponents by their names, and what their habits change in our play."""
