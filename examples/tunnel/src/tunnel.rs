//! The tunnel: packets from an interface leave as messages, messages that arrive go to the interface as packets. Three
//! threads: out, in, and the clock.

use crate::allowed_ips::AllowedIps;
use crate::config::Config;
use crate::cookie::{Guard, Verdict};
use crate::handshake::{INITIATION_LEN, Identity, Initiation, Offer, RESPONSE_LEN, index_at};
use crate::outgoing::Outgoing;
use crate::peer::{Peer, Session, State};
use crate::timers::Times;
use crate::udp::{Datagrams, Room, Udp};
use crate::{ip, random};
use anyhow::{Context, Result, ensure};
use std::collections::HashMap;
use std::io;
use std::iter;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use wireseal::Error;
use wireseal::wireguard::receiver_index;

/// The MTU within: what WireGuard interfaces have on an Ethernet of 1500.
pub const MTU: usize = 1420;

/// How often the clock is looked at and how long a thread waits before it asks whether to stop. The shortest time in the
/// protocol is 5 s.
pub const TICK: Duration = Duration::from_millis(100);

/// Where packets come from and go to.
pub trait Interface: Send + Sync {
    /// Adds packets, as many as are there, waiting at most a tick for the first.
    fn read(&self, outgoing: &mut Outgoing) -> io::Result<()>;

    /// Takes packets that came through the tunnel.
    fn write(&self, packets: &mut [&mut [u8]]) -> io::Result<()>;

    /// Sees what is about to be sent.
    fn sending(&self, _udp: &Udp, _to: SocketAddr, _messages: &[u8], _size: usize) {}
}

/// What was refused, and how often sessions were made.
#[derive(Default)]
pub struct Counts {
    pub sessions: AtomicU64,
    pub cookies: AtomicU64,
    pub replays: AtomicU64,
    pub forgeries: AtomicU64,
    /// Other messages that are not for us, and packets from addresses that are not the peer's.
    pub strays: AtomicU64,
    pub unsent: AtomicU64,
}

type Owner = (Arc<Peer>, Option<Arc<Session>>);

pub struct Tunnel<I> {
    identity: Identity,
    udp: Udp,
    pub interface: I,
    peers: HashMap<[u8; 32], Arc<Peer>>,
    routes: AllowedIps<Arc<Peer>>,
    /// Whom the receiver index of a message means; without a session, an initiation that awaits its response.
    indices: RwLock<HashMap<u32, Owner>>,
    guard: Mutex<Guard>,
    times: Times,
    batch: usize,
    pub counts: Counts,
    pub stop: AtomicBool,
}

impl<I: Interface> Tunnel<I> {
    /// `suspicious`: ask every peer for a cookie, as under load.
    pub fn new(config: &Config, udp: Udp, interface: I, times: Times, batch: usize, suspicious: bool) -> Result<Self> {
        let identity = Identity::new(config.private_key);
        let (mut peers, mut routes) = (HashMap::new(), AllowedIps::new());
        for peer_config in &config.peers {
            ensure!(peer_config.public_key != identity.public, "a peer has our own key");
            let peer = Arc::new(Peer::new(peer_config));
            for &(address, prefix) in &peer_config.allowed_ips {
                routes.insert(address, prefix, Arc::clone(&peer));
            }
            peers.insert(peer_config.public_key, peer);
        }
        Ok(Tunnel {
            identity,
            udp,
            interface,
            peers,
            routes,
            indices: RwLock::default(),
            guard: Mutex::new(Guard::new(suspicious)),
            times,
            batch,
            counts: Counts::default(),
            stop: AtomicBool::new(false),
        })
    }

    /// Runs until `stop` is set or the interface or socket fails.
    pub fn run(&self) -> Result<()> {
        thread::scope(|scope| {
            let threads = [
                scope.spawn(|| self.until_stopped(|| self.outwards()).context("reading the interface")),
                scope.spawn(|| self.until_stopped(|| self.inwards()).context("receiving")),
                scope.spawn(|| self.until_stopped(|| self.clock()).context("the clock")),
            ];
            threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
        })
    }

    fn until_stopped(&self, thread: impl FnOnce() -> Result<()>) -> Result<()> {
        let result = thread();
        self.stop.store(true, Relaxed);
        result
    }

    fn outwards(&self) -> Result<()> {
        let mut outgoing = Outgoing::new(self.batch, MTU);
        while !self.stop.load(Relaxed) {
            outgoing.clear();
            self.interface.read(&mut outgoing)?;
            let mut start = 0;
            while start < outgoing.len() {
                let route = |i| ip::destination(outgoing.packet(i)).and_then(|address| self.routes.find(address));
                let Some(peer) = route(start) else {
                    start += 1;
                    continue;
                };
                let same = |&i: &usize| route(i).is_some_and(|other| Arc::ptr_eq(other, peer));
                let end = start + (start..outgoing.len()).take_while(same).count();
                self.send_packets(peer, &mut outgoing, start..end);
                start = end;
            }
        }
        Ok(())
    }

    /// Seals and sends, or keeps the packets and starts a handshake.
    fn send_packets(&self, peer: &Arc<Peer>, outgoing: &mut Outgoing, packets: Range<usize>) {
        let now = Instant::now();
        let mut state = peer.state.lock().unwrap();
        let ready = state.current(now, &self.times).cloned().zip(state.endpoint);
        let sealed = ready.and_then(|(session, endpoint)| {
            // Past the limit of messages the session is as good as none.
            outgoing.seal(packets.clone(), &session.sender).ok().map(|()| (session, endpoint))
        });
        let Some((session, endpoint)) = sealed else {
            packets.for_each(|i| state.stage(outgoing.packet(i)));
            return self.want_handshake(peer, &mut state, now);
        };
        state.timers.sent(now, true);
        if session.initiator && now - session.created >= self.times.rekey_after {
            self.want_handshake(peer, &mut state, now);
        }
        drop(state);
        for (run, size) in outgoing.runs(packets) {
            self.interface.sending(&self.udp, endpoint, run, size);
            self.send(endpoint, run, size);
        }
    }

    /// The network may refuse for a while: that is no reason to stop, the protocol above repeats what was lost.
    fn send(&self, to: SocketAddr, messages: &[u8], size: usize) {
        if self.udp.send(to, messages, size).is_err() {
            self.counts.unsent.fetch_add(1, Relaxed);
        }
    }

    fn send_keepalive(&self, state: &mut State, now: Instant) {
        let (Some(session), Some(endpoint)) = (state.current(now, &self.times), state.endpoint) else { return };
        if let Ok(message) = session.sender.keepalive() {
            state.timers.sent(now, false);
            self.send(endpoint, &message, message.len());
        }
    }

    /// After a handshake: what was waiting, or if nothing was, a keepalive that shows the peer that we have the keys.
    fn send_staged(&self, peer: &Arc<Peer>, mut state: std::sync::MutexGuard<'_, State>, now: Instant) {
        let staged = std::mem::take(&mut state.staged);
        if staged.is_empty() {
            return self.send_keepalive(&mut state, now);
        }
        drop(state);
        let mut outgoing = Outgoing::new(staged.len(), MTU);
        for packet in staged {
            outgoing.push(packet.len()).copy_from_slice(&packet);
        }
        let all = 0..outgoing.len();
        self.send_packets(peer, &mut outgoing, all);
    }

    fn want_handshake(&self, peer: &Arc<Peer>, state: &mut State, now: Instant) {
        if state.endpoint.is_some() && state.timers.want_handshake(now, &self.times) {
            self.initiate(peer, state, now);
        }
    }

    fn initiate(&self, peer: &Arc<Peer>, state: &mut State, now: Instant) {
        let Some(endpoint) = state.endpoint else { return };
        let index = self.new_index(peer, None);
        let cookie = state.jar.cookie(now).copied();
        let made = Initiation::new(&self.identity, &peer.remote, index, &tai64n(), cookie.as_ref());
        let Ok((initiation, message)) = made else { return };
        state.jar.sent(index, initiation.mac1);
        if let Some(old) = state.initiation.replace(initiation) {
            self.forget([old.index]);
        }
        state.timers.initiated(now);
        self.send(endpoint, &message, message.len());
    }

    fn new_index(&self, peer: &Arc<Peer>, session: Option<Arc<Session>>) -> u32 {
        let mut indices = self.indices.write().unwrap();
        loop {
            let index = u32::from_le_bytes(random());
            if let std::collections::hash_map::Entry::Vacant(place) = indices.entry(index) {
                place.insert((Arc::clone(peer), session));
                return index;
            }
        }
    }

    fn forget(&self, gone: impl IntoIterator<Item = u32>) {
        let mut indices = self.indices.write().unwrap();
        gone.into_iter().for_each(|index| _ = indices.remove(&index));
    }

    fn session_made(&self, peer: &Arc<Peer>, state: &mut State, session: Session) {
        let session = Arc::new(session);
        let index = session.index;
        let gone = state.add_session(Arc::clone(&session));
        self.forget(gone);
        self.indices.write().unwrap().insert(index, (Arc::clone(peer), Some(session)));
        self.counts.sessions.fetch_add(1, Relaxed);
    }

    fn inwards(&self) -> Result<()> {
        let mut room = Room::new();
        while !self.stop.load(Relaxed) {
            let mut packets = Vec::new();
            for datagrams in self.udp.receive(&mut room, TICK)? {
                self.receive(datagrams, &mut packets);
            }
            if !packets.is_empty() {
                self.interface.write(&mut packets)?;
            }
        }
        Ok(())
    }

    fn receive<'r>(&self, datagrams: Datagrams<'r>, packets: &mut Vec<&'r mut [u8]>) {
        let Datagrams { from, bytes, size } = datagrams;
        let mut rest = bytes.chunks_mut(size).peekable();
        while let Some(first) = rest.next() {
            match receiver_index(first) {
                Ok(index) => {
                    let same = iter::from_fn(|| rest.next_if(|next| receiver_index(next) == Ok(index)));
                    self.receive_data(from, index, iter::once(first).chain(same), packets);
                }
                Err(_) => {
                    if self.receive_handshake(from, first).is_none() {
                        self.counts.strays.fetch_add(1, Relaxed);
                    }
                }
            }
        }
    }

    /// Data messages of one session that came together.
    fn receive_data<'r>(
        &self,
        from: SocketAddr,
        index: u32,
        messages: impl Iterator<Item = &'r mut [u8]>,
        packets: &mut Vec<&'r mut [u8]>,
    ) {
        let now = Instant::now();
        let found = self.indices.read().unwrap().get(&index).cloned();
        let session = found.and_then(|(peer, session)| Some((peer, session?)));
        let Some((peer, session)) = session.filter(|(_, session)| now - session.created < self.times.reject_after)
        else {
            self.counts.strays.fetch_add(messages.count() as u64, Relaxed);
            return;
        };
        let (mut authentic, mut data) = (false, false);
        session.receiver.lock().unwrap().open_batch(messages, |opened| match opened {
            Ok(text) => {
                authentic = true;
                if text.is_empty() {
                    return;
                }
                data = true;
                let of_peer = |address| self.routes.find(address).is_some_and(|owner| Arc::ptr_eq(owner, &peer));
                match ip::source(text).filter(|&address| of_peer(address)).and_then(|_| ip::without_padding(text)) {
                    Some(packet) => packets.push(packet),
                    None => _ = self.counts.strays.fetch_add(1, Relaxed),
                }
            }
            Err(Error::Replayed | Error::TooOld) => _ = self.counts.replays.fetch_add(1, Relaxed),
            Err(Error::Unauthentic) => _ = self.counts.forgeries.fetch_add(1, Relaxed),
            Err(_) => _ = self.counts.strays.fetch_add(1, Relaxed),
        });
        if !authentic {
            return;
        }
        let mut state = peer.state.lock().unwrap();
        // Whoever has the key is the peer, wherever it is now.
        state.endpoint = Some(from);
        state.timers.received(now, data);
        if session.initiator && now - session.created >= self.times.rekey_after_receiving() {
            self.want_handshake(&peer, &mut state, now);
        }
        if let Some(gone) = state.confirm(&session) {
            self.forget(gone);
            if !state.staged.is_empty() {
                self.send_staged(&peer, state, now);
            }
        }
    }

    fn receive_handshake(&self, from: SocketAddr, message: &[u8]) -> Option<()> {
        let now = Instant::now();
        match message.first()? {
            1 | 2 => {
                if !matches!(message.len(), INITIATION_LEN | RESPONSE_LEN) || !self.identity.mac1_is_right(message) {
                    return None;
                }
                let verdict = self.guard.lock().unwrap().examine(&self.identity, message, from, now);
                if let Verdict::Cookie(reply) = verdict {
                    self.counts.cookies.fetch_add(1, Relaxed);
                    self.send(from, &*reply, reply.len());
                    return Some(());
                }
                match message.len() {
                    INITIATION_LEN => self.receive_initiation(from, message.try_into().ok()?, now),
                    _ => self.receive_response(from, message.try_into().ok()?, now),
                }
            }
            3 => {
                let peer = self.peer_at(index_at(message, 4))?;
                let mut state = peer.state.lock().unwrap();
                state.jar.read(&peer.remote, message, now).then_some(())
            }
            _ => None,
        }
    }

    fn receive_initiation(&self, from: SocketAddr, message: &[u8; INITIATION_LEN], now: Instant) -> Option<()> {
        let offer = Offer::read(&self.identity, message).ok()?;
        let peer = self.peers.get(&offer.public)?;
        let mut state = peer.state.lock().unwrap();
        if offer.timestamp <= state.newest_timestamp {
            self.counts.replays.fetch_add(1, Relaxed);
            return None;
        }
        state.newest_timestamp = offer.timestamp;
        let index = self.new_index(peer, None);
        let cookie = state.jar.cookie(now).copied();
        let (keys, mac1, response) = offer.accept(&peer.remote, index, cookie.as_ref()).ok()?;
        state.jar.sent(index, mac1);
        state.endpoint = Some(from);
        self.session_made(peer, &mut state, Session::new(&keys, index, false));
        state.timers.sent(now, false);
        self.send(from, &response, response.len());
        Some(())
    }

    fn receive_response(&self, from: SocketAddr, message: &[u8; RESPONSE_LEN], now: Instant) -> Option<()> {
        let peer = self.peer_at(index_at(message, 8))?;
        let mut state = peer.state.lock().unwrap();
        let keys = state.initiation.as_mut()?.finish(message).ok()?;
        let initiation = state.initiation.take()?;
        state.endpoint = Some(from);
        state.timers.received(now, false);
        state.timers.handshake_done();
        self.session_made(&peer, &mut state, Session::new(&keys, initiation.index, true));
        self.send_staged(&peer, state, now);
        Some(())
    }

    fn peer_at(&self, index: u32) -> Option<Arc<Peer>> {
        self.indices.read().unwrap().get(&index).map(|(peer, _)| Arc::clone(peer))
    }

    fn clock(&self) -> Result<()> {
        while !self.stop.load(Relaxed) {
            thread::sleep(TICK);
            let now = Instant::now();
            for peer in self.peers.values() {
                let mut state = peer.state.lock().unwrap();
                let gone = state.expire(now, &self.times);
                self.forget(gone);
                let due = state.timers.due(now, &self.times, peer.persistent_keepalive);
                if due.give_up {
                    state.staged.clear();
                }
                if due.initiation {
                    self.initiate(peer, &mut state, now);
                }
                if due.keepalive {
                    match state.current(now, &self.times) {
                        Some(_) => self.send_keepalive(&mut state, now),
                        None => self.want_handshake(peer, &mut state, now),
                    }
                }
            }
        }
        Ok(())
    }
}

/// The time as TAI64N, whitened to 16 ms so that it says little about our clock.
fn tai64n() -> [u8; 12] {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut stamp = [0; 12];
    stamp[..8].copy_from_slice(&((1 << 62) + 10 + now.as_secs()).to_be_bytes());
    stamp[8..].copy_from_slice(&(now.subsec_nanos() & !0xff_ffff).to_be_bytes());
    stamp
}
