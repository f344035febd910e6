//! A UDP socket that moves many datagrams with one system call: equal ones leave as one large send that the kernel
//! cuts (GSO), and those that arrived together come as one (GRO), where the platform has that.

use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

/// The largest payload that one send can take, whatever the number of datagrams in it.
const MAX_SEND: usize = 65_507;

/// Wanted size of the kernel's buffers. The default of some 200 KiB is three full-size receives: it loses packets
/// whenever the reader is away for a millisecond.
const KERNEL_BUFFER: usize = 8 << 20;

/// Receives per system call.
const RECEIVES: usize = 8;

/// A socket for sending and receiving, from several threads.
pub struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    v6: bool,
}

/// Room for what one system call can receive.
pub struct Room {
    buffers: Vec<Vec<u8>>,
    metas: [RecvMeta; RECEIVES],
}

/// Datagrams that came from one address together: all of `size` bytes, the last perhaps shorter.
pub struct Datagrams<'a> {
    pub from: SocketAddr,
    pub bytes: &'a mut [u8],
    pub size: usize,
}

impl Udp {
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        // Past the system's limit only root can go; others get what is allowed.
        if sockopt::set_socket_recv_buffer_size_force(&socket, KERNEL_BUFFER).is_err() {
            sockopt::set_socket_recv_buffer_size(&socket, KERNEL_BUFFER)?;
        }
        sockopt::set_socket_send_buffer_size(&socket, KERNEL_BUFFER)?;
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Udp { socket, state, v6: address.is_ipv6() })
    }

    /// The address as this socket wants it: one for IPv6 takes IPv4 addresses mapped into it.
    fn of_family(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(ip) if self.v6 => (ip.to_ipv6_mapped(), to.port()).into(),
            _ => to,
        }
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends datagrams that lie one behind the other, all of `size` bytes, the last perhaps shorter. Waits while the
    /// kernel's buffer is full.
    pub fn send(&self, to: SocketAddr, datagrams: &[u8], size: usize) -> io::Result<()> {
        let to = self.of_family(to);
        let mut rest = datagrams;
        while !rest.is_empty() {
            let most = (MAX_SEND / size).clamp(1, self.state.max_gso_segments());
            let (now, later) = rest.split_at(rest.len().min(most * size));
            let transmit =
                Transmit { destination: to, ecn: None, contents: now, segment_size: Some(size), src_ip: None };
            match self.state.try_send((&self.socket).into(), &transmit) {
                Ok(()) => rest = later,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(PollFlags::OUT, None)?,
                // The first refusal of a large send: from now on the limit is 1.
                Err(_) if now.len() > size && self.state.max_gso_segments() == 1 => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for datagrams, at most for `timeout`, and gives what is there, perhaps nothing.
    pub fn receive<'r>(
        &self,
        room: &'r mut Room,
        timeout: Duration,
    ) -> io::Result<impl Iterator<Item = Datagrams<'r>> + use<'r>> {
        let mut slices: Vec<_> = room.buffers.iter_mut().map(|buffer| IoSliceMut::new(buffer)).collect();
        let mut receive = || self.state.recv((&self.socket).into(), &mut slices, &mut room.metas);
        let count = match receive() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.wait(PollFlags::IN, Some(timeout))?;
                match receive() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                    result => result?,
                }
            }
            result => result?,
        };
        Ok(room.buffers.iter_mut().zip(&room.metas).take(count).map(|(buffer, meta)| Datagrams {
            from: meta.addr,
            bytes: &mut buffer[..meta.len],
            size: meta.stride.max(1),
        }))
    }

    fn wait(&self, readiness: PollFlags, timeout: Option<Duration>) -> io::Result<()> {
        let timeout =
            timeout.map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() });
        match poll(&mut [PollFd::new(&self.socket, readiness)], timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Room {
    pub fn new() -> Self {
        Room { buffers: vec![vec![0; 1 << 16]; RECEIVES], metas: [RecvMeta::default(); RECEIVES] }
    }
}
