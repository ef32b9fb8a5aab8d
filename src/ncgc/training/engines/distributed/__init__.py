"""The same training in many processes, each with some of the nodes: `torchrun --nproc-per-node N -m ncgc train …`."""
