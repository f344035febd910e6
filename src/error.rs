//! What can go wrong. One type, so that a tunnel's receive loop matches on one enum.
//! No variant carries data: nothing secret can leave through an error.

use core::fmt;

/// Why a call was refused.
///
/// Unless a method's documentation says otherwise, nothing has been written to the caller's memory
/// when an error is returned, and the object may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The tag does not match: wrong key, nonce, associated data, ciphertext or tag. Nothing more
    /// can be known, and no plaintext has been written anywhere.
    Unauthentic,
    /// The plaintext is longer than [`MAX_PLAINTEXT_LEN`](crate::MAX_PLAINTEXT_LEN) bytes.
    TooLong,
    /// The input is shorter than the tag, or than the message type allows.
    TooShort,
    /// The output buffer can't hold the result.
    OutputTooShort,
    /// Input and output differ in length where they must not.
    LengthMismatch,
    /// Input and output share memory without being the same region.
    Overlap,
    /// All 2³² blocks of this key and nonce are used up, or would be by this call.
    KeystreamExhausted,
    /// The requested block counter lies behind keystream that has already been given out.
    CounterBehind,
    /// Not a WireGuard data message, or its reserved bytes are not zero.
    WrongType,
    /// The receiver index of the message is not this session's.
    UnknownReceiver,
    /// The counter reached WireGuard's limit: the session needs a new key.
    CounterLimit,
    /// This counter was already received.
    Replayed,
    /// This counter is too far behind the newest one to tell whether it was received.
    TooOld,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Unauthentic => "the tag does not match",
            Error::TooLong => "the message is longer than ChaCha20-Poly1305 allows",
            Error::TooShort => "the input is too short",
            Error::OutputTooShort => "the output buffer is too short",
            Error::LengthMismatch => "input and output have different lengths",
            Error::Overlap => "input and output overlap inexactly",
            Error::KeystreamExhausted => "the keystream of this key and nonce is used up",
            Error::CounterBehind => "the counter can't go back",
            Error::WrongType => "not a WireGuard data message",
            Error::UnknownReceiver => "the message is for another session",
            Error::CounterLimit => "the message counter reached its limit",
            Error::Replayed => "the message was already received",
            Error::TooOld => "the message is older than the replay window",
        })
    }
}

impl core::error::Error for Error {}
