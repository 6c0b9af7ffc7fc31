//! Reading of URDF and MJCF: masses, frames, joints and limits come out as the file says, and mistakes are located.

use super::*;
use crate::source::{SourceText, Sources};
use crate::{AnyWorld, Kind, Scene, build};
use splashdown_math::{Coordinates, Dim, Space, Vector};

fn plain(file: &str) -> Import {
    Import { file: file.into(), prefix: None, position: None, rotation: None, fixed: true }
}

fn imported(text: &str) -> Imported {
    read(text, 0, &plain("robot"), &Frame::identity()).unwrap_or_else(|problem| panic!("{}", problem.message))
}

/// Line, column and message of the mistake.
fn mistake(text: &str) -> (usize, usize, String) {
    let problem = read(text, 0, &plain("robot"), &Frame::identity()).expect_err("a mistake");
    let mut sources = Sources::default();
    sources.add(SourceText { name: "robot".into(), text: text.into(), folder: None });
    let place = sources.place(problem.origin.expect("a place"));
    (place.line, place.column, problem.message)
}

fn world(imported: Imported) -> splashdown_couple::World<3> {
    let mut scene = Scene::new(3);
    scene.rigid = imported.rigid;
    scene.joint = imported.joint;
    scene.check().unwrap_or_else(|errors| panic!("{errors}"));
    match build(&scene) {
        Ok(AnyWorld::Three(world)) => *world,
        other => panic!("{other:?}"),
    }
}

const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.15"/>
    </inertial>
    <collision>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <geometry><box size="0.1 0.2 1.0"/></geometry>
    </collision>
  </link>
  <link name="tool"/>
  <link name="slider">
    <inertial>
      <mass value="0.5"/>
      <inertia ixx="0.01" ixy="0.002" ixz="0" iyy="0.02" iyz="0" izz="0.015"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/>
    <origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="10" velocity="1"/>
    <dynamics damping="0.7"/>
  </joint>
  <joint name="wrist" type="fixed">
    <parent link="upper"/> <child link="tool"/> <origin xyz="0 0 1"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="tool"/> <child link="slider"/>
    <axis xyz="0 0 1"/> <limit lower="0" upper="0.2" effort="1" velocity="1"/>
  </joint>
</robot>"#;

#[test]
fn a_urdf_arm_has_its_frames_masses_and_limits() {
    let arm = imported(ARM);
    let names: Vec<&str> = arm.rigid.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["upper", "slider"]);
    let ends: Vec<(&str, &str, &str)> =
        arm.joint.iter().map(|j| (j.name.as_str(), j.parent.as_str(), j.child.as_str())).collect();
    // The base is the world, and the massless tool a place on the upper arm.
    assert_eq!(ends, [("shoulder", "world", "upper"), ("slide", "upper", "slider")]);
    let limits = arm.joint[0].limits.angle.clone().expect("limits");
    assert!((limits[0] + 1f64.to_degrees()).abs() < 1e-12 && (limits[1] - 0.5f64.to_degrees()).abs() < 1e-12);
    assert_eq!(arm.joint[0].damping, 0.7);
    assert_eq!(arm.joint[1].limits.slide, Some(vec![0.0, 0.2]));
    let world = world(arm);
    let (bodies, states) = (&world.model().bodies, &world.state().bodies);
    assert_eq!(bodies[0].mass, 2.0);
    // A quarter turn about y lays the arm along x, at a height of 1.
    assert!((states[0].frame.position - Vector::from([0.5, 0.0, 1.0])).norm() < 1e-12);
    assert!((states[1].frame.position - Vector::from([1.0, 0.0, 1.0])).norm() < 1e-12);
    // The inertia in world axes: that of the link turned along.
    let inertia = Dim::<3>::rotate_inertia(&states[0].frame.rotation, &bodies[0].inertia);
    for (axis, moment) in [(0, 0.15), (1, 0.3), (2, 0.2)] {
        assert!((inertia[(axis, axis)] - moment).abs() < 1e-12, "{inertia}");
    }
    // And with products of inertia.
    let inertia = Dim::<3>::rotate_inertia(&states[1].frame.rotation, &bodies[1].inertia);
    let turned = Dim::<3>::rotate_inertia(
        &Dim::<3>::exp(&Vector::from([0.0, std::f64::consts::FRAC_PI_2, 0.0])),
        &splashdown_math::Matrix::<3>::new(0.01, 0.002, 0.0, 0.002, 0.02, 0.0, 0.0, 0.0, 0.015),
    );
    assert!((inertia - turned).norm() < 1e-12, "{inertia} {turned}");
    // The slide goes along the arm.
    let axis = world.model().joints[1].world_frames(|i| states[i].frame)[0]
        .vector_to_world(&Vector::from([1.0, 0.0, 0.0]));
    assert!((axis - Vector::from([1.0, 0.0, 0.0])).norm() < 1e-12);
}

#[test]
fn what_touches_is_the_collision_shape_and_what_is_drawn_stands_in() {
    let link = |collision: &str| {
        format!(
            r#"<robot name="r"><link name="ball"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
            <visual><geometry><box size="2 2 2"/></geometry></visual>{collision}</link></robot>"#
        )
    };
    let radius = |text: &str| {
        let free = Import { fixed: false, ..plain("robot") };
        let robot = read(text, 0, &free, &Frame::identity()).expect("a robot");
        world(robot).model().bodies[0].geometry.as_ref().expect("a shape").radius()
    };
    let both = link(r#"<collision><geometry><sphere radius="0.25"/></geometry></collision>"#);
    assert!((radius(&both) - 0.25).abs() < 1e-12);
    assert!((radius(&link("")) - 3f64.sqrt()).abs() < 1e-12);
}

#[test]
fn a_urdf_arm_swings() {
    let mut world = world(imported(ARM));
    for _ in 0..60 {
        world.step(1.0 / 60.0).unwrap_or_else(|error| panic!("{error}"));
    }
    let errors = world.diagnostics().joints.expect("joints");
    assert!(
        errors.linear_error < 1e-9 && errors.angular_error < 1e-9 && errors.angular_limit_error < 1e-9,
        "{errors:?}"
    );
}

const MODEL: &str = r#"<mujoco model="pair">
  <compiler angle="degree"/>
  <default>
    <geom density="500"/>
    <default class="stiff"><joint damping="3"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="torso" pos="0 0 2">
      <freejoint/>
      <geom type="capsule" fromto="0 0 -0.3 0 0 0.3" size="0.1"/>
      <geom type="sphere" size="0.1" pos="0 0 0.5" mass="1"/>
      <body name="thigh" pos="0 0.1 -0.4" euler="0 90 0">
        <joint name="hip" class="stiff" type="hinge" axis="0 1 0" range="-30 60"/>
        <geom type="box" size="0.2 0.05 0.05" pos="0.2 0 0"/>
        <body name="shin" pos="0.4 0 0">
          <joint type="hinge" axis="0 1 0"/>
          <joint type="hinge" axis="0 0 1" range="-10 10"/>
          <inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.02 0.02"/>
        </body>
      </body>
    </body>
    <body name="post" pos="3 0 0"><geom type="cylinder" size="0.1 1"/></body>
  </worldbody>
  <equality><connect body1="shin" body2="post" anchor="0.4 0 0"/></equality>
</mujoco>"#;

#[test]
fn an_mjcf_model_has_its_bodies_joints_and_loops() {
    let model = imported(MODEL);
    let names: Vec<&str> = model.rigid.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["torso", "thigh", "shin", "post"]);
    assert_eq!(model.rigid[3].kind, Kind::Static);
    let ends: Vec<(JointKindName, &str, &str)> =
        model.joint.iter().map(|j| (format!("{:?}", j.kind), j.parent.as_str(), j.child.as_str())).collect();
    assert_eq!(
        ends,
        [
            ("Hinge".to_owned(), "torso", "thigh"),
            ("Universal".to_owned(), "thigh", "shin"),
            ("Point".to_owned(), "post", "shin")
        ]
    );
    assert_eq!(model.joint[0].limits.angle, Some(vec![-30.0, 60.0]));
    assert_eq!(model.joint[0].damping, 3.0);
    assert_eq!(model.joint[1].damping, 0.0);
    let world = world(model);
    let torso = &world.model().bodies[0];
    let capsule = 500.0 * std::f64::consts::PI * (0.01 * 0.6 + 4.0 / 3.0 * 0.001);
    assert!((torso.mass - capsule - 1.0).abs() < 1e-12, "{}", torso.mass);
    // Its centre of mass lies between capsule and head.
    let centre = world.state().bodies[0].frame.position;
    assert!((centre.z - 2.0 - 0.5 / (1.0 + capsule)).abs() < 1e-12, "{centre}");
    // A box of half sizes 0.2, 0.05, 0.05 that hangs down: x of the thigh is -z of the world.
    let thigh = world.state().bodies[1].frame;
    assert!(
        (thigh.position - Vector::from([0.0, 0.1, 2.0 - 0.4 - 0.2])).norm() < 1e-12,
        "{}",
        thigh.position
    );
    let shin = world.state().bodies[2].frame.position;
    assert!((shin - Vector::from([0.0, 0.1, 2.0 - 0.4 - 0.6])).norm() < 1e-12, "{shin}");
}

type JointKindName = String;

#[test]
fn a_capsule_has_the_inertia_of_its_parts() {
    // By integration over slices.
    let (radius, length) = (0.3, 0.8);
    let properties = link::Primitive::Capsule { radius, length }.mass_properties(2.0);
    let (mut mass, mut along, mut across) = (0.0, 0.0, 0.0);
    let steps = 200_000;
    let half = 0.5 * length + radius;
    for n in 0..steps {
        let h = 2.0 * half / f64::from(steps);
        let z = -half + (f64::from(n) + 0.5) * h;
        let beyond = (z.abs() - 0.5 * length).max(0.0);
        let r2 = radius * radius - beyond * beyond;
        let slice = 2.0 * std::f64::consts::PI * r2 * h;
        mass += slice;
        along += 0.5 * slice * r2;
        across += slice * (0.25 * r2 + z * z);
    }
    assert!((properties.mass - mass).abs() < 1e-8);
    assert!((properties.inertia[(2, 2)] - along).abs() < 1e-8);
    assert!((properties.inertia[(0, 0)] - across).abs() < 1e-8);
    assert!(Coordinates::norm(&properties.centre) == 0.0);
}

#[test]
fn an_ellipsoid_keeps_its_axes_and_most_of_its_volume() {
    let text = "<mujoco><worldbody><body name=\"egg\"><freejoint/>\
                <geom type=\"ellipsoid\" size=\"0.3 0.2 0.1\" density=\"1000\"/></body></worldbody></mujoco>";
    let world = world(imported(text));
    let egg = &world.model().bodies[0];
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.3 * 0.2 * 0.1;
    assert!((egg.mass - 1000.0 * volume).abs() < 1e-9, "{}", egg.mass);
    let geometry = egg.geometry.as_ref().unwrap();
    let share = geometry.properties().unwrap().volume / volume;
    assert!(share > 0.9 && share < 1.0, "{share}");
    for (axis, reach) in [0.3, 0.2, 0.1].into_iter().enumerate() {
        // The body's own axes are its principal ones, whichever of the file's they are.
        let mut end = Vector::<3>::zeros();
        end[axis] = reach;
        let end = world.state().bodies[0].frame.to_object(&end);
        assert!(
            geometry.signed_distance(&end).abs() < 2e-3,
            "axis {axis}: {}",
            geometry.signed_distance(&end)
        );
    }
}

#[test]
fn mistakes_are_located() {
    let robot = |inside: &str| format!("<robot name=\"r\">\n{inside}\n</robot>");
    let link = |name: &str| format!("<link name=\"{name}\"/>");
    let (line, _, message) = mistake("<robot>\n<link name=\"a\">\n</robot>");
    assert!(line >= 2 && message.contains("not well-formed XML"), "{line}: {message}");
    assert_eq!(mistake("<world/>"), (1, 1, "`world` is not the root element of a URDF or MJCF file".into()));
    assert!(mistake("<robot/>").2.contains("no links"));
    assert!(mistake("<!DOCTYPE robot [<!ENTITY a 'b'>]>\n<robot/>").2.contains("XML"));
    let joint = |kind: &str, parent: &str, child: &str, more: &str| {
        format!(
            "<joint name=\"j\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{more}</joint>"
        )
    };
    let mass = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial>";
    let heavy = format!("<link name=\"b\">{mass}</link>");
    let two = |joint: String| robot(&format!("{}\n{heavy}\n{joint}", link("a")));
    let (line, _, message) = mistake(&two(joint("revolute", "a", "c", "")));
    assert!(line == 4 && message.contains("there is no such link"), "{line}: {message}");
    let (line, column, message) = mistake(&two(joint("spherical", "a", "b", "")));
    assert_eq!((line, column, message.as_str()), (4, 23, "`spherical` is not a type of joint"));
    assert!(mistake(&two(joint("revolute", "a", "b", ""))).2.contains("has no `<limit>`"));
    let limit = "<limit lower=\"1\" upper=\"-1\"/>";
    assert!(mistake(&two(joint("revolute", "a", "b", limit))).2.contains("reversed"));
    assert!(mistake(&two(joint("continuous", "a", "b", "<axis xyz=\"0 0 0\"/>"))).2.contains("no direction"));
    assert!(
        mistake(&two(joint("continuous", "a", "b", "<axis xyz=\"0 0 x\"/>")))
            .2
            .contains("not a list of numbers")
    );
    assert!(
        mistake(&two(joint("continuous", "a", "b", "<origin xyz=\"0 0\"/>"))).2.contains("has 2 numbers")
    );
    assert!(mistake(&robot(&format!("{heavy}{heavy}"))).2.contains("two links called `b`"));
    assert!(mistake(&robot(&format!("{}{heavy}", link("a")))).2.contains("second root"));
    let light = robot(&format!("{}{}{}", link("a"), link("b"), joint("continuous", "a", "b", "")));
    assert!(mistake(&light).2.contains("no possible mass"));
    let body = |inside: &str| {
        format!("<mujoco>\n<worldbody>\n<body name=\"b\">{inside}</body>\n</worldbody>\n</mujoco>")
    };
    assert!(mistake("<mujoco/>").2.contains("has no `<worldbody>`"));
    assert!(mistake(&body("<freejoint/>")).2.contains("no possible mass"));
    let (line, _, message) = mistake(&body("<geom size=\"0.1\"/><joint type=\"screw\"/>"));
    assert!(line == 3 && message.contains("`screw` is not a type of joint"), "{line}: {message}");
    assert!(mistake(&body("<geom size=\"-1\"/>")).2.contains("greater than 0"));
    assert!(mistake(&body("<geom size=\"1\"/><joint range=\"2 1\"/>")).2.contains("reversed"));
    assert!(mistake(&body("<geom size=\"1\"/><joint axis=\"0 0 0\"/>")).2.contains("no direction"));
    assert!(mistake(&body("<geom size=\"1\"/><joint class=\"x\"/>")).2.contains("no default class `x`"));
    assert!(
        mistake(&body("<geom size=\"1\"/><joint/><joint type=\"ball\"/>"))
            .2
            .contains("do not make one joint")
    );
    // What would change the motion and is not kept is refused where it stands.
    let (line, _, message) = mistake(&body("<geom size=\"1\"/><joint range=\"-200 200\"/>"));
    assert!(line == 3 && message.contains("beyond half a turn"), "{line}: {message}");
    let (line, _, message) = mistake(&body("<geom size=\"1\"/><joint type=\"ball\" range=\"0 60\"/>"));
    assert!(line == 3 && message.contains("whole angle of a ball"), "{line}: {message}");
    let free = body("<geom size=\"1\"/><joint range=\"-200 200\" limited=\"false\"/>");
    assert!(read(&free, 0, &plain("robot"), &Frame::identity()).is_ok());
}

#[test]
fn names_become_names_of_a_scene() {
    assert_eq!(scene_name("left arm/1"), "left_arm_1");
    assert_eq!(scene_name("12"), "n_12");
    assert_eq!(scene_name(""), "n_");
}
