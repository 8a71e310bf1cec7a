"""Record searches step by step."""
