//! What a union consists of.

use super::{Node, Shape};
use splashdown_math::{Dim, Frame, Space, Vector};

/// A shape about its own origin that others may know in an exact form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Primitive<const D: usize> {
    /// [`Shape::ball`].
    Ball {
        /// Radius (m).
        radius: f64,
    },
    /// [`Shape::cuboid`].
    Cuboid {
        /// Half edge lengths (m).
        half: Vector<D>,
    },
    /// [`Shape::capsule`].
    Capsule {
        /// Radius (m).
        radius: f64,
        /// Half length of the axis (m).
        half_length: f64,
    },
}

/// One of the shapes that a union consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<const D: usize>
where
    Dim<D>: Space<D>,
{
    /// From the coordinates of `shape` to those of the union.
    pub frame: Frame<D>,
    /// What it is.
    pub shape: Shape<D>,
}

impl<const D: usize> Shape<D>
where
    Dim<D>: Space<D>,
{
    /// The shapes whose union this is, each without its placement, in order; a single one where nothing is united.
    pub fn pieces(&self) -> Vec<Piece<D>> {
        let mut pieces = Vec::new();
        collect(&self.node, &Frame::identity(), &mut pieces);
        pieces
    }

    /// The shape as a primitive, if it is one.
    pub fn primitive(&self) -> Option<Primitive<D>> {
        match &self.node {
            Node::Ball { radius } => Some(Primitive::Ball { radius: *radius }),
            Node::Cuboid { half } => Some(Primitive::Cuboid { half: *half }),
            Node::Capsule { radius, half_length } => {
                Some(Primitive::Capsule { radius: *radius, half_length: *half_length })
            }
            _ => None,
        }
    }
}

fn collect<const D: usize>(node: &Node<D>, frame: &Frame<D>, pieces: &mut Vec<Piece<D>>)
where
    Dim<D>: Space<D>,
{
    match node {
        Node::Placed { frame: own, shape } => collect(shape, &frame.compose(own), pieces),
        Node::Union { shapes } => shapes.iter().for_each(|shape| collect(shape, frame, pieces)),
        _ => pieces.push(Piece { frame: *frame, shape: Shape { node: node.clone() } }),
    }
}
