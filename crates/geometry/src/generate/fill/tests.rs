use super::*;
use rand::{RngExt, SeedableRng};

/// A sum of random waves: a surface with handles, sheets and islands at every scale down to `shortest`.
fn waves<const D: usize>(seed: u64, shortest: f64) -> impl Fn(&Vector<D>) -> f64 + Sync {
    let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let terms: Vec<(Vector<D>, f64)> = (0..12)
        .map(|_| {
            let k =
                Vector::<D>::from_fn(|_, _| rng.random_range(-1.0..1.0)) * (std::f64::consts::TAU / shortest);
            (k, rng.random_range(0.0..std::f64::consts::TAU))
        })
        .collect();
    let offset = rng.random_range(-1.0..1.0);
    move |x| {
        let noise: f64 = terms.iter().map(|(k, phase)| (k.dot(x) + phase).sin()).sum();
        // Kept inside the unit box.
        (noise + offset).max(20.0 * (x.amax() - 0.9))
    }
}

fn in_unit_box<const D: usize>(cell: f64, smoothing: usize) -> FillOptions<D> {
    let corner = Vector::<D>::repeat(1.0);
    FillOptions { smoothing, ..FillOptions::new(cell, -corner, corner) }
}

/// Every facet belongs to one or two simplices, and the facets of one belong to the surface.
fn assert_conforming<const D: usize, const N: usize>(filled: &Filled<D, N>) {
    let mut count: HashMap<Vec<u32>, usize> = HashMap::new();
    for element in &filled.mesh.elements {
        for skip in 0..N {
            let mut facet: Vec<u32> = (0..N).filter(|i| *i != skip).map(|i| element[i]).collect();
            facet.sort_unstable();
            *count.entry(facet).or_default() += 1;
        }
    }
    for (facet, times) in count {
        assert!(times <= 2);
        if times == 1 {
            assert!(
                facet.iter().all(|p| filled.on_surface[*p as usize]),
                "a facet inside has one neighbour only"
            );
        }
    }
}

#[test]
fn angles_are_bounded_whatever_the_surface() {
    let (mut low, mut high) = (180f64, 0f64);
    for seed in 0..12 {
        // From smooth to far below the resolution, where every pattern of signs occurs.
        let shortest = 0.12 * (1 + seed % 6) as f64;
        let filled = fill::<3, 4, _>(waves(seed, shortest), &in_unit_box(0.1, 0)).unwrap();
        assert_conforming(&filled);
        assert_eq!(filled.quality.inverted, 0);
        low = low.min(filled.quality.min_angle);
        high = high.max(filled.quality.max_angle);
    }
    println!("tetrahedra: {low} to {high} degrees");
    assert!(low >= 10.78 && high <= 164.81, "{low} to {high} degrees");
}

#[test]
fn angles_are_bounded_in_the_plane() {
    let (mut low, mut high) = (180f64, 0f64);
    for seed in 0..30 {
        let shortest = 0.1 * (1 + seed % 6) as f64;
        let filled = fill::<2, 3, _>(waves(seed, shortest), &in_unit_box(0.05, 0)).unwrap();
        assert_conforming(&filled);
        assert_eq!(filled.quality.inverted, 0);
        low = low.min(filled.quality.min_angle);
        high = high.max(filled.quality.max_angle);
    }
    println!("triangles: {low} to {high} degrees");
    assert!(low >= 14.47 && high <= 141.0, "{low} to {high} degrees");
}

#[test]
fn smoothing_improves_angles_and_keeps_points_on_the_surface() {
    let torus = |x: &Vector<3>| {
        let ring = x.x.hypot(x.y) - 0.6;
        ring.hypot(x.z) - 0.25
    };
    let rough = fill::<3, 4, _>(torus, &in_unit_box(0.08, 0)).unwrap();
    let fine = fill::<3, 4, _>(torus, &in_unit_box(0.08, 4)).unwrap();
    println!("{:?}\n{:?}", rough.quality, fine.quality);
    assert_conforming(&fine);
    assert_eq!(fine.mesh.elements.len(), rough.mesh.elements.len());
    assert!(fine.quality.min_angle > rough.quality.min_angle + 3.0);
    assert!(fine.quality.max_angle < rough.quality.max_angle);
    for (x, on) in fine.mesh.points.iter().zip(&fine.on_surface) {
        if *on {
            assert!(torus(x).abs() < 1e-8);
        } else {
            assert!(torus(x) < 0.0);
        }
    }
}

#[test]
fn volume_converges_at_second_order() {
    fn orders<const D: usize, const N: usize>(exact: f64, cells: [f64; 2])
    where
        Cells<D, N>: Lattice<D, N>,
        Corners<N>: Element<N>,
    {
        let error = |cell| {
            let ball = |x: &Vector<D>| (x - Vector::<D>::repeat(0.013)).norm() - 0.8;
            fill::<D, N, _>(ball, &in_unit_box(cell, 2)).unwrap().volume_error(exact)
        };
        let order = (error(cells[0]) / error(cells[1])).log2() / (cells[0] / cells[1]).log2();
        assert!((1.7..2.4).contains(&order), "order {order} in {D}D");
    }
    orders::<2, 3>(std::f64::consts::PI * 0.64, [0.1, 0.0125]);
    orders::<3, 4>(4.0 / 3.0 * std::f64::consts::PI * 0.512, [0.16, 0.04]);
}

#[test]
fn impossible_requests_say_why() {
    let ball = |x: &Vector<3>| x.norm() - 0.5;
    let run = |f: &(dyn Fn(&Vector<3>) -> f64 + Sync), options: &FillOptions<3>| {
        fill::<3, 4, _>(f, options).unwrap_err()
    };
    assert_eq!(run(&ball, &in_unit_box(0.0, 0)), FillError::BadCell { cell: 0.0 });
    assert!(matches!(run(&ball, &in_unit_box(f64::NAN, 0)), FillError::BadCell { .. }));
    assert!(matches!(run(&|x| x.norm() + 0.1, &in_unit_box(0.2, 0)), FillError::NothingInside { .. }));
    assert!(matches!(run(&|x| x.norm() - 2.0, &in_unit_box(0.2, 0)), FillError::ReachesBox { .. }));
    assert!(matches!(run(&|_| f64::NAN, &in_unit_box(0.2, 0)), FillError::NotFinite { .. }));
    let inverted = FillOptions { lower: Vector::<3>::repeat(2.0), ..in_unit_box(0.2, 0) };
    assert!(matches!(run(&ball, &inverted), FillError::BadBox { .. }));
    let FillError::TooManyCells { suggestion, .. } = run(&ball, &in_unit_box(1e-6, 0)) else {
        panic!("a lattice of 1e19 points was not refused");
    };
    let (_, points) = <Cells<3, 4> as Lattice<3, 4>>::covering(
        &Vector::<3>::repeat(-1.0),
        &Vector::<3>::repeat(1.0),
        suggestion,
    );
    assert!(points < 2e8);
    let FillError::TooCoarse { cell, .. } = run(&|x| (x.norm() - 0.5).abs() - 0.02, &in_unit_box(0.5, 0))
    else {
        panic!("a thin shell was filled with cells far larger than it");
    };
    assert_eq!(cell, 0.5);
}

#[test]
fn a_surface_through_lattice_points_is_followed_exactly() {
    // The faces of this cube pass exactly through lattice points, so nothing is cut and the volume is exact.
    let cube = |x: &Vector<3>| x.amax() - 0.5;
    let filled = fill::<3, 4, _>(cube, &in_unit_box(0.25, 0)).unwrap();
    assert_conforming(&filled);
    assert!(filled.quality.volume <= 1.0 + 1e-12 && filled.quality.volume > 0.9, "{:?}", filled.quality);
}

#[test]
fn closed_surfaces_are_filled_and_others_refused() {
    let sphere = crate::generate::icosphere(Vector::<3>::new(3.0, 0.0, -1.0), 1.0, 12).unwrap();
    let filled = fill_surface::<3, 4>(&sphere, 0.2).unwrap();
    assert_conforming(&filled);
    assert_eq!(filled.quality.inverted, 0);
    assert!(filled.quality.min_angle > 12.0, "{:?}", filled.quality);
    assert!(filled.volume_error(sphere.enclosed_volume().unwrap()) < 0.02);
    filled.mesh.check_solid().unwrap();
    filled.mesh.boundary().unwrap().mesh.check_closed().unwrap();

    let circle =
        crate::generate::disc_triangles(Vector::<2>::zeros(), 1.0, 8).unwrap().boundary().unwrap().mesh;
    let flat = fill_surface::<2, 3>(&circle, 0.1).unwrap();
    assert_conforming(&flat);
    assert!(flat.volume_error(circle.enclosed_volume().unwrap()) < 0.01);

    let mut leaky = sphere.clone();
    leaky.elements.pop();
    assert!(matches!(fill_surface::<3, 4>(&leaky, 0.2), Err(FillError::Surface(MeshError::Leaky { .. }))));
    let mut inverted = sphere.clone();
    inverted.elements.iter_mut().for_each(|t| t.swap(0, 1));
    assert!(matches!(
        fill_surface::<3, 4>(&inverted, 0.2),
        Err(FillError::Surface(MeshError::InsideOut { .. }))
    ));
    let plate =
        crate::generate::box_surface(Vector::<3>::zeros(), Vector::<3>::new(10.0, 10.0, 0.3), [4, 4, 1])
            .unwrap();
    let error = fill_surface::<3, 4>(&plate, 1.5).unwrap_err();
    assert!(
        matches!(
            error,
            FillError::NothingInside { .. } | FillError::WrongVolume { .. } | FillError::TooCoarse { .. }
        ),
        "{error}"
    );
}
