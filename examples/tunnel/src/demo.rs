//! The demonstration: two tunnels in one process, over loopback UDP with the real handshake. Each end's interface makes IP
//! packets and checks every byte of those that arrive, and the network between them adds replays and forgeries.

use crate::config::{Config, PeerConfig};
use crate::handshake::Identity;
use crate::outgoing::Outgoing;
use crate::packet::{self, MIN_LEN, Payload};
use crate::random;
use crate::timers::Times;
use crate::tunnel::{Interface, MTU, TICK, Tunnel};
use crate::udp::Udp;
use anyhow::{Result, bail, ensure};
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use wireseal::wireguard::{HEADER_LEN, ReplayWindow};

/// The packet lengths of a simple Internet mix, 7 : 4 : 1.
const IMIX: [usize; 12] = [64, 576, 64, 64, 576, 64, 1420, 64, 576, 64, 64, 576];

/// One send in so many is accompanied by a forgery and followed by a replay.
const INJECT: u64 = 16;

#[derive(Args)]
pub struct Options {
    /// How long
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    seconds: f64,

    /// Length of the IP packets in bytes
    #[arg(long, default_value_t = MTU, value_name = "BYTES", conflicts_with = "imix")]
    size: usize,

    /// A mix of 64, 576 and 1420 bytes, 7 : 4 : 1, instead
    #[arg(long)]
    imix: bool,
}

/// What one end has done so far.
#[derive(Default)]
struct Counts {
    sent: AtomicU64,
    received: AtomicU64,
    bytes: AtomicU64,
    /// Sent, not received in time, and no longer waited for.
    given_up: AtomicU64,
    sends: AtomicU64,
    replays: AtomicU64,
    forgeries: AtomicU64,
    /// Anything that must not happen.
    wrong: AtomicU64,
}

/// An end's interface.
struct End<'a> {
    options: &'a Options,
    payload: &'a Payload,
    address: Ipv4Addr,
    other_address: Ipv4Addr,
    counts: &'a Counts,
    others: &'a Counts,
    seen: Mutex<ReplayWindow>,
    to_replay: Mutex<Vec<u8>>,
}

pub fn run(options: &Options, times: Times, batch: usize, suspicious: bool) -> Result<()> {
    ensure!((MIN_LEN..=MTU).contains(&options.size), "packets have {MIN_LEN} to {MTU} bytes");
    ensure!(options.seconds > 0.0 && options.seconds < 1e6, "a time above zero, please");
    let sockets: [Udp; 2] = [bind()?, bind()?];
    let addresses = [sockets[0].address()?, sockets[1].address()?];
    let private: [[u8; 32]; 2] = [random(), random()];
    let preshared: [u8; 32] = random();
    let inner = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    let payload = Payload::new();
    let counts = [Counts::default(), Counts::default()];

    let mut here = 0;
    let tunnels = sockets.map(|udp| {
        let there = 1 - here;
        let config = Config {
            private_key: private[here],
            listen_port: 0,
            peers: vec![PeerConfig {
                public_key: Identity::new(private[there]).public,
                preshared_key: preshared,
                allowed_ips: vec![(inner[there].into(), 32)],
                endpoint: Some(addresses[there]),
                persistent_keepalive: None,
            }],
        };
        let end = End {
            options,
            payload: &payload,
            address: inner[here],
            other_address: inner[there],
            counts: &counts[here],
            others: &counts[there],
            seen: Mutex::default(),
            to_replay: Mutex::default(),
        };
        here = there;
        Tunnel::new(&config, udp, end, times, batch, suspicious)
    });
    let [a, b] = tunnels;
    let tunnels = [a?, b?];

    println!(
        "backend {}, {}, batches of {batch}, {} <-> {}",
        wireseal::Backend::detect().name(),
        if options.imix { "IMIX".into() } else { format!("packets of {} bytes", options.size) },
        addresses[0],
        addresses[1]
    );
    let started = Instant::now();
    thread::scope(|scope| -> Result<()> {
        let threads = [scope.spawn(|| tunnels[0].run()), scope.spawn(|| tunnels[1].run())];
        let mut last = 0;
        loop {
            let rest = options.seconds - started.elapsed().as_secs_f64();
            if rest <= 0.0 || threads.iter().any(|thread| thread.is_finished()) {
                break;
            }
            thread::sleep(Duration::from_secs_f64(rest.min(1.0)));
            let bytes: u64 = counts.iter().map(|end| end.bytes.load(Relaxed)).sum();
            progress(started.elapsed(), bytes - last, counts.iter().map(|end| end.wrong.load(Relaxed)).sum());
            last = bytes;
        }
        tunnels.iter().for_each(|tunnel| tunnel.stop.store(true, Relaxed));
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    report(&tunnels, started.elapsed())
}

fn bind() -> io::Result<Udp> {
    Udp::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

fn progress(elapsed: Duration, bytes: u64, wrong: u64) {
    let line = format!("{:3.0} s  {:7.1} MB more  {wrong} wrong", elapsed.as_secs_f64(), bytes as f64 / 1e6);
    if io::stderr().is_terminal() {
        eprint!("\r{line} ");
        let _ = io::stderr().flush();
    } else {
        eprintln!("{line}");
    }
}

fn report(tunnels: &[Tunnel<End<'_>>; 2], elapsed: Duration) -> Result<()> {
    if io::stderr().is_terminal() {
        eprintln!();
    }
    let mut good = true;
    for (from, to) in [(0, 1), (1, 0)] {
        let get = |count: &AtomicU64| count.load(Relaxed);
        let (sender, receiver) = (tunnels[from].interface.counts, tunnels[to].interface.counts);
        let (sent, received) = (get(&sender.sent), get(&receiver.received));
        let refused = &tunnels[to].counts;
        // Those under way at the end were never read.
        let lost = get(&sender.given_up);
        println!(
            "{from} -> {to}: {received} packets, {:.0} packets/s, {:.1} MB/s; lost {lost} ({:.3} %); replays refused {} of \
             {}, forgeries {} of {}; {} sessions, {} cookies; wrong {}",
            received as f64 / elapsed.as_secs_f64(),
            get(&receiver.bytes) as f64 / elapsed.as_secs_f64() / 1e6,
            100.0 * lost as f64 / sent.max(1) as f64,
            get(&refused.replays),
            get(&sender.replays),
            get(&refused.forgeries),
            get(&sender.forgeries),
            get(&refused.sessions),
            get(&refused.cookies),
            get(&receiver.wrong),
        );
        // Injected datagrams can be lost like others, but some of each kind must have been refused.
        let refusals = |refused: u64, injected: u64| refused <= injected && (refused > 0 || injected == 0);
        good &= get(&receiver.wrong) == 0
            && (1..=sent).contains(&received)
            && refusals(get(&refused.replays), get(&sender.replays))
            && refusals(get(&refused.forgeries), get(&sender.forgeries));
    }
    if !good {
        bail!("something arrived that should not have, or nothing did");
    }
    println!("every byte right");
    Ok(())
}

impl Interface for End<'_> {
    /// UDP has no flow control and a loopback no delay: without a limit to what is under way most would be lost.
    fn read(&self, outgoing: &mut Outgoing) -> io::Result<()> {
        let blocked = Instant::now();
        loop {
            let sent = self.counts.sent.load(Relaxed);
            let done = self.others.received.load(Relaxed) + self.counts.given_up.load(Relaxed);
            if sent.saturating_sub(done) <= 64 {
                break;
            }
            if blocked.elapsed() > 2 * TICK {
                self.counts.given_up.fetch_add(sent.saturating_sub(done), Relaxed);
                return Ok(());
            }
            thread::yield_now();
        }
        while !outgoing.is_full() {
            let sequence = self.counts.sent.fetch_add(1, Relaxed);
            let len = if self.options.imix { IMIX[sequence as usize % IMIX.len()] } else { self.options.size };
            packet::write(outgoing.push(len), self.address, self.other_address, sequence, self.payload);
        }
        Ok(())
    }

    fn write(&self, packets: &mut [&mut [u8]]) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap();
        let (mut received, mut bytes) = (0, 0);
        for packet in packets {
            match packet::verify(packet, self.other_address, self.address, self.payload) {
                Some(sequence) if seen.accept(sequence).is_ok() => {
                    received += 1;
                    bytes += packet.len() as u64;
                }
                _ => _ = self.counts.wrong.fetch_add(1, Relaxed),
            }
        }
        self.counts.received.fetch_add(received, Relaxed);
        self.counts.bytes.fetch_add(bytes, Relaxed);
        Ok(())
    }

    fn sending(&self, udp: &Udp, to: SocketAddr, messages: &[u8], size: usize) {
        let count = self.counts.sends.fetch_add(1, Relaxed);
        if !count.is_multiple_of(INJECT) {
            return;
        }
        let mut to_replay = self.to_replay.lock().unwrap();
        if !to_replay.is_empty() && udp.send(to, &to_replay, to_replay.len()).is_ok() {
            self.counts.replays.fetch_add(1, Relaxed);
        }
        let message = messages[..size.min(messages.len())].to_vec();
        // A wrong bit in text or tag, ahead of the right message, which has to be accepted all the same.
        let mut forgery = message.clone();
        let bit = (count / INJECT * 37) as usize % (8 * (forgery.len() - HEADER_LEN));
        forgery[HEADER_LEN + bit / 8] ^= 1 << (bit % 8);
        if udp.send(to, &forgery, forgery.len()).is_ok() {
            self.counts.forgeries.fetch_add(1, Relaxed);
        }
        *to_replay = message;
    }
}
