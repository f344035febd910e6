//! A TUN interface with its offloads on: one read may bring 64 KiB of TCP, one write may take as much.

use crate::offload::{self, VNET_LEN};
use crate::outgoing::Outgoing;
use crate::tunnel::{Interface, MTU, TICK};
use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::sync::Mutex;
use tun_rs::{DeviceBuilder, SyncDevice};

pub struct Tun {
    device: SyncDevice,
    frame: Mutex<Vec<u8>>,
}

impl Tun {
    /// Makes the interface. Addresses, routes and "up" are for `ip` to set.
    pub fn new(name: &str) -> Result<Self> {
        let builder = DeviceBuilder::new().name(name).mtu(MTU as u16).offload(true).enable(false);
        let device = builder.build_sync().with_context(|| format!("making the interface {name}"))?;
        rustix::io::ioctl_fionbio(device.as_fd(), true)?;
        Ok(Tun { device, frame: Mutex::new(vec![0; VNET_LEN + 0xffff]) })
    }
}

impl Interface for Tun {
    fn read(&self, outgoing: &mut Outgoing) -> io::Result<()> {
        let mut frame = self.frame.lock().unwrap();
        while !outgoing.is_full() {
            match rustix::io::read(self.device.as_fd(), &mut frame[..]) {
                // What makes no sense is left out: the kernel does not send such.
                Ok(len) => _ = offload::cut(&frame[..len], outgoing),
                Err(Errno::AGAIN) if outgoing.len() == 0 => {
                    let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
                    let ready = poll(&mut [PollFd::new(&self.device.as_fd(), PollFlags::IN)], Some(&tick));
                    if matches!(ready, Ok(0) | Err(Errno::INTR)) {
                        return Ok(());
                    }
                    ready?;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn write(&self, packets: &mut [&mut [u8]]) -> io::Result<()> {
        let mut result = Ok(());
        offload::merge(packets, self.device.udp_gso(), |frame| {
            let parts = std::iter::once(&frame.head[..]).chain(frame.payloads.iter().copied());
            let parts: Vec<_> = parts.map(IoSlice::new).collect();
            match rustix::io::writev(self.device.as_fd(), &parts) {
                // An interface that is down takes nothing, a packet it dislikes it refuses: both are lost packets.
                Ok(_) | Err(Errno::IO | Errno::INVAL | Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => {}
                Err(error) => result = Err(error.into()),
            }
        });
        result
    }
}
