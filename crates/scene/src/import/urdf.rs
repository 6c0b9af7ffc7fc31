//! The Unified Robot Description Format: links and the tree of joints between them.

use super::link::{Link, MassProperties, Primitive};
use super::xml::Element;
use super::{Imported, scene_name};
use crate::description::{Joint, JointKind, Kind};
use crate::problem::Problem;
use splashdown_math::{Dim, Frame, Matrix, Space, Vector};
use std::collections::HashMap;

/// `<origin xyz rpy>`: fixed-axis roll, pitch and yaw (rad).
fn origin(of: &Element) -> Result<Frame<3>, Problem> {
    let Some(origin) = of.child("origin") else { return Ok(Frame::identity()) };
    let angles = origin.vector("rpy")?.unwrap_or_else(Vector::zeros);
    let turn = |axis: usize| {
        let mut about = Vector::<3>::zeros();
        about[axis] = angles[axis];
        Dim::<3>::exp(&about)
    };
    let rotation = Dim::<3>::compose(&turn(2), &Dim::<3>::compose(&turn(1), &turn(0)));
    Ok(Frame { position: origin.vector("xyz")?.unwrap_or_else(Vector::zeros), rotation })
}

fn geometry(element: &Element) -> Result<Option<Primitive>, Problem> {
    let geometry = element.needs("geometry")?;
    let Some(shape) = geometry.children().next() else {
        return Err(geometry
            .problem("`<geometry>` is empty".into())
            .allowed("box, sphere, cylinder, capsule or mesh"));
    };
    let positive = |value: f64| {
        if value > 0.0 {
            Ok(value)
        } else {
            Err(shape.wrong("size", "the size of a box must be greater than 0".into()))
        }
    };
    match shape.tag() {
        "box" => {
            shape.needs_text("size")?;
            let size = shape.vector("size")?.unwrap_or_else(Vector::zeros);
            Ok(Some(Primitive::Box { size: [positive(size.x)?, positive(size.y)?, positive(size.z)?] }))
        }
        "sphere" => Ok(Some(Primitive::Sphere { radius: shape.needs_positive("radius")? })),
        "cylinder" => {
            let (radius, length) = (shape.needs_positive("radius")?, shape.needs_positive("length")?);
            Ok(Some(Primitive::Cylinder { radius, length }))
        }
        "capsule" => {
            let (radius, length) = (shape.needs_positive("radius")?, shape.needs_positive("length")?);
            Ok(Some(Primitive::Capsule { radius, length }))
        }
        // Named by the file, drawn by others: the body keeps the inertia that the link gives.
        "mesh" => shape.needs_text("filename").map(|_| None),
        other => Err(shape
            .problem(format!("`<{other}>` is not a shape of URDF"))
            .allowed("box, sphere, cylinder, capsule or mesh")),
    }
}

fn inertial(link: &Element) -> Result<MassProperties, Problem> {
    let Some(inertial) = link.child("inertial") else { return Ok(MassProperties::none()) };
    let mass = inertial.needs("mass")?;
    let value = mass.needs_number("value")?;
    if value < 0.0 {
        return Err(mass
            .wrong("value", "a mass cannot be negative".into())
            .allowed("a number of at least 0"));
    }
    let tensor = inertial.needs("inertia")?;
    let entry = |name: &str| tensor.needs_number(name);
    let (xx, yy, zz) = (entry("ixx")?, entry("iyy")?, entry("izz")?);
    let other = |name: &str| tensor.number(name).map(|v| v.unwrap_or(0.0));
    let (xy, xz, yz) = (other("ixy")?, other("ixz")?, other("iyz")?);
    let inertia = Matrix::<3>::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let at = origin(&inertial)?;
    Ok(MassProperties { mass: value, centre: Vector::zeros(), inertia }.moved(&at))
}

/// Where a link is: a body of its own, or a part of another that it is fixed to without a mass of its own.
#[derive(Clone)]
struct Place {
    frame: Frame<3>,
    /// Name of the scene's body that it moves with.
    body: String,
}

pub(super) fn read(robot: &Element, fixed: bool, placement: &Frame<3>) -> Result<Imported, Problem> {
    let mut links: HashMap<&str, Element> = HashMap::new();
    let mut order = Vec::new();
    for link in robot.all("link") {
        let name = link.needs_text("name")?;
        if links.insert(name, link).is_some() {
            return Err(link.wrong("name", format!("there are two links called `{name}`")));
        }
        order.push(name);
    }
    // The joint that leads to each link, and those that lead away from it.
    let mut above: HashMap<&str, &str> = HashMap::new();
    let mut below: HashMap<&str, Vec<Element>> = HashMap::new();
    let mut names: HashMap<&str, Element> = HashMap::new();
    for joint in robot.all("joint") {
        let name = joint.needs_text("name")?;
        if names.insert(name, joint).is_some() {
            return Err(joint.wrong("name", format!("there are two joints called `{name}`")));
        }
        let end = |tag: &'static str| -> Result<&str, Problem> {
            let element = joint.needs(tag)?;
            let link = element.needs_text("link")?;
            if !links.contains_key(link) {
                return Err(element
                    .wrong("link", format!("joint `{name}` joins `{link}`, but there is no such link")));
            }
            Ok(link)
        };
        let (parent, child) = (end("parent")?, end("child")?);
        if let Some(other) = above.insert(child, name) {
            return Err(joint
                .problem(format!("link `{child}` is the child of two joints, `{other}` and `{name}`"))
                .hint("URDF describes trees; close loops with a `[[joint]]` of the scene"));
        }
        below.entry(parent).or_default().push(joint);
    }
    let roots: Vec<&str> = order.iter().copied().filter(|name| !above.contains_key(name)).collect();
    let root = match roots.as_slice() {
        [root] => *root,
        [] if order.is_empty() => return Err(robot.problem("this robot has no links".into())),
        [] => {
            return Err(
                robot.problem("the joints of this robot go round in circles: no link is the root".into())
            );
        }
        [_, second, ..] => {
            return Err(links[second]
                .wrong("name", format!("link `{second}` is a second root: no joint leads to it")));
        }
    };

    let mut imported = Imported::default();
    let mut places: HashMap<&str, Place> = HashMap::new();
    let mut todo = vec![(root, None)];
    while let Some((name, joint)) = todo.pop() {
        let element: &Element = &links[name];
        let link = read_link(element, name)?;
        let joint: Option<(Element, Place)> = joint;
        let place = match &joint {
            None => place_root(link, element, fixed, placement, &mut imported)?,
            Some((joint, parent)) => place_child(link, element, joint, parent, &mut imported)?,
        };
        places.insert(name, place.clone());
        // In the order of the file: the last pushed is taken first.
        for joint in below.get(name).into_iter().flatten().rev() {
            let child = joint.needs("child")?.needs_text("link")?;
            todo.push((child, Some((*joint, place.clone()))));
        }
    }
    if let Some(lost) = order.iter().find(|name| !places.contains_key(*name)) {
        return Err(
            links[lost].wrong("name", format!("no chain of joints leads from the root to link `{lost}`"))
        );
    }
    Ok(imported)
}

fn read_link(element: &Element, name: &str) -> Result<Link, Problem> {
    let mut shapes = Vec::new();
    // What is drawn stands in where nothing is said of what touches.
    for tag in ["collision", "visual"] {
        if !shapes.is_empty() {
            break;
        }
        for part in element.all(tag) {
            if let Some(primitive) = geometry(&part)? {
                shapes.push((primitive, origin(&part)?));
            }
        }
    }
    Ok(Link {
        name: name.to_owned(),
        frame: Frame::identity(),
        properties: inertial(element)?,
        shapes,
        kind: Kind::Dynamic,
    })
}

fn place_root(
    mut link: Link,
    element: &Element,
    fixed: bool,
    placement: &Frame<3>,
    imported: &mut Imported,
) -> Result<Place, Problem> {
    link.frame = *placement;
    if fixed && link.shapes.is_empty() {
        return Ok(Place { frame: *placement, body: "world".into() });
    }
    if fixed {
        link.kind = Kind::Static;
    }
    let rigid = link.rigid(element)?;
    let place = Place { frame: *placement, body: rigid.name.clone() };
    imported.rigid.push(rigid);
    Ok(place)
}

fn place_child(
    mut link: Link,
    element: &Element,
    joint: &Element,
    parent: &Place,
    imported: &mut Imported,
) -> Result<Place, Problem> {
    let frame = parent.frame.compose(&origin(joint)?);
    link.frame = frame;
    let name = joint.needs_text("name")?;
    let kind = joint.needs_text("type")?;
    // A frame without a mass is a name for a place on its parent.
    if kind == "fixed" && link.properties.mass == 0.0 && link.shapes.is_empty() {
        return Ok(Place { frame, body: parent.body.clone() });
    }
    if joint.child("mimic").is_some() {
        return Err(joint
            .problem(format!("joint `{name}` mimics another, which is not supported"))
            .hint("remove `<mimic>`, or drive both joints by motors"));
    }
    if kind == "fixed" && parent.body == "world" && link.properties.mass == 0.0 {
        link.kind = Kind::Static;
    }
    let rigid = link.rigid(element)?;
    let body = rigid.name.clone();
    imported.rigid.push(rigid);
    if link.kind == Kind::Static {
        return Ok(Place { frame, body });
    }
    let (joint_kind, turns) = match kind {
        "revolute" => (JointKind::Hinge, true),
        "continuous" => (JointKind::Hinge, false),
        "prismatic" => (JointKind::Prismatic, true),
        "fixed" => (JointKind::Rigid, false),
        "floating" => return Ok(Place { frame, body }),
        "planar" => (JointKind::Generic, false),
        other => {
            return Err(joint
                .wrong("type", format!("`{other}` is not a type of joint"))
                .allowed("revolute, continuous, prismatic, fixed, floating or planar"));
        }
    };
    let mut made = Joint::new(scene_name(name), joint_kind, parent.body.clone(), body.clone())
        .at(<[f64; 3]>::from(frame.position));
    let axis = match joint.child("axis") {
        None => Vector::from([1.0, 0.0, 0.0]),
        Some(element) => {
            let axis = element.vector("xyz")?.unwrap_or_else(|| Vector::from([1.0, 0.0, 0.0]));
            if !(axis.norm() > 1e-9) {
                return Err(element.wrong("xyz", format!("the axis of joint `{name}` has no direction")));
            }
            axis
        }
    };
    made = made.axis(<[f64; 3]>::from(frame.vector_to_world(&axis)));
    if joint_kind == JointKind::Generic {
        use crate::description::{Freedom, FreedomWord::*};
        // In the plane across the axis.
        made.translation = Some([Locked, Free, Free].map(Freedom::Word).into());
        made.rotation = Some([Free, Locked, Locked].map(Freedom::Word).into());
    }
    if turns {
        let limit = joint.needs("limit")?;
        let (lower, upper) = (limit.number("lower")?.unwrap_or(0.0), limit.number("upper")?.unwrap_or(0.0));
        if lower > upper {
            return Err(limit
                .wrong(
                    "lower",
                    format!("the limits of joint `{name}` are reversed: {lower} is above {upper}"),
                )
                .allowed("a lower limit that is not above the upper one"));
        }
        made = match joint_kind {
            JointKind::Prismatic => made.limit_slide(lower, upper),
            // Beyond a half turn a limit never acts on an angle.
            _ if lower < -std::f64::consts::PI || upper > std::f64::consts::PI => made,
            _ => made.limit_angle(lower.to_degrees(), upper.to_degrees()),
        };
    }
    if let Some(dynamics) = joint.child("dynamics") {
        let damping = dynamics.number("damping")?.unwrap_or(0.0);
        if damping < 0.0 {
            return Err(dynamics.wrong("damping", "damping cannot be negative".into()));
        }
        match joint_kind {
            JointKind::Prismatic => made.slide_damping = damping,
            _ => made.damping = damping,
        }
    }
    imported.joint.push(made);
    Ok(Place { frame, body })
}
