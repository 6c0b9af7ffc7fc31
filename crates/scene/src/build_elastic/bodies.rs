//! Bodies one by one: their meshes, particles and elements, and all copies of each.

use super::material::material;
use super::place::{Noise, bindings, load, offsets};
use super::quadratic::quadratic;
use super::springs::add_springs;
use super::{Assembly, Built, ElasticSpace, point, wrong};
use crate::build::BuildError;
use crate::build_fluid::start_velocity;
use crate::build_holds::add_holds;
use crate::build_layers::add_recorded;
use crate::description::{Deformable, Geometry, Scene};
use splashdown_couple::{SolidBody, World};
use splashdown_deformable::Solid;
use splashdown_deformable::element::Material;
use splashdown_deformable::integrate::Scheme;
use splashdown_math::{Dim, Vector};
use std::collections::BTreeSet;

impl<const D: usize> Assembly<D>
where
    Dim<D>: ElasticSpace<D>,
{
    /// Adds a body with all its copies.
    pub(super) fn add_body(
        &mut self,
        world: &World<D>,
        scene: &Scene,
        body: &Deformable,
    ) -> Result<(), BuildError> {
        let name = body.name.as_str();
        if let Geometry::Recorded(own) = &body.geometry {
            let start = (&mut self.rest, &mut self.position, &mut self.velocity);
            return add_recorded(body, own, &mut self.solids, start, &mut self.surface);
        }
        let Some(own) = &body.material else { return Ok(()) };
        let mut mesh = <Dim<D> as ElasticSpace<D>>::mesh(name, &body.geometry)?;
        if body.elastic.quadratic {
            mesh = quadratic(name, &mesh)?;
        }
        let mut material = material::<D>(body, own)?;
        if let Some(total) = body.mass {
            material.density = density(body, &mesh, material, total)?;
        }
        let moving = body.velocity.as_deref().map_or(Ok(Vector::zeros()), |v| point::<D>(name, v))?;
        let stream = match scene.fluid.as_ref().filter(|_| body.elastic.adrift) {
            Some(fluid) => Some(start_velocity::<D>(fluid)?),
            None => None,
        };
        let velocity = |x: &Vector<D>| moving + stream.as_ref().map_or(Vector::zeros(), |stream| stream(x));
        for (copy, offset) in offsets::<D>(name, body.elastic.repeat.as_ref())?.into_iter().enumerate() {
            let own =
                if body.elastic.repeat.is_some() { format!("{name}-{}", copy + 1) } else { name.to_owned() };
            self.add_copy(world, body, own, mesh.moved(offset), material, &velocity)?;
        }
        Ok(())
    }

    /// Adds one copy of a body, called `name`, that starts with the velocities (m/s) `velocity` at the places of its rest shape.
    fn add_copy(
        &mut self,
        world: &World<D>,
        body: &Deformable,
        name: String,
        placed: Built<D>,
        material: Material,
        velocity: &dyn Fn(&Vector<D>) -> Vector<D>,
    ) -> Result<(), BuildError> {
        let count = placed.points.len();
        let mut pinned = vec![false; count];
        for &index in &body.pinned {
            if let Some(pin) = pinned.get_mut(index as usize) {
                *pin = true;
            }
        }
        let solids = &mut self.solids;
        let first = solids.solid.len() as u32;
        let particles = first as usize..first as usize + count;
        add_holds(body, &placed.points, first, &mut pinned, solids)?;
        let forces = solids.solid.forces().len();
        let mut mass = vec![0.0; particles.end];
        let solid = &mut solids.solid;
        <Dim<D> as ElasticSpace<D>>::add_elements(body, &placed, first, material, solid, &mut mass)?;
        if let Some(node) = mass[particles.clone()].iter().position(|&mass| !(mass > 0.0)) {
            return Err(wrong(&body.name, format!("point {node} of the mesh belongs to no element")));
        }
        solid.add_particles(&mass[particles.clone()], &pinned);
        for own in &body.elastic.load {
            self.loads.push((load(&body.name, own, &placed.points, first, &mass)?, own.factor.clone()));
        }
        if let Some(springs) = &body.elastic.springs {
            add_springs(&body.name, springs, &placed, first, solid)?;
        }
        self.surface.extend(placed.surface.iter().map(|face| face.map(|node| node + first)));
        self.add_start(body, &placed.points, &pinned, velocity);
        if body.elastic.incompressible {
            self.add_constant(&name, &placed, first)?;
        }
        self.bind(world, body, &name, first, &placed.points)?;
        if body.elastic.one_way {
            self.solids.one_way.push(particles.clone());
        }
        self.solids.bodies.push(SolidBody {
            name,
            particles,
            element: placed.element,
            elements: placed.elements,
            rest: placed.points.iter().flat_map(|x| x.iter().copied()).collect(),
            forces: forces..self.solids.solid.forces().len(),
            strength: body.elastic.strength.clone(),
            activation: body.elastic.activation.clone(),
            families: body.elastic.fibre.iter().map(|family| family.schedule.clone()).collect(),
        });
        Ok(())
    }

    /// Where the particles of a copy are at rest and at the start, and how they move then.
    fn add_start(
        &mut self,
        body: &Deformable,
        points: &[Vector<D>],
        pinned: &[bool],
        velocity: &dyn Fn(&Vector<D>) -> Vector<D>,
    ) {
        let disturb = body.elastic.disturb.as_ref();
        let mut noise = Noise::new(disturb.map_or(0, |disturb| disturb.seed));
        let amplitude = disturb.map_or(0.0, |disturb| disturb.noise);
        for (x, &pinned) in points.iter().zip(pinned) {
            self.rest.extend(x.iter());
            self.position.extend(x.iter().map(|c| if pinned { *c } else { c + amplitude * noise.next() }));
            self.velocity.extend(velocity(x).iter().map(|v| if pinned { 0.0 } else { *v }));
        }
    }

    /// Binds the particles of the copy `name` to the rigid bodies that they are inside of.
    fn bind(
        &mut self,
        world: &World<D>,
        body: &Deformable,
        name: &str,
        first: u32,
        points: &[Vector<D>],
    ) -> Result<(), BuildError> {
        for carrier in &body.elastic.bind {
            let bound = bindings(world, carrier, first, points)?;
            if bound.is_empty() {
                return Err(wrong(name, format!("no particle is inside `{carrier}`, to which it is bound")));
            }
            if !matches!(self.solids.integrator.scheme, Scheme::B | Scheme::C) {
                let reason =
                    "`elastic.bind` needs the integrator \"scheme_b\" or \"scheme_c\" in `[elastic]`";
                return Err(wrong(name, reason));
            }
            // A particle inside two bodies belongs to the first.
            let taken: BTreeSet<u32> = self.solids.bindings.iter().map(|binding| binding.particle).collect();
            self.solids.bindings.extend(bound.into_iter().filter(|own| !taken.contains(&own.particle)));
        }
        Ok(())
    }
}

impl<const D: usize> Built<D> {
    /// A copy that stands at `offset` (m).
    fn moved(&self, offset: Vector<D>) -> Self {
        Self {
            points: self.points.iter().map(|x| x + offset).collect(),
            offset,
            element: self.element,
            elements: self.elements.clone(),
            quadratic: self.quadratic.clone(),
            surface: self.surface.clone(),
        }
    }
}

/// Density of a body of the mass `total` (kg): its volume is what unit density weighs.
fn density<const D: usize>(
    body: &Deformable,
    mesh: &Built<D>,
    material: Material,
    total: f64,
) -> Result<f64, BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    let mut trial = Solid::new(Vec::new(), Vec::new(), Vector::zeros());
    let mut mass = vec![0.0; mesh.points.len()];
    let unit = Material { density: 1.0, ..material };
    <Dim<D> as ElasticSpace<D>>::add_elements(body, mesh, 0, unit, &mut trial, &mut mass)?;
    Ok(total / mass.iter().sum::<f64>())
}
