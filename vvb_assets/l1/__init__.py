"""L1: measurement (facts) and program checks (verdicts) of a delivery."""
