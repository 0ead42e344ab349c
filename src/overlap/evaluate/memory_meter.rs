//! The memory that an evaluation may use, counted before it is used.

use crate::error::{Error, Kind, Result};

#[derive(Clone, Copy, Debug)]
pub struct MemoryMeter {
    allowed: u64,
    left: u64,
}

impl MemoryMeter {
    pub fn new(allowed: u64) -> MemoryMeter {
        MemoryMeter { allowed, left: allowed }
    }

    pub fn take(&mut self, bytes: u64, what: &str) -> Result<()> {
        let Some(left) = self.left.checked_sub(bytes) else {
            let needed = self.allowed - self.left + bytes;
            return Err(self.exceeded(what).found(format!("{needed} at least")));
        };
        self.left = left;
        Ok(())
    }

    pub fn fits(self, bytes: u64) -> u64 {
        self.left / bytes
    }

    pub fn exceeded(self, what: &str) -> Error {
        Error::new(Kind::Usage, format!("{what} take more memory than is allowed"))
            .expected(format!("at most {} bytes in all", self.allowed))
            .help("allow more memory, or judge fewer documents")
            .setting("memory")
    }
}
