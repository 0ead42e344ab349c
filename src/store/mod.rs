//! Existing fingerprints at rest.
