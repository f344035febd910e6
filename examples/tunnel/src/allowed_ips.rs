//! Which peer an address belongs to: the most specific of the configured ranges that contain it.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// Ranges by prefix length, so that a lookup is one probe for each length in use: rarely more than three.
pub struct AllowedIps<T> {
    v4: BTreeMap<u8, HashMap<u32, T>>,
    v6: BTreeMap<u8, HashMap<u128, T>>,
}

impl<T> AllowedIps<T> {
    pub fn new() -> Self {
        AllowedIps { v4: BTreeMap::new(), v6: BTreeMap::new() }
    }

    /// A range given twice belongs to the last.
    pub fn insert(&mut self, address: IpAddr, prefix: u8, owner: T) {
        match address {
            IpAddr::V4(ip) => {
                self.v4.entry(prefix).or_default().insert(ip.to_bits() & mask_v4(prefix), owner);
            }
            IpAddr::V6(ip) => {
                self.v6.entry(prefix).or_default().insert(ip.to_bits() & mask_v6(prefix), owner);
            }
        }
    }

    pub fn find(&self, address: IpAddr) -> Option<&T> {
        match address {
            IpAddr::V4(ip) => {
                self.v4.iter().rev().find_map(|(&prefix, ips)| ips.get(&(ip.to_bits() & mask_v4(prefix))))
            }
            IpAddr::V6(ip) => {
                self.v6.iter().rev().find_map(|(&prefix, ips)| ips.get(&(ip.to_bits() & mask_v6(prefix))))
            }
        }
    }
}

fn mask_v4(prefix: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0)
}

fn mask_v6(prefix: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_range_wins() {
        let mut ips = AllowedIps::new();
        for (address, prefix, owner) in [
            ("0.0.0.0", 0, 0),
            ("10.1.2.3", 8, 1),
            ("10.1.0.0", 16, 2),
            ("10.1.1.1", 32, 3),
            ("fd00::", 8, 4),
            ("fd00::1", 128, 5),
            ("::", 0, 6),
        ] {
            ips.insert(address.parse().unwrap(), prefix, owner);
        }
        for (address, owner) in [
            ("11.0.0.0", 0),
            ("10.255.255.255", 1),
            ("10.1.255.0", 2),
            ("10.1.1.1", 3),
            ("10.1.1.2", 2),
            ("fd80::", 4),
            ("fd00::1", 5),
            ("fe80::1", 6),
        ] {
            assert_eq!(ips.find(address.parse().unwrap()), Some(&owner), "{address}");
        }
        assert_eq!(AllowedIps::<()>::new().find("10.0.0.1".parse().unwrap()), None);
    }
}
