//! Erasing secrets: plain wide stores and one barrier that keeps the compiler from dropping them.
//! `zeroize`'s volatile writes go element by element, too slow for a kilobyte of keystream per packet.

/// Plain data for which all-zero is a value.
pub(crate) trait Wipe: Copy {
    const ZERO: Self;
}

macro_rules! zero_is {
    ($($word:ty = $zero:expr),*) => {$(
        impl Wipe for $word { const ZERO: Self = $zero; }
    )*};
}
zero_is!(u8 = 0, u32 = 0, u64 = 0);

impl<T: Wipe, const N: usize> Wipe for [T; N] {
    const ZERO: Self = [T::ZERO; N];
}

/// Overwrites `secret` with zeroes.
#[inline(always)]
pub(crate) fn wipe<T: Wipe>(secret: &mut T) {
    *secret = T::ZERO;
    zeroize::optimization_barrier(secret);
}

/// Overwrites every element of `secret` with zeroes.
#[inline(always)]
pub(crate) fn wipe_slice<T: Wipe>(secret: &mut [T]) {
    secret.fill(T::ZERO);
    zeroize::optimization_barrier(secret);
}
