"""Which method, which hyper-parameters, which node to label next."""
