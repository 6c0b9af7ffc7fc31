//! What a scene leaves out that its bodies would suggest: nothing is wrong with it, but whoever runs it should know.

use crate::{Deformable, ElasticIntegrator, Kind, Scene};

/// Notes on a scene, a sentence or two each: bodies that will not see each other.
pub fn notes(scene: &Scene) -> Vec<String> {
    [passing(scene), one_way(scene)].into_iter().flatten().collect()
}

/// Soft bodies that pass through each other.
fn passing(scene: &Scene) -> Option<String> {
    if scene.elastic.self_contact.is_some() {
        return None;
    }
    // Layers and what lies in others are kept where they are by that.
    let lies_below = |name: &str| {
        scene.deformable.iter().any(|body| body.elastic.over.iter().any(|over| over.body == name))
    };
    let free = |body: &&Deformable| {
        body.has_elements()
            && body.elastic.over.is_empty()
            && body.elastic.embed.is_none()
            && body.elastic.tie.is_empty()
            && !lies_below(&body.name)
    };
    let copies =
        |body: &Deformable| body.elastic.repeat.as_ref().map_or(1, |repeat| repeat.count.iter().product());
    let soft: Vec<&Deformable> = scene.deformable.iter().filter(free).collect();
    let count: u64 = soft.iter().map(|body| copies(body)).sum();
    if count < 2 {
        return None;
    }
    let names: Vec<String> = soft.iter().map(|body| format!("`{}`", body.name)).collect();
    let remedy = match scene.elastic.integrator {
        ElasticIntegrator::LinearlyImplicit => {
            "the integrator \"linearly_implicit\" has no contact between them"
        }
        _ => "`self_contact` in `[elastic]` lets them touch",
    };
    Some(format!(
        "the {count} soft bodies ({}) pass through each other and themselves: {remedy}",
        names.join(", ")
    ))
}

/// Rigid bodies that do not feel soft ones.
fn one_way(scene: &Scene) -> Option<String> {
    let integrator = match scene.elastic.integrator {
        ElasticIntegrator::BackwardEuler => "backward_euler",
        ElasticIntegrator::AverageAcceleration => "average_acceleration",
        ElasticIntegrator::Quasistatic => "quasistatic",
        ElasticIntegrator::TwoPass => "two_pass",
        _ => return None,
    };
    let soft = scene.deformable.iter().any(Deformable::has_elements);
    let rigid: Vec<String> = (scene.rigid.iter())
        .filter(|body| body.kind == Kind::Dynamic)
        .map(|body| format!("`{}`", body.name))
        .collect();
    (soft && !rigid.is_empty()).then(|| {
        format!(
            "with the integrator \"{integrator}\" soft bodies are moved by rigid ones but do not push back on {}; \"scheme_b\" and \"linearly_implicit\" work both ways",
            rigid.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(elastic: &str, more: &str) -> Scene {
        let text = format!(
            r#"
dimension = 3
[time]
end = 1
[elastic]
{elastic}
[[deformable]]
name = "jelly"
geometry = {{ box = {{ from = [0, 0, 0], size = [1, 1, 1], cells = [1, 1, 1] }} }}
density = 100
material = {{ young = 60000 }}
{more}
"#
        );
        Scene::parse("notes.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
    }

    #[test]
    fn soft_bodies_that_pass_through_each_other_are_told() {
        let twice = "elastic = { repeat = { count = [2, 1, 1], spacing = [2, 1, 1] } }";
        assert!(notes(&scene("", "")).is_empty());
        let told = notes(&scene("", twice));
        assert!(told.len() == 1 && told[0].contains("the 2 soft bodies (`jelly`)"), "{told:?}");
        assert!(notes(&scene("self_contact = { thickness = 0.01 }", twice)).is_empty());
    }

    #[test]
    fn rigid_bodies_that_feel_nothing_are_told() {
        let body = |kind: &str| {
            format!(
                "[[rigid]]\nname = \"ball\"\n{kind}\nshape = {{ sphere = {{ radius = 1 }} }}\nmass = 1\nposition = [0, 5, 0]"
            )
        };
        let told = notes(&scene("integrator = \"backward_euler\"", &body("")));
        assert!(told.len() == 1 && told[0].contains("do not push back on `ball`"), "{told:?}");
        assert!(notes(&scene("integrator = \"scheme_b\"", &body(""))).is_empty());
        let fixed = "[[rigid]]\nname = \"wall\"\nkind = \"static\"\nshape = { sphere = { radius = 1 } }\nposition = [0, 5, 0]";
        assert!(notes(&scene("integrator = \"backward_euler\"", fixed)).is_empty());
    }
}
