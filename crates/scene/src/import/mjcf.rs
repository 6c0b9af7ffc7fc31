//! MJCF, the model format of MuJoCo: a tree of bodies with the joints that move each in its parent.

use super::link::{Link, MassProperties, Primitive};
use super::xml::Element;
use super::{Imported, scene_name};
use crate::description::{Joint, JointKind, Kind};
use crate::problem::Problem;
use splashdown_math::{Dim, Frame, Matrix, Rotation, Space, Vector};
use std::collections::{HashMap, HashSet};

/// Density of a geom that gives neither density nor mass (kg/m^3), as the format says.
const DENSITY: f64 = 1000.0;

/// What `<compiler>` and `<default>` say.
struct Context<'a, 'input> {
    /// Radians in the unit of angles.
    angle: f64,
    /// Degrees in the unit of angles.
    degrees: f64,
    eulerseq: String,
    /// Elements `<joint>`, `<geom>` of each class, from the outermost inwards.
    classes: HashMap<String, Vec<Element<'a, 'input>>>,
}

impl<'a, 'input> Context<'a, 'input> {
    fn new(root: &Element<'a, 'input>) -> Result<Self, Problem> {
        let compiler = root.child("compiler");
        let degrees = match compiler.as_ref().and_then(|c| c.text("angle")) {
            None | Some("degree") => true,
            Some("radian") => false,
            Some(other) => {
                let place = compiler.as_ref().unwrap_or(root);
                return Err(place
                    .wrong("angle", format!("`{other}` is not a unit of angles"))
                    .allowed("degree or radian"));
            }
        };
        let eulerseq = compiler.as_ref().and_then(|c| c.text("eulerseq")).unwrap_or("xyz").to_owned();
        let mut context = Self {
            angle: if degrees { 1f64.to_radians() } else { 1.0 },
            degrees: if degrees { 1.0 } else { 1f64.to_degrees() },
            eulerseq,
            classes: HashMap::new(),
        };
        for default in root.all("default") {
            context.class(&default, &[], "main")?;
        }
        Ok(context)
    }

    fn class(
        &mut self,
        default: &Element<'a, 'input>,
        outer: &[Element<'a, 'input>],
        unnamed: &str,
    ) -> Result<(), Problem> {
        let name = default.text("class").unwrap_or(unnamed).to_owned();
        let mut own = outer.to_vec();
        own.extend(default.children().filter(|child| child.tag() != "default"));
        for inner in default.all("default") {
            inner.needs_text("class")?;
            self.class(&inner, &own, "")?;
        }
        self.classes.insert(name, own);
        Ok(())
    }

    /// `element` and the defaults that stand behind it, nearest first.
    fn with_defaults(
        &self,
        element: Element<'a, 'input>,
        childclass: Option<&str>,
    ) -> Result<Merged<'a, 'input>, Problem> {
        let class = element.text("class");
        let name = class.or(childclass).unwrap_or("main");
        let known = self.classes.get(name);
        if known.is_none() && class.is_some() {
            return Err(element.wrong("class", format!("there is no default class `{name}`")));
        }
        let mut layers = vec![element];
        let defaults = known.into_iter().flatten().rev().filter(|default| default.tag() == element.tag());
        layers.extend(defaults.copied());
        Ok(Merged { layers })
    }

    /// Position and orientation of a body, geom or inertial.
    fn frame(&self, element: &Merged) -> Result<Frame<3>, Problem> {
        let position = element.holder("pos").vector("pos")?.unwrap_or_else(Vector::zeros);
        Ok(Frame { position, rotation: self.orientation(element)? })
    }

    fn orientation(&self, element: &Merged) -> Result<Rotation<3>, Problem> {
        let count =
            |name: &str, count: usize| -> Result<Option<Vec<f64>>, Problem> {
                let holder = element.holder(name);
                match holder.numbers(name)? {
                    Some(numbers) if numbers.len() != count => Err(holder
                        .wrong(name, format!("`{name}` has {} numbers, but needs {count}", numbers.len()))),
                    numbers => Ok(numbers),
                }
            };
        if let Some(quaternion) = count("quat", 4)? {
            return Dim::<3>::rotation_from_components(&quaternion).ok_or_else(|| {
                element.holder("quat").wrong("quat", "a quaternion of length 0 is not a rotation".into())
            });
        }
        if let Some(v) = count("axisangle", 4)? {
            let axis = Vector::from([v[0], v[1], v[2]]);
            return match axis.try_normalize(1e-12) {
                Some(axis) => Ok(Dim::<3>::exp(&(axis * (v[3] * self.angle)))),
                None => {
                    Err(element.holder("axisangle").wrong("axisangle", "the axis has no direction".into()))
                }
            };
        }
        if let Some(angles) = count("euler", 3)? {
            let mut rotation = Dim::<3>::identity();
            for (letter, angle) in self.eulerseq.chars().zip(angles) {
                let axis = match letter.to_ascii_lowercase() {
                    'x' => 0,
                    'y' => 1,
                    'z' => 2,
                    _ => {
                        return Err(element
                            .first()
                            .problem(format!("`{}` is not an order of angles", self.eulerseq)));
                    }
                };
                let mut about = Vector::<3>::zeros();
                about[axis] = angle * self.angle;
                let turn = Dim::<3>::exp(&about);
                // Lower case turns about axes that turn along, upper case about fixed ones.
                rotation = match letter.is_ascii_lowercase() {
                    true => Dim::<3>::compose(&rotation, &turn),
                    false => Dim::<3>::compose(&turn, &rotation),
                };
            }
            return Ok(rotation);
        }
        if let Some(v) = count("xyaxes", 6)? {
            let (x, y) = (Vector::from([v[0], v[1], v[2]]), Vector::from([v[3], v[4], v[5]]));
            let wrong = || element.holder("xyaxes").wrong("xyaxes", "the two axes span no plane".into());
            let x = x.try_normalize(1e-12).ok_or_else(wrong)?;
            let y = (y - x * x.dot(&y)).try_normalize(1e-12).ok_or_else(wrong)?;
            return Ok(Dim::<3>::rotation_from_matrix(&Matrix::from_columns(&[x, y, x.cross(&y)])));
        }
        if let Some(v) = count("zaxis", 3)? {
            return Ok(Dim::<3>::rotation_between(
                &Vector::from([0.0, 0.0, 1.0]),
                &Vector::from([v[0], v[1], v[2]]),
            ));
        }
        Ok(Dim::<3>::identity())
    }
}

/// An element over its defaults.
struct Merged<'a, 'input> {
    layers: Vec<Element<'a, 'input>>,
}

impl<'a, 'input> Merged<'a, 'input> {
    fn first(&self) -> &Element<'a, 'input> {
        &self.layers[0]
    }

    /// The element that gives `attribute`, or the element itself.
    fn holder(&self, attribute: &str) -> &Element<'a, 'input> {
        self.layers.iter().find(|layer| layer.text(attribute).is_some()).unwrap_or(&self.layers[0])
    }

    fn text(&self, attribute: &str) -> Option<&'a str> {
        self.holder(attribute).text(attribute)
    }

    fn number(&self, attribute: &str) -> Result<Option<f64>, Problem> {
        self.holder(attribute).number(attribute)
    }
}

/// The body that another hangs on.
struct Parent<'p> {
    /// Its frame in the world.
    frame: Frame<3>,
    /// Its name in the scene.
    body: &'p str,
    childclass: Option<&'p str>,
    depth: usize,
}

struct Reader<'a, 'input> {
    context: Context<'a, 'input>,
    imported: Imported,
    names: HashSet<String>,
    /// Scene names of the file's bodies, and of the joints.
    bodies: HashMap<&'a str, String>,
    frames: HashMap<&'a str, Frame<3>>,
}

pub(super) fn read(root: &Element, placement: &Frame<3>) -> Result<Imported, Problem> {
    let world = root.needs("worldbody")?;
    let mut reader = Reader {
        context: Context::new(root)?,
        imported: Imported::default(),
        names: HashSet::new(),
        bodies: HashMap::new(),
        frames: HashMap::new(),
    };
    let parent = Parent { frame: *placement, body: "world", childclass: None, depth: 0 };
    for body in world.all("body") {
        reader.body(body, &parent)?;
    }
    reader.equalities(root)?;
    if reader.imported.rigid.is_empty() {
        return Err(world.problem("this model has no bodies".into()));
    }
    Ok(reader.imported)
}

impl<'a, 'input> Reader<'a, 'input> {
    /// A name that no other has.
    fn unique(&mut self, wanted: &str) -> String {
        let base = scene_name(wanted);
        let mut name = base.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    }

    fn body(&mut self, element: Element<'a, 'input>, parent: &Parent) -> Result<(), Problem> {
        if parent.depth > 200 {
            return Err(element.problem("bodies are nested too deeply".into()).allowed("at most 200 levels"));
        }
        let plain = Merged { layers: vec![element] };
        let frame = parent.frame.compose(&self.context.frame(&plain)?);
        let childclass = element.text("childclass").or(parent.childclass).map(str::to_owned);
        let name = self.unique(element.text("name").unwrap_or("body"));
        let mut shapes = Vec::new();
        let mut properties = MassProperties::none();
        for geom in element.all("geom") {
            let geom = self.context.with_defaults(geom, childclass.as_deref())?;
            let Some((primitive, at)) = self.geom(&geom)? else { continue };
            let density = match geom.number("mass")? {
                Some(mass) => mass / primitive.mass_properties(1.0).mass,
                None => geom.number("density")?.unwrap_or(DENSITY),
            };
            properties = properties.plus(&primitive.mass_properties(density).moved(&at));
            shapes.push((primitive, at));
        }
        if let Some(inertial) = element.child("inertial") {
            properties = self.inertial(&inertial)?;
        }
        let mut joints = Vec::new();
        for joint in element.all("joint") {
            joints.push(self.context.with_defaults(joint, childclass.as_deref())?);
        }
        let free = element.child("freejoint").is_some()
            || joints.iter().any(|joint| joint.text("type") == Some("free"));
        let fixed_to_world = joints.is_empty() && !free && parent.body == "world";
        let kind = if fixed_to_world { Kind::Static } else { Kind::Dynamic };
        let link = Link { name: name.clone(), frame, properties, shapes, kind };
        self.imported.rigid.push(link.rigid(&element)?);
        if let Some(own) = element.text("name") {
            self.bodies.insert(own, name.clone());
            self.frames.insert(own, frame);
        }
        if !free && !fixed_to_world {
            let joint = self.joint(&element, &joints, &frame, parent.body, &name)?;
            self.imported.joint.push(joint);
        }
        let own = Parent { frame, body: &name, childclass: childclass.as_deref(), depth: parent.depth + 1 };
        for body in element.all("body") {
            self.body(body, &own)?;
        }
        Ok(())
    }

    fn inertial(&self, inertial: &Element<'a, 'input>) -> Result<MassProperties, Problem> {
        let mass = inertial.needs_positive("mass")?;
        let inertia = match (inertial.vector("diaginertia")?, inertial.numbers("fullinertia")?.as_deref()) {
            (Some(diagonal), _) => Matrix::<3>::from_diagonal(&diagonal),
            (None, Some(&[xx, yy, zz, xy, xz, yz])) => Matrix::<3>::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
            (None, Some(other)) => {
                return Err(inertial.wrong(
                    "fullinertia",
                    format!("`fullinertia` has {} numbers, but needs 6", other.len()),
                ));
            }
            (None, None) => {
                return Err(
                    inertial.problem("`<inertial>` has neither `diaginertia` nor `fullinertia`".into())
                );
            }
        };
        let at = self.context.frame(&Merged { layers: vec![*inertial] })?;
        Ok(MassProperties { mass, centre: Vector::zeros(), inertia }.moved(&at))
    }

    /// Shape and place of a geom; `None` for what gives a body neither (planes, meshes).
    fn geom(&self, geom: &Merged<'a, 'input>) -> Result<Option<(Primitive, Frame<3>)>, Problem> {
        let mut at = self.context.frame(geom)?;
        let kind = geom.text("type").unwrap_or("sphere");
        let holder = *geom.holder("size");
        let sizes = holder.numbers("size")?.unwrap_or_default();
        let size = |n: usize| match sizes.get(n) {
            Some(value) if *value > 0.0 => Ok(*value),
            Some(_) => Err(holder.wrong("size", "the size of a geom must be greater than 0".into())),
            None => Err(holder.wrong("size", format!("`size` of a {kind} has too few numbers")).allowed(
                match kind {
                    "box" | "ellipsoid" => "three half sizes",
                    "sphere" => "a radius",
                    _ => "a radius and half a length",
                },
            )),
        };
        let ends = geom.holder("fromto").numbers("fromto")?;
        let mut half_length = || match ends.as_deref() {
            Some(&[a, b, c, d, e, f]) => {
                let (from, to) = (Vector::from([a, b, c]), Vector::from([d, e, f]));
                let along: Vector<3> = to - from;
                at = Frame {
                    position: (from + to) * 0.5,
                    rotation: Dim::<3>::rotation_between(&Vector::from([0.0, 0.0, 1.0]), &along),
                };
                Ok(0.5 * along.norm())
            }
            Some(other) => Err(geom
                .holder("fromto")
                .wrong("fromto", format!("`fromto` has {} numbers, but needs 6", other.len()))),
            None => size(1),
        };
        let primitive = match kind {
            "sphere" => Primitive::Sphere { radius: size(0)? },
            "capsule" => Primitive::Capsule { length: 2.0 * half_length()?, radius: size(0)? },
            "cylinder" => Primitive::Cylinder { length: 2.0 * half_length()?, radius: size(0)? },
            "box" => Primitive::Box { size: [2.0 * size(0)?, 2.0 * size(1)?, 2.0 * size(2)?] },
            "ellipsoid" => Primitive::Ellipsoid { radii: [size(0)?, size(1)?, size(2)?] },
            "plane" | "hfield" | "mesh" | "sdf" => return Ok(None),
            other => {
                return Err(geom
                    .holder("type")
                    .wrong("type", format!("`{other}` is not a type of geom"))
                    .allowed("sphere, capsule, cylinder, box, ellipsoid, mesh or plane"));
            }
        };
        Ok(Some((primitive, at)))
    }

    /// One joint of the scene for the joints of a body: none is a weld, up to three of the file's are one of ours.
    fn joint(
        &mut self,
        element: &Element<'a, 'input>,
        joints: &[Merged<'a, 'input>],
        frame: &Frame<3>,
        parent: &str,
        child: &str,
    ) -> Result<Joint, Problem> {
        let mut axes = Vec::new();
        for joint in joints {
            let axis = joint.holder("axis").vector("axis")?.unwrap_or_else(|| Vector::from([0.0, 0.0, 1.0]));
            let Some(axis) = axis.try_normalize(1e-12) else {
                return Err(joint
                    .holder("axis")
                    .wrong("axis", "the axis of a joint has no direction".into()));
            };
            axes.push(frame.vector_to_world(&axis));
        }
        let types: Vec<&str> = joints.iter().map(|joint| joint.text("type").unwrap_or("hinge")).collect();
        let across = |a: &Vector<3>, b: &Vector<3>| a.dot(b).abs() < 1e-3;
        let kind = match (types.as_slice(), axes.as_slice()) {
            ([], _) => JointKind::Rigid,
            (["hinge"], _) => JointKind::Hinge,
            (["slide"], _) => JointKind::Prismatic,
            (["ball"], _) => JointKind::Point,
            (["hinge", "hinge"], [a, b]) if across(a, b) => JointKind::Universal,
            (["hinge", "hinge", "hinge"], [a, b, c]) if across(a, b) && across(b, c) && across(a, c) => {
                JointKind::Point
            }
            (["slide", "hinge"] | ["hinge", "slide"], [a, b]) if a.cross(b).norm() < 1e-3 => {
                JointKind::PrismaticTwist
            }
            _ => {
                let known = ["hinge", "slide", "ball", "free"];
                if let Some(n) = types.iter().position(|kind| !known.contains(kind)) {
                    return Err(joints[n]
                        .holder("type")
                        .wrong("type", format!("`{}` is not a type of joint", types[n]))
                        .allowed("hinge, slide, ball or free"));
                }
                return Err(element
                    .problem(format!("the joints of this body ({}) do not make one joint", types.join(", ")))
                    .allowed("hinge, slide, ball, free; two or three hinges at right angles; a slide and a hinge on one axis")
                    .hint("put a small body between, with one joint each"));
            }
        };
        let name = joints
            .first()
            .and_then(|joint| joint.text("name"))
            .map_or(format!("{child}_joint"), str::to_owned);
        let at = match joints.first() {
            Some(joint) => joint.holder("pos").vector("pos")?.unwrap_or_else(Vector::zeros),
            None => Vector::zeros(),
        };
        let mut made =
            Joint::new(scene_name(&name), kind, parent, child).at(<[f64; 3]>::from(frame.to_world(&at)));
        if let Some(axis) = axes.first() {
            made = made.axis(<[f64; 3]>::from(*axis));
        }
        if let (JointKind::Universal | JointKind::Point, Some(second)) = (kind, axes.get(1)) {
            made.second_axis = Some(second.iter().copied().collect());
        }
        for (n, joint) in joints.iter().enumerate() {
            let slide = types[n] == "slide";
            if let Some(range) = self.range(joint)? {
                let scale = if slide { 1.0 } else { self.context.degrees };
                let range = vec![range[0] * scale, range[1] * scale];
                let holder = joint.holder("range");
                if !slide && (range[0] < -180.0 || range[1] > 180.0) {
                    return Err(holder
                        .wrong("range", "limits of an angle beyond half a turn are not kept".into())
                        .allowed("-180 to 180 degrees")
                        .hint("limited=\"false\" lets the joint turn freely"));
                }
                let slot = match (slide, kind, n) {
                    (true, ..) => &mut made.limits.slide,
                    (false, JointKind::Point, _) if types[n] == "ball" => {
                        return Err(holder
                            .wrong("range", "the limit of the whole angle of a ball joint is not kept".into())
                            .hint("three hinges at right angles have a range each; limited=\"false\" lets the joint turn freely"));
                    }
                    (false, JointKind::PrismaticTwist, _) | (false, _, 0) => &mut made.limits.angle,
                    (false, _, 1) => &mut made.limits.second_angle,
                    _ => &mut made.limits.third_angle,
                };
                *slot = Some(range);
            }
            let damping = joint.number("damping")?.unwrap_or(0.0);
            if damping < 0.0 {
                return Err(joint.holder("damping").wrong("damping", "damping cannot be negative".into()));
            }
            let slot = if slide { &mut made.slide_damping } else { &mut made.damping };
            *slot = slot.max(damping);
        }
        Ok(made)
    }

    /// The limits of a joint, if it is limited.
    fn range(&self, joint: &Merged<'a, 'input>) -> Result<Option<[f64; 2]>, Problem> {
        let holder = joint.holder("range");
        let range = match holder.numbers("range")?.as_deref() {
            None => return Ok(None),
            Some(&[low, high]) => [low, high],
            Some(other) => {
                return Err(
                    holder.wrong("range", format!("`range` has {} numbers, but needs 2", other.len()))
                );
            }
        };
        if joint.text("limited") == Some("false") {
            return Ok(None);
        }
        if range[0] > range[1] {
            return Err(holder
                .wrong("range", format!("the limits are reversed: {} is above {}", range[0], range[1]))
                .allowed("a lower limit that is not above the upper one"));
        }
        Ok(Some(range))
    }

    /// Loops: bodies that are connected at a point or welded.
    fn equalities(&mut self, root: &Element<'a, 'input>) -> Result<(), Problem> {
        for equality in root.all("equality").flat_map(|e| e.children()) {
            let kind = match equality.tag() {
                "connect" => JointKind::Point,
                "weld" => JointKind::Rigid,
                other => {
                    return Err(equality
                        .problem(format!("`<{other}>` is not supported"))
                        .allowed("connect or weld"));
                }
            };
            let end = |attribute: &str| -> Result<Option<(String, Frame<3>)>, Problem> {
                let Some(name) = equality.text(attribute) else { return Ok(None) };
                match (self.bodies.get(name), self.frames.get(name)) {
                    (Some(body), Some(frame)) => Ok(Some((body.clone(), *frame))),
                    _ => Err(equality.wrong(attribute, format!("there is no body called `{name}`"))),
                }
            };
            let Some((first, frame)) = end("body1")? else {
                return Err(equality.problem(format!("`<{}>` has no attribute `body1`", equality.tag())));
            };
            let second = end("body2")?.map_or("world".to_owned(), |(body, _)| body);
            let anchor = equality.vector("anchor")?.unwrap_or_else(Vector::zeros);
            let name = self.unique(equality.text("name").unwrap_or("loop"));
            let joint = Joint::new(name, kind, second, first).at(<[f64; 3]>::from(frame.to_world(&anchor)));
            self.imported.joint.push(joint);
        }
        Ok(())
    }
}
