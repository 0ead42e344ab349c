//! Bytes to integers.
