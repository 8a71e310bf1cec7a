"""The page to learn on: pages of the lab, exported into a folder."""
