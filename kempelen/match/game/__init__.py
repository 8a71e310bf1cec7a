"""Play one game of a match, including its opening, rules and adjudication."""
