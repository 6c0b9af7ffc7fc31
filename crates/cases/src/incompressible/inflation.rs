//! A ring of incompressible material, inflated by a pressure inside: with the stretches `l_a = a`, `l_b = b/2`, `b^2 = a^2 + 3` of the two edges,
//!
//! ```text
//! P / mu = ln(l_a / l_b) + 1/2 (l_b^-2 - l_a^-2) = 0.428228 for l_a = 1.5.
//! ```
//!
//! One constraint for the ring around each node leaves triangles free enough for second order; one for each triangle, or a nearly incompressible material, locks them.
//!
//! Source: spec/incompressible-solids.md 5.2 B.

use super::annulus::ring;
use super::statics::{Keeps, Vessel, unit_material};
use crate::{Case, CaseError, Measurements, Plot, Scale, Series, Speed};
use splashdown_deformable::{Elements, Solid};
use splashdown_math::Vector;

pub(super) const CASE: Case = Case {
    name: "incompressible/inflation",
    spec: "B (incompressible-solids), INC-1, INC-21",
    summary: "a ring inflated by pressure: second order with volumes of one-rings, locked with one constraint a triangle or at Poisson's ratio 0.499",
    source: "exact: thick-walled neo-Hookean cylinder; spec/incompressible-solids.md 5.2 B",
    speed: Speed::Fast,
    seconds: 6.0,
    run,
};

/// Relative error of the displacement of the inner edge.
fn displacement_error(radial: usize, around: usize, keeps: Keeps, pressure: f64) -> Result<f64, CaseError> {
    let failed = |error: &dyn std::fmt::Display| CaseError::new("building the ring", error.to_string());
    let mesh = ring(radial, around);
    let poisson = if let Keeps::Material(poisson) = keeps { poisson } else { 0.0 };
    let elements = Elements::triangles(&mesh, 0, unit_material(poisson)?).map_err(|error| failed(&error))?;
    let mut mass = vec![0.0; mesh.points.len()];
    elements.add_masses(&mut mass);
    let mut solid = Solid::<2>::new(mass, vec![false; mesh.points.len()], Vector::zeros());
    solid.add(elements);
    let mut vessel = Vessel {
        solid,
        simplices: mesh.elements.iter().flatten().copied().collect(),
        position: mesh.points.iter().flat_map(|x| [x[0], x[1]]).collect(),
        cavity: (0..around as u32).map(|node| [node, (node + 1) % around as u32]).collect(),
        held: Vec::new(),
        unbalanced: Vec::new(),
    };
    vessel.inflate(pressure, 5, keeps)?;
    let radius = |x: &[f64]| (x[0] * x[0] + x[1] * x[1]).sqrt();
    let mean = vessel.position.chunks_exact(2).take(around).map(radius).sum::<f64>() / around as f64;
    Ok((mean - 1.5) / 0.5)
}

fn run(out: &mut Measurements) -> Result<(), CaseError> {
    let (inner, outer) = (1.5f64, 0.5 * (1.5f64 * 1.5 + 3.0).sqrt());
    let pressure = (inner / outer).ln() + 0.5 * (outer.powi(-2) - inner.powi(-2));
    out.near(
        "pressure / shear modulus at a stretch of 1.5",
        "formula",
        pressure,
        0.428228,
        5e-7,
        CASE.source,
    );
    // Relative errors of the prototype. Ours has the same mesh and the same elements: what differs is the split of the squares, so 5 % of each, or its last digit.
    let sizes = [(4, 24), (8, 48), (16, 96)];
    let ways = [
        ("one-rings", Keeps::Rings, [-0.050, -0.0128, -0.0032]),
        ("every triangle", Keeps::Elements, [-0.17, -0.14, -0.13]),
        ("Poisson's ratio 0.499", Keeps::Material(0.499), [-0.17, -0.13, -0.086]),
    ];
    let mut series = Vec::new();
    for (name, keeps, published) in ways {
        let mut errors = Vec::new();
        for ((radial, around), published) in sizes.into_iter().zip(published) {
            let error = displacement_error(radial, around, keeps, pressure)?;
            let digit = if keeps == Keeps::Rings { 0.05 * f64::abs(published) } else { 0.005 };
            let size = format!("{radial} x {around}, {name}");
            out.near("relative error of the inner displacement", &size, error, published, digit, CASE.source);
            errors.push(error.abs());
        }
        if keeps == Keeps::Rings {
            for pair in [0, 1] {
                let order = (errors[pair] / errors[pair + 1]).log2();
                out.at_least(
                    "order",
                    &format!("one-rings, {} to {} cells", 4 << pair, 8 << pair),
                    order,
                    1.9,
                    "second order",
                );
            }
        }
        let points =
            sizes.iter().zip(&errors).map(|((radial, _), error)| [1.0 / *radial as f64, *error]).collect();
        series.push(Series { label: name.into(), points, reference: false });
    }
    out.plot(Plot {
        title: "Inflated ring: error of the inner displacement".into(),
        x: "size of a cell (m)".into(),
        y: "relative error".into(),
        scale: Scale::LogLog,
        series,
    });
    Ok(())
}
