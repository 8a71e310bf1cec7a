"""Games with hidden information, for counterfactual regret minimisation."""
