//! The flag by which others watch a job: its metrics when it has ended.

use std::path::PathBuf;

use clap::Args;

/// The flag by which others watch a job.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TelemetryFlags {
    /// When the job ends, however it ends, write its metrics to this file, a textfile for the node exporter of Prometheus.
    /// Give each job a file of its own, with a name that ends in .prom
    #[arg(long, value_name = "FILE", env = "DUPSIEVE_METRICS_FILE")]
    pub(crate) metrics_file: Option<PathBuf>,
}
