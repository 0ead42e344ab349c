//! The time that one page may take, and signs of progress from inside a long one.
//!
//! All work on a text takes time linear in its length, and the allowed time is many times what a page
//! needs. A page that takes longer anyway has something unforeseen in it. The job gives it up and goes on
//! with the next page.

use std::time::{Duration, Instant};

use crate::error::{Error, Kind, Result};
use crate::progress::{self, Activity};

/// How many steps pass between two looks at the clock.
const STEPS: u32 = 1 << 12;

/// How long a page may take for each MiB of its text begun: for its fingerprint, and again for its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTime(pub Duration);

impl Default for PageTime {
    /// A minute. The slowest check takes a quarter of it.
    fn default() -> PageTime {
        PageTime(Duration::from_secs(60))
    }
}

#[derive(Debug)]
pub struct PageClock {
    allowed: PageTime,
    end: Instant,
    steps: u32,
    is_late: bool,
}

impl PageClock {
    pub fn new(allowed: PageTime) -> PageClock {
        PageClock { allowed, end: Instant::now(), steps: STEPS, is_late: false }
    }

    pub fn start(&mut self, text: &str) {
        let allowed = self.allowed.0.saturating_mul(1 + (text.len() >> 20) as u32);
        let now = Instant::now();
        // A time beyond what the system can tell never comes.
        let end = now.checked_add(allowed).unwrap_or(now + Duration::from_secs(1 << 32));
        *self = PageClock { end, ..PageClock::new(self.allowed) };
    }

    /// Takes one step, such as a feature. False once the page is late: the rest of it is to be skipped.
    #[inline]
    pub fn step(&mut self) -> bool {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                true
            }
            None => self.look(),
        }
    }

    /// Reports progress, and checks whether the page is late. False if it is: then no steps are left.
    #[cold]
    pub fn look(&mut self) -> bool {
        if !self.is_late {
            progress::tick(Activity::Working);
            self.is_late = Instant::now() > self.end;
            self.steps = if self.is_late { 0 } else { STEPS };
        }
        !self.is_late
    }

    pub fn finish(&self) -> Result<()> {
        if !self.is_late {
            return Ok(());
        }
        let allowed = self.allowed.0.as_secs_f64();
        Err(Error::new(Kind::BadData, "the page takes too long")
            .expected(format!("at most {allowed} s for each MiB of its text"))
            .help("the setting `page-time` allows more")
            .setting("page-time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_late_once_its_time_is_over() {
        let mut clock = PageClock::new(PageTime(Duration::ZERO));
        clock.start("a page");
        let ticks = progress::own_ticks();
        let steps = (0..2 * STEPS).filter(|_| clock.step()).count();
        assert_eq!(steps as u32, STEPS, "only a look at the clock tells");
        assert!(progress::own_ticks() > ticks);
        assert_eq!(clock.finish().unwrap_err().kind(), Kind::BadData);
        clock.start("the next page");
        assert!(clock.step() && clock.finish().is_ok());
    }

    #[test]
    fn long_pages_have_more_time() {
        let mut clock = PageClock::new(PageTime::default());
        let mut time = |bytes| {
            clock.start(&"a".repeat(bytes));
            (clock.end - Instant::now()).as_secs_f64()
        };
        let short = time(1000);
        let long = time(3 << 20);
        assert!(short <= 60.0 && (180.0 + 1e-9..=240.0).contains(&long), "{short} {long}");
        PageClock::new(PageTime(Duration::MAX)).start("a page");
    }
}
