//! WireGuard's data messages and cookie replies, sections 5.4.6 and 5.4.7 of the [WireGuard
//! whitepaper](https://www.wireguard.com/papers/wireguard.pdf): what a tunnel does with the two keys that a handshake gave it.
//!
//! A data message, 32 bytes longer than the padded packet within:
//!
//! | bytes | |
//! |---|---|
//! | 4 | type 4, three reserved zero bytes |
//! | 4 | index by which the receiver finds the session, little-endian |
//! | 8 | counter, little-endian: the nonce |
//! | n | the IP packet, padded with zeroes, encrypted |
//! | 16 | tag |
//!
//! Handshake, timers and routing are the tunnel's own.
//!
//! ```
//! use wireseal::wireguard::{HEADER_LEN, Receiver, Sender};
//!
//! let key = [7; 32]; // from the handshake
//! let sender = Sender::new(&key, 0x0102_0304);
//! let mut receiver = Receiver::new(&key, 0x0102_0304);
//!
//! let packet = b"an IP packet";
//! let mut datagram = [0; 1500];
//! datagram[HEADER_LEN..][..packet.len()].copy_from_slice(packet); // read the packet in there directly
//! let message = sender.seal(&mut datagram, packet.len(), 1420)?;
//! assert_eq!(message.len(), 16 + 16 + 16);
//!
//! let mut replayed = message.to_vec();
//! let text = receiver.open(message)?;
//! assert_eq!(text, b"an IP packet\0\0\0\0"); // the IP header says where the packet ends
//! assert!(receiver.open(&mut replayed).is_err());
//! # Ok::<(), wireseal::Error>(())
//! ```

mod cookie;
mod counter;
mod replay;
mod transport;

pub use cookie::{COOKIE_REPLY_LEN, open_cookie_reply, seal_cookie_reply};
pub use replay::ReplayWindow;
pub use transport::{
    Counters, HEADER_LEN, OVERHEAD, REJECT_AFTER_MESSAGES, Receiver, Sender, padded_len, receiver_index,
};
