"""The benchmarks behind every measured table: plans of runs, their store, tables, figures, speed and scaling."""
