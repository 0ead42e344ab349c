//! Text to weighted features.
