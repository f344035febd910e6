//! One peer: where it is, its sessions, what waits for a session.

use crate::config::PeerConfig;
use crate::cookie::Jar;
use crate::handshake::{Initiation, Remote, SessionKeys};
use crate::timers::{Timers, Times};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wireseal::wireguard::{Receiver, Sender};

/// Packets kept until there is a session; older ones go.
const STAGED: usize = 256;

pub struct Peer {
    pub remote: Remote,
    pub persistent_keepalive: Option<Duration>,
    pub state: Mutex<State>,
}

pub struct Session {
    pub sender: Sender,
    pub receiver: Mutex<Receiver>,
    pub index: u32,
    pub created: Instant,
    pub initiator: bool,
}

#[derive(Default)]
pub struct State {
    pub endpoint: Option<SocketAddr>,
    pub initiation: Option<Initiation>,
    pub jar: Jar,
    pub timers: Timers,
    /// Of the newest initiation seen: older ones are replays.
    pub newest_timestamp: [u8; 12],
    pub staged: VecDeque<Vec<u8>>,
    current: Option<Arc<Session>>,
    previous: Option<Arc<Session>>,
    /// Made by a response of ours, unused until the peer shows that it has the keys.
    next: Option<Arc<Session>>,
}

impl Peer {
    pub fn new(config: &PeerConfig) -> Self {
        let state = State { endpoint: config.endpoint, ..State::default() };
        Peer {
            remote: Remote::new(config.public_key, config.preshared_key),
            persistent_keepalive: config.persistent_keepalive,
            state: Mutex::new(state),
        }
    }
}

impl Session {
    pub fn new(keys: &SessionKeys, index: u32, initiator: bool) -> Self {
        Session {
            sender: Sender::new(&keys.send, keys.remote_index),
            receiver: Mutex::new(Receiver::new(&keys.receive, index)),
            index,
            created: Instant::now(),
            initiator,
        }
    }
}

impl State {
    /// The session to send on, if there is one that is not too old.
    pub fn current(&self, now: Instant, times: &Times) -> Option<&Arc<Session>> {
        self.current.as_ref().filter(|session| now - session.created < times.reject_after)
    }

    /// Puts a session in place. Returns the indices that are no longer in use.
    pub fn add_session(&mut self, session: Arc<Session>) -> Vec<u32> {
        let gone = if session.initiator {
            // If both ends initiated at once, the peer now sends on the session that is our next one: keep it.
            let (next, current) = (self.next.take(), self.current.replace(session));
            let (keep, drop) = if next.is_some() { (next, current) } else { (current, None) };
            [std::mem::replace(&mut self.previous, keep), drop]
        } else {
            [self.next.replace(session), None]
        };
        gone.into_iter().flatten().map(|session| session.index).collect()
    }

    /// A message came on this session: if it was the next one, it is now the current one.
    pub fn confirm(&mut self, session: &Arc<Session>) -> Option<Vec<u32>> {
        let next = self.next.take_if(|next| Arc::ptr_eq(next, session))?;
        let gone = self.previous.take();
        self.previous = self.current.replace(next);
        self.timers.handshake_done();
        Some(gone.into_iter().map(|session| session.index).collect())
    }

    /// Drops sessions that are past their time and returns their indices.
    pub fn expire(&mut self, now: Instant, times: &Times) -> Vec<u32> {
        [&mut self.current, &mut self.previous, &mut self.next]
            .into_iter()
            .filter_map(|place| place.take_if(|session| now - session.created >= times.reject_after))
            .map(|session| session.index)
            .collect()
    }

    pub fn stage(&mut self, packet: &[u8]) {
        if self.staged.len() == STAGED {
            self.staged.pop_front();
        }
        self.staged.push_back(packet.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(index: u32, initiator: bool) -> Arc<Session> {
        let keys = SessionKeys { send: [1; 32], receive: [2; 32], remote_index: 0 };
        Arc::new(Session::new(&keys, index, initiator))
    }

    fn current(state: &State) -> Option<u32> {
        state.current(Instant::now(), &Times::default()).map(|session| session.index)
    }

    #[test]
    fn when_both_initiate_both_sessions_stay() {
        let mut state = State::default();
        let (theirs, ours) = (session(1, false), session(2, true));
        assert_eq!(state.add_session(theirs), []);
        assert_eq!((state.add_session(ours), current(&state)), (vec![], Some(2)));
        assert_eq!((state.add_session(session(3, true)), current(&state)), (vec![1], Some(3)));
    }

    #[test]
    fn a_responder_waits_for_confirmation() {
        let mut state = State::default();
        let (a, b, c, d) = (session(1, false), session(2, false), session(3, true), session(4, false));
        assert_eq!((state.add_session(Arc::clone(&a)), current(&state)), (vec![], None));
        assert_eq!((state.add_session(Arc::clone(&b)), current(&state)), (vec![1], None));
        assert_eq!(state.confirm(&a), None);
        assert_eq!((state.confirm(&b), current(&state)), (Some(vec![]), Some(2)));
        assert_eq!(state.confirm(&b), None);
        assert_eq!((state.add_session(c), current(&state)), (vec![], Some(3)));
        assert_eq!((state.add_session(Arc::clone(&d)), current(&state)), (vec![], Some(3)));
        assert_eq!((state.confirm(&d), current(&state)), (Some(vec![2]), Some(4)));
        let later = Instant::now() + Times::default().reject_after;
        assert!(state.current(later, &Times::default()).is_none());
        assert_eq!(state.expire(later, &Times::default()), [4, 3]);
        assert_eq!(current(&state), None);
    }
}
