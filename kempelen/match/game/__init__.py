"""One game of a match: openings, referee, adjudication."""
