//! Reports that were changed and sealed anew: `verify` recomputes each figure, finds the one that was changed, and names what it
//! cannot recompute.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::proof::{clustered, forge_in, joined};
use crate::support::Bench;

/// Replaces the page of an output, and seals a report that has its sum.
fn forge_page(bench: &Bench, output: &str, page: &str, change: impl Fn(&mut Value)) {
    bench.write(&format!("{output}/report.html"), page);
    let sum = json!({ "bytes": page.len(), "xxh3": format!("{:032x}", xxh3_128(page.as_bytes())) });
    forge_in(bench, (output, ""), &[], |report| {
        report["run"]["page"] = sum.clone();
        change(report);
    });
}

#[test]
fn a_page_for_people_that_shows_something_else_is_65() {
    let (join, clusters) = (joined(""), clustered("star"));
    for (bench, output) in [(&join, "out"), (&clusters, "first"), (&clusters, "second")] {
        let page = bench.read(&format!("{output}/report.html"));
        for (from, to) in [("<strong>", "<strong>1"), ("</main>", "<p>all is well</p></main>")] {
            let forged = page.replacen(from, to, 1);
            assert_ne!(forged, page);
            forge_page(bench, output, &forged, |_| ());
            let said = bench.fails(65, &format!("verify {output}"));
            let told = "the page does not show what report.json says: expected";
            assert!(said.contains(told) && said.contains(", found"), "{said}");
            assert!(said.contains(&format!("{output}/report.html:")), "{said}");
        }
        forge_page(bench, output, &format!("{page}\n"), |_| ());
        bench.fails(65, &format!("verify {output}"));
        // What another version drew is not drawn again.
        forge_page(bench, output, &page, |report| report["run"]["drawn_by"] = json!("another"));
        let told = bench.done(&format!("verify {output}")).stderr;
        assert!(told.contains("another version of dupsieve drew it"), "{told}");
    }
}
