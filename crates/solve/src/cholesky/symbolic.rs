//! The pattern of the factor: elimination tree, supernodes (columns with the same rows, treated as one dense panel) and where every entry goes.

use super::order::minimum_degree;
use crate::{CsrMatrix, SolveError};
use std::ops::Range;

/// No parent.
pub(super) const ROOT: u32 = u32::MAX;

/// A supernode is joined with its parent if that makes few zeros explicit: up to so many columns, this share of zeros.
const JOIN: [(usize, f64); 4] = [(4, 0.8), (16, 0.2), (48, 0.1), (usize::MAX, 0.05)];

/// Everything about a factor that depends on the pattern only.
#[derive(Debug, Clone)]
pub(super) struct Symbolic {
    /// Old index of each new one.
    pub order: Vec<u32>,
    /// First column of each supernode, and the number of columns.
    pub columns: Vec<u32>,
    /// Where the rows of each supernode start in `rows`.
    pub row_starts: Vec<usize>,
    /// Rows of each supernode: its own columns, then those below, ascending.
    pub rows: Vec<u32>,
    /// Of each row below: its place among the rows of the parent.
    pub in_parent: Vec<u32>,
    /// Parent of each supernode.
    pub parent: Vec<u32>,
    /// Where the panel of each supernode (rows x columns, column by column) starts among the values of the factor.
    pub panel_starts: Vec<usize>,
    /// Where the entries of each supernode start in `entries`.
    pub entry_starts: Vec<usize>,
    /// Entries of the matrix in the lower triangle: index of the value, place in the panel.
    pub entries: Vec<(u32, u32)>,
    /// Most rows below the columns of a supernode.
    pub tallest: usize,
}

impl Symbolic {
    pub fn new(matrix: &CsrMatrix) -> Result<Self, SolveError> {
        let too_large = || SolveError::OutOfMemory { what: "sparse Cholesky factor".into() };
        let size = matrix.rows();
        if u32::try_from(matrix.values().len()).is_err() {
            return Err(too_large());
        }
        let order = minimum_degree(size, matrix.offsets(), matrix.columns());
        let parent = elimination_tree(matrix, &order, &inverse_of(&order));
        let order: Vec<u32> = postorder(&parent).into_iter().map(|new| order[new as usize]).collect();
        let place = inverse_of(&order);
        let parent = elimination_tree(matrix, &order, &place);
        let below = counts(matrix, &order, &place, &parent);
        let columns = supernodes(&parent, &below);
        Self::with_supernodes(matrix, order, &place, columns).ok_or_else(too_large)
    }

    fn with_supernodes(
        matrix: &CsrMatrix,
        order: Vec<u32>,
        place: &[u32],
        columns: Vec<u32>,
    ) -> Option<Self> {
        let count = columns.len() - 1;
        let mut owner = vec![0; order.len()];
        for node in 0..count {
            owner[columns[node] as usize..columns[node + 1] as usize].fill(node as u32);
        }
        let mut parent = vec![ROOT; count];
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
        let (mut row_starts, mut rows) = (vec![0], Vec::new());
        let (mut panel_starts, mut panels) = (vec![0], 0usize);
        let (mut entry_starts, mut entries) = (vec![0], Vec::new());
        let mut seen = vec![ROOT; order.len()];
        let mut local = vec![0u32; order.len()];
        for node in 0..count {
            let (first, end) = (columns[node], columns[node + 1]);
            let start = rows.len();
            rows.extend(first..end);
            let mut add = |row: u32, rows: &mut Vec<u32>| {
                if row >= end && seen[row as usize] != node as u32 {
                    seen[row as usize] = node as u32;
                    rows.push(row);
                }
            };
            for column in first..end {
                for &old in matrix.row(order[column as usize] as usize).0 {
                    add(place[old as usize], &mut rows);
                }
            }
            for &child in &children[node] {
                let own = (columns[child as usize + 1] - columns[child as usize]) as usize;
                for at in row_starts[child as usize] + own..row_starts[child as usize + 1] {
                    let row = rows[at];
                    add(row, &mut rows);
                }
            }
            let below = start + (end - first) as usize;
            rows[below..].sort_unstable();
            if let Some(&next) = rows.get(below) {
                parent[node] = owner[next as usize];
                children[parent[node] as usize].push(node as u32);
            }
            let height = rows.len() - start;
            for (at, &row) in rows[start..].iter().enumerate() {
                local[row as usize] = at as u32;
            }
            for column in first..end {
                let old_row = order[column as usize] as usize;
                let (others, _) = matrix.row(old_row);
                for (at, &old) in others.iter().enumerate() {
                    let row = place[old as usize];
                    if row >= column {
                        let value = matrix.offsets()[old_row] + at;
                        let target = (column - first) as usize * height + local[row as usize] as usize;
                        entries.push((value as u32, u32::try_from(target).ok()?));
                    }
                }
            }
            panels = panels.checked_add(height.checked_mul((end - first) as usize)?)?;
            row_starts.push(rows.len());
            panel_starts.push(panels);
            entry_starts.push(entries.len());
        }
        let mut in_parent = vec![0; rows.len()];
        for node in (0..count).filter(|&node| parent[node] != ROOT) {
            let above = parent[node] as usize;
            let above_rows = &rows[row_starts[above]..row_starts[above + 1]];
            let mut at = 0;
            for k in row_starts[node] + (columns[node + 1] - columns[node]) as usize..row_starts[node + 1] {
                // Both lists ascend, and the parent has all of these rows.
                while above_rows[at] < rows[k] {
                    at += 1;
                }
                in_parent[k] = at as u32;
            }
        }
        let below = |node: usize| {
            row_starts[node + 1] - row_starts[node] - (columns[node + 1] - columns[node]) as usize
        };
        let tallest = (0..count).map(below).max().unwrap_or(0);
        Some(Self {
            tallest,
            order,
            columns,
            row_starts,
            rows,
            in_parent,
            parent,
            panel_starts,
            entry_starts,
            entries,
        })
    }

    /// Number of supernodes.
    pub fn nodes(&self) -> usize {
        self.parent.len()
    }

    /// Columns of a supernode.
    pub fn columns_of(&self, node: usize) -> Range<usize> {
        self.columns[node] as usize..self.columns[node + 1] as usize
    }

    /// Rows of a supernode.
    pub fn rows_of(&self, node: usize) -> &[u32] {
        &self.rows[self.row_starts[node]..self.row_starts[node + 1]]
    }

    /// Places of the rows below a supernode among those of its parent.
    pub fn in_parent_of(&self, node: usize) -> &[u32] {
        &self.in_parent[self.row_starts[node] + self.columns_of(node).len()..self.row_starts[node + 1]]
    }

    /// Entries of the matrix in a supernode's panel.
    pub fn entries_of(&self, node: usize) -> &[(u32, u32)] {
        &self.entries[self.entry_starts[node]..self.entry_starts[node + 1]]
    }
}

fn inverse_of(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old as usize] = new as u32;
    }
    place
}

/// The parent of each column: the first row below its diagonal in the factor (Liu 1986).
fn elimination_tree(matrix: &CsrMatrix, order: &[u32], place: &[u32]) -> Vec<u32> {
    let size = order.len();
    let (mut parent, mut ancestor) = (vec![ROOT; size], vec![ROOT; size]);
    for column in 0..size as u32 {
        for &old in matrix.row(order[column as usize] as usize).0 {
            let mut at = place[old as usize];
            while at < column {
                let next = std::mem::replace(&mut ancestor[at as usize], column);
                if next == ROOT {
                    parent[at as usize] = column;
                    break;
                }
                at = next;
            }
        }
    }
    parent
}

/// Children before parents, the columns of a subtree together.
fn postorder(parent: &[u32]) -> Vec<u32> {
    let size = parent.len();
    let (mut first_child, mut sibling) = (vec![ROOT; size], vec![ROOT; size]);
    let mut roots = Vec::new();
    for column in (0..size).rev() {
        match parent[column] {
            ROOT => roots.push(column as u32),
            above => {
                sibling[column] = std::mem::replace(&mut first_child[above as usize], column as u32);
            }
        }
    }
    let mut order = Vec::with_capacity(size);
    let mut stack = Vec::new();
    while let Some(root) = roots.pop() {
        stack.push(root);
        while let Some(&top) = stack.last() {
            match std::mem::replace(&mut first_child[top as usize], ROOT) {
                ROOT => {
                    order.push(top);
                    stack.pop();
                }
                child => {
                    first_child[top as usize] = sibling[child as usize];
                    stack.push(child);
                }
            }
        }
    }
    order
}

/// Rows below the diagonal of each column of the factor.
fn counts(matrix: &CsrMatrix, order: &[u32], place: &[u32], parent: &[u32]) -> Vec<u32> {
    let size = order.len();
    let (mut below, mut mark) = (vec![0; size], vec![ROOT; size]);
    for row in 0..size as u32 {
        mark[row as usize] = row;
        for &old in matrix.row(order[row as usize] as usize).0 {
            let mut at = place[old as usize];
            if at > row {
                continue;
            }
            while mark[at as usize] != row {
                mark[at as usize] = row;
                below[at as usize] += 1;
                at = parent[at as usize];
            }
        }
    }
    below
}

/// First column of each supernode, and the number of columns.
fn supernodes(parent: &[u32], below: &[u32]) -> Vec<u32> {
    struct Node {
        first: usize,
        end: usize,
        zeros: f64,
    }
    let size = parent.len();
    let mut stack: Vec<Node> = Vec::new();
    let mut first = 0;
    while first < size {
        let mut end = first + 1;
        while end < size && parent[end - 1] == end as u32 && below[end - 1] == below[end] + 1 {
            end += 1;
        }
        let mut node = Node { first, end, zeros: 0.0 };
        first = end;
        // The child whose columns come right before may be joined.
        while let Some(child) = stack.last() {
            let last = child.end - 1;
            if parent[last] == ROOT || parent[last] as usize >= node.end {
                break;
            }
            let (own, above) = ((child.end - child.first) as f64, (node.end - node.first) as f64);
            let rows = f64::from(below[node.end - 1]);
            let zeros = child.zeros + node.zeros + own * (above + rows - f64::from(below[last]));
            let columns = own + above;
            let total = columns * (0.5 * (columns + 1.0) + rows);
            let allowed = JOIN.iter().find(|(most, _)| columns <= *most as f64).map_or(0.0, |join| join.1);
            if zeros > allowed * total {
                break;
            }
            node = Node { first: child.first, end: node.end, zeros };
            stack.pop();
        }
        stack.push(node);
    }
    stack.iter().map(|node| node.first as u32).chain([size as u32]).collect()
}
