use crate::prelude::*;
use crate::{run, threads};
use std::sync::atomic::{AtomicU32, Ordering};

fn on(threads: usize, test: impl Fn() + Send + Sync) {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(test);
}

#[test]
fn every_index_is_visited_once() {
    for workers in [1, 2, 5] {
        on(workers, || {
            assert_eq!(threads(), workers);
            for (count, shortest) in [(0, 1), (1, 1), (7, 3), (1000, 0), (1000, 1), (1000, 400), (4097, 64)] {
                let visits: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                run(count, shortest, &|range| {
                    range.for_each(|i| {
                        visits[i].fetch_add(1, Ordering::Relaxed);
                    })
                });
                assert!(visits.iter().all(|v| v.load(Ordering::Relaxed) == 1), "{count} {shortest}");
            }
        });
    }
}

#[test]
fn loops_give_what_iterators_give() {
    let numbers: Vec<u32> = (0..10_000).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 7).collect();
    on(3, || {
        let doubled: Vec<u64> = numbers.par_iter().with_min_len(16).map(|&x| 2 * u64::from(x)).collect();
        assert_eq!(doubled, numbers.iter().map(|&x| 2 * u64::from(x)).collect::<Vec<_>>());
        let odd: Vec<u32> = numbers.par_iter().copied().filter(|x| x % 2 == 1).collect();
        assert_eq!(odd, numbers.iter().copied().filter(|x| x % 2 == 1).collect::<Vec<_>>());
        let divided: Vec<u32> = numbers.par_iter().filter_map(|&x| (x % 3 == 0).then_some(x / 3)).collect();
        assert_eq!(divided, numbers.iter().filter(|x| **x % 3 == 0).map(|x| x / 3).collect::<Vec<_>>());
        let flat: Vec<(usize, u32)> =
            numbers.par_iter().enumerate().flat_map_iter(|(i, &x)| (0..x % 4).map(move |k| (i, k))).collect();
        let expected: Vec<(usize, u32)> =
            numbers.iter().enumerate().flat_map(|(i, &x)| (0..x % 4).map(move |k| (i, k))).collect();
        assert_eq!(flat, expected);
        assert_eq!(numbers.par_iter().copied().reduce(|| 0, u32::max), *numbers.iter().max().unwrap());
        assert_eq!(
            numbers.par_iter().filter(|x| **x > 1000).count(),
            numbers.iter().filter(|x| **x > 1000).count()
        );
        let negative: Vec<isize> = (-5..7isize).into_par_iter().collect();
        assert_eq!(negative, (-5..7).collect::<Vec<_>>());
        let (first, end) = (5u32, 2);
        assert_eq!((first..end).into_par_iter().count(), 0);
    });
}

#[test]
fn a_scratch_is_made_for_each_task_and_results_keep_their_order() {
    on(3, || {
        let squares = crate::collect_with(1000, Vec::new, |scratch: &mut Vec<usize>, i| {
            scratch.push(i);
            i * scratch[scratch.len() - 1]
        });
        assert!(squares.iter().enumerate().all(|(i, &square)| square == i * i));
    });
}

#[test]
fn the_first_match_is_found_for_any_number_of_threads() {
    let numbers: Vec<u32> = (0..50_000).collect();
    for workers in [1, 2, 4] {
        on(workers, || {
            assert_eq!(numbers.par_iter().position_first(|&x| x % 7001 == 7000), Some(7000));
            assert_eq!(numbers.par_iter().position_first(|&x| x > 60_000), None);
            let found = (0..50_000u32).into_par_iter().find_first(|x| x * 2 >= 33_333);
            assert_eq!(found, Some(16_667));
            assert!(numbers.par_iter().all(|&x| x < 50_000) && !numbers.par_iter().all(|&x| x < 49_999));
            assert!(numbers.par_iter().any(|&x| x == 49_999) && !numbers.par_iter().any(|&x| x == 50_000));
        });
    }
}

#[test]
fn slices_are_changed_in_place() {
    on(3, || {
        let mut values = vec![1u64; 5003];
        let add: Vec<u64> = (0..5003).collect();
        values.par_iter_mut().zip(&add).with_min_len(10).for_each(|(value, add)| *value += add);
        assert!(values.iter().enumerate().all(|(i, &v)| v == 1 + i as u64));
        values.par_chunks_mut(100).enumerate().for_each(|(chunk, part)| {
            part.iter_mut().for_each(|v| *v = chunk as u64);
        });
        assert!(values.iter().enumerate().all(|(i, &v)| v == i as u64 / 100));
        values.par_chunks_exact_mut(100).for_each(|part| part.fill(7));
        assert_eq!(values.iter().filter(|v| **v == 7).count(), 5000);
        let lengths: Vec<usize> = values.par_chunks(1000).map(<[u64]>::len).collect();
        assert_eq!(lengths, [1000, 1000, 1000, 1000, 1000, 3]);
        let parts: Vec<&mut [u64]> = values.chunks_mut(10).collect();
        parts.into_par_iter().zip(0..600usize).for_each(|(part, i)| part[0] = i as u64);
        assert!((0..500).all(|i| values[10 * i] == i as u64));
    });
}

#[test]
fn owned_items_are_moved_once_and_dropped_once() {
    let token = std::sync::Arc::new(());
    let items: Vec<_> = (0..1000).map(|_| token.clone()).collect();
    on(2, || {});
    let kept: Vec<_> = items.into_par_iter().collect();
    assert_eq!(std::sync::Arc::strong_count(&token), 1001);
    drop(kept);
    assert_eq!(std::sync::Arc::strong_count(&token), 1);
}

#[test]
fn reductions_do_not_depend_on_the_number_of_threads() {
    let values: Vec<f64> = (0..30_000).map(|i| (f64::from(i) * 0.37).sin()).collect();
    let sum = |workers| {
        let out = std::sync::Mutex::new(0.0f64);
        on(workers, || *out.lock().unwrap() = values.par_iter().copied().reduce(|| 0.0, |a, b| a + b));
        out.into_inner().unwrap().to_bits()
    };
    assert_eq!(sum(1), sum(2));
    assert_eq!(sum(1), sum(5));
}

#[test]
fn sorting_agrees_with_the_standard_library() {
    for count in [0usize, 1, 100, 1 << 14, 100_003] {
        let mut values: Vec<u64> =
            (0..count as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect();
        let mut expected = values.clone();
        expected.sort_unstable();
        on(3, || {});
        values.par_sort_unstable();
        assert_eq!(values, expected);
        values.par_sort_unstable_by_key(|x| std::cmp::Reverse(*x));
        expected.reverse();
        assert_eq!(values, expected);
    }
}

#[test]
fn a_panic_in_a_loop_is_passed_on() {
    let caught = std::panic::catch_unwind(|| {
        let _: Vec<u32> =
            (0..1000u32).into_par_iter().map(|i| if i == 500 { panic!("here") } else { i }).collect();
    });
    assert!(caught.is_err());
}
