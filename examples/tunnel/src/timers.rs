//! When to do something unasked, section 6 of the whitepaper: rekey, answer, retry, give up. Only times are kept here.

use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub struct Times {
    /// The initiator of a session replaces it when it sends after this.
    pub rekey_after: Duration,
    /// Nobody uses it after this.
    pub reject_after: Duration,
    /// Between two initiations.
    pub rekey_timeout: Duration,
    /// After so many tries that a peer does not answer.
    pub rekey_attempt: Duration,
    /// Who has received data but has nothing to send, says so after this.
    pub keepalive: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let [rekey_after, reject_after, rekey_timeout, rekey_attempt, keepalive] =
            [120, 180, 5, 90, 10].map(Duration::from_secs);
        Times { rekey_after, reject_after, rekey_timeout, rekey_attempt, keepalive }
    }
}

impl Times {
    /// Rekeying this often, to see it happen; a session is still good for as long again.
    pub fn with_rekey_after(rekey_after: Duration) -> Self {
        let times = Times::default();
        Times { rekey_after, reject_after: times.reject_after.max(2 * rekey_after), ..times }
    }

    /// The initiator also replaces a session on which it only receives, early enough for a retry.
    pub fn rekey_after_receiving(&self) -> Duration {
        self.reject_after.saturating_sub(self.keepalive + self.rekey_timeout)
    }
}

/// What one peer's clock says.
#[derive(Default)]
pub struct Timers {
    handshake_since: Option<Instant>,
    initiated: Option<Instant>,
    /// Data was sent and nothing has come since.
    unanswered: Option<Instant>,
    /// Data has come and nothing was sent since.
    unacknowledged: Option<Instant>,
    /// Anything at all went either way.
    last: Option<Instant>,
}

/// What is to be done now.
#[derive(Debug, Default, PartialEq)]
pub struct Due {
    pub initiation: bool,
    pub keepalive: bool,
    /// The peer did not answer for so long that waiting packets are dropped.
    pub give_up: bool,
}

impl Timers {
    /// A new session is wanted. Whether an initiation may be sent at once: there is a pause between two.
    pub fn want_handshake(&mut self, now: Instant, times: &Times) -> bool {
        if self.handshake_since.is_some() {
            return false;
        }
        self.handshake_since = Some(now);
        self.initiated.is_none_or(|sent| now - sent >= times.rekey_timeout)
    }

    pub fn initiated(&mut self, now: Instant) {
        self.initiated = Some(now);
    }

    pub fn handshake_done(&mut self) {
        self.handshake_since = None;
        self.unanswered = None;
    }

    pub fn sent(&mut self, now: Instant, data: bool) {
        self.unacknowledged = None;
        self.last = Some(now);
        if data {
            self.unanswered.get_or_insert(now);
        }
    }

    pub fn received(&mut self, now: Instant, data: bool) {
        self.unanswered = None;
        self.last = Some(now);
        if data {
            self.unacknowledged.get_or_insert(now);
        }
    }

    /// Looks at the clock. `persistent`: the configured keepalive interval.
    pub fn due(&mut self, now: Instant, times: &Times, persistent: Option<Duration>) -> Due {
        let passed = |since: Option<Instant>, time: Duration| since.is_some_and(|since| now - since >= time);
        let mut due = Due::default();
        if passed(self.unanswered, times.keepalive + times.rekey_timeout) {
            self.unanswered = None;
            self.handshake_since.get_or_insert(now);
        }
        if passed(self.handshake_since, times.rekey_attempt) {
            self.handshake_since = None;
            due.give_up = true;
        } else if self.handshake_since.is_some() {
            due.initiation = self.initiated.is_none_or(|sent| now - sent >= times.rekey_timeout);
        }
        due.keepalive = passed(self.unacknowledged, times.keepalive)
            || persistent.is_some_and(|interval| self.last.is_none() || passed(self.last, interval));
        if due.keepalive {
            self.last = Some(now);
            self.unacknowledged = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: fn() -> Times = Times::default;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn initiations_are_repeated_and_given_up() {
        let (mut timers, start, times) = (Timers::default(), Instant::now(), TIMES());
        assert!(timers.want_handshake(start, &times));
        timers.initiated(start);
        assert!(!timers.want_handshake(start, &times));
        let mut sent = 0;
        for second in 1..90 {
            let due = timers.due(start + seconds(second), &times, None);
            if due.initiation {
                sent += 1;
                timers.initiated(start + seconds(second));
            }
            assert!(!due.give_up);
        }
        assert_eq!(sent, 89 / 5);
        assert!(timers.due(start + seconds(90), &times, None).give_up);
        assert_eq!(timers.due(start + seconds(100), &times, None), Due::default());
        assert!(timers.want_handshake(start + seconds(100), &times));
    }

    #[test]
    fn silence_after_data_leads_to_a_handshake() {
        let (mut timers, start, times) = (Timers::default(), Instant::now(), TIMES());
        timers.sent(start, true);
        timers.sent(start + seconds(9), true);
        assert!(!timers.due(start + seconds(14), &times, None).initiation);
        assert!(timers.due(start + seconds(15), &times, None).initiation);

        let mut timers = Timers::default();
        timers.sent(start, true);
        timers.received(start + seconds(14), false);
        timers.sent(start + seconds(15), false);
        assert_eq!(timers.due(start + seconds(40), &times, None), Due::default());
    }

    #[test]
    fn data_received_is_acknowledged_by_a_keepalive() {
        let (mut timers, start, times) = (Timers::default(), Instant::now(), TIMES());
        timers.received(start, true);
        timers.received(start + seconds(5), true);
        assert!(!timers.due(start + seconds(9), &times, None).keepalive);
        assert!(timers.due(start + seconds(10), &times, None).keepalive);
        assert!(!timers.due(start + seconds(30), &times, None).keepalive);
        timers.received(start + seconds(30), true);
        timers.sent(start + seconds(31), true);
        assert!(!timers.due(start + seconds(41), &times, None).keepalive);
    }

    #[test]
    fn persistent_keepalives_fill_silence_only() {
        let (mut timers, start, times) = (Timers::default(), Instant::now(), TIMES());
        let mut due = |second| timers.due(start + seconds(second), &times, Some(seconds(25))).keepalive;
        assert!(due(0));
        assert!(!due(24));
        assert!(due(25));
        assert!(due(50));
    }
}
