"""How good predictions are, and probabilities that mean what they say."""
