//! Two ends of a connection in one process. (Somebody between them: `tests/faults/tampering.rs`.)

use std::net::TcpListener;

use super::*;

const LONG: Duration = Duration::from_secs(20);

/// Two ends that know the same secret, once they have met.
fn ends() -> [Link; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let called = listener.accept().unwrap().0;
    let secret = Secret::new(b"between us");
    thread::scope(|scope| {
        let answer = scope.spawn(|| Link::answer(called, &secret, &mut Wait::new(LONG)).unwrap());
        let call = Link::call(caller, &secret, &mut Wait::new(LONG)).unwrap();
        [call, answer.join().unwrap()]
    })
}

fn keep_alive(ends: &[Link; 2], silence: Duration) {
    for (link, peer) in ends.iter().zip(["process 1 at b:1", "process 0 at a:1"]) {
        link.keep_alive(peer.to_owned(), silence).unwrap();
    }
}

#[test]
fn messages_are_bounded() {
    let [one, other] = ends();
    one.send(&"a word".to_owned(), 64).unwrap();
    assert_eq!(other.receive::<String>(64, None).unwrap(), "a word");
    assert!(one.send(&"x".repeat(100), 64).is_err());
    one.send(&"x".repeat(100), 200).unwrap();
    assert_eq!(other.receive::<String>(64, None).unwrap_err().kind(), ErrorKind::InvalidData);
}

/// Reads one end until the other has ended, and counts the bytes.
fn read_all(mut end: Link) -> usize {
    let mut read = Vec::new();
    end.read_to_end(&mut read).unwrap();
    read.len()
}

#[test]
fn tickets_are_dealt_between_data() {
    let [dealer, other] = ends();
    keep_alive(&[dealer.clone(), other.clone()], LONG);
    dealer.deal(&Arc::default());
    let ask = |asker| Ask { queue: 3, tickets: 500, asker, askers: 3, part: 4 };
    thread::scope(|scope| {
        let reading = [&dealer, &other].map(|end| scope.spawn(|| read_all(end.clone())));
        let asking = [0, 1, 2].map(|asker| {
            let mut other = other.clone();
            scope.spawn(move || {
                let mut dealt: Vec<u64> = Vec::new();
                loop {
                    let run = other.claim(ask(asker)).unwrap();
                    if run.is_empty() {
                        return dealt;
                    }
                    dealt.extend(run);
                    other.write_all(&[7; 1000]).unwrap();
                }
            })
        });
        let mut dealt = asking.map(|asking| asking.join().unwrap()).concat();
        dealt.sort_unstable();
        assert!(dealt.into_iter().eq(0..500));
        dealer.shut(Shutdown::Write).unwrap();
        other.shut(Shutdown::Write).unwrap();
        let [read, grants] = reading.map(|reading| reading.join().unwrap());
        assert!(read >= 3000 && read.is_multiple_of(1000) && grants == 0, "{read} {grants}");
    });
}

#[test]
fn who_waits_for_a_ticket_learns_that_none_will_come() {
    let [dealer, mut other] = ends();
    other.keep_alive("process 0 at a:1".into(), LONG).unwrap();
    let asking = other.clone();
    let asked = thread::spawn(move || {
        let ask = Ask { queue: 0, tickets: 1, asker: 0, askers: 1, part: 1 };
        [asking.claim(ask), asking.claim(ask)].map(|claimed| claimed.unwrap_err())
    });
    while dealer.0.socket.peek(&mut [0; 4]).is_err() {}
    drop(dealer);
    let lost = other.read(&mut [0; 8]).unwrap_err();
    assert_eq!(lost.to_string(), "process 0 at a:1, which is gone");
    for lost in asked.join().unwrap() {
        assert_eq!(lost.kind(), Kind::Temporary);
        assert_eq!(lost.to_string(), "lost process 0 at a:1, which is gone");
    }
}

#[test]
fn pulses_tell_the_busy_from_the_silent() {
    let silence = Duration::from_secs(2);
    let [mut one, other] = ends();
    keep_alive(&[one.clone(), other.clone()], silence);
    let late = other.clone();
    thread::spawn(move || {
        thread::sleep(silence + silence / 2);
        late.send(&7_u64, 64).unwrap();
    });
    assert_eq!(one.receive::<u64>(64, None).unwrap(), 7);
    // Frozen: nothing is sent any more, not even pulses.
    let _frozen = other.0.sending.lock().unwrap();
    let lost = one.read(&mut [0; 8]).unwrap_err();
    assert_eq!(lost.to_string(), "process 1 at b:1, which gave no sign of life for 2 s");
}
