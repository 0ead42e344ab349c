//! Pages in.
