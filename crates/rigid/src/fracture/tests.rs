//! Cuts checked against their definition.

use super::*;
use splashdown_geometry::Aabb;
use splashdown_geometry::grid::{Field, Grid, Location};
use splashdown_geometry::shapes::Shape;
use splashdown_math::{Dim, Space, Vector};

fn samples<const D: usize>(shape: &Shape<D>, h: f64) -> Field<D>
where
    Dim<D>: Space<D>,
{
    let grid = Grid::covering(&shape.bounds(), h, 2).unwrap();
    let mut field = Field::with_ghost(&grid, Location::Cell, 0, 0.0);
    let lattice = *field.lattice();
    field.update(|index, _| shape.signed_distance(&lattice.position(index)));
    field
}

fn up<const D: usize>() -> Vector<D> {
    Vector::from_fn(|a, _| if a == 1 { 1.0 } else { 0.0 })
}

fn surface_points<const D: usize>(phi: &Field<D>) -> Vec<Vector<D>> {
    splashdown_geometry::iso_surface::extract(phi, &Default::default()).unwrap().mesh.points
}

/// Every voxel is in one piece, pieces agree with the slow definition of the pattern, samples have the right sign, no particle is lost.
fn cut_is_exact<const D: usize>(
    phi: &Field<D>,
    pattern: &Pattern<D>,
    placement: &Placement<D>,
) -> Vec<Piece<D>>
where
    Dim<D>: Space<D>,
{
    let particles = surface_points(phi);
    let options = CutOptions { least_voxels: 1, ..CutOptions::default() };
    let pieces = cut(phi, &particles, pattern, placement, &options).unwrap();
    let lattice = phi.lattice();
    let mut owner = vec![usize::MAX; lattice.len()];
    for (number, piece) in pieces.iter().enumerate() {
        let mut count = 0;
        for index in piece.phi.lattice().indices() {
            let value = piece.phi.at(index);
            assert!(value.is_finite());
            if value <= 0.0 {
                count += 1;
                let local = lattice.local(&piece.phi.lattice().position(index));
                let at = std::array::from_fn(|a| local[a].round() as isize);
                let offset = lattice.offset(at);
                assert!(phi.values()[offset] <= 0.0, "a voxel that the body does not have");
                assert_eq!(owner[offset], usize::MAX, "a voxel in two pieces");
                owner[offset] = number;
            }
        }
        assert_eq!(count, piece.voxels);
        assert!(piece.particles.len() >= 4);
    }
    let h = lattice.spacing()[0];
    for index in lattice.indices() {
        let offset = lattice.offset(index);
        assert_eq!(phi.values()[offset] <= 0.0, owner[offset] != usize::MAX);
        if owner[offset] == usize::MAX {
            continue;
        }
        // Neighbours in one region are in one piece, neighbours in one piece in one region.
        let place = |index| pattern.locate(&placement.to_pattern(&lattice.position(index)));
        let (region, depth) = place(index);
        for a in 0..D {
            let mut next = index;
            next[a] += 1;
            if next[a] as usize >= lattice.counts()[a] || phi.at(next) > 0.0 {
                continue;
            }
            let (other, far) = place(next);
            // Ties are decided by rounding.
            if depth.min(far) > 1e-9 {
                assert_eq!(region == other, owner[offset] == owner[lattice.offset(next)], "{index:?}");
            }
        }
        // The distance is the definition: max(body, region).
        let piece = &pieces[owner[offset]];
        let there = piece.phi.sample(
            &lattice.position(index),
            splashdown_geometry::grid::Interpolation::Linear,
            splashdown_geometry::grid::Reach::Interior,
        );
        let expected = phi.values()[offset].max(-depth * placement.scale);
        assert!((there - expected).abs() < 1e-6 * h.max(expected.abs()), "{there} {expected}");
    }
    let given: usize =
        pieces.iter().map(|piece| particles.iter().filter(|p| piece.particles.contains(p)).count()).sum();
    // All but those of pieces as small as the samples, which lie within a cell.
    assert!(100 * given >= 99 * particles.len());
    let near = |p: &Vector<D>| pieces.iter().flat_map(|piece| &piece.particles).any(|q| (q - p).norm() <= h);
    assert!(particles.iter().all(near));
    pieces
}

fn all_patterns_cut<const D: usize>()
where
    Dim<D>: Space<D>,
{
    let half = Vector::from_fn(|a, _| [0.5, 0.3, 0.4][a]);
    let body = Shape::cuboid(half).unwrap().smooth_union(
        Shape::ball(0.3).unwrap().translated(Vector::from_fn(|a, _| if a == 0 { 0.6 } else { 0.1 })).unwrap(),
        0.1,
    );
    let phi = samples(&body.unwrap(), if D == 2 { 0.02 } else { 0.04 });
    let bounds = Aabb { min: -half, max: half };
    let impact = Vector::from_fn(|a, _| [0.1, 0.3, -0.05][a]);
    let patterns = [
        Pattern::<D>::voronoi(40, 1).unwrap(),
        Pattern::radial(40, 2).unwrap(),
        Pattern::realistic(40, 3).unwrap(),
        Pattern::glass(7, 4, 0.5, 4).unwrap(),
        Pattern::radial(30, 5).unwrap().sampled(50).unwrap(),
    ];
    for pattern in &patterns {
        let normal = Vector::from_fn(|a, _| [0.3, 0.9, 0.1][a]);
        let placement = Placement::general(pattern, impact, &normal, 0.7, &bounds);
        let pieces = cut_is_exact(&phi, pattern, &placement);
        assert!(pieces.len() > 3);
        // The pattern's point of impact is where the body was hit, its normal is the hit's.
        assert!((placement.to_body(&pattern.impact()) - impact).norm() < 1e-12);
        let along = placement.to_body(&(pattern.impact() + pattern.normal())) - impact;
        assert!((along.normalize() - normal.normalize()).norm() < 1e-9);
        // The box holds the body.
        for corner in 0..1usize << D {
            let x = Vector::from_fn(|a, _| if corner >> a & 1 == 1 { half[a] } else { -half[a] });
            assert!(pattern.bounds().grown(1e-9).contains(&placement.to_pattern(&x)));
        }
    }
    let sampled = &patterns[4];
    let placement = Placement::aligned(sampled, impact, phi.lattice()).unwrap();
    let off = placement.to_body(&sampled.impact()) - impact;
    assert!(off.amax() <= 0.5001 * phi.lattice().spacing()[0]);
    cut_is_exact(&phi, sampled, &placement);
}

#[test]
fn cuts_are_what_their_patterns_say_in_the_plane() {
    all_patterns_cut::<2>();
}

#[test]
fn cuts_are_what_their_patterns_say_in_space() {
    all_patterns_cut::<3>();
}

#[test]
fn made_to_measure_patterns_give_the_pieces_asked_for_anywhere() {
    let wall = Shape::<3>::cuboid(Vector::from([0.75, 0.05, 0.5])).unwrap();
    let phi = samples(&wall, 0.02);
    for kind in [PatternKind::Voronoi, PatternKind::Radial, PatternKind::Realistic] {
        for impact in [[0.0, 0.05, 0.0], [0.7, 0.05, -0.45], [-0.3, 0.05, 0.2]] {
            let spec = PatternSpec { kind, pieces: 25, seed: 9 };
            let pattern = spec.pattern(&phi, &impact.into(), &up()).unwrap();
            let pieces =
                cut(&phi, &surface_points(&phi), &pattern, &Placement::identity(), &CutOptions::default())
                    .unwrap();
            assert!((20..=32).contains(&pieces.len()), "{kind:?} at {impact:?}: {} pieces", pieces.len());
            let total: u64 = pieces.iter().map(|piece| piece.voxels).sum();
            assert_eq!(total, VoxelSums::of(&phi).count);
            assert_eq!(pattern, spec.pattern(&phi, &impact.into(), &up()).unwrap());
        }
    }
}

#[test]
fn a_tiling_of_boxes_is_imported_and_gaps_and_overlaps_are_refused() {
    use splashdown_geometry::mesh::SurfaceMesh;
    let cuboid = |low: [f64; 3], high: [f64; 3]| -> SurfaceMesh<3> {
        let point = |n: usize| Vector::from_fn(|a, _| if n >> (2 - a) & 1 == 1 { high[a] } else { low[a] });
        let sides: [[u32; 4]; 6] =
            [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];
        SurfaceMesh {
            points: (0..8).map(point).collect(),
            elements: sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
        }
    };
    let import = |boxes: &[SurfaceMesh<3>]| Pattern::from_surfaces(boxes, 32, Vector::repeat(0.1), up());
    let left = cuboid([-1.0, -1.0, -1.0], [0.0, 1.0, 1.0]);
    let (lower, upper) =
        (cuboid([0.0, -1.0, -1.0], [1.0, 0.3, 1.0]), cuboid([0.0, 0.3, -1.0], [1.0, 1.0, 1.0]));
    let pattern = import(&[left.clone(), lower.clone(), upper.clone()]).unwrap();
    for (x, region, depth) in [
        ([-0.5, 0.0, 0.0], 0, 0.5),
        ([-0.9, 0.9, 0.9], 0, 0.9),
        ([0.4, 0.2, 0.0], 1, 0.1),
        ([0.1, 0.9, 0.0], 2, 0.1),
        ([5.0, 0.9, 0.0], 2, 0.6),
    ] {
        let (found, distance) = pattern.locate(&x.into());
        assert_eq!(found, region, "{x:?}");
        assert!((distance - depth).abs() < 0.04, "{x:?}: {distance}");
    }
    let gap = import(&[left.clone(), cuboid([0.0, -1.0, -1.0], [1.0, 0.0, 1.0]), upper]);
    assert!(matches!(gap, Err(PatternError::NotTiling { .. })), "{gap:?}");
    let overlap = import(&[left, lower, cuboid([-0.5, 0.3, -1.0], [1.0, 1.0, 1.0])]);
    assert!(matches!(overlap, Err(PatternError::NotTiling { .. })), "{overlap:?}");
    let mut open = cuboid([-1.0; 3], [1.0; 3]);
    open.elements.pop();
    assert!(matches!(import(&[open]), Err(PatternError::Region { region: 0, .. })));
    assert_eq!(import(&[]), Err(PatternError::Count(0)));
}

#[test]
fn impossible_patterns_are_refused() {
    assert_eq!(Pattern::<3>::voronoi(0, 1), Err(PatternError::Count(0)));
    assert_eq!(Pattern::<2>::radial(MOST_REGIONS + 1, 1), Err(PatternError::Count(MOST_REGIONS + 1)));
    assert_eq!(Pattern::<3>::glass(0, 3, 0.1, 1), Err(PatternError::Count(0)));
    let bounds = Aabb { min: Vector::<2>::repeat(-1.0), max: Vector::repeat(1.0) };
    let from = |seed: f64, impact: f64, normal: Vector<2>, rough| {
        Pattern::from_seeds(vec![Vector::repeat(seed)], rough, bounds, Vector::repeat(impact), normal)
    };
    assert_eq!(from(f64::NAN, 0.0, up(), None), Err(PatternError::NotFinite("seeds")));
    assert_eq!(from(0.0, 2.0, up(), None), Err(PatternError::ImpactOutside));
    assert_eq!(from(0.0, f64::NAN, up(), None), Err(PatternError::ImpactOutside));
    assert_eq!(from(0.0, 0.0, Vector::zeros(), None), Err(PatternError::NotFinite("normal")));
    let rough = Roughness { amplitude: 0.1, wavelength: 0.0, octaves: 2, seed: 1 };
    assert_eq!(from(0.0, 0.0, up(), Some(rough)), Err(PatternError::Roughness));
    // One region does not cut.
    let whole = from(0.0, 0.0, up(), None).unwrap();
    let phi = samples(&Shape::<2>::ball(0.5).unwrap(), 0.05);
    let pieces = cut(&phi, &[], &whole, &Placement::identity(), &CutOptions::default()).unwrap();
    assert_eq!(pieces.len(), 1);
}

/// A body of density 1000 that breaks into `pieces` by a pattern of the given kind.
fn breakable(geometry: crate::Geometry<3>, kind: PatternKind, pieces: u32, cells: u32) -> crate::Body<3> {
    let mass = 1000.0 * geometry.properties().unwrap().volume;
    let rule = BreakRule { cells, ..BreakRule::made(PatternSpec { kind, pieces, seed: 3 }) };
    crate::Body::with_geometry("body", crate::Kind::Dynamic, mass, std::sync::Arc::new(geometry))
        .unwrap()
        .breakable(Breakable::new(1.0, std::sync::Arc::new(rule)))
}

fn fragments(body: &crate::Body<3>, frame: splashdown_math::Frame<3>, at: Vector<3>) -> Vec<Fragment<3>> {
    let state = crate::BodyState::new(body, frame, &splashdown_math::Twist::zero());
    let hit = Hit { point: at, normal: up(), impulse: 10.0 };
    shatter(body, &state, &hit).unwrap().unwrap()
}

/// Fragments of a box are the polytopes that its Voronoi cells cut out of it: they fill it and do not overlap, and those of a fragment fill the fragment.
#[test]
fn fragments_of_a_box_are_polytopes_that_fill_it() {
    let frame = splashdown_math::Frame {
        position: Vector::from([0.3, 1.0, -2.0]),
        ..splashdown_math::Frame::identity()
    };
    let wall = breakable(
        crate::Geometry::cuboid(Vector::from([0.75, 0.05, 0.5])).unwrap(),
        PatternKind::Radial,
        25,
        75,
    );
    let volume = |fragments: &[Fragment<3>]| -> f64 {
        let one = |fragment: &Fragment<3>| {
            let hull =
                fragment.body.geometry.as_ref().unwrap().polytope().expect("a fragment that is no polytope");
            hull.surface().enclosed_integrals().unwrap().measure
        };
        fragments.iter().map(one).sum()
    };
    let disjoint = |fragments: &[Fragment<3>]| {
        for (number, a) in fragments.iter().enumerate() {
            for b in &fragments[..number] {
                let placed = [a, b].map(|fragment| crate::collide::Placed {
                    geometry: fragment.body.geometry.as_deref().unwrap(),
                    pose: crate::collide::Pose::new(&fragment.state.frame),
                });
                let mut contacts = Vec::new();
                crate::collide::collide(&placed[0], &placed[1], -1e-7, &mut contacts);
                assert!(contacts.is_empty(), "{} and {} overlap", a.body.name, b.body.name);
            }
        }
    };
    let pieces = fragments(&wall, frame, Vector::from([0.4, 1.05, -1.9]));
    assert!((volume(&pieces) - 0.15).abs() < 1e-9, "{}", volume(&pieces));
    disjoint(&pieces);
    let whole = &pieces[0];
    let again = fragments(&whole.body, whole.state.frame, whole.state.frame.position);
    assert!((volume(&again) - volume(&pieces[..1])).abs() < 1e-9);
    disjoint(&again);
}

/// Uneven faces and round bodies: polytopes as exact as the samples. A body with a dent keeps its samples where they are needed.
#[test]
fn fragments_are_polytopes_where_the_samples_cannot_tell() {
    let at = Vector::from([0.275, 0.0, 0.1]);
    for kind in [PatternKind::Radial, PatternKind::Realistic] {
        let cylinder = crate::Geometry::shape(Shape::cylinder(0.275, 0.525).unwrap(), 48).unwrap();
        let pieces = fragments(&breakable(cylinder, kind, 25, 53), splashdown_math::Frame::identity(), at);
        let convex = pieces.iter().filter(|p| p.body.geometry.as_ref().unwrap().polytope().is_some()).count();
        assert!(10 * convex >= 9 * pieces.len(), "{kind:?}: {convex} of {}", pieces.len());
    }
    // A ring in few pieces: none of them is convex.
    let ring = crate::Geometry::shape(Shape::torus(0.4, 0.08).unwrap(), 48).unwrap();
    let pieces =
        fragments(&breakable(ring, PatternKind::Voronoi, 3, 64), splashdown_math::Frame::identity(), at);
    let convex = pieces.iter().filter(|p| p.body.geometry.as_ref().unwrap().polytope().is_some()).count();
    assert_eq!(convex, 0);
}
