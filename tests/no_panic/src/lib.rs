//! Every function of the public core API, callable from outside with arguments that the optimiser knows nothing
//! about, linked against a panic handler that calls a symbol that nobody defines. If a panic is reachable,
//! the library asks for that symbol: `./check` looks.
#![no_std]

use core::ops::Range;
use wireseal::batch::{open_batch, seal_batch};
use wireseal::openssh::PacketKey;
use wireseal::wireguard::{Receiver, ReplayWindow, Sender};
use wireseal::*;

unsafe extern "C" {
    fn wireseal_can_panic() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: never linked into anything that runs.
    unsafe { wireseal_can_panic() }
}

/// One exported function per call.
macro_rules! reachable {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty { $call:expr })*) => {$(
        #[unsafe(no_mangle)]
        pub fn $name($($argument: $type),*) -> $result {
            $call
        }
    )*};
}

type Keyed<'a, 'b> = (&'a ChaCha20Poly1305, Packet<'b>);
type Aad<'a> = &'a [u8];

reachable! {
    new(key: &[u8; 32]) -> ChaCha20Poly1305 { ChaCha20Poly1305::new(key) }
    seal_in_place(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, d: &mut [u8]) -> Result<Tag, Error> { c.seal_in_place(n, a, d) }
    open_in_place(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, d: &mut [u8], t: &Tag) -> Result<(), Error> { c.open_in_place(n, a, d, t) }
    seal_inout(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, io: InOut<'_>) -> Result<Tag, Error> { c.seal_inout(n, a, io) }
    open_inout(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, io: InOut<'_>, t: &Tag) -> Result<(), Error> { c.open_inout(n, a, io, t) }
    seal_into(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, d: &[u8], o: &mut [u8]) -> bool { c.seal_into(n, a, d, o).is_ok() }
    open_into(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, d: &[u8], o: &mut [u8]) -> bool { c.open_into(n, a, d, o).is_ok() }
    open_within(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, d: &mut [u8], r: Range<usize>) -> bool { c.open_within(n, a, d, r).is_ok() }
    seal_gather(c: &ChaCha20Poly1305, n: &[u8; 12], a: Aad<'_>, p: &[&[u8]], o: &mut [u8]) -> bool { c.seal_gather(n, a, p, o).is_ok() }
    x_seal_inout(c: &XChaCha20Poly1305, n: &[u8; 24], a: Aad<'_>, io: InOut<'_>) -> Result<Tag, Error> { c.seal_inout(n, a, io) }
    x_open_inout(c: &XChaCha20Poly1305, n: &[u8; 24], a: Aad<'_>, io: InOut<'_>, t: &Tag) -> Result<(), Error> { c.open_inout(n, a, io, t) }
    x_open_within(c: &XChaCha20Poly1305, n: &[u8; 24], a: Aad<'_>, d: &mut [u8], r: Range<usize>) -> bool { c.open_within(n, a, d, r).is_ok() }
    x_seal_gather(c: &XChaCha20Poly1305, n: &[u8; 24], a: Aad<'_>, p: &[&[u8]], o: &mut [u8]) -> bool { c.seal_gather(n, a, p, o).is_ok() }
    batches(c: &ChaCha20Poly1305, p: &mut [Packet<'_>]) -> bool { c.seal_batch(p).is_ok() && c.open_batch(p).is_ok() }
    keyed_batches(p: &mut [Keyed<'_, '_>]) -> bool { seal_batch(p).is_ok() && open_batch(p).is_ok() }
    attached(n: &[u8; 12], d: &mut [u8]) -> bool { Packet::attached(n, b"", d).is_ok_and(|mut p| p.data().is_ok()) }
    from_raw(s: *const u8, d: *mut u8, n: usize) -> bool {
        // SAFETY: never linked into anything that runs.
        unsafe { InOut::from_raw(s, d, n) }.is_ok()
    }
    stream_new(key: &[u8; 32], n: &[u8; 12]) -> ChaCha20 { ChaCha20::new(key, n) }
    stream_apply(s: &mut ChaCha20, d: &mut [u8]) -> Result<(), Error> { s.apply(d) }
    stream_apply_to(s: &mut ChaCha20, d: &[u8], o: &mut [u8]) -> Result<(), Error> { s.apply_to(d, o) }
    stream_keystream(s: &mut ChaCha20, d: &mut [u8]) -> Result<(), Error> { s.keystream(d) }
    stream_set_position(s: &mut ChaCha20, to: u64) -> Result<(), Error> { s.set_position(to) }
    stream_set_counter(s: &mut ChaCha20, to: u32) -> Result<(), Error> { s.set_counter(to) }
    stream_remaining(s: &ChaCha20) -> u64 { s.remaining() }
    hchacha(key: &[u8; 32], n: &[u8; 16]) -> [u8; 32] { hchacha20(key, n) }
    mac(key: &[u8; 32], d: &[u8]) -> Tag { Poly1305::mac(key, d) }
    mac_update(p: &mut Poly1305, d: &[u8]) -> () { p.update(d) }
    mac_finish(p: Poly1305) -> Tag { p.finish() }
    mac_verify(p: Poly1305, t: &Tag) -> Result<(), Error> { p.verify(t) }
    ssh_new(key: &[u8; 64]) -> PacketKey { PacketKey::new(key) }
    ssh_seal(k: &PacketKey, n: u32, p: &mut [u8]) -> Result<Tag, Error> { k.seal(n, p) }
    ssh_length(k: &PacketKey, n: u32, l: [u8; 4]) -> u32 { k.packet_length(n, l) }
    ssh_open(k: &PacketKey, n: u32, p: &mut [u8], t: &Tag) -> bool { k.open(n, p, t).is_ok() }
    overlaps(a: *const u8, n: usize, b: *const u8, m: usize) -> bool { overlap::inexact_overlap(a, n, b, m) }
    named(name: &str) -> Option<Backend> { Backend::named(name) }
    selftests() -> bool { selftest().all(|test| test.passed()) }
    wg_seal(s: &Sender, d: &mut [u8], n: usize, mtu: usize) -> bool { s.seal(d, n, mtu).is_ok() }
    wg_reserve(s: &Sender, d: &mut [u8], n: usize, mtu: usize) -> bool { s.reserve(n).is_ok_and(|mut c| c.seal(d, n, mtu).is_ok()) }
    wg_keepalive(s: &Sender) -> bool { s.keepalive().is_ok() }
    wg_open(r: &mut Receiver, d: &mut [u8]) -> bool { r.open(d).is_ok() }
    wg_window(w: &mut ReplayWindow, n: u64) -> bool { w.check(n).is_ok() && w.accept(n).is_ok() }
}
