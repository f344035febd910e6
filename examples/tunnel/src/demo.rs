//! The demonstration: two endpoints in one process move IP packets both ways over loopback UDP, check every byte that
//! arrives, and send each other replays and forgeries that have to be refused.

use crate::outgoing::Outgoing;
use crate::packet::{self, MIN_LEN, Payload};
use crate::udp::{Room, Udp};
use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use std::io::{IsTerminal, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use wireseal::Error;
use wireseal::wireguard::{Receiver, ReplayWindow, Sender};

/// The inner MTU: what WireGuard interfaces have on an Ethernet of 1500.
const MTU: usize = 1420;

/// The packet lengths of a simple Internet mix, 7 : 4 : 1.
const IMIX: [usize; 12] = [64, 576, 64, 64, 576, 64, 1420, 64, 576, 64, 64, 576];

/// Move IP packets both ways between two WireGuard endpoints in this process, over loopback UDP.
#[derive(Parser)]
#[command(version)]
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

    /// Packets that are sealed and sent together
    #[arg(long, default_value_t = 32, value_name = "PACKETS", value_parser = clap::value_parser!(u16).range(1..=256))]
    batch: u16,
}

/// What one direction has done so far.
#[derive(Default)]
struct Counts {
    packets_sent: AtomicU64,
    packets: AtomicU64,
    bytes: AtomicU64,
    /// Not received in time and no longer waited for.
    given_up: AtomicU64,
    replays_sent: AtomicU64,
    replays_refused: AtomicU64,
    forgeries_sent: AtomicU64,
    forgeries_refused: AtomicU64,
    /// Anything that must not happen.
    wrong: AtomicU64,
}

/// One direction: its two ends run on a thread each.
struct Direction<'a> {
    options: &'a Options,
    from: Ipv4Addr,
    to: Ipv4Addr,
    payload: &'a Payload,
    counts: &'a Counts,
    stop: &'a AtomicBool,
}

pub fn run(options: &Options) -> Result<()> {
    ensure!((MIN_LEN..=MTU).contains(&options.size), "packets have {MIN_LEN} to {MTU} bytes");
    ensure!(options.seconds > 0.0 && options.seconds < 1e6, "a time above zero, please");
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let sockets = [Udp::bind(loopback)?, Udp::bind(loopback)?];
    let addresses = [sockets[0].address()?, sockets[1].address()?];
    let inner = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];
    let payload = Payload::new();
    let counts = [Counts::default(), Counts::default()];
    let stop = AtomicBool::new(false);

    println!(
        "backend {}, {}, batches of {}, {} <-> {}",
        wireseal::Backend::detect().name(),
        if options.imix { "IMIX".into() } else { format!("packets of {} bytes", options.size) },
        options.batch,
        addresses[0],
        addresses[1]
    );
    let started = Instant::now();
    thread::scope(|scope| -> Result<()> {
        let mut threads = vec![];
        for (here, there) in [(0, 1), (1, 0)] {
            let direction = Direction {
                options,
                from: inner[here],
                to: inner[there],
                payload: &payload,
                counts: &counts[here],
                stop: &stop,
            };
            let (mut key, index) = ([0; 32], 0x1000 + here as u32);
            rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::empty())?;
            let (sender, receiver) = (Sender::new(&key, index), Receiver::new(&key, index));
            let (sockets, addresses) = (&sockets, &addresses);
            let direction = std::sync::Arc::new(direction);
            let receiving = std::sync::Arc::clone(&direction);
            threads.push(scope.spawn(move || direction.send(&sockets[here], addresses[there], &sender)));
            threads.push(scope.spawn(move || receiving.receive(&sockets[there], receiver)));
        }
        let mut last = 0;
        while started.elapsed().as_secs_f64() < options.seconds && !threads.iter().any(|thread| thread.is_finished()) {
            let rest = options.seconds - started.elapsed().as_secs_f64();
            thread::sleep(Duration::from_secs_f64(rest.clamp(0.0, 1.0)));
            let bytes: u64 = counts.iter().map(|direction| direction.bytes.load(Relaxed)).sum();
            let wrong: u64 = counts.iter().map(|direction| direction.wrong.load(Relaxed)).sum();
            progress(started.elapsed(), bytes - last, wrong);
            last = bytes;
        }
        stop.store(true, Relaxed);
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    report(&counts, started.elapsed())
}

fn progress(elapsed: Duration, bytes: u64, wrong: u64) {
    let line = format!("{:3.0} s  {:7.1} MB in the last  {wrong} wrong", elapsed.as_secs_f64(), bytes as f64 / 1e6);
    if std::io::stderr().is_terminal() {
        eprint!("\r{line} ");
        let _ = std::io::stderr().flush();
    } else {
        eprintln!("{line}");
    }
}

fn report(counts: &[Counts; 2], elapsed: Duration) -> Result<()> {
    if std::io::stderr().is_terminal() {
        eprintln!();
    }
    let seconds = elapsed.as_secs_f64();
    let mut good = true;
    for (name, counts) in ["a -> b", "b -> a"].into_iter().zip(counts) {
        let get = |count: &AtomicU64| count.load(Relaxed);
        let (sent, packets) = (get(&counts.packets_sent), get(&counts.packets));
        println!(
            "{name}: {packets} packets, {:.0} packets/s, {:.1} MB/s; lost {} ({:.3} %); \
             replays refused {} of {}, forgeries {} of {}; wrong {}",
            packets as f64 / seconds,
            get(&counts.bytes) as f64 / seconds / 1e6,
            sent.saturating_sub(packets),
            100.0 * sent.saturating_sub(packets) as f64 / sent.max(1) as f64,
            get(&counts.replays_refused),
            get(&counts.replays_sent),
            get(&counts.forgeries_refused),
            get(&counts.forgeries_sent),
            get(&counts.wrong),
        );
        // Injected datagrams can be lost like others, but at least one of a kind has to have been refused.
        good &= get(&counts.wrong) == 0
            && (1..=sent).contains(&packets)
            && get(&counts.replays_refused).cmp(&get(&counts.replays_sent)).is_le()
            && (get(&counts.replays_sent) == 0 || get(&counts.replays_refused) > 0)
            && (get(&counts.forgeries_sent) == 0 || get(&counts.forgeries_refused) > 0);
    }
    if !good {
        bail!("something arrived that should not have, or nothing did");
    }
    println!("every byte right");
    Ok(())
}

impl Direction<'_> {
    fn send(&self, socket: &Udp, to: SocketAddr, sender: &Sender) -> Result<()> {
        let batch = usize::from(self.options.batch);
        let mut outgoing = Outgoing::new(batch, MTU);
        let mut sequence = 0;
        for round in 0u64.. {
            if !self.wait_for_room(batch as u64) {
                break;
            }
            outgoing.clear();
            while !outgoing.is_full() {
                let len = if self.options.imix { IMIX[sequence as usize % IMIX.len()] } else { self.options.size };
                packet::write(outgoing.push(len), self.from, self.to, sequence, self.payload);
                sequence += 1;
            }
            outgoing.seal(sender).context("sealing")?;
            // Some of the messages are preceded by a forgery of theirs and followed by a replay.
            let injected = round.is_multiple_of(16).then(|| round as usize / 16 % outgoing.len());
            if let Some(i) = injected {
                let mut forgery = outgoing.message(i).to_vec();
                let bit = (round as usize / 16 * 37) % (8 * (forgery.len() - 16));
                forgery[16 + bit / 8] ^= 1 << (bit % 8);
                socket.send(to, &forgery, forgery.len())?;
                self.counts.forgeries_sent.fetch_add(1, Relaxed);
            }
            self.counts.packets_sent.fetch_add(outgoing.len() as u64, Relaxed);
            for (run, size) in outgoing.runs() {
                socket.send(to, run, size)?;
            }
            if let Some(i) = injected {
                let message = outgoing.message(i);
                socket.send(to, message, message.len())?;
                self.counts.replays_sent.fetch_add(1, Relaxed);
            }
        }
        Ok(())
    }

    /// UDP has no flow control and a loopback no delay: without a limit to what is under way most would be lost.
    /// False if it is time to stop.
    fn wait_for_room(&self, batch: u64) -> bool {
        let counts = self.counts;
        let mut blocked: Option<Instant> = None;
        while !self.stop.load(Relaxed) {
            let done = counts.packets.load(Relaxed) + counts.given_up.load(Relaxed);
            let under_way = counts.packets_sent.load(Relaxed).saturating_sub(done);
            if under_way <= 2 * batch.max(32) {
                return true;
            }
            let since = *blocked.get_or_insert_with(Instant::now);
            if since.elapsed() > Duration::from_millis(200) {
                counts.given_up.fetch_add(under_way, Relaxed);
            }
            thread::yield_now();
        }
        false
    }

    fn receive(&self, socket: &Udp, mut receiver: Receiver) -> Result<()> {
        let mut room = Room::new();
        let mut seen = ReplayWindow::new();
        let counts = self.counts;
        let mut quiet = false;
        // After the stop until nothing comes any more.
        while !(self.stop.load(Relaxed) && quiet) {
            quiet = true;
            for datagrams in socket.receive(&mut room, Duration::from_millis(100))? {
                quiet = false;
                let (mut packets, mut bytes) = (0, 0);
                receiver.open_batch(datagrams.bytes.chunks_mut(datagrams.size), |result| match result {
                    Ok(text) => match packet::verify(text, self.from, self.to, self.payload) {
                        Some(sequence) if seen.accept(sequence).is_ok() => {
                            packets += 1;
                            bytes += text.len() as u64;
                        }
                        _ => _ = counts.wrong.fetch_add(1, Relaxed),
                    },
                    Err(Error::Replayed | Error::TooOld) => _ = counts.replays_refused.fetch_add(1, Relaxed),
                    Err(Error::Unauthentic) => _ = counts.forgeries_refused.fetch_add(1, Relaxed),
                    Err(_) => _ = counts.wrong.fetch_add(1, Relaxed),
                });
                counts.packets.fetch_add(packets, Relaxed);
                counts.bytes.fetch_add(bytes, Relaxed);
            }
        }
        Ok(())
    }
}
