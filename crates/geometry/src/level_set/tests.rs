use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn grid<const D: usize>(n: usize, stretch: f64) -> Grid<D> {
    // Unequal spacing: fewer, longer cells on later axes.
    let cells = std::array::from_fn(|a| (n as f64 / stretch.powi(a as i32)).round() as usize);
    let spacing = Vector::from_fn(|a, _| 2.0 / cells[a] as f64);
    Grid::new(Vector::repeat(-1.0), spacing, cells).unwrap()
}

/// Not a distance, but zero on the sphere of radius 0.5.
fn bent<const D: usize>(x: &Vector<D>) -> f64 {
    (x.norm_squared() - 0.25) * (2.0 + x[0] - 0.5 * x[1]).exp()
}

/// Mean and largest error of the distance to the sphere, where it is smooth.
fn distance_error<const D: usize>(n: usize, options: &FastMarching) -> [f64; 2] {
    let mut phi = Field::from_fn(&grid::<D>(n, 1.25), Location::Cell, bent);
    let before = phi.clone();
    redistance(&mut phi, options).unwrap();
    for (old, new) in before.values().iter().zip(phi.values()).step_by(7) {
        assert!(new.is_finite() && old.is_finite());
    }
    let lattice = *phi.lattice();
    for index in lattice.indices() {
        assert_eq!(before.at(index) <= 0.0, phi.at(index) <= 0.0, "{index:?} changed side");
    }
    let error = |index: Index<D>, value: f64| {
        let r = lattice.position(index).norm();
        // The centre is a kink, where the front converges.
        if r < 0.3 { [0.0, 0.0, 0.0] } else { [(value - (r - 0.5)).abs(), (value - (r - 0.5)).abs(), 1.0] }
    };
    let [sum, worst, count] = phi.reduce([0.0; 3], error, |a, b| [a[0] + b[0], a[1].max(b[1]), a[2] + b[2]]);
    [sum / count, worst]
}

fn orders<const D: usize>(n: usize, options: &FastMarching) -> [f64; 2] {
    let (coarse, fine) = (distance_error::<D>(n, options), distance_error::<D>(2 * n, options));
    [(coarse[0] / fine[0]).log2(), (coarse[1] / fine[1]).log2()]
}

#[test]
fn fast_marching_has_its_order() {
    use InterfaceDistance::{Cubic, Linear};
    for interface in [Linear, Cubic] {
        let first = FastMarching { order: MarchingOrder::First, interface, ..Default::default() };
        let [mean, _] = orders::<2>(40, &first);
        assert!(mean > 0.75, "first order, 2D: {mean}");
        let [mean, _] = orders::<3>(24, &first);
        assert!(mean > 0.7, "first order, 3D: {mean}");
    }
    // The order is a limit: coarse grids still feel the kink.
    let second = FastMarching::default();
    let [mean, worst] = orders::<2>(100, &second);
    assert!(mean > 1.8 && worst > 1.6, "second order, 2D: {mean} {worst}");
    let [mean, worst] = orders::<3>(64, &second);
    assert!(mean > 1.75 && worst > 1.7, "second order, 3D: {mean} {worst}");
}

#[test]
fn random_fields_keep_their_signs() {
    let mut rng = Pcg64Mcg::seed_from_u64(9);
    for round in 0..20 {
        let mut phi = Field::new(&grid::<3>(8 + round % 5, 1.5), Location::Node, 0.0);
        for value in phi.values_mut() {
            *value = match round % 3 {
                0 => rng.random_range(-1.0..1.0),
                1 => rng.random_range(-1..=1) as f64,
                _ => rng.random_range(-1.0f64..1.0) * 1e-300,
            };
        }
        for order in [MarchingOrder::First, MarchingOrder::Second] {
            for interface in [InterfaceDistance::Linear, InterfaceDistance::Cubic] {
                let mut marched = phi.clone();
                redistance(&mut marched, &FastMarching { order, interface, ..Default::default() }).unwrap();
                for index in phi.lattice().indices() {
                    assert_eq!(phi.at(index) <= 0.0, marched.at(index) <= 0.0);
                    assert!(marched.at(index).is_finite());
                }
            }
        }
    }
}

#[test]
fn a_plane_is_reproduced_by_second_order_marching() {
    let normal = Vector::<3>::from([0.48, 0.6, 0.64]);
    let mut phi = Field::from_fn(&grid::<3>(20, 1.3), Location::Cell, |x| 3.0 * (normal.dot(x) - 0.1));
    redistance(&mut phi, &FastMarching::default()).unwrap();
    let lattice = *phi.lattice();
    for index in lattice.indices() {
        let exact = normal.dot(&lattice.position(index)) - 0.1;
        // Away from the edges, where no sample lies upwind on some axis.
        if (0..3).all(|a| lattice.position(index)[a].abs() < 0.4) {
            assert!((phi.at(index) - exact).abs() < 1e-6, "{index:?} {} {exact}", phi.at(index));
        }
    }
}

#[test]
fn the_band_limits_the_distance_and_threads_do_not_matter() {
    let start = Field::from_fn(&grid::<3>(40, 1.1), Location::Cell, bent);
    let options = FastMarching { band: 0.15, ..Default::default() };
    let with = |threads| {
        let mut phi = start.clone();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let marched = pool.install(|| redistance(&mut phi, &options)).unwrap();
        (phi, marched)
    };
    let (phi, marched) = with(1);
    assert_eq!((phi.clone(), marched), with(2));
    assert_eq!(phi.max_abs(), 0.15);
    assert!(marched.marched > 0 && marched.beyond > 0);
    let mut phi = start.clone();
    for band in [0.0, -1.0, f64::NAN] {
        let error = redistance(&mut phi, &FastMarching { band, ..Default::default() });
        assert!(matches!(error, Err(LevelSetError::Band(_))));
    }
    phi.set([3, 3, 3], f64::NAN);
    let error = redistance(&mut phi, &options).unwrap_err().to_string();
    assert_eq!(error, "phi is NaN at sample [3, 3, 3]; all values must be finite");
}

#[test]
fn a_field_without_surface_stays() {
    let mut phi = Field::new(&grid::<2>(10, 1.0), Location::Cell, 0.7);
    let marched = redistance(&mut phi, &FastMarching::default()).unwrap();
    assert_eq!(marched, Marched { interface: 0, marched: 0, beyond: 100 });
    assert!(phi.values().iter().all(|&v| v == 0.7));
}

/// Spec surface-tension 3.17: 100 reinitialisations of a circle, radius drift < 1e-3 dx at N = 40.
#[test]
fn a_hundred_reinitialisations_do_not_move_a_circle() {
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(0.05), [40; 2]).unwrap();
    let centre = Vector::from([0.013, -0.021]);
    // Slightly off a distance, as after advection.
    let mut phi =
        Field::from_fn(&grid, Location::Cell, |x| ((x - centre).norm() - 0.5) * (1.0 + 0.04 * x[0]));
    for _ in 0..100 {
        redistance(&mut phi, &FastMarching { keep_within: 0.1, ..Default::default() }).unwrap();
    }
    let options = crate::iso_surface::Extraction {
        crossing: crate::iso_surface::Crossing::NodalCubic,
        ..Default::default()
    };
    let surface = crate::iso_surface::extract(&phi, &options).unwrap();
    let radii: Vec<f64> = surface.mesh.points.iter().map(|p| (p - centre).norm() - 0.5).collect();
    let worst = radii.iter().fold(0.0f64, |m, r| m.max(r.abs())) / 0.05;
    assert!(worst < 1e-3, "largest drift {worst} dx");
}

#[test]
fn nothing_is_seen_through_blocked_links() {
    // Inside for x < 0; a wall at y = 0 blocks all links except that nothing is inside below it.
    let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(0.1), [20; 2]).unwrap();
    let mut phi = Field::from_fn(&grid, Location::Cell, |x| if x[1] > 0.0 { x[0] } else { 1.0 });
    let open = |index: Index<2>, axis: usize| !(axis == 1 && index[1] == 10);
    redistance_linked(&mut phi, &FastMarching::default(), open).unwrap();
    let lattice = *phi.lattice();
    for index in lattice.indices() {
        let x = lattice.position(index);
        let expected = if x[1] > 0.0 { x[0] } else { 1.0 };
        assert!((phi.at(index) - expected).abs() < 1e-6, "{index:?} {}", phi.at(index));
    }
}

/// Spec FB-T13.
#[test]
fn values_extend_constantly_along_normals() {
    let errors = |n: usize| {
        let grid = Grid::<2>::new(Vector::repeat(-1.0), Vector::repeat(2.0 / n as f64), [n; 2]).unwrap();
        let phi = Field::from_fn(&grid, Location::Cell, |x| x.norm() - 0.5);
        let mut values = phi.map(|i, p| if p < 0.0 { phi.lattice().position(i)[0] } else { f64::NAN });
        let mut known = phi.map(|_, p| p < 0.0);
        let reached = extend_along_normals(&mut values, &mut known, &phi, 0.3, |_, _| true).unwrap();
        assert_eq!(reached, phi.reduce(0, |_, p| usize::from((0.0..0.3).contains(&p)), |a, b| a + b));
        let error = |i: Index<2>, v: f64| {
            let x = phi.lattice().position(i);
            if phi.at(i) < 0.3 { (v - x[0] * (0.5 / x.norm()).min(1.0)).abs() } else { 0.0 }
        };
        let [sum, worst] =
            values.reduce([0.0; 2], |i, v| [error(i, v); 2], |a, b| [a[0] + b[0], a[1].max(b[1])]);
        [sum * grid.cell_volume(), worst]
    };
    let (coarse, fine) = (errors(40), errors(80));
    // Each value comes from samples up to a spacing inside the surface.
    assert!(coarse[1] < 2.0 / 40.0 && fine[1] < 2.0 / 80.0, "{coarse:?} {fine:?}");
    assert!((coarse[0] / fine[0]).log2() > 0.9, "{coarse:?} {fine:?}");
}

#[test]
fn values_normals_and_rejection_agree_everywhere() {
    let shape = Shape::<3>::cuboid(Vector::from([0.4, 0.3, 0.2])).unwrap();
    let level_set = LevelSet::from_shape(&grid(20, 1.2), Location::Node, &shape).unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let mut far = 0;
    for _ in 0..2000 {
        let x = Vector::<3>::from_fn(|_, _| rng.random_range(-2.0..2.0));
        let value = level_set.value(&x);
        assert_eq!(level_set.contains(&x), value < 0.0);
        assert_eq!(level_set.is_below(&x, 0.1), value < 0.1);
        assert!((level_set.normal(&x).norm() - 1.0).abs() < 1e-12);
        let gradient = level_set.gradient(&x);
        for a in 0..3 {
            let mut step = Vector::zeros();
            step[a] = 1e-6;
            let slope = (level_set.value(&(x + step)) - level_set.value(&(x - step))) / 2e-6;
            // A step across a kink between cells is not a derivative.
            if (slope - gradient[a]).abs() > 1e-5 {
                let near_face = (0..3).any(|b| {
                    let s = level_set.field().lattice().local(&x)[b];
                    (s - s.round()).abs() < 1e-4
                });
                assert!(near_face, "{x:?} {a}: {slope} {}", gradient[a]);
            }
        }
        if x.amax() > 1.0 {
            far += 1;
            // The extension outside is an upper bound of the true distance (triangle inequality).
            assert!(value > shape.signed_distance(&x) - 1e-2);
        }
    }
    assert!(far > 500);
    let centre = level_set.normal(&Vector::zeros());
    assert!((centre.norm() - 1.0).abs() < 1e-12);
}

#[test]
fn curvature_and_volume_of_a_ball_converge() {
    fn errors<const D: usize>(n: usize) -> (f64, f64)
    where
        Dim<D>: Space<D>,
    {
        let r = 0.6;
        let ball = Shape::<D>::ball(r).unwrap();
        let level_set = LevelSet::from_shape(&grid(n, 1.1), Location::Cell, &ball).unwrap();
        let exact = (D as f64 - 1.0) / r;
        let mut rng = Pcg64Mcg::seed_from_u64(4);
        let curvature = (0..300)
            .map(|_| {
                let x = Vector::<D>::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize() * r;
                (level_set.curvature(&x) - exact).abs()
            })
            .fold(0.0, f64::max);
        let volume = <Dim<D> as Space<D>>::BALL_VOLUME * r.powi(D as i32);
        (curvature, (level_set.volume() - volume).abs())
    }
    for (coarse, fine) in [(errors::<2>(32), errors::<2>(64)), (errors::<3>(32), errors::<3>(64))] {
        assert!((coarse.0 / fine.0).log2() > 1.7, "curvature {coarse:?} {fine:?}");
        assert!((coarse.1 / fine.1).log2() > 1.7, "volume {coarse:?} {fine:?}");
    }
}

#[test]
fn volume_counts_the_half_cells_at_the_boundary() {
    let grid = grid::<3>(10, 1.3);
    for location in [Location::Cell, Location::Node] {
        let full = LevelSet::from_field(Field::new(&grid, location, -1.0)).unwrap();
        assert!((full.volume() - 8.0).abs() < 1e-12);
        let half = LevelSet::from_field(Field::from_fn(&grid, location, |x| x[0] - 0.123)).unwrap();
        assert!((half.volume() - 4.0 * 1.123).abs() < 1e-12);
    }
}

#[test]
fn a_level_set_survives_storage() {
    let shape = Shape::<2>::ball(0.5).unwrap();
    let level_set = LevelSet::from_shape(&grid(12, 1.2), Location::Cell, &shape).unwrap();
    let bytes = postcard::to_stdvec(&level_set).unwrap();
    assert_eq!(postcard::from_bytes::<LevelSet<2>>(&bytes).unwrap(), level_set);
    let faces = Field::new(level_set.field().grid(), Location::Face(0), 1.0);
    assert!(matches!(LevelSet::from_field(faces), Err(LevelSetError::Faces)));
}
