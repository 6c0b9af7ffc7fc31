use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use splashdown_math::Vector;

fn random_boxes<const D: usize>(count: usize, size: f64, seed: u64) -> Vec<Aabb<D>> {
    let mut rng = Pcg64::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let corner = Vector::<D>::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let extent = Vector::<D>::from_fn(|_, _| rng.random_range(0.0..size));
            Aabb { min: corner, max: corner + extent }
        })
        .collect()
}

fn check_against_all_pairs<const D: usize>(boxes: &[Aabb<D>], other: &[Aabb<D>], bvh: &Bvh<D>) {
    let mut expected = Vec::new();
    for i in 0..boxes.len() as u32 {
        for j in i + 1..boxes.len() as u32 {
            if boxes[i as usize].overlaps(&boxes[j as usize]) && !(i + j).is_multiple_of(5) {
                expected.push([i, j]);
            }
        }
    }
    let mut pairs = bvh.self_pairs(|i, j| !(i + j).is_multiple_of(5));
    pairs.sort_unstable();
    assert_eq!(pairs, expected);

    let other_tree = Bvh::new(other);
    let mut between = bvh.pairs_with(&other_tree, |_, _| true);
    between.sort_unstable();
    let mut by_query = Vec::new();
    for i in 0..boxes.len() as u32 {
        let mut row = Vec::new();
        other_tree.overlapping(&boxes[i as usize], |j| row.push([i, j]));
        row.sort_unstable();
        let expected: Vec<_> = (0..other.len() as u32)
            .filter(|&j| boxes[i as usize].overlaps(&other[j as usize]))
            .map(|j| [i, j])
            .collect();
        assert_eq!(row, expected);
        by_query.extend(row);
    }
    assert_eq!(between, by_query);
}

fn overlaps_match_brute_force<const D: usize>() {
    let boxes = random_boxes::<D>(700, 0.2, 1);
    let other = random_boxes::<D>(300, 0.3, 2);
    let mut bvh = Bvh::new(&boxes);
    check_against_all_pairs(&boxes, &other, &bvh);
    let moved = random_boxes::<D>(700, 0.1, 3);
    bvh.refit(|i| moved[i as usize]);
    check_against_all_pairs(&moved, &other, &bvh);
}

#[test]
fn overlaps_match_brute_force_in_2d_and_3d_also_after_refit() {
    overlaps_match_brute_force::<2>();
    overlaps_match_brute_force::<3>();
}

#[test]
fn nearest_box_matches_brute_force() {
    let boxes = random_boxes::<3>(2000, 0.05, 4);
    let bvh = Bvh::new(&boxes);
    for query in random_boxes::<3>(500, 1.0, 5) {
        let mut best = f64::INFINITY;
        bvh.nearest(&query.max, f64::INFINITY, |item, limit| {
            best = boxes[item as usize].distance_squared(&query.max).min(limit);
            best
        });
        let expected = boxes.iter().map(|b| b.distance_squared(&query.max)).fold(f64::INFINITY, f64::min);
        assert_eq!(best, expected);
    }
}

#[test]
fn rays_meet_every_box_they_pass_through() {
    let boxes = random_boxes::<3>(2000, 0.05, 6);
    let bvh = Bvh::new(&boxes);
    let mut rng = Pcg64::seed_from_u64(7);
    for _ in 0..300 {
        let target = rng.random_range(0..boxes.len());
        // Aim at a corner, the hardest point of the box; half of the rays run in an axis plane.
        let corner = Vector::<3>::from_fn(|k, _| {
            if rng.random_bool(0.5) { boxes[target].min[k] } else { boxes[target].max[k] }
        });
        let mut origin = Vector::<3>::from_fn(|_, _| rng.random_range(-3.0..3.0));
        if rng.random_bool(0.5) {
            origin.y = corner.y;
        }
        let mut hit = Vec::new();
        bvh.along_ray(&origin, &(corner - origin), 1.0, 0.0, |item, limit| {
            hit.push(item);
            limit
        });
        assert!(hit.contains(&(target as u32)));
        assert!(hit.len() < 400, "a ray meets a small part of the boxes: {}", hit.len());
    }
}

#[test]
fn identical_nested_and_broken_boxes_make_a_shallow_tree() {
    let same = vec![Aabb { min: Vector::<3>::zeros(), max: Vector::repeat(1.0) }; 100_000];
    let mut count = 0;
    Bvh::new(&same).overlapping(&same[0], |_| count += 1);
    assert_eq!(count, same.len());

    // Sizes that halve until they underflow: the heuristic alone would make a chain.
    let nested: Vec<_> =
        (0..1000).map(|i| Aabb { min: Vector::<2>::zeros(), max: Vector::repeat(0.5f64.powi(i)) }).collect();
    let bvh = Bvh::new(&nested);
    let mut count = 0;
    bvh.overlapping(&Aabb { min: Vector::zeros(), max: Vector::zeros() }, |_| count += 1);
    assert_eq!(count, nested.len());
    bvh.nearest(&Vector::repeat(2.0), f64::INFINITY, |_, limit| limit);

    let broken = vec![Aabb { min: Vector::<2>::repeat(f64::NAN), max: Vector::repeat(f64::INFINITY) }; 100];
    Bvh::new(&broken).overlapping(&nested[0], |_| {});
    assert!(Bvh::<3>::new(&[]).self_pairs(|_, _| true).is_empty());
}

#[test]
fn the_tree_and_the_pairs_do_not_depend_on_the_number_of_threads() {
    let boxes = random_boxes::<3>(50_000, 0.02, 8);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bvh = Bvh::new(&boxes);
            (bvh.order.clone(), bvh.self_pairs(|_, _| true))
        })
    };
    let one = run(1);
    assert!(one.1.len() > 1000);
    assert_eq!(one, run(4));
}
