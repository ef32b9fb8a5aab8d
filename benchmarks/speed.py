"""One full NCGC training epoch, three ways, side by side in one process on the same weights.

    python benchmarks/speed.py                      the paper's GCN settings on the seven data sets
    python benchmarks/speed.py --backbone gat       the paper's GAT settings
    python benchmarks/speed.py --memory             peak memory too, and what keeping freed memory gains (the trainer
                                                    does, the comparison does not), each in a process of its own
    python benchmarks/speed.py --methods            an epoch of every other method beside its PyG reference
    python benchmarks/speed.py --json               one JSON object a data set, and a last one with the means
    python benchmarks/speed.py --show FILE          the table of what --json printed

An epoch is: forward pass with dropout, the three losses with Sinkhorn, backward pass, Adam's step. The ways are
`ours`; `edge_index`, the PyG reference (the same model on PyG layers) with edge_index; `csr`, the PyG reference with a CSR
adjacency (GCN only: PyG's GATConv works edge by edge either way). `floor` is the dense and sparse products of our epoch
alone, on preallocated buffers. Times are medians, the ways taking turns, after a warm-up. First, the losses of all ways are
compared over three steps without dropout; a difference over 1e-4 ends the program. The code is in `ncgc_bench.speed`.
"""

import sys

from ncgc_bench.speed.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__))
