//! WireGuard's handshake, sections 5.4.2 to 5.4.4 of the whitepaper: Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s in two
//! messages, each with two authenticators behind it. `snow` runs Noise; its AEAD is ours, through its resolver.

use anyhow::{Result, ensure};
use blake2::digest::consts::U16;
use blake2::digest::{Digest, FixedOutput, KeyInit, Update};
use blake2::{Blake2s256, Blake2sMac};
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver, FallbackResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState};
use subtle::ConstantTimeEq;
use wireseal::{ChaCha20Poly1305, TAG_LEN};

const PATTERN: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";
const IDENTIFIER: &[u8] = b"WireGuard v1 zx2c4 Jason@zx2c4.com";
/// Where the preshared key is mixed in: "psk2".
const PSK: usize = 2;

const INITIATION: [u8; 4] = [1, 0, 0, 0];
const RESPONSE: [u8; 4] = [2, 0, 0, 0];

pub const INITIATION_LEN: usize = 148;
pub const RESPONSE_LEN: usize = 92;

/// Both authenticators.
const MACS: usize = 32;

pub type Mac = [u8; 16];

/// Our long-term key pair, and what is derived from it once.
pub struct Identity {
    private: [u8; 32],
    pub public: [u8; 32],
    mac1_key: [u8; 32],
    pub cookie_key: [u8; 32],
}

impl Identity {
    pub fn new(private: [u8; 32]) -> Self {
        let mut dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("snow is built with Curve25519");
        dh.set(&private);
        let mut public = [0; 32];
        public.copy_from_slice(dh.pubkey());
        let remote = Remote::new(public, [0; 32]);
        Identity { private, public, mac1_key: remote.mac1_key, cookie_key: remote.cookie_key }
    }

    /// Whether a handshake message is addressed to us: its sender knows our public key.
    pub fn mac1_is_right(&self, message: &[u8]) -> bool {
        message.len() >= MACS && {
            let (covered, macs) = message.split_at(message.len() - MACS);
            mac(&self.mac1_key, covered).ct_eq(&macs[..16]).into()
        }
    }

    fn noise(&self) -> Result<Builder<'_>> {
        let resolver = FallbackResolver::new(Box::new(Resolver), Box::new(DefaultResolver));
        let builder = Builder::with_resolver(PATTERN.parse()?, Box::new(resolver));
        Ok(builder.local_private_key(&self.private)?.prologue(IDENTIFIER)?)
    }
}

/// A peer's long-term keys, and what is derived from them once.
pub struct Remote {
    pub public: [u8; 32],
    preshared: [u8; 32],
    mac1_key: [u8; 32],
    pub cookie_key: [u8; 32],
}

impl Remote {
    pub fn new(public: [u8; 32], preshared: [u8; 32]) -> Self {
        let [mac1_key, cookie_key] = [b"mac1----", b"cookie--"]
            .map(|label| Digest::finalize(Blake2s256::new().chain_update(label).chain_update(public)).into());
        Remote { public, preshared, mac1_key, cookie_key }
    }

    /// Adds both authenticators: to whom the message goes, and that its sender can be reached where it says, if
    /// the peer has asked for that. Returns the first.
    fn authenticate(&self, message: &mut [u8], cookie: Option<&Mac>) -> Mac {
        let macs = message.len() - MACS;
        let mac1 = mac(&self.mac1_key, &message[..macs]);
        message[macs..macs + 16].copy_from_slice(&mac1);
        if let Some(cookie) = cookie {
            let mac2 = mac(cookie, &message[..macs + 16]);
            message[macs + 16..].copy_from_slice(&mac2);
        }
        mac1
    }
}

/// Keyed BLAKE2s with 16 bytes of output.
pub fn mac(key: &[u8], message: &[u8]) -> Mac {
    let mac = Blake2sMac::<U16>::new_from_slice(key).expect("at most 32 bytes of key");
    mac.chain(message).finalize_fixed().into()
}

/// The keys that a handshake gives, and the index by which the peer knows the session.
pub struct SessionKeys {
    pub send: [u8; 32],
    pub receive: [u8; 32],
    pub remote_index: u32,
}

/// An initiation that awaits its response.
pub struct Initiation {
    noise: HandshakeState,
    pub index: u32,
    pub mac1: Mac,
}

impl Initiation {
    pub fn new(
        identity: &Identity,
        peer: &Remote,
        index: u32,
        timestamp: &[u8; 12],
        cookie: Option<&Mac>,
    ) -> Result<(Self, [u8; INITIATION_LEN])> {
        let builder = identity.noise()?.remote_public_key(&peer.public)?.psk(PSK as u8, &peer.preshared)?;
        let mut noise = builder.build_initiator()?;
        let mut message = [0; INITIATION_LEN];
        message[..4].copy_from_slice(&INITIATION);
        message[4..8].copy_from_slice(&index.to_le_bytes());
        noise.write_message(timestamp, &mut message[8..INITIATION_LEN - MACS])?;
        let mac1 = peer.authenticate(&mut message, cookie);
        Ok((Initiation { noise, index, mac1 }, message))
    }

    /// Reads the response. A wrong one changes nothing: the right one may follow.
    pub fn finish(&mut self, message: &[u8; RESPONSE_LEN]) -> Result<SessionKeys> {
        ensure!(message[..4] == RESPONSE && message[8..12] == self.index.to_le_bytes(), "not the response awaited");
        self.noise.read_message(&message[12..RESPONSE_LEN - MACS], &mut [])?;
        let (send, receive) = self.noise.dangerously_get_raw_split();
        Ok(SessionKeys { send, receive, remote_index: index_at(message, 4) })
    }
}

/// An initiation that came in, opened: who sent it, and when.
pub struct Offer {
    noise: HandshakeState,
    remote_index: u32,
    pub public: [u8; 32],
    pub timestamp: [u8; 12],
}

impl Offer {
    /// The caller has looked at the authenticators.
    pub fn read(identity: &Identity, message: &[u8; INITIATION_LEN]) -> Result<Self> {
        ensure!(message[..4] == INITIATION, "not an initiation");
        let mut noise = identity.noise()?.build_responder()?;
        let mut timestamp = [0; 12];
        let len = noise.read_message(&message[8..INITIATION_LEN - MACS], &mut timestamp)?;
        ensure!(len == timestamp.len(), "no timestamp");
        let public = noise.get_remote_static().unwrap_or_default().try_into()?;
        Ok(Offer { noise, remote_index: index_at(message, 4), public, timestamp })
    }

    pub fn accept(
        mut self,
        peer: &Remote,
        index: u32,
        cookie: Option<&Mac>,
    ) -> Result<(SessionKeys, Mac, [u8; RESPONSE_LEN])> {
        self.noise.set_psk(PSK, &peer.preshared)?;
        let mut message = [0; RESPONSE_LEN];
        message[..4].copy_from_slice(&RESPONSE);
        message[4..8].copy_from_slice(&index.to_le_bytes());
        message[8..12].copy_from_slice(&self.remote_index.to_le_bytes());
        self.noise.write_message(&[], &mut message[12..RESPONSE_LEN - MACS])?;
        let mac1 = peer.authenticate(&mut message, cookie);
        let (receive, send) = self.noise.dangerously_get_raw_split();
        Ok((SessionKeys { send, receive, remote_index: self.remote_index }, mac1, message))
    }
}

pub fn index_at(message: &[u8], at: usize) -> u32 {
    let bytes = message.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_le_bytes(*bytes.unwrap_or(&[0; 4]))
}

/// Our AEAD for Noise; the rest is left to snow's own.
struct Resolver;

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        None
    }

    fn resolve_dh(&self, _: &DHChoice) -> Option<Box<dyn Dh>> {
        None
    }

    fn resolve_hash(&self, _: &HashChoice) -> Option<Box<dyn Hash>> {
        None
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        let no_key = NoiseCipher(ChaCha20Poly1305::new(&[0; 32]));
        matches!(choice, CipherChoice::ChaChaPoly).then(|| Box::new(no_key) as _)
    }
}

/// Noise's nonce is WireGuard's: four zero bytes and a little-endian counter.
struct NoiseCipher(ChaCha20Poly1305);

fn nonce(counter: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    nonce
}

impl Cipher for NoiseCipher {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; 32]) {
        self.0 = ChaCha20Poly1305::new(key);
    }

    fn encrypt(&self, counter: u64, aad: &[u8], plaintext: &[u8], out: &mut [u8]) -> usize {
        self.0.seal_into(&nonce(counter), aad, plaintext, out).expect("snow gives 16 bytes more").len()
    }

    fn decrypt(&self, counter: u64, aad: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, snow::Error> {
        let room = sealed.len().checked_sub(TAG_LEN).and_then(|len| out.get_mut(..len)).ok_or(snow::Error::Input)?;
        Ok(self.0.open_into(&nonce(counter), aad, sealed, room).map_err(|_| snow::Error::Decrypt)?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Identity, Identity, Remote, Remote) {
        let (a, b) = (Identity::new([1; 32]), Identity::new([2; 32]));
        let (of_a, of_b) = (Remote::new(a.public, [3; 32]), Remote::new(b.public, [3; 32]));
        (a, b, of_a, of_b)
    }

    #[test]
    fn both_ends_get_the_same_keys() {
        let (a, b, of_a, of_b) = pair();
        let (mut initiation, first) = Initiation::new(&a, &of_b, 7, b"a timestamp.", None).unwrap();
        assert!(b.mac1_is_right(&first) && !a.mac1_is_right(&first));
        let offer = Offer::read(&b, &first).unwrap();
        assert_eq!((offer.public, &offer.timestamp), (a.public, b"a timestamp."));
        let (there, _, second) = offer.accept(&of_a, 9, None).unwrap();
        assert!(a.mac1_is_right(&second));

        let mut forged = second;
        forged[50] ^= 1;
        assert!(initiation.finish(&forged).is_err());
        let here = initiation.finish(&second).unwrap();
        assert_eq!((here.send, here.receive), (there.receive, there.send));
        assert_ne!(here.send, here.receive);
        assert_eq!((here.remote_index, there.remote_index), (9, 7));
    }

    #[test]
    fn a_wrong_bit_or_preshared_key_is_refused() {
        let (a, b, of_a, of_b) = pair();
        let (_, first) = Initiation::new(&a, &of_b, 7, b"a timestamp.", None).unwrap();
        for byte in (0..4).chain(8..INITIATION_LEN - MACS) {
            let mut forged = first;
            forged[byte] ^= 1;
            assert!(Offer::read(&b, &forged).is_err(), "byte {byte}");
        }
        for byte in 0..INITIATION_LEN - 16 {
            let mut forged = first;
            forged[byte] ^= 1;
            assert!(!b.mac1_is_right(&forged), "byte {byte}");
        }
        let other = Remote::new(b.public, [4; 32]);
        let (mut initiation, first) = Initiation::new(&a, &other, 7, b"a timestamp.", None).unwrap();
        let (_, _, second) = Offer::read(&b, &first).unwrap().accept(&of_a, 9, None).unwrap();
        assert!(initiation.finish(&second).is_err());
    }

    /// Noise with our AEAD on one side and snow's own on the other would be a test of snow; this pins the
    /// public key of RFC 7748, section 6.1, so that identities are the ones `wg` computes.
    #[test]
    fn public_keys_are_those_of_rfc_7748() {
        let private = [
            0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45, 0xdf, 0x4c,
            0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a,
        ];
        assert_eq!(Identity::new(private).public[..4], [0x85, 0x20, 0xf0, 0x09]);
    }
}
