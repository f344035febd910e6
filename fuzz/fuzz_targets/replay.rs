//! The replay window against a model that remembers every counter.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use std::collections::HashSet;
use wireseal::Error;
use wireseal::wireguard::{REJECT_AFTER_MESSAGES, ReplayWindow};

#[derive(Arbitrary, Debug)]
enum Counter {
    Any(u64),
    Ahead(u16),
    Behind(u16),
    Again(u8),
}

fuzz_target!(|counters: Vec<(Counter, bool)>| {
    let mut window = ReplayWindow::new();
    let (mut seen, mut order, mut newest) = (HashSet::new(), Vec::new(), 0_u64);
    for (counter, authentic) in counters.into_iter().take(2000) {
        let counter = match counter {
            Counter::Any(counter) => counter,
            Counter::Ahead(by) => newest.saturating_add(by.into()),
            Counter::Behind(by) => newest.saturating_sub(by.into()),
            Counter::Again(which) => order.get(usize::from(which) % order.len().max(1)).copied().unwrap_or(0),
        };
        let expected = if counter >= REJECT_AFTER_MESSAGES {
            Err(Error::CounterLimit)
        } else if newest.saturating_sub(counter) > 8128 {
            Err(Error::TooOld)
        } else if seen.contains(&counter) {
            Err(Error::Replayed)
        } else {
            Ok(())
        };
        assert_eq!(window.check(counter), expected);
        if authentic {
            assert_eq!(window.accept(counter), expected);
            if expected.is_ok() {
                newest = newest.max(counter);
                seen.insert(counter);
                order.push(counter);
            }
        }
    }
});
