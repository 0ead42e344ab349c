//! The pipeline lifted to streams: the only module that names the engine.
