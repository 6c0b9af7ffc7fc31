//! All verification cases, by part.

mod contact;
mod deformable;
mod fluid;
mod foundation;
mod rigid;

use crate::Case;

/// Every case, in the order of `verify --list`.
pub fn all() -> Vec<Case> {
    [foundation::CASES, &rigid::cases(), contact::CASES, deformable::CASES, fluid::CASES].concat()
}

#[cfg(test)]
mod tests {
    use crate::{Speed, run};

    /// The quickest cases; `./check` runs all fast ones with the release build.
    #[test]
    fn quickest_cases_pass() {
        for case in super::all().iter().filter(|case| case.speed == Speed::Fast && case.seconds <= 0.5) {
            let outcome = run(case);
            let failed: Vec<_> = outcome.measurements.rows.iter().filter(|row| !row.pass).collect();
            assert!(outcome.passed(), "{}: {:?} {failed:#?}", case.name, outcome.error);
        }
    }

    #[test]
    fn names_are_unique_and_well_formed() {
        let cases = super::all();
        for (index, case) in cases.iter().enumerate() {
            assert!(cases[..index].iter().all(|other| other.name != case.name), "{} twice", case.name);
            let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '/';
            assert!(case.name.split('/').count() == 2 && case.name.chars().all(fine), "{}", case.name);
            assert!(
                !case.spec.is_empty() && !case.source.is_empty() && !case.summary.is_empty(),
                "{}",
                case.name
            );
        }
    }
}
