"""How long a training epoch takes, beside the same epoch on PyTorch Geometric layers."""
