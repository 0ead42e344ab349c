//! Within k bits, over slices.
