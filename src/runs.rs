//! Sorted runs: an external merge sort that spills to disk.
