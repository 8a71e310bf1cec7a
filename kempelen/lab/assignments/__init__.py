"""Assignments: templates that students complete, and tests that grade them."""
