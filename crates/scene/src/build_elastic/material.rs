//! Materials of bodies of elements, and the groups of elements that have one.

use super::{Built, point, wrong};
use crate::build::BuildError;
use crate::description::{
    Deformable, ElasticDamping, ElasticMaterial, ElasticModel, FileGeometry, Geometry, Hardening, Inversion,
    SplineHardening,
};
use splashdown_deformable::element::{Damping, DampingKind, Material};
use splashdown_deformable::material::{
    Extension, ExtensionKind, Lame, Law, MaterialError, Model, SplineBranch,
};
use splashdown_math::Vector;

/// The material of a body; its density is 1 where the body has a mass instead.
pub(super) fn material<const D: usize>(
    body: &Deformable,
    own: &ElasticMaterial,
) -> Result<Material, BuildError> {
    let is_sheet = D == 3
        && matches!(
            &body.geometry,
            Geometry::Sheet(_) | Geometry::Bag(_) | Geometry::File(FileGeometry { surface: true, .. })
        );
    let lame =
        if is_sheet { Lame::plane_stress(own.young, own.poisson) } else { Lame::new(own.young, own.poisson) };
    let kind = match own.damping_kind {
        ElasticDamping::Linear => DampingKind::Linear,
        ElasticDamping::Conserving => DampingKind::Conserving,
        ElasticDamping::Blend => DampingKind::Blend,
        ElasticDamping::Stiffness => DampingKind::Stiffness,
    };
    Ok(Material {
        law: law(own),
        lame: lame.map_err(|error| wrong(&body.name, error))?,
        density: body.density.unwrap_or(1.0),
        damping: Damping { kind, time: own.damping },
    })
}

fn law(own: &ElasticMaterial) -> Law {
    let model = match own.model {
        ElasticModel::Linear => Model::Linear,
        ElasticModel::RotatedLinear => Model::RotatedLinear,
        ElasticModel::StVenantKirchhoff => Model::StVenantKirchhoff,
        ElasticModel::NeoHookean => Model::NeoHookean,
        ElasticModel::FixedCorotated => Model::FixedCorotated,
        ElasticModel::CompressibleFlow => Model::CompressibleFlow,
        ElasticModel::MooneyRivlin => Model::MooneyRivlin { second: own.second_invariant.unwrap_or(0.25) },
        ElasticModel::Spline => {
            let branch = |own: Hardening| SplineBranch { threshold: own.strain, hardening: own.factor };
            let SplineHardening { compression, extension } = own.spline.unwrap_or_default();
            Model::Spline { compression: branch(compression), extension: branch(extension) }
        }
    };
    let safe = Law::safe(model).extension;
    let kind = match own.inversion {
        None => safe.kind,
        Some(inversion) => match inversion {
            Inversion::None => ExtensionKind::None,
            Inversion::Constant { stretch } => ExtensionKind::Constant { stretch },
            Inversion::LinearStretch { stretch } => ExtensionKind::LinearStretch { stretch },
            Inversion::LinearDet { volume } => ExtensionKind::LinearDet { volume },
            Inversion::Energy { stretch, stiffness } => ExtensionKind::Energy { stretch, stiffness },
        },
    };
    let extension =
        Extension { kind, positive_slope: own.positive_slope, largest_stretch: own.largest_stretch };
    Law { model, extension }
}

/// Elements of one material.
pub(super) struct Group<const N: usize> {
    pub(super) material: Material,
    pub(super) elements: Vec<[u32; N]>,
    /// Lamé parameters of each, if they differ.
    pub(super) lame: Option<Vec<Lame>>,
}

/// The elements of a body by their materials: those of regions with a model, a density or a damping of their own are groups of their own.
pub(super) fn groups<const D: usize, const N: usize>(
    body: &Deformable,
    mesh: &Built<D>,
    elements: &[[u32; N]],
    material: &Material,
    lame: impl Fn(f64, f64) -> Result<Lame, MaterialError>,
) -> Result<Vec<Group<N>>, BuildError> {
    let (name, list) = (body.name.as_str(), &body.elastic.regions);
    let mut all = vec![Group { material: *material, elements: Vec::new(), lame: None }];
    if list.is_empty() {
        all[0].elements = elements.to_vec();
        return Ok(all);
    }
    let mut boxes = Vec::new();
    for region in list {
        let (from, to) = (point::<D>(name, &region.from)?, point::<D>(name, &region.to)?);
        let given = body.material.as_ref();
        let poisson = region.poisson.or(given.map(|own| own.poisson)).unwrap_or_default();
        let lame = lame(region.young, poisson).map_err(|error| wrong(name, error))?;
        let mut group = 0;
        if region.model.is_some() || region.density.is_some() || region.damping.is_some() {
            if region.density.is_some() && body.mass.is_some() {
                let reason = "a region with a `density` needs a body with a `density`, not with a `mass`";
                return Err(wrong(name, reason));
            }
            let mut own = *material;
            if let (Some(model), Some(given)) = (region.model, given) {
                own.law = law(&ElasticMaterial { model, ..given.clone() });
            }
            own.density = region.density.unwrap_or(own.density);
            own.damping.time = region.damping.unwrap_or(own.damping.time);
            own.lame = lame;
            group = all.len();
            all.push(Group { material: own, elements: Vec::new(), lame: None });
        }
        boxes.push((from, to, lame, group));
    }
    for nodes in elements {
        let middle: Vector<D> =
            nodes.iter().map(|&node| mesh.points[node as usize]).sum::<Vector<D>>() / N as f64;
        let within = |(from, to, ..): &&(Vector<D>, Vector<D>, Lame, usize)| {
            (0..D).all(|axis| middle[axis] >= from[axis] && middle[axis] <= to[axis])
        };
        let (lame, group) =
            boxes.iter().rev().find(within).map_or((material.lame, 0), |(.., lame, group)| (*lame, *group));
        all[group].elements.push(*nodes);
        all[group].lame.get_or_insert_default().push(lame);
    }
    all.retain(|group| !group.elements.is_empty());
    Ok(all)
}
