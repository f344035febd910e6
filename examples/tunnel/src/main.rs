//! A WireGuard tunnel in userspace on `wireseal`. Without arguments: a demonstration that needs no privileges.

mod allowed_ips;
mod config;
mod cookie;
mod demo;
mod handshake;
mod ip;
#[cfg(target_os = "linux")]
mod offload;
mod outgoing;
mod packet;
mod peer;
mod timers;
#[cfg(target_os = "linux")]
mod tun;
mod tunnel;
mod udp;

use clap::Parser;
use std::time::Duration;

/// A WireGuard tunnel. Without --config: two of them in this process move IP packets both ways over loopback UDP, check
/// every byte, and refuse the replays and forgeries that they send each other.
#[derive(Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    demo: demo::Options,

    /// Be a tunnel, configured by this file in the format of `wg setconf`
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "FILE", requires = "interface")]
    config: Option<std::path::PathBuf>,

    /// The TUN interface to make; set its addresses and bring it up with `ip`
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "NAME", requires = "config")]
    interface: Option<String>,

    /// Packets that are sealed and sent together
    #[arg(long, default_value_t = 32, value_name = "PACKETS", value_parser = clap::value_parser!(u16).range(1..=256))]
    batch: u16,

    /// Replace sessions after this time instead of 120 s
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=120))]
    rekey_after: Option<u64>,

    /// Ask for a cookie at every handshake, as under load
    #[arg(long)]
    suspicious: bool,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let rekey_after = options.rekey_after.map(Duration::from_secs);
    let times = rekey_after.map_or_else(timers::Times::default, timers::Times::with_rekey_after);
    #[cfg(target_os = "linux")]
    if let Some((file, name)) = options.config.zip(options.interface) {
        use anyhow::Context;
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let config = config::parse(&text).with_context(|| file.display().to_string())?;
        // One socket for both families where the system has IPv6.
        let any = |ip: std::net::IpAddr| udp::Udp::bind((ip, config.listen_port).into());
        let udp =
            any(std::net::Ipv6Addr::UNSPECIFIED.into()).or_else(|_| any(std::net::Ipv4Addr::UNSPECIFIED.into()))?;
        let interface = tun::Tun::new(&name)?;
        eprintln!("{name}: backend {}, on {}", wireseal::Backend::detect().name(), udp.address()?);
        let batch = options.batch.into();
        return tunnel::Tunnel::new(&config, udp, interface, times, batch, options.suspicious)?.run();
    }
    demo::run(&options.demo, times, options.batch.into(), options.suspicious)
}

/// Bytes from the system's generator.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    // Up to 256 bytes come whole or not at all, and not at all only where the system has no such call.
    assert_eq!(filled, Ok(N), "the system gives random bytes");
    bytes
}
