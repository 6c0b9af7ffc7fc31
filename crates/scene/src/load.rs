//! From text to a checked [`Scene`]: parse, include, override, check, read.

use crate::build::{rotation, vector};
use crate::check;
use crate::import;
use crate::overrides;
use crate::problem::{Problem, ProblemKind, SceneErrors};
use crate::source::{self, Origin, ReadText, SourceText, Sources};
use crate::suggest;
use crate::tree::{self, Entry, Node, Value};
use crate::{Import, Rotation, Scene, shipped};
use splashdown_math::Frame;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Deepest chain of files that include each other.
const MAX_INCLUDE_DEPTH: usize = 16;
/// Most files of one scene.
const MAX_FILES: usize = 64;

/// A checked scene with the texts it came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The scene with includes, variables and overrides applied.
    pub scene: Scene,
    /// The texts, the main file first.
    pub sources: Sources,
}

impl Scene {
    /// Reads a scene file. `overrides` are `PATH=VALUE` texts that replace fields, such as `time.end=2` or
    /// `rigid.ball.velocity=[1, 0, 0]`.
    pub fn load(path: impl AsRef<Path>, overrides: &[String]) -> Result<Self, SceneErrors> {
        load_file(path.as_ref(), overrides).map(|loaded| loaded.scene)
    }

    /// Reads a scene from text; `name` stands for the file in messages. Includes are relative to the working folder.
    pub fn parse(name: &str, text: &str, overrides: &[String]) -> Result<Self, SceneErrors> {
        let read = ReadText { text: source::without_bom(text.to_owned()), invalid_at: None };
        finish(Loader::default(), name.to_owned(), read, None, overrides).map(|loaded| loaded.scene)
    }

    /// Checks a scene built in Rust by the rules for files.
    pub fn check(&self) -> Result<(), SceneErrors> {
        let mut problems = Vec::new();
        let json = serde_json::to_value(self).unwrap_or_default();
        let mut root = Node::from_json(json);
        let sources = Sources::default();
        check::shape::check(&mut root, &sources, &mut problems);
        check::meaning::check(&root, &mut problems);
        if problems.is_empty() {
            problems.extend(check::world::check(&root, self));
        }
        if problems.is_empty() { Ok(()) } else { Err(SceneErrors::new(problems, sources)) }
    }
}

/// Reads the scene that a person named: a file if there is one at that path, else the shipped scene of that name.
pub fn load(name_or_path: &str, overrides: &[String]) -> Result<Loaded, SceneErrors> {
    let path = Path::new(name_or_path);
    if path.exists() {
        return load_file(path, overrides);
    }
    if let Some(scene) = shipped::find(name_or_path) {
        let name = format!("{}.toml", scene.name);
        let read = ReadText { text: scene.toml.to_owned(), invalid_at: None };
        return finish(Loader::default(), name, read, None, overrides);
    }
    let looks_like_a_file = name_or_path.contains(['/', '\\']) || name_or_path.ends_with(".toml");
    let message = match looks_like_a_file {
        true => format!("there is no file `{}`", tree::shorten(name_or_path)),
        false => format!("there is no file and no shipped scene called `{}`", tree::shorten(name_or_path)),
    };
    let names = || shipped().iter().map(|s| s.name);
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name_or_path);
    let problem = Problem::new(ProblemKind::File, message);
    let problem = match suggest::nearest(stem, names()) {
        Some(meant) => problem.hint(format!("did you mean the shipped scene `{meant}`?")),
        None => problem.hint(format!("shipped scenes: {}", suggest::one_of(names()))),
    };
    Err(SceneErrors::new(vec![problem], Sources::default()))
}

fn load_file(path: &Path, overrides: &[String]) -> Result<Loaded, SceneErrors> {
    let name = path.display().to_string();
    match source::read(path) {
        Ok(read) => {
            let mut loader = Loader::default();
            loader.open.push(identity(path));
            finish(loader, name, read, path.parent().map(Path::to_owned), overrides)
        }
        Err(error) => {
            let problem = Problem::new(ProblemKind::File, error.to_string());
            Err(SceneErrors::new(vec![problem], Sources::default()))
        }
    }
}

/// Everything after reading the main text.
fn finish(
    mut loader: Loader,
    name: String,
    read: ReadText,
    folder: Option<PathBuf>,
    overrides: &[String],
) -> Result<Loaded, SceneErrors> {
    let mut root = loader.text(name, read, folder, 0);
    // A text that is not TOML would only cause follow-up errors of fields that the parser skipped.
    if !loader.problems.is_empty() {
        return Err(SceneErrors::new(loader.problems, loader.sources));
    }
    for text in overrides {
        if let Err(problem) = overrides::apply(&mut root, text, &mut loader.sources) {
            loader.problems.push(problem);
        }
    }
    check::shape::check(&mut root, &loader.sources, &mut loader.problems);
    if loader.problems.is_empty() {
        loader.imports(&mut root);
    }
    check::meaning::check(&root, &mut loader.problems);
    if loader.problems.is_empty() {
        match serde_json::from_value::<Scene>(root.to_json()) {
            Ok(scene) => match check::world::check(&root, &scene) {
                None => return Ok(Loaded { scene, sources: loader.sources }),
                Some(problem) => loader.problems.push(problem),
            },
            // The schema comes from the types, so this is a rule of serde that the schema does not express.
            Err(error) => {
                loader.problems.push(Problem::new(ProblemKind::WrongType, error.to_string()).at(root.origin))
            }
        }
    }
    Err(SceneErrors::new(loader.problems, loader.sources))
}

/// A file as the file system knows it, to notice when it includes itself under another name.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[derive(Default)]
struct Loader {
    sources: Sources,
    problems: Vec<Problem>,
    /// Files that are being read, from the main file inwards.
    open: Vec<PathBuf>,
}

impl Loader {
    /// The tree of one text with its includes merged in.
    fn text(&mut self, name: String, read: ReadText, folder: Option<PathBuf>, depth: usize) -> Node {
        let source =
            self.sources.add(SourceText { name, text: read.text.as_str().into(), folder: folder.clone() });
        let origin = Origin { source, start: 0, end: 0 };
        let empty = || Node::new(Some(origin), Value::Table(Default::default()));
        if let Some(at) = read.invalid_at {
            let place = Origin { source, start: at, end: at + '\u{fffd}'.len_utf8() };
            let problem = Problem::new(ProblemKind::Syntax, "the file is not UTF-8 text")
                .at(Some(place))
                .allowed("UTF-8")
                .hint("save the file as UTF-8 in the editor");
            self.problems.push(problem);
            return empty();
        }
        let (document, errors) = DeTable::parse_recoverable(&read.text);
        if !errors.is_empty() {
            self.problems.extend(errors.iter().map(|error| syntax_problem(error, source, &read.text)));
            return empty();
        }
        match tree::from_document(source, document) {
            Ok(mut root) => {
                self.include(&mut root, folder.as_deref(), depth);
                root
            }
            Err(place) => {
                let problem = Problem::new(ProblemKind::Syntax, "tables or arrays are nested too deeply")
                    .at(Some(place))
                    .allowed(format!("at most {} levels", tree::MAX_DEPTH));
                self.problems.push(problem);
                empty()
            }
        }
    }

    /// Merges the files of `include` below the tree of the file that names them.
    fn include(&mut self, root: &mut Node, folder: Option<&Path>, depth: usize) {
        let Value::Table(table) = &mut root.value else { return };
        let Some(list) = table.get("include") else { return };
        // A wrong type is left for the check to report.
        if !matches!(list.node.value, Value::Array(_))
            || list.node.items().iter().any(|i| i.string().is_none())
        {
            return;
        }
        let list = table
            .remove("include")
            .map(|entry| entry.node)
            .unwrap_or_else(|| Node::new(None, Value::Array(Vec::new())));
        let mut base = Node::new(root.origin, Value::Table(Default::default()));
        for item in list.items() {
            let Some(text) = item.string() else { continue };
            match self.included(text, folder, depth) {
                Ok(tree) => merge(&mut base, tree),
                Err(problem) => {
                    self.problems.push(problem.at(item.origin).field("include").found(item.shown()))
                }
            }
        }
        let own = std::mem::replace(root, base);
        root.origin = own.origin;
        merge(root, own);
    }

    /// Puts the bodies and joints of imported files in the place of `import`.
    fn imports(&mut self, root: &mut Node) {
        let dimension = root.get("dimension").map(Node::to_json);
        let Value::Table(table) = &mut root.value else { return };
        let Some(list) = table.remove("import") else { return };
        for item in list.node.items() {
            let imported = match self.imported(item, dimension.as_ref().and_then(|d| d.as_u64())) {
                Ok(imported) => imported,
                Err(problem) => {
                    self.problems.push(problem);
                    continue;
                }
            };
            let lists = [
                ("rigid", serde_json::to_value(imported.rigid)),
                ("joint", serde_json::to_value(imported.joint)),
            ];
            for (name, values) in lists {
                let mut read = Node::from_json(values.unwrap_or_default());
                read.place_at(item.origin);
                let Value::Array(read) = read.value else { continue };
                let entry = table.entry(name.to_owned()).or_insert_with(|| Entry {
                    key: item.origin,
                    node: Node::new(item.origin, Value::Array(Vec::new())),
                });
                if let Value::Array(items) = &mut entry.node.value {
                    items.extend(read);
                }
            }
        }
    }

    fn imported(&mut self, item: &Node, dimension: Option<u64>) -> Result<import::Imported, Problem> {
        let at = |key: &str| item.get(key).unwrap_or(item).origin;
        let wrong = |message: String| Problem::new(ProblemKind::Import, message).field("import");
        let import: Import = serde_json::from_value(item.to_json())
            .map_err(|error| wrong(error.to_string()).at(item.origin))?;
        if dimension != Some(3) {
            return Err(wrong("URDF and MJCF files describe bodies in space".into())
                .at(at("file"))
                .allowed("`dimension = 3`"));
        }
        let folder = item.origin.and_then(|origin| self.sources.get(origin.source)?.folder.clone());
        let path = folder.unwrap_or_default().join(&import.file);
        let read = source::read(&path).map_err(|error| {
            wrong(error.to_string()).at(at("file")).hint("the path is relative to the folder of this file")
        })?;
        let name = path.display().to_string();
        let folder = path.parent().map(Path::to_owned);
        let source = self.sources.add(SourceText { name, text: read.text.as_str().into(), folder });
        if let Some(start) = read.invalid_at {
            let place = Origin { source, start, end: start + '\u{fffd}'.len_utf8() };
            return Err(wrong("the file is not UTF-8 text".into()).at(Some(place)));
        }
        // z up, as such files have it, becomes y up.
        let upright = Rotation::AxisAngle { axis: vec![1.0, 0.0, 0.0], degrees: -90.0 };
        let turned = import.rotation.as_ref().unwrap_or(&upright);
        let placement = Frame {
            position: vector::<3>("import", "position", import.position.as_deref())
                .map_err(|error| wrong(error.to_string()).at(at("position")))?,
            rotation: rotation::<3>("import", Some(turned))
                .map_err(|error| wrong(error.to_string()).at(at("rotation")))?,
        };
        import::read(&read.text, source, &import, &placement)
    }

    fn included(&mut self, text: &str, folder: Option<&Path>, depth: usize) -> Result<Node, Problem> {
        let wrong = |message: String| Problem::new(ProblemKind::Include, message);
        if depth >= MAX_INCLUDE_DEPTH {
            return Err(wrong(format!("files include each other more than {MAX_INCLUDE_DEPTH} deep")));
        }
        if self.sources.texts().len() >= MAX_FILES {
            return Err(wrong(format!("a scene has at most {MAX_FILES} files")));
        }
        let path = folder.unwrap_or(Path::new("")).join(text);
        let identity = identity(&path);
        if let Some(from) = self.open.iter().position(|open| *open == identity) {
            let names: Vec<String> = self.open[from..]
                .iter()
                .chain([&identity])
                .map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned())
                .collect();
            return Err(wrong(format!("this file includes itself: {}", names.join(" -> ")))
                .hint("remove this include"));
        }
        let read = source::read(&path).map_err(|error| {
            wrong(error.to_string()).hint("the path is relative to the folder of this file")
        })?;
        self.open.push(identity);
        let tree = self.text(path.display().to_string(), read, path.parent().map(Path::to_owned), depth + 1);
        self.open.pop();
        Ok(tree)
    }
}

/// Puts `over` on top of `base`: tables are joined key by key, lists of tables one after the other, anything else is replaced.
fn merge(base: &mut Node, over: Node) {
    match (&mut base.value, over.value) {
        (Value::Table(below), Value::Table(above)) => {
            for (key, entry) in above {
                match below.get_mut(&key) {
                    Some(existing) => {
                        existing.key = entry.key;
                        merge(&mut existing.node, entry.node);
                    }
                    None => _ = below.insert(key, Entry { key: entry.key, node: entry.node }),
                }
            }
            base.origin = over.origin;
        }
        (Value::Array(below), Value::Array(above))
            if is_list_of_tables(below) && is_list_of_tables(&above) =>
        {
            below.extend(above);
        }
        (_, value) => *base = Node::new(over.origin, value),
    }
}

fn is_list_of_tables(items: &[Node]) -> bool {
    !items.is_empty() && items.iter().all(|item| matches!(item.value, Value::Table(_)))
}

/// A parser's complaint in our form.
fn syntax_problem(error: &toml::de::Error, source: usize, text: &str) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let origin = Origin { source, start: span.start.min(text.len()), end: span.end.min(text.len()) };
    let problem = Problem::new(ProblemKind::Syntax, error.message().to_owned()).at(Some(origin));
    let message = error.message();
    if message.contains("duplicate key") {
        problem.hint("each field is written once; bodies are separate `[[rigid]]` tables")
    } else if message.contains("recurs") {
        problem.allowed("less deeply nested tables and arrays")
    } else {
        problem
    }
}
