//! What the backends of x86-64 share: a message's data, and all that runs in general registers.

#![allow(unsafe_code)]

pub(super) mod block;
pub(super) mod message;
pub(super) mod poly1305;
