//! Particles of deformable bodies against rigid bodies: push-out with particles as centre and as neighbours (RB-27), and one rigid body against many
//! particles along their normals only (RB-39; eq. 4.3 and 4.4 of the source with the sign of spec/rigid-bodies.md section 8).

use splashdown_math::{Dim, Space, Twist, Vector};
use splashdown_rigid::contact::InverseInertia;
use splashdown_rigid::contact::push_out::{Outer, resolve};

fn body(mass: f64, moments: [f64; 3]) -> InverseInertia<3> {
    let turn = Dim::<3>::exp(&Vector::from([0.3, -0.8, 0.5]));
    let inverse = Dim::<3>::inertia_from_principal(&moments.map(|moment| 1.0 / moment));
    InverseInertia { mass: 1.0 / mass, inertia: Dim::<3>::rotate_inertia(&turn, &inverse) }
}

/// Momentum and angular momentum of displacements in one unit of time.
fn momenta(inverse: &InverseInertia<3>, moved: &Twist<3>, place: &Vector<3>) -> (Vector<3>, Vector<3>) {
    let linear = moved.linear / inverse.mass;
    let turns = inverse.inertia.iter().any(|&x| x != 0.0);
    let spin =
        if turns { Dim::<3>::invert_inertia(&inverse.inertia) * moved.angular } else { Vector::zeros() };
    (linear, spin + place.cross(&linear))
}

#[test]
fn a_particle_between_two_bodies_is_the_centre() {
    let particle = InverseInertia::<3>::particle(1.0 / 0.2);
    let bodies = [body(3.0, [1.0, 2.0, 2.5]), body(0.5, [0.1, 0.2, 0.15])];
    let arms = [Vector::from([0.4, -0.5, 0.1]), Vector::from([-0.2, 0.3, 0.6])];
    let wanted = [Vector::from([0.01, 0.02, -0.01]), Vector::from([-0.03, 0.0, 0.02])];
    let outer: Vec<Outer<3>> = (0..2)
        .map(|k| Outer {
            arm: Vector::zeros(),
            own_arm: arms[k],
            inverse: bodies[k],
            displacement: wanted[k],
            normal: None,
        })
        .collect();
    let moved = resolve(&particle, &outer);
    let (mut linear, mut angular) = momenta(&particle, &moved.centre, &Vector::zeros());
    for k in 0..2 {
        let relative = moved.centre.linear - moved.outer[k].at(&arms[k]);
        assert!((relative - wanted[k]).norm() < 1e-14, "{relative}");
        let (p, l) = momenta(&bodies[k], &moved.outer[k], &-arms[k]);
        linear += p;
        angular += l;
    }
    assert!(linear.norm() < 1e-14 && angular.norm() < 1e-14, "{linear} {angular}");
    // The ground instead of the first body: the particle follows it exactly.
    let ground = Outer { inverse: InverseInertia::infinite(), ..outer[0] };
    let moved = resolve(&particle, &[ground, outer[1]]);
    assert!((moved.centre.linear - wanted[0]).norm() < 1e-14);
    assert!((moved.centre.linear - moved.outer[1].at(&arms[1]) - wanted[1]).norm() < 1e-14);
}

#[test]
fn a_body_meets_many_particles_along_their_normals() {
    let centre = body(2.0, [0.5, 0.7, 0.9]);
    let outer: Vec<Outer<3>> = (0..12)
        .map(|k| {
            let k = f64::from(k);
            let normal = Vector::from([(1.3 * k).sin(), (2.1 * k).cos(), (0.7 * k + 1.0).sin()]).normalize();
            Outer {
                arm: normal * 0.5 + Vector::from([0.1 * (3.0 * k).sin(), 0.05 * k.cos(), 0.0]),
                own_arm: Vector::zeros(),
                inverse: InverseInertia::particle(1.0 / (0.01 + 0.02 * k)),
                displacement: normal * (0.01 * (1.7 * k).sin()),
                normal: Some(normal),
            }
        })
        .collect();
    let moved = resolve(&centre, &outer);
    let (mut linear, mut angular) = momenta(&centre, &moved.centre, &Vector::zeros());
    for (o, own) in outer.iter().zip(&moved.outer) {
        let normal = o.normal.unwrap();
        let relative = moved.centre.at(&o.arm) - own.linear;
        assert!((normal.dot(&relative) - normal.dot(&o.displacement)).abs() < 1e-14);
        assert!((own.linear - normal * normal.dot(&own.linear)).norm() < 1e-15, "no push along the surface");
        let (p, l) = momenta(&o.inverse, own, &o.arm);
        linear += p;
        angular += l;
    }
    assert!(linear.norm() < 1e-14 && angular.norm() < 1e-14, "{linear} {angular}");
    assert!(moved.centre.linear.norm() > 1e-5);
    // A body that nothing moves: each particle by itself.
    let moved = resolve(&InverseInertia::infinite(), &outer);
    for (o, own) in outer.iter().zip(&moved.outer) {
        assert!((own.linear + o.displacement).norm() < 1e-15);
    }
}
