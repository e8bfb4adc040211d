"""How an op is declared, once: its signature, its meaning in NumPy or in prims, its samples."""
