"""Imitation learning methods that train end to end inside jit."""
