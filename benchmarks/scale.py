"""How reading, training by parts and memory grow from 10,000 nodes to a million, and two ranks beside two threads.

    python benchmarks/scale.py                      everything; about half an hour on two quiet cores
    python benchmarks/scale.py --sizes 1e4,1e5      up to 100,000 nodes
    python benchmarks/scale.py --quick --results FILE    1,000 to 10,000 nodes, to see that it works
    python benchmarks/scale.py --again              measure anew what results/scale.jsonl has already
    python benchmarks/scale.py --json               one JSON object a measurement
    python benchmarks/scale.py --show               the tables of results/scale.jsonl

Every measurement is a process of its own, so that its peak memory is its own. It ends as a line of JSON in
results/scale.jsonl and is not made again: a stopped run goes on. The line holds the machine's load at the start: seconds
on a busy machine mean little. The code is in `ncgc_bench.scaling`.
"""

import sys

from ncgc_bench.scaling.measure import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__))
