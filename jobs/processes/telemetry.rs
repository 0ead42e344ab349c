//! What others are told of a job: its metrics, when it has ended and while it runs.

use std::net::SocketAddr;

use dupsieve::{Error, Kind, Result};

use crate::flags::global::GlobalFlags;
use crate::outcome::metrics_file;
#[cfg(feature = "serve")]
use crate::processes::metrics_server;

/// Does from now on what the flags ask for.
pub(crate) fn begin(global: &GlobalFlags) -> Result<()> {
    let flags = &global.telemetry;
    if global.speaks_for_job() && !global.dry_run {
        flags.metrics_file.as_deref().map_or(Ok(()), metrics_file::write_at_end)?;
    }
    if let Some(address) = flags.metrics
        && global.to_supervise().is_none()
    {
        serve(of_child(address, global.child.unwrap_or(0))?)?;
    }
    Ok(())
}

/// The address of a child: with the port after those of the children before it. Port 0, any that is free, stays.
fn of_child(address: SocketAddr, child: usize) -> Result<SocketAddr> {
    let port = match address.port() {
        0 => Some(0),
        port => u16::try_from(child).ok().and_then(|child| port.checked_add(child)),
    };
    let port = port.ok_or_else(|| {
        Error::new(Kind::Usage, format!("--metrics leaves no port for process {child}"))
            .found(address)
            .help("choose a lower port")
    })?;
    Ok(SocketAddr::new(address.ip(), port))
}

#[cfg(feature = "serve")]
fn serve(address: SocketAddr) -> Result<()> {
    metrics_server::start(address)
}

#[cfg(not(feature = "serve"))]
fn serve(_: SocketAddr) -> Result<()> {
    Err(Error::new(Kind::Usage, "this build of dupsieve cannot serve metrics")
        .expected("a build with the feature `serve`")
        .help("--metrics-file works in every build"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_child_has_a_port_of_its_own() {
        let of = |address: &str, child| of_child(address.parse().unwrap(), child);
        assert_eq!(of("127.0.0.1:9464", 3), Ok("127.0.0.1:9467".parse().unwrap()));
        assert_eq!(of("[::]:0", 3), Ok("[::]:0".parse().unwrap()));
        assert_eq!(of("0.0.0.0:65535", 1).unwrap_err().kind(), Kind::Usage);
    }
}
