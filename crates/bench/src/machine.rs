//! The machine that a figure belongs to, and its clocks.

use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// The machine as it describes itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// CPU model, or "unknown".
    pub cpu: String,
    /// Hardware threads that this process may use.
    pub threads: usize,
    /// Operating system and architecture.
    pub system: String,
    /// `release` or `debug assertions`: a figure of an unoptimised build means nothing.
    pub build: &'static str,
}

impl Machine {
    /// This machine.
    pub fn this() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = info
            .lines()
            .find(|line| line.starts_with("model name"))
            .and_then(|line| line.split(':').nth(1))
            .map_or_else(|| "unknown".into(), |model| model.trim().to_owned());
        Self {
            cpu,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            build: if cfg!(debug_assertions) { "debug assertions" } else { "release" },
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} threads, {}, {} build", self.cpu, self.threads, self.system, self.build)
    }
}

/// Largest resident memory of this process so far (bytes), where the system tells.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Time spent computing by all threads of this process: on a shared machine the fair figure for a run on one thread.
/// Where the system does not tell, wall time.
#[derive(Debug, Clone, Copy)]
pub struct CpuClock {
    started: Instant,
    cpu: Option<f64>,
}

impl CpuClock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { started: Instant::now(), cpu: cpu_seconds() }
    }

    /// CPU seconds since the start.
    pub fn seconds(&self) -> f64 {
        match (self.cpu, cpu_seconds()) {
            (Some(before), Some(now)) => now - before,
            _ => self.wall_seconds(),
        }
    }

    /// Wall seconds since the start.
    pub fn wall_seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

/// Sum over the threads that are alive, in seconds with nanosecond resolution.
fn cpu_seconds() -> Option<f64> {
    let mut nanoseconds = 0u64;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let schedule = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += schedule.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    Some(nanoseconds as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_counts_work_and_not_sleep() {
        let clock = CpuClock::start();
        std::thread::sleep(std::time::Duration::from_millis(60));
        if clock.cpu.is_some() {
            assert!(clock.seconds() < 0.05, "{}", clock.seconds());
        }
        assert!(clock.wall_seconds() >= 0.06);
    }
}
