//! The receiver's memory of counters: a bitmap used as a ring, as in RFC 6479, of 8192 bits on every target.
//! It holds no secrets. Counters are below REJECT_AFTER_MESSAGES, so no sum here can overflow.

use super::REJECT_AFTER_MESSAGES;
use crate::Error;
use core::fmt;

/// Words of the ring: 64 on 32-bit targets too, so that the window is the same everywhere.
const WORDS: usize = 128;

/// Which counters of a session were received: the newest, and the 8128 before it.
///
/// [`Receiver`](super::Receiver) has one. By itself it is for receivers that open packets on several threads: `check` before
/// opening, `accept` after it.
#[derive(Clone)]
pub struct ReplayWindow {
    newest: u64,
    ring: [u64; WORDS],
}

impl ReplayWindow {
    /// How far behind the newest counter an unseen one is still accepted: the ring less the word that the
    /// newest counter is in, which may be almost empty.
    pub const LEN: u64 = 64 * (WORDS as u64 - 1);

    /// A window that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        ReplayWindow { newest: 0, ring: [0; WORDS] }
    }

    /// Whether `counter` may still come. Changes nothing.
    ///
    /// # Errors
    /// [`Error::CounterLimit`], [`Error::TooOld`], [`Error::Replayed`].
    pub fn check(&self, counter: u64) -> Result<(), Error> {
        if counter >= REJECT_AFTER_MESSAGES {
            Err(Error::CounterLimit)
        } else if counter > self.newest {
            Ok(())
        } else if self.newest - counter > Self::LEN {
            Err(Error::TooOld)
        } else if self.ring[word(counter)] & bit(counter) != 0 {
            Err(Error::Replayed)
        } else {
            Ok(())
        }
    }

    /// Notes that `counter` came, if it may. Only for messages whose tag was right: a forged one must not
    /// move the window.
    ///
    /// # Errors
    /// As [`check`](Self::check); then nothing changes.
    pub fn accept(&mut self, counter: u64) -> Result<(), Error> {
        self.check(counter)?;
        // The ring's words between the old newest counter and the new one last held older counters.
        // However far the jump, there are at most WORDS of them.
        let skipped = (counter / 64).saturating_sub(self.newest / 64).min(WORDS as u64);
        for i in 0..skipped {
            self.ring[word(counter - 64 * i)] = 0;
        }
        self.newest = self.newest.max(counter);
        self.ring[word(counter)] |= bit(counter);
        Ok(())
    }
}

fn word(counter: u64) -> usize {
    (counter / 64) as usize % WORDS
}

fn bit(counter: u64) -> u64 {
    1 << (counter % 64)
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the newest counter.
impl fmt::Debug for ReplayWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayWindow").field("newest", &self.newest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The rule in its own words, remembering everything.
    #[derive(Default)]
    struct Model(BTreeSet<u64>);

    impl Model {
        fn accept(&mut self, counter: u64) -> Result<(), Error> {
            let newest = self.0.last().copied().unwrap_or(0);
            if counter >= u64::MAX - (1 << 13) {
                Err(Error::CounterLimit)
            } else if counter < newest.saturating_sub(8128) {
                Err(Error::TooOld)
            } else if !self.0.insert(counter) {
                Err(Error::Replayed)
            } else {
                Ok(())
            }
        }
    }

    /// Random walks of small steps, word-sized ones, ring-sized ones and huge ones, forward and back.
    #[test]
    fn the_window_is_the_rule() {
        for start in [0, 1 << 32, REJECT_AFTER_MESSAGES - 40_000] {
            let (mut window, mut model) = (ReplayWindow::new(), Model::default());
            let (mut at, mut seed) = (start, start | 1);
            let mut verdicts = BTreeSet::new();
            for _ in 0..40_000 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let random = seed >> 33;
                let span = [4, 64, 130, 8128, 8192, 8260, 20_000][(seed >> 29) as usize % 7];
                let back = random % span;
                let counter = if seed >> 28 & 1 == 0 { at.saturating_sub(back) } else { at.saturating_add(back % 7) };
                assert_eq!(window.check(counter), window.clone().accept(counter));
                let verdict = window.accept(counter);
                assert_eq!(verdict, model.accept(counter), "{counter}, newest {}", window.newest);
                verdicts.insert(std::format!("{verdict:?}"));
                at = window.newest.saturating_add(if random % 501 == 0 { span } else { 0 });
            }
            assert!(verdicts.len() >= 3, "the walk from {start} is too tame: {verdicts:?}");
        }
    }

    /// From a ring full of bits, jumps of every size around a word and around the ring leave exactly the
    /// skipped counters open.
    #[test]
    fn a_jump_forgets_what_it_skips_and_no_more() {
        let mut full = ReplayWindow::new();
        (0..=8191).for_each(|counter| full.accept(counter).unwrap());
        for jump in (1..=130).chain(8120..=8330).chain([1 << 40, REJECT_AFTER_MESSAGES - 8192]) {
            let mut window = full.clone();
            let newest = 8191 + jump;
            window.accept(newest).unwrap();
            for counter in newest - 8128..newest {
                let expected = if counter > 8191 { Ok(()) } else { Err(Error::Replayed) };
                assert_eq!(window.check(counter), expected, "{counter} after a jump of {jump}");
            }
            assert_eq!(window.check(newest - 8129), Err(Error::TooOld));
        }
    }

    #[test]
    fn a_jump_costs_no_more_than_the_ring() {
        let mut window = ReplayWindow::new();
        for counter in [3, REJECT_AFTER_MESSAGES / 2, REJECT_AFTER_MESSAGES - 1] {
            assert_eq!(window.accept(counter), Ok(()));
            assert_eq!(window.accept(counter), Err(Error::Replayed));
        }
        assert_eq!(window.ring.iter().map(|word| word.count_ones()).sum::<u32>(), 1);
        assert_eq!(window.accept(REJECT_AFTER_MESSAGES), Err(Error::CounterLimit));
        assert_eq!(window.accept(u64::MAX), Err(Error::CounterLimit));
        assert_eq!(window.newest, REJECT_AFTER_MESSAGES - 1);
    }
}
