"""An epoch of ours beside the same epoch on stock PyG."""
