//! A fill-reducing order: approximate minimum degree on the quotient graph (Amestoy, Davis, Duff 1996), after unknowns with the same neighbours (the
//! components of one particle) have been joined.

/// No variable, element or bucket.
const NONE: u32 = u32::MAX;

/// Unknowns in the order of their elimination. `neighbors(i)` are the columns of row `i` of a symmetric pattern; the diagonal may be among them.
pub(super) fn minimum_degree(size: usize, offsets: &[usize], columns: &[u32]) -> Vec<u32> {
    let (groups, graph) = joined(size, offsets, columns);
    let order = Quotient::new(&groups, graph).eliminate();
    order.into_iter().flat_map(|group| groups[group as usize].iter().copied()).collect()
}

/// Groups of unknowns with the same closed neighbourhood, and the graph between the groups.
fn joined(size: usize, offsets: &[usize], columns: &[u32]) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let row = |i: usize| &columns[offsets[i]..offsets[i + 1]];
    let mut group_of = vec![NONE; size];
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for i in 0..size {
        if group_of[i] != NONE {
            continue;
        }
        let number = groups.len() as u32;
        group_of[i] = number;
        let mut group = vec![i as u32];
        // An unknown of the same group is a neighbour with the same row.
        for &j in row(i) {
            if (j as usize) > i && group_of[j as usize] == NONE && row(j as usize) == row(i) {
                group_of[j as usize] = number;
                group.push(j);
            }
        }
        groups.push(group);
    }
    let mut seen = vec![NONE; groups.len()];
    let graph = groups
        .iter()
        .enumerate()
        .map(|(number, group)| {
            seen[number] = number as u32;
            let mut neighbors = Vec::new();
            for &j in row(group[0] as usize) {
                let other = group_of[j as usize];
                if seen[other as usize] != number as u32 {
                    seen[other as usize] = number as u32;
                    neighbors.push(other);
                }
            }
            neighbors
        })
        .collect();
    (groups, graph)
}

/// The graph that is left after some variables have been eliminated: an eliminated variable is an element, a clique of its neighbours.
struct Quotient {
    /// Unknowns of a variable; zero once it is eliminated or joined to another.
    weight: Vec<u32>,
    /// Neighbours of a variable that no common element shows.
    variables: Vec<Vec<u32>>,
    /// Elements that a variable belongs to.
    elements: Vec<Vec<u32>>,
    /// Variables of an element; empty once it is absorbed by another.
    members: Vec<Vec<u32>>,
    /// Variables that are eliminated together with this one, in order.
    followers: Vec<Vec<u32>>,
    degree: Vec<u32>,
    buckets: Buckets,
    /// Marks of the variables of the element being made.
    mark: Vec<u32>,
    stamp: u32,
    /// Unknowns of an element outside the element being made, valid if `reached` is the stamp.
    outside: Vec<u32>,
    reached: Vec<u32>,
    left: u32,
}

impl Quotient {
    fn new(groups: &[Vec<u32>], graph: Vec<Vec<u32>>) -> Self {
        let count = groups.len();
        let weight: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
        let left: u32 = weight.iter().sum();
        let degree: Vec<u32> =
            graph.iter().map(|list| list.iter().map(|&j| weight[j as usize]).sum()).collect();
        let mut buckets = Buckets::new(count, left as usize + 1);
        for variable in (0..count).rev() {
            buckets.insert(variable as u32, degree[variable]);
        }
        Self {
            weight,
            variables: graph,
            elements: vec![Vec::new(); count],
            members: vec![Vec::new(); count],
            followers: vec![Vec::new(); count],
            degree,
            buckets,
            mark: vec![0; count],
            stamp: 0,
            outside: vec![0; count],
            reached: vec![0; count],
            left,
        }
    }

    fn eliminate(mut self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.weight.len());
        while let Some(pivot) = self.buckets.pop_smallest() {
            let first = order.len();
            order.push(pivot);
            self.left -= self.weight[pivot as usize];
            let clique = self.form_element(pivot);
            self.update(pivot, clique, &mut order);
            // Variables joined to others come right after them.
            let mut at = first;
            while at < order.len() {
                let followers = std::mem::take(&mut self.followers[order[at] as usize]);
                order.splice(at + 1..at + 1, followers);
                at += 1;
            }
        }
        order
    }

    /// The variables that become neighbours by the elimination of `pivot`, marked with a new stamp.
    fn form_element(&mut self, pivot: u32) -> Vec<u32> {
        self.stamp += 1;
        let mut clique = Vec::new();
        self.mark[pivot as usize] = self.stamp;
        let elements = std::mem::take(&mut self.elements[pivot as usize]);
        let lists = elements
            .into_iter()
            .map(|element| std::mem::take(&mut self.members[element as usize]))
            .chain([std::mem::take(&mut self.variables[pivot as usize])]);
        for list in lists.collect::<Vec<_>>() {
            for variable in list {
                let at = variable as usize;
                if self.weight[at] > 0 && self.mark[at] != self.stamp {
                    self.mark[at] = self.stamp;
                    clique.push(variable);
                }
            }
        }
        self.weight[pivot as usize] = 0;
        clique
    }

    /// New lists and degrees of the variables of the new element; those that have become equal are joined, those with no other neighbours eliminated.
    fn update(&mut self, pivot: u32, clique: Vec<u32>, order: &mut Vec<u32>) {
        let stamp = self.stamp;
        for &i in &clique {
            self.buckets.remove(i, self.degree[i as usize]);
            for &element in &self.elements[i as usize] {
                let at = element as usize;
                if self.members[at].is_empty() {
                    continue;
                }
                if self.reached[at] != stamp {
                    self.reached[at] = stamp;
                    self.outside[at] = self.members[at].iter().map(|&j| self.weight[j as usize]).sum();
                }
                self.outside[at] -= self.weight[i as usize];
            }
        }
        let mut size: u32 = clique.iter().map(|&i| self.weight[i as usize]).sum();
        let mut hashed: Vec<(u64, u32)> = Vec::with_capacity(clique.len());
        for &i in &clique {
            let at = i as usize;
            let (mark, weight, outside, members) = (&self.mark, &self.weight, &self.outside, &self.members);
            let (mut degree, mut hash) = (0u32, u64::from(pivot));
            self.variables[at].retain(|&j| {
                let keep = weight[j as usize] > 0 && mark[j as usize] != stamp;
                if keep {
                    degree += weight[j as usize];
                    hash = hash.wrapping_add(u64::from(j).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                }
                keep
            });
            self.elements[at].retain(|&element| {
                // An element within the new one says nothing more.
                let keep = !members[element as usize].is_empty() && outside[element as usize] > 0;
                if keep {
                    degree += outside[element as usize];
                    hash = hash.wrapping_add(u64::from(element).wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
                }
                keep
            });
            if self.variables[at].is_empty() && self.elements[at].is_empty() {
                order.push(i);
                self.left -= self.weight[at];
                size -= self.weight[at];
                self.weight[at] = 0;
                continue;
            }
            self.elements[at].push(pivot);
            self.degree[at] = degree;
            hashed.push((hash, i));
        }
        self.join_equal(&mut hashed);
        let mut members = Vec::with_capacity(clique.len());
        for i in clique {
            let at = i as usize;
            if self.weight[at] == 0 {
                continue;
            }
            let others = size - self.weight[at];
            self.degree[at] = (self.degree[at] + others).min(self.left - self.weight[at]);
            self.buckets.insert(i, self.degree[at]);
            members.push(i);
        }
        self.members[pivot as usize] = members;
    }

    fn join_equal(&mut self, hashed: &mut [(u64, u32)]) {
        hashed.sort_unstable();
        for same in hashed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            for first in 0..same.len() {
                let i = same[first].1 as usize;
                if self.weight[i] == 0 {
                    continue;
                }
                for &(_, other) in &same[first + 1..] {
                    let j = other as usize;
                    if self.weight[j] == 0 || !self.equal(i, j) {
                        continue;
                    }
                    self.weight[i] += self.weight[j];
                    self.weight[j] = 0;
                    let joined = std::mem::take(&mut self.followers[j]);
                    self.followers[i].push(other);
                    self.followers[i].extend(joined);
                    self.variables[j] = Vec::new();
                    self.elements[j] = Vec::new();
                }
            }
        }
    }

    /// Have two variables of the new element the same lists, as sets?
    fn equal(&self, i: usize, j: usize) -> bool {
        let same = |a: &[u32], b: &[u32]| {
            a.len() == b.len() && {
                let (mut a, mut b) = (a.to_vec(), b.to_vec());
                a.sort_unstable();
                b.sort_unstable();
                a == b
            }
        };
        same(&self.elements[i], &self.elements[j]) && same(&self.variables[i], &self.variables[j])
    }
}

/// Variables by their degree, in doubly linked lists.
struct Buckets {
    first: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    smallest: usize,
}

impl Buckets {
    fn new(variables: usize, degrees: usize) -> Self {
        Self {
            first: vec![NONE; degrees],
            next: vec![NONE; variables],
            previous: vec![NONE; variables],
            smallest: 0,
        }
    }

    fn insert(&mut self, variable: u32, degree: u32) {
        let head = self.first[degree as usize];
        self.next[variable as usize] = head;
        self.previous[variable as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = variable;
        }
        self.first[degree as usize] = variable;
        self.smallest = self.smallest.min(degree as usize);
    }

    fn remove(&mut self, variable: u32, degree: u32) {
        let (before, after) = (self.previous[variable as usize], self.next[variable as usize]);
        match before {
            NONE => self.first[degree as usize] = after,
            before => self.next[before as usize] = after,
        }
        if after != NONE {
            self.previous[after as usize] = before;
        }
    }

    fn pop_smallest(&mut self) -> Option<u32> {
        while *self.first.get(self.smallest)? == NONE {
            self.smallest += 1;
        }
        let variable = self.first[self.smallest];
        self.remove(variable, self.smallest as u32);
        Some(variable)
    }
}
