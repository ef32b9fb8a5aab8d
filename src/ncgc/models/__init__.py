"""Every node classifier: NCGC, and the methods it is compared with in ``baselines``."""
