//! The memory that an evaluation may take, counted before it is taken.

use dupsieve::{Error, Kind, Result};

/// The memory that a near pair takes in the lists in which it comes to stand, which may be half empty.
pub(super) const NEAR_BYTES: u64 = 96;

/// What is left of the memory allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    allowed: u64,
    left: u64,
}

impl Room {
    /// So many bytes.
    pub(super) fn of(allowed: u64) -> Room {
        Room { allowed, left: allowed }
    }

    /// Takes `bytes` for what the phrase `what` names. Fails with [`Kind::Usage`] if they are not left.
    pub(super) fn take(&mut self, bytes: u64, what: &str) -> Result<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self
                .exceeded(what)
                .found(format!("{} at least", self.allowed - self.left + bytes))),
        }
    }

    /// How many things of so many bytes there is room for.
    pub(super) fn holds(self, bytes: u64) -> u64 {
        self.left / bytes
    }

    /// The failure to find room for `what`.
    pub(super) fn exceeded(self, what: &str) -> Error {
        Error::new(Kind::Usage, format!("{what} take more memory than is allowed"))
            .expected(format!("at most {} bytes in all", self.allowed))
            .help("raise --memory, or label fewer documents")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_left_is_refused() {
        let mut room = Room::of(100);
        room.take(60, "texts").unwrap();
        assert_eq!((room.holds(8), room.take(40, "sets").is_ok()), (5, true));
        let told = room.take(1, "pairs").unwrap_err().to_string();
        assert!(told.contains("pairs") && told.contains("100") && told.contains("101"), "{told}");
    }
}
