//! The dropped page that a kept page is near to, among the pages of its day and of the days before.

use dupsieve::Result;
use dupsieve::rooms::report::{self, DroppedTwin, NearBy, SegmentPage};
use dupsieve::rooms::store::{Day, Segment, Store};

use crate::flags::config::Config;
use crate::flags::place::Place;

/// How many days before the day of the page are searched. Each of them is read once.
const DAYS: usize = 30;

/// The dropped page that the kept page `id` of `day` is near to: of the last day that has such a page, the nearest one. None if no
/// day has one, or if the segments of the days are gone.
pub(super) fn of(config: &Config, day: Day, id: &str) -> Result<Option<DroppedTwin>> {
    let Some(pattern) = config.output.path.as_deref() else { return Ok(None) };
    let output = |day: Day| Place::from(day.expand(pattern)).here();
    let own = output(day)?;
    if !own.join("batch.seg").exists() {
        return Ok(None);
    }
    let segment = Segment::open(own.join("batch.seg"))?;
    let near = NearBy::of(&report::folder(&own))?;
    let Some(page) = SegmentPage::find(&segment, day, id)? else { return Ok(None) };
    for day in days_up_to(config, day)? {
        let output = output(day)?;
        let path = output.join("batch.seg");
        if !path.exists() {
            continue;
        }
        let segment = Segment::open(path)?;
        let twin = page.dropped_twin(&near, (day, &segment, &output))?;
        if twin.is_some() {
            return Ok(twin);
        }
    }
    Ok(None)
}

/// `day`, and the days of the store before it, the last one first.
fn days_up_to(config: &Config, day: Day) -> Result<Vec<Day>> {
    let Some(store) = &config.store.path else { return Ok(vec![day]) };
    let version = Store::open(store.here()?)?.at(None)?;
    let earlier = version.all_entries().iter().map(|entry| entry.day).filter(|&it| it < day);
    Ok([day].into_iter().chain(earlier.rev().take(DAYS)).collect())
}
