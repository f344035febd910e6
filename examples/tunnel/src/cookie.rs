//! Cookies, section 5.3 of the whitepaper: under load a responder does no public-key arithmetic for a sender that has
//! not shown that it receives what is sent to its address.

use crate::handshake::{Identity, Mac, Remote, index_at, mac};
use crate::random;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use wireseal::wireguard::{open_cookie_reply, seal_cookie_reply};

/// How long a cookie is good, and a secret in use.
const LIFETIME: Duration = Duration::from_secs(120);

/// Handshakes a second that are answered without a cookie. Each costs some 200 µs here, so this is a few percent of a core.
const CALM: u32 = 200;

/// The responder's side.
pub struct Guard {
    secret: [u8; 32],
    since: Instant,
    second: Instant,
    handshakes: u32,
    calm: u32,
}

pub enum Verdict {
    Answer,
    /// Answer with this instead.
    Cookie(Box<[u8; 64]>),
}

impl Guard {
    /// `always`: as if always under load, to try it out.
    pub fn new(always: bool) -> Self {
        let now = Instant::now();
        Guard { secret: random(), since: now, second: now, handshakes: 0, calm: if always { 0 } else { CALM } }
    }

    /// What to do with a handshake message whose first authenticator is right.
    pub fn examine(&mut self, identity: &Identity, message: &[u8], from: SocketAddr, now: Instant) -> Verdict {
        if now - self.second >= Duration::from_secs(1) {
            (self.second, self.handshakes) = (now, 0);
        }
        self.handshakes += 1;
        if self.handshakes <= self.calm {
            return Verdict::Answer;
        }
        if now - self.since >= LIFETIME {
            (self.secret, self.since) = (random(), now);
        }
        let address = match from.ip() {
            IpAddr::V4(ip) => ip.octets().to_vec(),
            IpAddr::V6(ip) => ip.octets().to_vec(),
        };
        let cookie = mac(&self.secret, &[&address[..], &from.port().to_be_bytes()].concat());
        let (covered, mac2) = message.split_at(message.len() - 16);
        if mac(&cookie, covered).ct_eq(mac2).into() {
            return Verdict::Answer;
        }
        let mac1 = covered.last_chunk().expect("the message has both authenticators");
        let reply = seal_cookie_reply(&identity.cookie_key, index_at(message, 4), &random(), mac1, &cookie);
        Verdict::Cookie(Box::new(reply.expect("16 bytes are not too long")))
    }
}

/// The initiator's side: what it needs to read a reply, and the cookie it got.
#[derive(Default)]
pub struct Jar {
    last_sent: Option<(u32, Mac)>,
    cookie: Option<(Mac, Instant)>,
}

impl Jar {
    /// Notes a handshake message that was sent.
    pub fn sent(&mut self, index: u32, mac1: Mac) {
        self.last_sent = Some((index, mac1));
    }

    /// Takes the cookie of a reply to the last message that was sent.
    pub fn read(&mut self, peer: &Remote, reply: &[u8], now: Instant) -> bool {
        let Some((index, mac1)) = self.last_sent else { return false };
        let cookie = open_cookie_reply(&peer.cookie_key, index, &mac1, reply);
        if let Ok(cookie) = cookie {
            self.cookie = Some((cookie, now));
        }
        cookie.is_ok()
    }

    pub fn cookie(&self, now: Instant) -> Option<&Mac> {
        self.cookie.as_ref().filter(|(_, since)| now - *since < LIFETIME).map(|(cookie, _)| cookie)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::Initiation;

    #[test]
    fn a_cookie_opens_the_door_for_its_address_only() {
        let (a, b) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let of_b = Remote::new(b.public, [0; 32]);
        let (mut guard, mut jar) = (Guard::new(true), Jar::default());
        let (from, elsewhere) = ("192.0.2.1:5".parse().unwrap(), "192.0.2.1:6".parse().unwrap());
        let now = Instant::now();
        let initiate = |jar: &mut Jar| {
            let (initiation, message) = Initiation::new(&a, &of_b, 7, &[0; 12], jar.cookie(now)).unwrap();
            jar.sent(7, initiation.mac1);
            message
        };
        let message = initiate(&mut jar);
        let Verdict::Cookie(reply) = guard.examine(&b, &message, from, now) else { panic!("no cookie") };
        let mut forged = reply.clone();
        forged[40] ^= 1;
        assert!(!jar.read(&of_b, &*forged, now));
        assert!(jar.read(&of_b, &*reply, now));
        let message = initiate(&mut jar);
        assert!(matches!(guard.examine(&b, &message, from, now), Verdict::Answer));
        assert!(matches!(guard.examine(&b, &message, elsewhere, now), Verdict::Cookie(_)));
        let later = now + LIFETIME;
        assert!(jar.cookie(later).is_none());
        assert!(matches!(guard.examine(&b, &message, from, later), Verdict::Cookie(_)));
    }

    #[test]
    fn without_load_there_are_no_cookies() {
        let (a, b) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let (_, message) = Initiation::new(&a, &Remote::new(b.public, [0; 32]), 7, &[0; 12], None).unwrap();
        let (mut guard, from, now) = (Guard::new(false), "192.0.2.1:5".parse().unwrap(), Instant::now());
        let mut answered = || matches!(guard.examine(&b, &message, from, now), Verdict::Answer);
        assert!((0..CALM).all(|_| answered()));
        assert!(!answered());
    }
}
