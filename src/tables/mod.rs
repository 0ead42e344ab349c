//! The batch arranged so that near pairs meet.
