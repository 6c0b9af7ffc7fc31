//! Orders of convergence from errors at several resolutions.

use crate::{Plot, Scale, Series};

/// Slope of the least-squares line through (log h, log error): the order of the method.
pub(crate) fn order(errors: &[[f64; 2]]) -> f64 {
    let n = errors.len() as f64;
    let logs: Vec<[f64; 2]> = errors.iter().map(|e| e.map(f64::ln)).collect();
    let mean = |k: usize| logs.iter().map(|e| e[k]).sum::<f64>() / n;
    let (x, y) = (mean(0), mean(1));
    let covariance: f64 = logs.iter().map(|e| (e[0] - x) * (e[1] - y)).sum();
    let variance: f64 = logs.iter().map(|e| (e[0] - x) * (e[0] - x)).sum();
    covariance / variance
}

/// Errors over the spacing, with a dashed line of the expected slope through the finest point of each curve.
pub(crate) fn plot(title: &str, y: &str, curves: &[(String, Vec<[f64; 2]>, f64)]) -> Plot {
    let mut series = Vec::new();
    for (label, errors, slope) in curves {
        series.push(Series { label: label.clone(), points: errors.clone(), reference: false });
        if let Some(&[h, error]) = errors.last() {
            let line = errors.iter().map(|e| [e[0], error * (e[0] / h).powf(*slope)]).collect();
            series.push(Series { label: format!("order {slope}"), points: line, reference: true });
        }
    }
    Plot { title: title.into(), x: "spacing (m)".into(), y: y.into(), scale: Scale::LogLog, series }
}
