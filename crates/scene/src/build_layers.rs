//! Layers of soft bodies, of which the lower ones do not feel the upper: closed surfaces of bodies, and surfaces whose motion files tell.

use crate::build::BuildError;
use crate::build_elastic::{ElasticSpace, is_copy_of, point, wrong};
use crate::description::{Deformable, RecordedGeometry, Scene, SoftContact};
use splashdown_couple::{SolidBody, SolidElement, Solids, World};
use splashdown_deformable::integrate::Recording;
use splashdown_geometry::io::read_mesh;
use splashdown_geometry::mesh::{Mesh, TriangleMesh};
use splashdown_math::{Dim, Vector};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A surface whose motion is known, as all its files tell it.
pub(crate) struct Recorded<const D: usize> {
    pub triangles: Vec<[u32; 3]>,
    /// At the times of the files (m).
    pub points: Vec<Vec<Vector<D>>>,
}

/// Reads all files of a recorded surface.
pub(crate) fn read_recorded(name: &str, own: &RecordedGeometry) -> Result<Recorded<3>, BuildError> {
    let offset = own.offset.as_deref().map_or(Ok(Vector::zeros()), |offset| point::<3>(name, offset))?;
    let files = numbered_files(&own.files).map_err(|reason| wrong(name, reason))?;
    let mut read = Recorded { triangles: Vec::new(), points: Vec::with_capacity(files.len()) };
    for file in &files {
        let loaded = read_mesh(file).map_err(|error| wrong(name, error))?;
        if read.points.is_empty() {
            read.triangles = loaded.triangles;
        } else if read.triangles != loaded.triangles {
            let (found, first) = (loaded.triangles.len(), read.triangles.len());
            return Err(wrong(
                name,
                format!(
                    "{}: its {found} triangles are not the {first} of {}; a recorded surface has the same ones in all files",
                    file.display(),
                    files[0].display()
                ),
            ));
        }
        read.points.push(loaded.points.iter().map(|point| point * own.scale + offset).collect());
        let mesh: TriangleMesh<3> =
            Mesh { points: read.points[read.points.len() - 1].clone(), elements: read.triangles.clone() };
        let failed = |error| wrong(name, format!("{}: {error}", file.display()));
        mesh.check_closed().map_err(failed)?;
        mesh.check_distinct_elements().map_err(failed)?;
    }
    Ok(read)
}

/// The files that fit a path with one `*`, in the order of the numbers in its place.
fn numbered_files(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let path = Path::new(pattern);
    let (folder, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
    let name = name.to_string_lossy();
    let Some((before, after)) = name.split_once('*').filter(|(_, after)| !after.contains('*')) else {
        return Err(format!(
            "`geometry.recorded.files` is {pattern:?}; expected a path whose last part has one `*` for the number"
        ));
    };
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries =
        std::fs::read_dir(here).map_err(|error| format!("cannot read the folder of {pattern:?}: {error}"))?;
    let mut found: Vec<(u64, String)> = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("cannot read the folder of {pattern:?}: {error}"))?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let digits = file.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(Ok(number)) = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit())).map(str::parse) {
            found.push((number, file));
        }
    }
    found.sort();
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0 + 1 != pair[1].0) {
        return Err(format!(
            "of the files {pattern:?}, `{}` is followed by `{}`; expected every number once",
            pair[0].1, pair[1].1
        ));
    }
    if found.is_empty() {
        return Err(format!("there is no file {pattern:?} with a number for `*`"));
    }
    Ok(found.into_iter().map(|(_, file)| folder.join(file)).collect())
}

/// Adds a recorded surface to the solids: particles that move as told, and their triangles.
pub(crate) fn add_recorded<const D: usize>(
    body: &Deformable,
    own: &RecordedGeometry,
    solids: &mut Solids<D>,
    start: (&mut Vec<f64>, &mut Vec<f64>, &mut Vec<f64>),
    surface: &mut Vec<[u32; D]>,
) -> Result<(), BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    let name = body.name.as_str();
    let Recorded { triangles, points } = <Dim<D> as ElasticSpace<D>>::recorded(name, own)?;
    let first = solids.solid.len();
    let count = points[0].len();
    let times = (0..points.len()).map(|n| own.start + n as f64 * own.interval).collect();
    let recording = Recording::new(first as u32, times, points).map_err(|reason| wrong(name, reason))?;
    // Nothing moves them, so their mass shows nowhere.
    solids.solid.add_particles(&vec![1.0; count], &vec![true; count]);
    let at_start: Vec<f64> =
        recording.at(0.0).iter().flat_map(|x| x.iter().copied().collect::<Vec<_>>()).collect();
    let (rest, position, velocity) = start;
    rest.extend(&at_start);
    position.extend(&at_start);
    velocity.extend(std::iter::repeat_n(0.0, at_start.len()));
    solids.integrator.recordings.push(recording);
    let face = |triangle: &[u32; 3]| std::array::from_fn(|i| first as u32 + triangle[i]);
    surface.extend(triangles.iter().map(face));
    let forces = solids.solid.forces().len();
    solids.bodies.push(SolidBody {
        name: name.to_owned(),
        particles: first..first + count,
        element: SolidElement::Triangle,
        elements: triangles.into_iter().flatten().collect(),
        rest: at_start,
        forces: forces..forces,
        strength: Vec::new(),
        activation: Vec::new(),
        families: Vec::new(),
    });
    Ok(())
}

/// Makes the surfaces of all bodies that others are over obstacles of these. `faces` are those of all bodies at `rest` (m). Returns the particles of bodies that do not push each other.
pub(crate) fn add_layers<const D: usize>(
    bodies: &[Deformable],
    faces: &[[u32; D]],
    rest: &[f64],
    friction: f64,
    distance: f64,
    solids: &mut Solids<D>,
) -> Result<Vec<[Range<u32>; 2]>, BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    let range = |body: &SolidBody| body.particles.start as u32..body.particles.end as u32;
    let copies = |name: &str| -> Vec<Range<u32>> {
        solids.bodies.iter().filter(|body| is_copy_of(&body.name, name)).map(range).collect()
    };
    let mut parted = Vec::new();
    let mut layers = Vec::new();
    for body in bodies {
        for over in &body.elastic.over {
            let above = copies(&body.name);
            for below in solids.bodies.iter().filter(|below| is_copy_of(&below.name, &over.body)) {
                let own = range(below);
                let skin: Vec<[u32; D]> =
                    faces.iter().filter(|face| own.contains(&face[0])).copied().collect();
                let friction = over.friction.unwrap_or(friction);
                let mut layer =
                    <Dim<D> as ElasticSpace<D>>::layer(&below.name, &skin, rest, above.clone(), friction)
                        .map_err(|error| {
                            wrong(
                                &body.name,
                                format!("it is over `{}`, which has no inside: {error}", below.name),
                            )
                        })?;
                layer.thickness = distance;
                layers.push((height(bodies, &over.body), layer));
                parted.extend(above.iter().map(|above| [own.clone(), above.clone()]));
            }
        }
    }
    // The lowest first; what is equally high stays in the order of the scene.
    layers.sort_by_key(|(height, _)| *height);
    solids.integrator.layers = layers.into_iter().map(|(_, layer)| layer).collect();
    Ok(parted)
}

/// Gives the rigid bodies that ask for it a skin, whose particles go on with those of the soft bodies and whose faces with theirs. Returns the particles that do not push each other.
pub(crate) fn add_skins<const D: usize>(
    scene: &Scene,
    world: &World<D>,
    solids: &mut Solids<D>,
    start: &mut [&mut Vec<f64>; 3],
    surface: &mut Vec<[u32; D]>,
) -> Result<Option<[Range<u32>; 2]>, BuildError>
where
    Dim<D>: ElasticSpace<D>,
{
    let all = solids.solid.len() as u32;
    for (index, copy) in scene.rigid_copies().enumerate() {
        if copy.rigid.soft_contact != SoftContact::Surface {
            continue;
        }
        let body = &world.model().bodies[index];
        let refused =
            |reason: &str| Err(BuildError::Elastic { name: body.name.clone(), reason: reason.into() });
        if body.is_dynamic() {
            return refused(
                "`soft_contact = \"surface\"` is for static and kinematic bodies: what soft ones push back on it is not felt",
            );
        }
        if scene.elastic.self_contact.is_none() {
            return refused("`soft_contact = \"surface\"` needs `self_contact` in `[elastic]`");
        }
        let Some(skin) = body.geometry.as_ref().and_then(|geometry| geometry.surface()) else {
            return refused("`soft_contact = \"surface\"` needs a shape with a bounded surface");
        };
        let first = solids.add_skin(index as u32, &skin.points);
        let frame = world.state().bodies[index].frame;
        for (numbers, velocity) in start.iter_mut().zip([false, false, true]) {
            let at = |x: &Vector<D>| if velocity { Vector::zeros() } else { frame.to_world(x) };
            numbers.extend(skin.points.iter().flat_map(|x| at(x).iter().copied().collect::<Vec<_>>()));
        }
        surface.extend(skin.elements.iter().map(|face| face.map(|point| point + first)));
    }
    let own = all..solids.solid.len() as u32;
    Ok((!own.is_empty()).then(|| [own.clone(), own]))
}

/// How many layers are below a body; the check of the scene has seen to it that there is an end.
fn height(bodies: &[Deformable], name: &str) -> usize {
    let own = bodies.iter().find(|body| body.name == name);
    let below = own.map_or(&[][..], |body| &body.elastic.over);
    below.iter().map(|over| 1 + height(bodies, &over.body)).max().unwrap_or(0)
}
