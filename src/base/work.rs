//! The work that answers may cost.
//!
//! A question is answered at once, unless it lies in a crowd: where a million fingerprints are near each other, each of them
//! has a million near pages, and a request of ten thousand of them would keep a thread for hours. So a request has a number
//! of steps. A step is a fingerprint or a page that is looked at, or a few dozen places of a table that are sieved at once.
//! The questions of a request share its steps: each may take an equal part of what is left, and what it does not need is
//! left to those after it. A question whose part is over is answered by what was found so far, and the answer says that it
//! is cut.

/// The steps that are left to some questions, and whether anybody still wants the answers.
pub struct Work<'a> {
    left: u64,
    /// The steps that are kept for the questions after this one.
    kept: u64,
    /// The steps that are kept to read what this question finds.
    reading: u64,
    is_wanted: &'a dyn Fn() -> bool,
    /// Takes memory for so many bytes of what was found; says whether there is room.
    takes: &'a dyn Fn(usize) -> bool,
    lacks_room: bool,
    is_over: bool,
    is_cut: bool,
}

impl<'a> Work<'a> {
    pub fn unbounded() -> Work<'a> {
        Work::of(u64::MAX)
    }

    pub fn of(steps: u64) -> Work<'a> {
        let (kept, reading, is_over, is_cut) = (0, 0, false, false);
        let (is_wanted, takes, lacks_room) = (&|| true, &|_| true, false);
        Work { left: steps, kept, reading, is_wanted, takes, lacks_room, is_over, is_cut }
    }

    /// The same, but no step more once `is_wanted` says no. It is asked at each step.
    pub fn while_wanted(self, is_wanted: &'a dyn Fn() -> bool) -> Work<'a> {
        Work { is_wanted, ..self }
    }

    /// The same, but no step more once `takes` says that there is no room for so many bytes of what was found.
    pub fn within(self, takes: &'a dyn Fn(usize) -> bool) -> Work<'a> {
        Work { takes, ..self }
    }

    /// Takes memory for so many bytes of what was found. Returns whether there is room.
    pub fn hold(&mut self, bytes: usize) -> bool {
        self.lacks_room = self.lacks_room || !(self.takes)(bytes);
        self.is_cut |= self.lacks_room;
        !self.lacks_room
    }

    pub fn lacks_room(&self) -> bool {
        self.lacks_room
    }

    /// Begins a question, after which `others` come.
    pub fn begin(&mut self, others: usize) {
        let own = self.left / (others as u64 + 1);
        self.kept = self.left - own;
        self.reading = 0;
        (self.is_over, self.is_cut) = (false, false);
    }

    /// Keeps half of what the question may take to read what it finds: what was found must not stay untold.
    pub fn search(&mut self) {
        self.reading = (self.left - self.kept) / 2;
    }

    /// Gives leave to take what was kept by [`Work::search`].
    pub fn read(&mut self) {
        self.reading = 0;
        self.is_over = false;
    }

    /// Takes so many steps. Returns whether the question may go on; if not, it is cut.
    pub fn spend(&mut self, steps: u64) -> bool {
        let least = self.kept + self.reading;
        let left = self.left.checked_sub(steps).filter(|left| *left >= least);
        if let Some(left) = left.filter(|_| !self.is_over && !self.lacks_room && (self.is_wanted)())
        {
            self.left = left;
            return true;
        }
        self.left = self.left.min(least);
        (self.is_over, self.is_cut) = (true, true);
        false
    }

    /// Whether the search is to end: a step was refused.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether a step was refused since the question began.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_a_question_does_not_take_is_left_to_those_after_it() {
        let mut work = Work::of(30);
        work.begin(2);
        assert!(work.spend(4));
        work.begin(1);
        assert!(work.spend(13));
        work.begin(0);
        assert!(work.spend(13) && !work.is_cut());
        assert!(!work.spend(1) && work.is_cut());
    }

    #[test]
    fn half_is_kept_to_read_what_was_found() {
        let mut work = Work::of(20);
        work.begin(1);
        work.search();
        assert!(work.spend(5) && !work.spend(1) && work.is_over());
        work.read();
        assert!(!work.is_over() && work.spend(5) && !work.spend(1));
        assert!(work.is_cut());
        work.begin(0);
        assert!(!work.is_cut() && work.spend(10));
    }

    #[test]
    fn nothing_is_done_without_room_for_what_is_found() {
        let left = Cell::new(10);
        let takes = |bytes| {
            left.set(left.get() - bytes as i64);
            left.get() >= 0
        };
        let mut work = Work::unbounded().within(&takes);
        work.begin(1);
        assert!(work.hold(6) && work.spend(1) && !work.lacks_room());
        assert!(!work.hold(6) && !work.spend(1) && work.is_cut());
        work.begin(0);
        assert!(!work.spend(1) && !work.hold(0) && work.lacks_room());
    }

    #[test]
    fn nothing_is_done_for_nobody() {
        let wanted = Cell::new(true);
        let is_wanted = || wanted.get();
        let mut work = Work::unbounded().while_wanted(&is_wanted);
        work.begin(0);
        assert!(work.spend(1 << 40));
        wanted.set(false);
        assert!(!work.spend(1) && work.is_cut());
        work.begin(0);
        assert!(!work.spend(1));
    }
}
