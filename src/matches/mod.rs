//! Pairs of near pages, and the verdicts drawn from them.
