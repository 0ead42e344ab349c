//! Asks again when an answer did not come as promised. The client has repeated each request already, with patience; this is for
//! answers that broke off or had the wrong length.

use std::time::{Duration, Instant};

use super::connect::patience;
use crate::error::{Kind, Result};

const TRIES: u32 = 4;

const PAUSE: Duration = Duration::from_millis(200);

/// Calls `ask` until it succeeds, or fails with what the server has decided, or has been called often enough or for so long that
/// the patience is over.
pub(super) async fn again<T, F: Future<Output = Result<T>>>(ask: impl Fn() -> F) -> Result<T> {
    let (mut pause, began, patience) = (PAUSE, Instant::now(), patience()?);
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.kind() == Kind::Io && began.elapsed() < patience => {
                tokio::time::sleep(pause).await;
            }
            done => return done,
        }
        pause *= 2;
    }
    ask().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::connect::runtime;
    use super::*;
    use crate::error::Error;

    fn asked(kind: Kind, failures: u32) -> (u32, Result<u32>) {
        let tries = Cell::new(0);
        let ask = || async {
            tries.set(tries.get() + 1);
            let failed = tries.get() <= failures;
            if failed { Err(Error::new(kind, "no")) } else { Ok(tries.get()) }
        };
        let got = runtime().unwrap().block_on(again(ask));
        (tries.get(), got)
    }

    #[test]
    fn only_what_may_pass_is_asked_for_again() {
        assert_eq!(asked(Kind::Io, 0), (1, Ok(1)));
        assert_eq!(asked(Kind::Io, 2), (3, Ok(3)));
        assert_eq!(asked(Kind::Io, 9).0, TRIES);
        assert_eq!(asked(Kind::Permission, 1).0, 1);
        assert_eq!(asked(Kind::Temporary, 1).0, 1);
    }
}
