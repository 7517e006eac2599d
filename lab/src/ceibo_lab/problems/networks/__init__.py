"""The paper's networks, their pictures and weights, and how wrong they are when made smaller."""
