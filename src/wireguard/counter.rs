//! The sender's counter, shared by threads without a lock: ranges of it are taken, disjoint, never twice,
//! never past the limit. Compare-and-swap rather than an addition that is checked afterwards: the stored value never
//! passes the limit, so however many threads knock there, it can't wrap.

use super::REJECT_AFTER_MESSAGES;

#[cfg(target_has_atomic = "64")]
pub(super) use wide::Counter;

#[cfg(all(target_has_atomic = "32", not(target_has_atomic = "64")))]
pub(super) use narrow::Counter;

#[cfg(not(target_has_atomic = "32"))]
pub(super) use alone::Counter;

#[cfg(target_has_atomic = "64")]
mod wide {
    use super::end_of;
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[derive(Debug)]
    pub(in super::super) struct Counter(AtomicU64);

    impl Counter {
        pub(in super::super) const fn new() -> Self {
            Counter(AtomicU64::new(0))
        }

        /// Takes `n` counters and returns the first, or `None` if they would reach the limit.
        pub(in super::super) fn take(&self, n: u64) -> Option<u64> {
            // Relaxed: no other memory is published with the counter.
            self.0.fetch_update(Relaxed, Relaxed, |first| end_of(first, n)).ok()
        }

        /// Gives up all counters below `to`; `None` if one of them or a later one was taken, or past the limit.
        pub(in super::super) fn skip_to(&mut self, to: u64) -> Option<()> {
            let next = self.0.get_mut();
            *next = end_of(*next, to.checked_sub(*next)?)?;
            Some(())
        }
    }
}

/// Without 64-bit atomics: shared users take from 2³² counters; whoever has the sender for itself moves on.
/// A session lives for three minutes at most (REJECT_AFTER_TIME), in which 2³² messages would be 24 million a second,
/// so the nearer limit is out of reach of a 32-bit machine; and past it lies a refusal, not a nonce used twice.
#[cfg(any(test, all(target_has_atomic = "32", not(target_has_atomic = "64"))))]
mod narrow {
    use super::end_of;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[derive(Debug)]
    pub(in super::super) struct Counter {
        base: u64,
        taken: AtomicU32,
    }

    impl Counter {
        pub(in super::super) const fn new() -> Self {
            Counter { base: 0, taken: AtomicU32::new(0) }
        }

        pub(in super::super) fn take(&self, n: u64) -> Option<u64> {
            let n = u32::try_from(n).ok()?;
            let end = |taken: u32| {
                let end = taken.checked_add(n)?;
                end_of(self.base, end.into()).map(|_| end)
            };
            self.taken.fetch_update(Relaxed, Relaxed, end).ok().map(|taken| self.base + u64::from(taken))
        }

        pub(in super::super) fn skip_to(&mut self, to: u64) -> Option<()> {
            let taken = self.taken.get_mut();
            let next = self.base + u64::from(*taken);
            self.base = end_of(next, to.checked_sub(next)?)?;
            *taken = 0;
            Some(())
        }
    }
}

/// Without compare-and-swap: a sender that the compiler keeps to one thread.
#[cfg(any(test, not(target_has_atomic = "32")))]
mod alone {
    use super::end_of;
    use core::cell::Cell;

    #[derive(Debug)]
    pub(in super::super) struct Counter(Cell<u64>);

    impl Counter {
        pub(in super::super) const fn new() -> Self {
            Counter(Cell::new(0))
        }

        pub(in super::super) fn take(&self, n: u64) -> Option<u64> {
            Some(self.0.replace(end_of(self.0.get(), n)?))
        }

        pub(in super::super) fn skip_to(&mut self, to: u64) -> Option<()> {
            self.take(to.checked_sub(self.0.get())?).map(|_| ())
        }
    }
}

fn end_of(first: u64, n: u64) -> Option<u64> {
    first.checked_add(n).filter(|&end| end <= REJECT_AFTER_MESSAGES)
}

#[cfg(test)]
mod tests {
    #[cfg(target_has_atomic = "64")]
    use super::wide;
    use super::{REJECT_AFTER_MESSAGES, alone, narrow};
    use std::vec::Vec;

    trait Count {
        const NEW: Self;
        fn take(&self, n: u64) -> Option<u64>;
        fn skip_to(&mut self, to: u64) -> Option<()>;
    }

    macro_rules! count {
        ($($Counter:ty),*) => {$(
            impl Count for $Counter {
                const NEW: Self = Self::new();
                fn take(&self, n: u64) -> Option<u64> {
                    self.take(n)
                }
                fn skip_to(&mut self, to: u64) -> Option<()> {
                    self.skip_to(to)
                }
            }
        )*};
    }
    count!(narrow::Counter, alone::Counter);
    #[cfg(target_has_atomic = "64")]
    count!(wide::Counter);

    #[test]
    fn the_limit_is_final() {
        fn test<C: Count>() {
            let mut counter = C::NEW;
            assert_eq!(counter.take(3), Some(0));
            assert_eq!(counter.take(0), Some(3));
            assert_eq!(counter.skip_to(2), None);
            assert_eq!(counter.skip_to(REJECT_AFTER_MESSAGES - 2), Some(()));
            assert_eq!(counter.take(u64::MAX), None);
            assert_eq!(counter.take(3), None);
            assert_eq!(counter.take(1), Some(REJECT_AFTER_MESSAGES - 2));
            assert_eq!(counter.take(1), Some(REJECT_AFTER_MESSAGES - 1));
            for _ in 0..3 {
                assert_eq!(counter.take(1), None);
                assert_eq!(counter.take(u64::MAX), None);
                assert_eq!(counter.skip_to(u64::MAX), None);
                assert_eq!(counter.skip_to(REJECT_AFTER_MESSAGES + 1), None);
                assert_eq!(counter.skip_to(0), None);
            }
            assert_eq!(counter.skip_to(REJECT_AFTER_MESSAGES), Some(()));
        }
        test::<narrow::Counter>();
        test::<alone::Counter>();
        #[cfg(target_has_atomic = "64")]
        test::<wide::Counter>();
    }

    #[test]
    fn threads_leave_no_overlap_and_no_gap() {
        fn test<C: Count + Sync>() {
            const START: u64 = (1 << 32) - 500;
            let mut counter = C::NEW;
            counter.skip_to(START).unwrap();
            let counter = &counter;
            let take = |n| (0..500).map(move |_| (counter.take(n).unwrap(), n)).collect::<Vec<_>>();
            let mut ranges = std::thread::scope(|scope| {
                let threads: Vec<_> = (1..=4).map(|n| scope.spawn(move || take(n))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
            });
            ranges.sort_unstable();
            let end = ranges.iter().fold(START, |next, &(first, n)| {
                assert_eq!(first, next);
                first + n
            });
            assert_eq!(end, START + 500 * (1 + 2 + 3 + 4));
        }
        test::<narrow::Counter>();
        #[cfg(target_has_atomic = "64")]
        test::<wide::Counter>();
    }

    #[test]
    fn the_narrow_one_refuses_rather_than_wraps() {
        let mut counter = narrow::Counter::new();
        counter.skip_to(5).unwrap();
        assert_eq!(counter.take(1 << 32), None);
        assert_eq!(counter.take((1 << 32) - 2), Some(5));
        assert_eq!(counter.take(2), None);
        assert_eq!(counter.take(1), Some((1 << 32) + 3));
        assert_eq!(counter.take(1), None);
        counter.skip_to((1 << 32) + 4).unwrap();
        assert_eq!(counter.take(1), Some((1 << 32) + 4));
    }
}
