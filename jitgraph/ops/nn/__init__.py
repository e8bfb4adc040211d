"""Neural networks: convolutions, poolings, normalisation, losses, embeddings."""
