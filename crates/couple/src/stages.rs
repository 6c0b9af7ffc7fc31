//! How long the stages of a step take on the clock on the wall. Apart from state and reports: nothing that is computed depends on it.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Watch {
    /// Stages under way: name, since when, and how much of that others took.
    open: Vec<(&'static str, Instant, Duration)>,
    sums: Vec<(String, Duration)>,
}

impl Watch {
    fn close(&mut self) {
        let Some((name, since, others)) = self.open.pop() else { return };
        let all = since.elapsed();
        self.add(name, all.saturating_sub(others));
        self.count_within(all);
    }

    fn add(&mut self, name: &str, own: Duration) {
        match self.sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += own,
            None => self.sums.push((name.to_owned(), own)),
        }
    }

    /// Takes it off the stage under way.
    fn count_within(&mut self, duration: Duration) {
        if let Some((.., others)) = self.open.last_mut() {
            *others += duration;
        }
    }
}

thread_local! {
    static WATCH: RefCell<Watch> = RefCell::default();
}

/// Measures on this thread until it is dropped; what other stages take within does not count twice.
#[derive(Debug)]
#[must_use]
pub struct Stage(PhantomData<*const ()>);

/// Starts to measure a stage.
pub fn stage(name: &'static str) -> Stage {
    WATCH.with_borrow_mut(|watch| watch.open.push((name, Instant::now(), Duration::ZERO)));
    Stage(PhantomData)
}

impl Stage {
    /// Ends this stage and starts another.
    pub fn then(&mut self, name: &'static str) {
        WATCH.with_borrow_mut(|watch| {
            watch.close();
            watch.open.push((name, Instant::now(), Duration::ZERO));
        });
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        WATCH.with_borrow_mut(Watch::close);
    }
}

/// Adds stages that were measured elsewhere, such as within the fluid's own step.
pub(crate) fn add_stages(group: &str, stages: &[(&'static str, f64)]) {
    WATCH.with_borrow_mut(|watch| {
        for (name, seconds) in stages {
            let duration = Duration::try_from_secs_f64(*seconds).unwrap_or_default();
            watch.add(&format!("{group}: {name}"), duration);
            watch.count_within(duration);
        }
    });
}

/// Seconds that stages took on this thread since the last call, in the order in which they first ended.
pub fn take_stage_seconds() -> Vec<(String, f64)> {
    let sums = WATCH.with_borrow_mut(|watch| std::mem::take(&mut watch.sums));
    sums.into_iter().map(|(name, sum)| (name, sum.as_secs_f64())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_within_stages_are_counted_once() {
        let all = Instant::now();
        let pause = || std::thread::sleep(Duration::from_millis(20));
        {
            let mut outer = stage("outer");
            pause();
            {
                let _inner = stage("inner");
                pause();
                add_stages("fluid", &[("pressure", 0.005)]);
            }
            outer.then("next");
            pause();
        }
        let all = all.elapsed().as_secs_f64();
        let found = take_stage_seconds();
        assert_eq!(
            found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
            ["fluid: pressure", "inner", "outer", "next"]
        );
        assert!(found.iter().all(|(_, seconds)| *seconds >= 0.005));
        assert!(found.iter().map(|(_, seconds)| seconds).sum::<f64>() <= all);
        assert!(take_stage_seconds().is_empty());
    }
}
