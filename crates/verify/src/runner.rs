//! Choosing cases by name and running them.

use crate::{Case, Glob, Measurements, Speed};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What came of one case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// What it measured before it ended.
    pub measurements: Measurements,
    /// Why it could not be carried out to the end.
    pub error: Option<String>,
    /// Wall-clock time (s).
    pub seconds: f64,
}

impl Outcome {
    /// Carried out to the end, and every measured value held.
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.measurements.passed()
    }
}

/// A pattern that cannot be read, or that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Not a glob.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// As given.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No case has such a name.
    #[error("no case is named `{pattern}`{}; `splashdown verify --list` names them all", near.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default())]
    Unknown {
        /// As given.
        pattern: String,
        /// The nearest name.
        near: Option<String>,
    },
    /// The pattern matches slow cases only.
    #[error("`{pattern}` matches only slow cases ({names}); give the full name or `--all`")]
    OnlySlow {
        /// As given.
        pattern: String,
        /// What it matched.
        names: String,
    },
}

/// The cases that `patterns` name: full names, globs such as `foundation/*`, or everything if there is none.
///
/// Slow cases run by their full name or with `all`.
pub fn select(cases: &[Case], patterns: &[String], all: bool) -> Result<Vec<Case>, SelectError> {
    let everything = ["*".to_string()];
    let patterns = if patterns.is_empty() { &everything[..] } else { patterns };
    let mut chosen = vec![false; cases.len()];
    for pattern in patterns {
        let glob = Glob::new(pattern)
            .map_err(|error| SelectError::Pattern { pattern: pattern.clone(), reason: error.to_string() })?;
        let matching: Vec<usize> = (0..cases.len()).filter(|&i| glob.is_match(cases[i].name)).collect();
        let runnable = |i: &&usize| all || cases[**i].speed == Speed::Fast || cases[**i].name == pattern;
        if matching.is_empty() {
            return Err(SelectError::Unknown { pattern: pattern.clone(), near: nearest(cases, pattern) });
        }
        if matching.iter().filter(runnable).count() == 0 {
            let names = matching.iter().map(|&i| cases[i].name).collect::<Vec<_>>().join(", ");
            return Err(SelectError::OnlySlow { pattern: pattern.clone(), names });
        }
        matching.iter().filter(runnable).for_each(|&i| chosen[i] = true);
    }
    Ok(cases.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(case, _)| *case).collect())
}

/// The name with the smallest edit distance, if it is near enough to be a slip.
fn nearest(cases: &[Case], pattern: &str) -> Option<String> {
    cases
        .iter()
        .map(|case| (strsim::damerau_levenshtein(case.name, pattern), case.name))
        .min()
        .filter(|(distance, name)| *distance <= name.len() / 3)
        .map(|(_, name)| name.to_string())
}

/// Runs one case. A panic inside it is a failure of that case, not of the program.
pub fn run(case: &Case) -> Outcome {
    let start = Instant::now();
    let mut measurements = Measurements::default();
    let error = match catch_unwind(AssertUnwindSafe(|| (case.run)(&mut measurements))) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(payload) => Some(format!("panicked: {}", panic_message(payload.as_ref()))),
    };
    Outcome { case: *case, measurements, error, seconds: start.elapsed().as_secs_f64() }
}

fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "no message".into())
}

/// One measured quantity as `verify --json` writes it.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Name of the case.
    pub case: String,
    /// Row of the specification.
    pub spec: String,
    /// What was measured, with its unit.
    pub quantity: String,
    /// Our value; `null` if it is not finite.
    pub measured: f64,
    /// Exact or published value, or the bound.
    pub reference: f64,
    /// Allowed absolute deviation.
    pub tolerance: f64,
    /// How they are compared: `near`, `at_most`, `at_least`.
    pub criterion: crate::Criterion,
    /// Citation.
    pub source: String,
    /// Did it hold?
    pub pass: bool,
    /// Wall-clock time of the whole case (s).
    pub seconds: f64,
    /// Resolution of the run.
    pub resolution: String,
    /// Why the case could not be carried out, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The rows of `verify --json`; a case that broke off adds a row that fails and says why.
pub fn records(outcomes: &[Outcome]) -> Vec<Record> {
    let mut rows = Vec::new();
    for outcome in outcomes {
        for row in &outcome.measurements.rows {
            rows.push(Record {
                case: outcome.case.name.into(),
                spec: outcome.case.spec.into(),
                quantity: row.quantity.clone(),
                measured: row.measured,
                reference: row.reference,
                tolerance: row.tolerance,
                criterion: row.criterion,
                source: row.source.clone(),
                pass: row.pass,
                seconds: outcome.seconds,
                resolution: row.resolution.clone(),
                error: None,
            });
        }
        let reason = outcome.error.clone().or_else(|| {
            outcome.measurements.rows.is_empty().then(|| "the case measured nothing".to_string())
        });
        if let Some(error) = reason {
            rows.push(Record {
                case: outcome.case.name.into(),
                spec: outcome.case.spec.into(),
                quantity: "carried out to the end".into(),
                measured: 0.0,
                reference: 1.0,
                tolerance: 0.0,
                criterion: crate::Criterion::Near,
                source: outcome.case.source.into(),
                pass: false,
                seconds: outcome.seconds,
                resolution: "-".into(),
                error: Some(error),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CaseError;

    fn case(name: &'static str, speed: Speed, run: fn(&mut Measurements) -> Result<(), CaseError>) -> Case {
        Case { name, spec: "T-1", summary: "", source: "exact", speed, seconds: 0.0, run }
    }

    fn sample() -> Vec<Case> {
        vec![
            case("part/quick", Speed::Fast, |m| {
                m.near("one (m)", "-", 1.0, 1.0, 0.0, "exact");
                Ok(())
            }),
            case("part/slow", Speed::Slow, |_| Ok(())),
            case("other/panics", Speed::Fast, |_| panic!("boom")),
        ]
    }

    fn names(cases: &[Case]) -> Vec<&str> {
        cases.iter().map(|case| case.name).collect()
    }

    #[test]
    fn glob_runs_fast_cases_and_a_full_name_or_all_runs_slow_ones() {
        let cases = sample();
        let pick = |pattern: &str, all| select(&cases, &[pattern.to_string()], all);
        assert_eq!(names(&pick("part/*", false).unwrap()), ["part/quick"]);
        assert_eq!(names(&pick("part/*", true).unwrap()), ["part/quick", "part/slow"]);
        assert_eq!(names(&pick("part/slow", false).unwrap()), ["part/slow"]);
        assert_eq!(names(&select(&cases, &[], false).unwrap()), ["part/quick", "other/panics"]);
        assert!(matches!(pick("part/s*", false), Err(SelectError::OnlySlow { .. })));
        assert!(pick("part/quik", false).unwrap_err().to_string().contains("did you mean `part/quick`"));
        assert!(matches!(pick("part/[", false), Err(SelectError::Pattern { .. })));
    }

    #[test]
    fn empty_or_broken_case_fails_and_a_value_that_is_not_finite_fails() {
        let cases = sample();
        assert!(run(&cases[0]).passed());
        assert!(!run(&cases[1]).passed(), "a case that measures nothing has shown nothing");
        let broken = run(&cases[2]);
        assert!(!broken.passed() && broken.error.as_deref() == Some("panicked: boom"));
        let rows = records(&[run(&cases[0]), run(&cases[1]), broken]);
        assert_eq!(rows.iter().map(|row| row.pass).collect::<Vec<_>>(), [true, false, false]);
        let mut not_finite = Measurements::default();
        not_finite.at_least("speed (m/s)", "-", f64::INFINITY, 0.0, "exact");
        assert!(!not_finite.passed());
    }
}
