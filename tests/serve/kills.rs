//! Kills under load: what was acknowledged is there, and nothing else.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::client::{Served, near, post, until};
use crate::support::Bench;

/// What clients were told and what they have sent, over several lives of the service.
#[derive(Default)]
struct Ledger {
    next: AtomicU64,
    acknowledged: Mutex<Vec<u64>>,
}

/// The fingerprint of a page; those of any two are far apart.
fn bits(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Ledger {
    /// Sends pages until the service is gone.
    fn send(&self, address: &str, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let first = self.next.fetch_add(3, Ordering::Relaxed);
            let pages = (first..first + 3).map(
                |number| json!({ "id": number, "fingerprint": format!("{:x}", bits(number)) }),
            );
            let pages: Vec<Value> = pages.collect();
            let Ok(reply) =
                post(address, "/v1/pages", &json!({ "remember": "all", "pages": pages }))
            else {
                continue;
            };
            assert_eq!(reply.status, 200, "{reply:?}");
            self.acknowledged.lock().unwrap().extend(first..first + 3);
        }
    }

    /// Waits until so many requests more are acknowledged.
    fn grows(&self, requests: u64) {
        let count = || self.acknowledged.lock().unwrap().len() as u64 / 3;
        let enough = count() + requests;
        until("pages are acknowledged", || count() >= enough);
    }

    /// Checks that the service has all that was acknowledged, each page once and as it was sent.
    fn check(&self, served: &Served) {
        let sent = self.next.load(Ordering::Relaxed);
        let acknowledged: BTreeSet<u64> =
            self.acknowledged.lock().unwrap().iter().copied().collect();
        let all: Vec<u64> = (0..sent).collect();
        let mut found = 0;
        for some in all.chunks(500) {
            let hex: Vec<String> =
                some.iter().map(|&number| format!("{:x}", bits(number))).collect();
            let told = served.post("/v1/query", json!({ "distance": 0, "fingerprints": hex }));
            for (number, answer) in some.iter().zip(told["answers"].as_array().unwrap()) {
                let near = near(answer);
                found += near.len() as u64;
                assert!(
                    near.len() <= 1 && near.iter().all(|it| it.1 == number.to_string()),
                    "{answer}"
                );
                assert!(!near.is_empty() || !acknowledged.contains(number), "{number} is lost");
            }
        }
        let status = served.get("/v1/status").unwrap().json();
        let held = status["rows"].as_u64().unwrap() + status["journal_pages"].as_u64().unwrap();
        assert_eq!(held, found, "none is invented");
    }
}

#[test]
fn after_kills_under_load_no_acknowledged_page_is_lost_and_none_invented() {
    let bench = Bench::new();
    bench.done("store init store");
    let ledger = Arc::new(Ledger::default());
    for life in 0..20 {
        let served = Served::start(&bench, "--recipe external-64 --distance 3");
        ledger.check(&served);
        let is_over = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let (ledger, is_over) = (Arc::clone(&ledger), Arc::clone(&is_over));
                let address = served.address.clone();
                thread::spawn(move || ledger.send(&address, &is_over))
            })
            .collect();
        ledger.grows(1 + 3 * life);
        let committing = (life % 3 == 1).then(|| {
            let address = served.address.clone();
            let day = format!("2026-11-{:02}", life + 1);
            thread::spawn(move || drop(post(&address, "/v1/commit", &json!({ "day": day }))))
        });
        ledger.grows(life % 7);
        assert!(served.running.kill(), "it was killed while it ran");
        is_over.store(true, Ordering::Relaxed);
        clients.into_iter().chain(committing).for_each(|client| client.join().unwrap());
    }
    let served = Served::start(&bench, "--recipe external-64 --distance 3");
    ledger.check(&served);
    assert!(!ledger.acknowledged.lock().unwrap().is_empty());
    served.post("/v1/commit", json!({ "day": "2026-12-01" }));
    ledger.check(&served);
    bench.done("store verify store");
    assert_eq!(served.end().code, 0);
}
