"""The parts of the benchmark: the grid of runs, intervals, and tables beside the paper's."""
