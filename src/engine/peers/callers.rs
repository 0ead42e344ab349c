//! Bounds how many callers are heard at the same time.
//!
//! A caller is a stranger until it has proved that it knows the secret. There are places for 64 strangers,
//! apart from the places of peers. When all are taken, the address with the most strangers loses its oldest
//! one. A peer proves what it knows at once and gives its place back, so silent callers cannot keep it out.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use super::wire;
use crate::parallel::lock;

const MOST_STRANGERS: usize = 64;
const MOST_KNOWN: usize = 256;

#[derive(Default)]
pub(super) struct Callers(Mutex<Places>);

#[derive(Default)]
struct Places {
    strangers: Vec<Stranger>,
    known: usize,
    admitted: u64,
    turned_away: HashMap<IpAddr, u64>,
}

struct Stranger {
    number: u64,
    address: IpAddr,
    socket: TcpStream,
}

pub(super) struct Caller {
    callers: Arc<Callers>,
    number: u64,
    is_known: bool,
}

impl Callers {
    /// Gives a place to the caller at `socket`. Another stranger may lose its place for it.
    pub(super) fn admit(self: &Arc<Callers>, socket: &TcpStream) -> io::Result<Caller> {
        let address = socket.peer_addr()?.ip();
        let socket = socket.try_clone()?;
        let mut places = self.places();
        if places.strangers.len() >= MOST_STRANGERS {
            places.turn_one_away();
        }
        places.admitted += 1;
        let number = places.admitted;
        places.strangers.push(Stranger { number, address, socket });
        Ok(Caller { callers: Arc::clone(self), number, is_known: false })
    }

    /// How many strangers were turned away, and from where; none if there were none.
    pub(super) fn crowd(&self) -> Option<String> {
        let places = self.places();
        let all: u64 = places.turned_away.values().sum();
        let (address, most) = places.turned_away.iter().max_by_key(|(_, count)| **count)?;
        Some(format!(
            "{all} callers that did not show that they know the secret were turned away here, \
             {most} of them from {address}"
        ))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        lock(&self.0)
    }
}

impl Places {
    /// Ends the connection to the oldest stranger of the address that has the most.
    fn turn_one_away(&mut self) {
        let mut counts = HashMap::new();
        self.strangers.iter().for_each(|one| *counts.entry(one.address).or_insert(0) += 1);
        let crowded =
            counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address);
        let oldest = self.strangers.iter().position(|one| Some(one.address) == crowded);
        let Some(one) = oldest.map(|oldest| self.strangers.remove(oldest)) else { return };
        // Very many different addresses must not fill the memory.
        if self.turned_away.len() < MOST_KNOWN || self.turned_away.contains_key(&one.address) {
            *self.turned_away.entry(one.address).or_default() += 1;
        }
        wire::turn_away(&one.socket);
        let _ = one.socket.shutdown(Shutdown::Both);
    }
}

impl Caller {
    /// Gives the stranger's place back, because it has proved that it knows the secret.
    pub(super) fn is_known(&mut self) -> io::Result<()> {
        let mut places = self.callers.places();
        let place = places.strangers.iter().position(|one| one.number == self.number);
        match place {
            Some(place) if places.known < MOST_KNOWN => {
                places.strangers.remove(place);
                places.known += 1;
                self.is_known = true;
                Ok(())
            }
            _ => Err(io::Error::new(io::ErrorKind::ResourceBusy, "there are too many callers")),
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut places = self.callers.places();
        if self.is_known {
            places.known -= 1;
        } else {
            places.strangers.retain(|one| one.number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_oldest_stranger_makes_way_and_who_is_known_stays() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let call = || {
            let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (caller, listener.accept().unwrap().0)
        };
        let callers = Arc::default();
        let ((mut peer, socket), (mut silent, other)) = (call(), call());
        let mut known = Callers::admit(&callers, &socket).unwrap();
        known.is_known().unwrap();
        let mut first = callers.admit(&other).unwrap();
        assert!(callers.crowd().is_none());
        let crowd: Vec<_> = (0..MOST_STRANGERS).map(|_| call()).collect();
        let places: Vec<_> = crowd.iter().map(|(_, end)| callers.admit(end).unwrap()).collect();
        assert!(first.is_known().is_err(), "it was turned away");
        let mut said = Vec::new();
        silent.read_to_end(&mut said).unwrap();
        assert!(said.starts_with(&wire::MAGIC), "it is told why");
        peer.set_nonblocking(true).unwrap();
        assert_eq!(peer.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(callers.crowd().unwrap().contains("1 of them from 127.0.0.1"));
        drop((known, first, places));
        let places = callers.places();
        assert_eq!((places.strangers.len(), places.known), (0, 0));
    }
}
