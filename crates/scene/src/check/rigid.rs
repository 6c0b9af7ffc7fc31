//! Checks of rigid bodies: what they may have depends on how they move.

use super::meaning::{Check, key, read, vanishes};
use crate::description::{Fluid, FluidCoupling, Kind, Rigid, Rotation};
use crate::problem::ProblemKind;
use crate::tree::Segment;

impl Check<'_> {
    pub(super) fn rigid(&mut self, index: usize, body: &Rigid) {
        let path = |field: &str| [key("rigid"), Segment::Index(index), key(field)];
        self.one_mass(
            [key("rigid"), Segment::Index(index)],
            &body.name,
            body.mass,
            body.density,
            body.kind == Kind::Dynamic,
        );
        if body.kind == Kind::Static {
            let moves = |values: &[f64]| values.iter().any(|v| *v != 0.0);
            let spins = match &body.spin {
                Some(crate::SpinValue::Rate(rate)) => *rate != 0.0,
                Some(crate::SpinValue::Vector(v)) => moves(v),
                None => false,
            };
            for (field, set) in [("velocity", body.velocity.as_deref().is_some_and(moves)), ("spin", spins)] {
                if set {
                    let problem = self
                        .at(
                            &path(field),
                            ProblemKind::Conflict,
                            format!("`{}` is static and cannot have a {field}", body.name),
                        )
                        .hint("use kind = \"kinematic\" for a body that moves but is not pushed");
                    self.problems.push(problem);
                }
            }
        }
        let coupled = || {
            let fluid: Option<Fluid> = read(self.root.get("fluid"));
            fluid.is_some_and(|fluid| fluid.coupling != FluidCoupling::Word(false))
        };
        let in_fluid = [("surface_flow", body.surface_flow.is_some()), ("in_fluid", body.in_fluid.is_some())];
        for (field, _) in in_fluid.iter().filter(|(_, given)| *given && !coupled()) {
            let what = format!(
                "`{field}` of `{}` says how it drives a fluid, but no fluid is coupled to bodies",
                body.name
            );
            let problem = self.at(&path(field), ProblemKind::Conflict, what);
            self.problems.push(problem.hint("add [fluid], without `coupling = false`"));
        }
        let loads = [
            ("force", body.force.is_some()),
            ("torque", body.torque.is_some()),
            ("drag", body.drag.is_some()),
        ];
        for (field, _) in loads.iter().filter(|(_, given)| *given && body.kind != Kind::Dynamic) {
            let what = format!("`{field}` acts on dynamic bodies, and `{}` is not one", body.name);
            let problem = self.at(&path(field), ProblemKind::Conflict, what);
            self.problems.push(problem.hint(format!("remove `{field}`, or `kind`")));
        }
        if body.fracture.is_some() && body.kind != Kind::Dynamic {
            let problem = self
                .at(
                    &path("fracture"),
                    ProblemKind::Conflict,
                    format!("`{}` is not dynamic and cannot break", body.name),
                )
                .hint("remove `fracture`, or let forces move the body");
            self.problems.push(problem);
        }
        if let Some(regions) = body.fracture.as_ref().and_then(|fracture| fracture.regions.as_ref())
            && regions.files.is_empty() == regions.pattern.is_none()
        {
            let at = [key("rigid"), Segment::Index(index), key("fracture"), key("regions")];
            let message =
                format!("`{}` needs either `files` or `pattern` for its fracture pattern", body.name);
            self.problems.push(self.at(&at, ProblemKind::Conflict, message));
        }
        match &body.rotation {
            Some(Rotation::AxisAngle { axis, .. }) if vanishes(axis) => {
                let at = [key("rigid"), Segment::Index(index), key("rotation"), key("axis")];
                let problem = self
                    .at(
                        &at,
                        ProblemKind::OutOfRange,
                        "the axis of a rotation has no direction: its length is 0",
                    )
                    .found(format!("{axis:?}"))
                    .allowed("an axis such as [0, 1, 0]");
                self.problems.push(problem);
            }
            Some(Rotation::Quaternion { quaternion }) if vanishes(quaternion) => {
                let at = [key("rigid"), Segment::Index(index), key("rotation"), key("quaternion")];
                let problem = self
                    .at(&at, ProblemKind::OutOfRange, "a quaternion of length 0 is not a rotation")
                    .found(format!("{quaternion:?}"))
                    .allowed("[w, x, y, z] such as [1, 0, 0, 0]");
                self.problems.push(problem);
            }
            _ => {}
        }
        if let Some(motion) = &body.motion {
            self.motion(index, body, motion);
        }
        if let Some(repeat) = &body.repeat {
            for (axis, (&count, &spacing)) in repeat.count.iter().zip(&repeat.spacing).enumerate() {
                if count > 1 && spacing == 0.0 {
                    let at = [
                        key("rigid"),
                        Segment::Index(index),
                        key("repeat"),
                        key("spacing"),
                        Segment::Index(axis),
                    ];
                    let problem = self
                        .at(
                            &at,
                            ProblemKind::Conflict,
                            format!("{count} copies of `{}` would lie in one place", body.name),
                        )
                        .found("0")
                        .allowed("a spacing that is not 0 along each axis with more than one copy");
                    self.problems.push(problem);
                }
            }
        }
    }
}
