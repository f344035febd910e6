//! Cookie replies: what a loaded responder answers instead of a handshake (whitepaper, section 5.4.7).
//! The caller derives the key, HASH("cookie--" ‖ the responder's public key), and the cookie itself.

use crate::{Error, TAG_LEN, XChaCha20Poly1305};

/// Length of a cookie reply in bytes.
pub const COOKIE_REPLY_LEN: usize = 64;

const TYPE: [u8; 4] = [3, 0, 0, 0];

/// Makes a cookie reply to the handshake message whose sender index is `receiver` and whose first authenticator is `mac1`.
///
/// # Errors
/// None today; the AEAD's signature has them.
///
/// # Security
/// `nonce` is 24 random bytes, new for each reply.
pub fn seal_cookie_reply(
    key: &[u8; 32],
    receiver: u32,
    nonce: &[u8; 24],
    mac1: &[u8; 16],
    cookie: &[u8; 16],
) -> Result<[u8; COOKIE_REPLY_LEN], Error> {
    let mut reply = [0; COOKIE_REPLY_LEN];
    reply[..4].copy_from_slice(&TYPE);
    reply[4..8].copy_from_slice(&receiver.to_le_bytes());
    reply[8..32].copy_from_slice(nonce);
    XChaCha20Poly1305::new(key).seal_into(nonce, mac1, cookie, &mut reply[32..])?;
    Ok(reply)
}

/// The cookie in a reply to the handshake message whose sender index was `receiver` and whose first authenticator was
/// `mac1`. The message is only read.
///
/// # Errors
/// [`Error::LengthMismatch`] if it has not 64 bytes, [`Error::WrongType`], [`Error::UnknownReceiver`],
/// [`Error::Unauthentic`].
pub fn open_cookie_reply(key: &[u8; 32], receiver: u32, mac1: &[u8; 16], reply: &[u8]) -> Result<[u8; 16], Error> {
    let reply: &[u8; COOKIE_REPLY_LEN] = reply.try_into().map_err(|_| Error::LengthMismatch)?;
    let (kind, rest) = reply.split_first_chunk::<4>().ok_or(Error::TooShort)?;
    let (index, rest) = rest.split_first_chunk().ok_or(Error::TooShort)?;
    let (nonce, sealed) = rest.split_first_chunk().ok_or(Error::TooShort)?;
    if *kind != TYPE {
        return Err(Error::WrongType);
    }
    if u32::from_le_bytes(*index) != receiver {
        return Err(Error::UnknownReceiver);
    }
    debug_assert_eq!(sealed.len(), 16 + TAG_LEN);
    let mut cookie = [0; 16];
    XChaCha20Poly1305::new(key).open_into(nonce, mac1, sealed, &mut cookie)?;
    Ok(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &[u8; 32] = &[5; 32];
    const NONCE: &[u8; 24] = b"twenty-four random bytes";
    const MAC1: &[u8; 16] = &[1; 16];
    const COOKIE: &[u8; 16] = b"a cookie's bytes";

    fn reply() -> [u8; 64] {
        seal_cookie_reply(KEY, 0x0403_0201, NONCE, MAC1, COOKIE).unwrap()
    }

    #[test]
    fn the_layout_is_the_whitepapers() {
        let reply = reply();
        assert_eq!(reply[..8], [3, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(reply[8..32], *NONCE);
        let mut text = *COOKIE;
        let tag = XChaCha20Poly1305::new(KEY).seal_in_place(NONCE, MAC1, &mut text).unwrap();
        assert_eq!((&reply[32..48], &reply[48..]), (&text[..], &tag.as_bytes()[..]));
        assert_eq!(open_cookie_reply(KEY, 0x0403_0201, MAC1, &reply), Ok(*COOKIE));
    }

    #[test]
    fn every_bit_counts() {
        for bit in 0..64 * 8 {
            let mut reply = reply();
            reply[bit / 8] ^= 1 << (bit % 8);
            let expected = match bit / 8 {
                0..4 => Error::WrongType,
                4..8 => Error::UnknownReceiver,
                _ => Error::Unauthentic,
            };
            assert_eq!(open_cookie_reply(KEY, 0x0403_0201, MAC1, &reply), Err(expected), "bit {bit}");
        }
        assert_eq!(open_cookie_reply(KEY, 0x0403_0201, &[2; 16], &reply()), Err(Error::Unauthentic));
        assert_eq!(open_cookie_reply(&[6; 32], 0x0403_0201, MAC1, &reply()), Err(Error::Unauthentic));
        assert_eq!(open_cookie_reply(KEY, 0x0403_0201, MAC1, &reply()[..63]), Err(Error::LengthMismatch));
        assert_eq!(open_cookie_reply(KEY, 0x0403_0201, MAC1, &[]), Err(Error::LengthMismatch));
    }
}
