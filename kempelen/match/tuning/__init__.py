"""Tune search parameters with simultaneous perturbation stochastic approximation (SPSA)."""
