//! The list of cases, and the quickest of them.

use splashdown_cases::all;
use splashdown_verify::{Speed, run};

/// The quickest cases; `./check` runs all fast ones.
#[test]
fn quickest_cases_pass() {
    for case in all().iter().filter(|case| case.speed == Speed::Fast && case.seconds <= 0.5) {
        let outcome = run(case);
        let failed: Vec<_> = outcome.measurements.rows.iter().filter(|row| !row.pass).collect();
        assert!(outcome.passed(), "{}: {:?} {failed:#?}", case.name, outcome.error);
    }
}

#[test]
fn names_are_unique_and_well_formed() {
    let cases = all();
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
