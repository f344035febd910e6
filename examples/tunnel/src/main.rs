//! A WireGuard tunnel in userspace on `wireseal`. Without arguments: a demonstration that needs no privileges.

mod demo;
mod outgoing;
mod packet;
mod udp;

use clap::Parser;

fn main() -> anyhow::Result<()> {
    demo::run(&demo::Options::parse())
}
