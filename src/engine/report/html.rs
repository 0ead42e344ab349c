//! Draws pages in HTML for people. Each is one file, which needs no network.
//!
//! The templates are in the folder `html`. They hold no rules: what they draw is computed before.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use minijinja::{Environment, UndefinedBehavior, Value, context};
use serde_json::json;

use super::seal::damaged;
use crate::error::{At, Named, Result};
use crate::output::{Staging, Sum};
use crate::store::Digest;

pub(super) const NAME: &str = "report.html";

const TEMPLATES: [(&str, &str); 10] = [
    ("style.css", include_str!("html/style.css")),
    ("page.html", include_str!("html/page.html")),
    ("bars.html", include_str!("html/bars.html")),
    ("clusters.html", include_str!("html/clusters.html")),
    ("items.html", include_str!("html/items.html")),
    ("search.html", include_str!("html/search.html")),
    ("join.html", include_str!("html/join.html")),
    ("days.html", include_str!("html/days.html")),
    ("passages.html", include_str!("html/passages.html")),
    ("pairs.html", include_str!("html/pairs.html")),
];

/// The keys of what the part `run` of a report says of its page: its sum, the place of the output as the page shows it, and what drew
/// the page.
const SUM: &str = "page";
const PLACE: &str = "place";
const DRAWN_BY: &str = "drawn_by";

/// Notes in the part `run` of a report what its page needs beside the report: the output is at `place` in the end.
pub(super) fn prepare(run: &mut serde_json::Value, place: &Path) {
    run[PLACE] = place.named().into();
    run[DRAWN_BY] = drawer().into();
}

/// The place of the output, which [`prepare`] has noted, as the page shows it.
pub(super) fn place(run: &serde_json::Value) -> &str {
    run[PLACE].as_str().unwrap_or_default()
}

/// The digest of the templates and of the version of the program, which draw a page.
fn drawer() -> String {
    let texts = TEMPLATES.iter().map(|(_, text)| *text);
    let all: Vec<&str> = [env!("CARGO_PKG_VERSION")].into_iter().chain(texts).collect();
    Digest::of(all.join("\n").as_bytes()).to_string()
}

/// Writes the page of an output that is being built, and notes its sum in the part `run` of the report.
pub(super) fn write(page: &str, run: &mut serde_json::Value, staging: &Staging) -> Result<()> {
    let mut file = staging.create(NAME)?;
    file.write(|out| out.write_all(page.as_bytes()))?;
    run[SUM] = json!(file.finish()?);
    Ok(())
}

/// Fails if the page in `output` has been changed since its report was written, whose part `run` is given. One that is not
/// there is not checked.
pub(super) fn check(output: &Path, run: &serde_json::Value) -> Result<()> {
    let path = output.join(NAME);
    let Ok(written) = serde_json::from_value::<Sum>(run[SUM].clone()) else { return Ok(()) };
    if !path.exists() {
        tracing::warn!("{} is missing and was not checked", path.named());
        return Ok(());
    }
    let found = Sum::of(&path)?;
    if found == written {
        return Ok(());
    }
    let error = damaged("the page has been changed since it was written").at(&path);
    Err(error.expected(written).found(found))
}

/// Fails if the page in `output` is not what `draw` draws of the report, whose part `run` is given. Only the program that drew the page
/// draws the same bytes again.
pub(super) fn check_drawing(
    output: &Path,
    run: &serde_json::Value,
    draw: impl FnOnce() -> String,
) -> Result<()> {
    let path = output.join(NAME);
    if !path.exists() {
        return Ok(());
    }
    if run[DRAWN_BY] != drawer() {
        tracing::warn!(
            "{} was not compared with report.json, because another version of dupsieve drew it",
            path.named()
        );
        return Ok(());
    }
    let drawn = draw();
    let mut found = Vec::new();
    let most = drawn.len() as u64 + 1;
    File::open(&path).at(&path)?.take(most).read_to_end(&mut found).at(&path)?;
    if found == drawn.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found);
    let (mut expected, mut found) = (drawn.lines(), found.lines());
    let differs = |(_, pair): &(u64, [Option<&str>; 2])| pair[0] != pair[1];
    let pairs = (1..).zip(std::iter::from_fn(|| Some([expected.next(), found.next()])));
    let at = pairs.take(drawn.len() + 1).find(differs);
    let (line, [expected, found]) = at.unwrap_or((1, [Some("other ends of lines"), None]));
    let [expected, found] = [expected, found].map(|it| it.unwrap_or("the end"));
    let error = damaged("the page does not show what report.json says").at(&path).line(line);
    Err(error.expected(format_args!("{expected:.200}")).found(format_args!("{found:.200}")))
}

pub(super) fn page(template: &str, context: Value) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("thousands", thousands);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text).expect("the templates can be parsed");
    }
    let template = environment.get_template(template).expect("the template is there");
    template.render(context).expect("the context has what the template asks for")
}

/// The bars of a diagram. Each has a name, a class that gives it a colour (`kept`, `dropped`, `other` or nothing), and a count of the `whole`. Its
/// width is in percent of the longest one.
pub(super) fn bars(counts: Vec<(String, &'static str, u128)>, whole: u128) -> Vec<Value> {
    let most = counts.iter().map(|(_, _, count)| *count).max().unwrap_or(0);
    let bar = |(name, class, count)| {
        let [share, width] = [whole, most].map(|all| percent(count, all));
        context! { name, class, count, share, width }
    };
    counts.into_iter().map(bar).collect()
}

/// `count` of `whole` in percent, with one digit after the point; 0 of nothing.
pub(super) fn percent(count: u128, whole: u128) -> String {
    let thousandths = (2000 * count + whole).checked_div(2 * whole).unwrap_or(0);
    format!("{}.{}", thousandths / 10, thousandths % 10)
}

fn thousands(number: Value) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_shares_are_rounded() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(Value::from(number)), text);
        }
        assert_eq!(percent(1, 3), "33.3");
        assert_eq!(percent(2, 3), "66.7");
        assert_eq!(percent(5, 5), "100.0");
        assert_eq!(percent(0, 0), "0.0");
    }
}
