"""Exactness of the plan, at the sizes of the paper."""
