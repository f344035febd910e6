//! Configuration as `wg setconf` reads it (wg(8), CONFIGURATION FILE FORMAT).

use anyhow::{Context, Result, anyhow, bail, ensure};
use base64ct::{Base64, Encoding};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

pub struct Config {
    pub private_key: [u8; 32],
    pub listen_port: u16,
    pub peers: Vec<PeerConfig>,
}

#[derive(Default)]
pub struct PeerConfig {
    pub public_key: [u8; 32],
    pub preshared_key: [u8; 32],
    pub allowed_ips: Vec<(IpAddr, u8)>,
    pub endpoint: Option<SocketAddr>,
    pub persistent_keepalive: Option<Duration>,
}

enum Section {
    Before,
    Interface,
    Peer,
}

pub fn parse(text: &str) -> Result<Config> {
    let (mut private_key, mut listen_port, mut peers) = (None, 0, Vec::<PeerConfig>::new());
    let mut section = Section::Before;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut read = || -> Result<()> {
            if line.is_empty() {
                return Ok(());
            }
            match line.to_ascii_lowercase().as_str() {
                "[interface]" => section = Section::Interface,
                "[peer]" => {
                    section = Section::Peer;
                    peers.push(PeerConfig::default());
                }
                _ => {
                    let (name, value) = line.split_once('=').context("neither a section nor NAME = VALUE")?;
                    let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
                    match (&section, name.as_str(), peers.last_mut()) {
                        (Section::Interface, "privatekey", _) => private_key = Some(key(value)?),
                        (Section::Interface, "listenport", _) => listen_port = value.parse()?,
                        (Section::Peer, "publickey", Some(peer)) => peer.public_key = key(value)?,
                        (Section::Peer, "presharedkey", Some(peer)) => peer.preshared_key = key(value)?,
                        (Section::Peer, "endpoint", Some(peer)) => {
                            peer.endpoint = Some(value.to_socket_addrs()?.next().context("no such host")?);
                        }
                        (Section::Peer, "allowedips", Some(peer)) => {
                            for range in value.split(',').map(str::trim).filter(|range| !range.is_empty()) {
                                peer.allowed_ips.push(allowed_ip(range)?);
                            }
                        }
                        (Section::Peer, "persistentkeepalive", Some(peer)) => {
                            let seconds = if value == "off" { 0 } else { value.parse::<u16>()? };
                            peer.persistent_keepalive = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
                        }
                        _ => bail!("{name} is not known here"),
                    }
                }
            }
            Ok(())
        };
        // Not the line itself, which may be a mistyped key.
        read().with_context(|| format!("line {}", number + 1))?;
    }
    for (i, peer) in peers.iter().enumerate() {
        ensure!(peer.public_key != [0; 32], "peer {} has no PublicKey", i + 1);
    }
    Ok(Config { private_key: private_key.context("no PrivateKey")?, listen_port, peers })
}

fn key(text: &str) -> Result<[u8; 32]> {
    let mut key = [0; 32];
    // The text is not in the error: it may be a secret with a typing mistake.
    let decoded = Base64::decode(text, &mut key).map_err(|_| anyhow!("not a key in Base64"))?;
    ensure!(decoded.len() == 32, "a key has 32 bytes");
    Ok(key)
}

fn allowed_ip(range: &str) -> Result<(IpAddr, u8)> {
    let (address, prefix) = range.split_once('/').map_or((range, None), |(address, prefix)| (address, Some(prefix)));
    let address: IpAddr = address.parse()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let prefix = prefix.map_or(Ok(most), str::parse)?;
    ensure!(prefix <= most, "a prefix of more than {most} bits");
    Ok((address, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_read() {
        let config = parse(
            "[Interface]\nPrivateKey = AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\nListenPort=51820 # here\n\n\
             [Peer]\npublickey = AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=\nEndpoint = [::1]:5\n\
             AllowedIPs = 10.0.0.0/8, fd00::/64\nAllowedIPs = 192.0.2.1\nPersistentKeepalive = 25\n\
             [peer]\nPublicKey = AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=\n\
             PresharedKey = BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ=\nPersistentKeepalive = off\n",
        )
        .unwrap();
        assert_eq!((config.private_key, config.listen_port), ([1; 32], 51820));
        let [a, b] = &config.peers[..] else { panic!("{} peers", config.peers.len()) };
        assert_eq!((a.public_key, a.preshared_key), ([2; 32], [0; 32]));
        assert_eq!(a.endpoint, Some("[::1]:5".parse().unwrap()));
        let ips = [("10.0.0.0", 8), ("fd00::", 64), ("192.0.2.1", 32)].map(|(ip, n)| (ip.parse().unwrap(), n));
        assert_eq!(a.allowed_ips, ips);
        assert_eq!(a.persistent_keepalive, Some(Duration::from_secs(25)));
        assert_eq!((b.public_key, b.preshared_key, b.endpoint), ([3; 32], [4; 32], None));
        assert_eq!(b.persistent_keepalive, None);
    }

    #[test]
    fn errors_name_the_line_and_no_key() {
        let error = |text: &str| format!("{:#}", parse(text).err().unwrap());
        assert!(error("").contains("PrivateKey"));
        assert!(error("[Interface]\nPort = 1").starts_with("line 2: port is not known"));
        assert!(error("[Peer]\nAllowedIPs = 10.0.0.0/33").contains("32 bits"));
        let mistyped = error("[Interface]\nPrivateKey = SecretSecretSecret");
        assert!(mistyped.starts_with("line 2") && !mistyped.contains("Secret"));
    }
}
