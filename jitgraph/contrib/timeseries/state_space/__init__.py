"""Linear models with a hidden state and normal noise: levels, trends, cycles, moving averages, and their sums."""
