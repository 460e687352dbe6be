"""Panels: asking the judges of a panel about one run, and reading what they answered."""
