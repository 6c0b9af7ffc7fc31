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

/// Largest resident memory of this process so far, or since [`forget_peak_memory`] (bytes), where the system tells.
pub fn peak_memory() -> Option<usize> {
    memory("VmHWM:")
}

/// Resident memory of this process (bytes), where the system tells.
pub fn resident_memory() -> Option<usize> {
    memory("VmRSS:")
}

/// Lets [`peak_memory`] begin anew; `None` where the system does not offer it.
pub fn forget_peak_memory() -> Option<()> {
    std::fs::write("/proc/self/clear_refs", "5").ok()
}

fn memory(key: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(key))?;
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

/// CPU seconds of this process, all threads, with the clock's nanosecond resolution (the scheduler's own statistics lag by a tick).
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

/// What this machine gives to any program on several threads at this moment: wall-time speed-up of arithmetic in registers and of streaming
/// through memory. Virtual processors may share a core, and cores share the memory, so neither need be the number of threads.
#[derive(Debug, Clone, Copy)]
pub struct ThreadScaling {
    /// Of arithmetic.
    pub arithmetic: f64,
    /// Of streaming.
    pub memory: f64,
}

impl ThreadScaling {
    /// Measures it; the best of `repeats`.
    pub fn measure(threads: usize, repeats: usize) -> Self {
        const DOUBLES: usize = 1 << 22;
        let work = |_: usize| {
            let mut x = [1.0f64, 1.1, 1.2, 1.3];
            for _ in 0..20_000_000 {
                x = x.map(|x| x * 0.999_999 + 1e-6);
            }
            std::hint::black_box(x);
        };
        let mut arrays = vec![vec![1.0f64; DOUBLES]; 2 * threads];
        let mut stream = |used: usize| {
            // The same amount of work in all, spread over `used` threads.
            let passes = 8 * threads / used;
            std::thread::scope(|scope| {
                for pair in arrays.chunks_exact_mut(2).take(used) {
                    let (a, b) = pair.split_at_mut(1);
                    scope.spawn(move || {
                        for _ in 0..passes {
                            for (a, b) in a[0].iter_mut().zip(&b[0]) {
                                *a = 0.5 * *a + b;
                            }
                        }
                        std::hint::black_box(&a[0][DOUBLES / 2]);
                    });
                }
            });
        };
        let wall = |run: &mut dyn FnMut()| {
            let best = (0..repeats.max(1)).map(|_| {
                let start = Instant::now();
                run();
                start.elapsed().as_secs_f64()
            });
            best.fold(f64::INFINITY, f64::min)
        };
        let one = wall(&mut || (0..threads).for_each(work));
        let many = wall(&mut || {
            std::thread::scope(|scope| (0..threads).for_each(|i| _ = scope.spawn(move || work(i))));
        });
        let (memory_one, memory_many) = (wall(&mut || stream(1)), wall(&mut || stream(threads)));
        Self { arithmetic: one / many, memory: memory_one / memory_many }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_sees_microseconds() {
        let clock = CpuClock::start();
        let mut sum = 0.0;
        for i in 0..20_000 {
            sum += std::hint::black_box(f64::from(i)).sqrt();
        }
        std::hint::black_box(sum);
        assert!(clock.seconds() > 0.0);
    }
}
