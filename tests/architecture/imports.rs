//! The imports of a source tree, each followed to the file that defines what is imported: a face
//! (`mod.rs`, lib.rs) hands names on, so that a path through it leads to the file behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprMethodCall, ExprPath, Ident, ImplItem, Item, ItemImpl, ItemMod, ItemUse,
    Signature, Type, UseTree,
};

/// A path of names, from the root of its crate.
type Names = Vec<String>;

/// The files of one crate, or of several that are read as one, as modules.
#[derive(Default)]
pub(super) struct Tree {
    modules: Vec<Module>,
}

/// One file of a crate.
pub(super) struct Module {
    pub(super) path: PathBuf,
    /// Its place in the crate; nothing for the root.
    names: Names,
    items: Vec<Item>,
}

impl Tree {
    /// The crate whose sources stand below `root`, tests left out.
    pub(super) fn of(root: &str, files: &[(PathBuf, String)]) -> Tree {
        let is_source = |path: &Path| {
            let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
            path.starts_with(root) && path.extension() == Some(OsStr::new("rs")) && !is_test
        };
        let sources = files.iter().filter(|(path, _)| is_source(path));
        let modules = sources.map(|(path, text)| Module::read(root, path, text)).collect();
        Tree { modules }
    }

    pub(super) fn extend(&mut self, other: Tree) {
        self.modules.extend(other.modules);
    }

    pub(super) fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The files that each file imports, by their numbers. A face imports nothing: it hands on.
    pub(super) fn imports(&self) -> Vec<BTreeSet<usize>> {
        let imported = |(own, module): (usize, &Module)| {
            let paths = if module.is_face() { BTreeSet::new() } else { module.imported() };
            let files = paths.iter().filter_map(|path| self.definer(path, 0));
            files.filter(|&file| file != own && !self.modules[file].is_face()).collect()
        };
        self.modules.iter().enumerate().map(imported).collect()
    }

    /// What each file needs: the files that it imports, and those that have the methods it calls, where these stand away
    /// from their type. No import line shows such a call. On `self` the type is known; otherwise the method is known by a name
    /// that one function of the crate has, in the same room, since only such files can need each other.
    fn needs(&self) -> Vec<BTreeSet<usize>> {
        let mut needs = self.imports();
        let methods: Vec<Methods> = self.modules.iter().map(Methods::of).collect();
        let mut given = BTreeMap::<&str, usize>::new();
        methods.iter().flat_map(|it| &it.given).for_each(|it| *given.entry(it).or_default() += 1);
        let mut away = BTreeMap::<(usize, &str), usize>::new();
        for (file, methods) in methods.iter().enumerate() {
            for (of, name) in &methods.inherent {
                let home = self.definer(of, 0).filter(|&home| home != file);
                away.extend(home.map(|home| ((home, name.as_str()), file)));
            }
        }
        let unique = away.iter().filter(|((_, name), _)| given[name] == 1);
        let unique: BTreeMap<&str, usize> =
            unique.map(|((_, name), &file)| (*name, file)).collect();
        let is_near =
            |one: usize, other: usize| self.modules[one].room() == self.modules[other].room();
        for (file, methods) in methods.iter().enumerate() {
            let by_name = methods.called.iter().filter_map(|name| unique.get(name.as_str()));
            let on_self = methods
                .called_on_self
                .iter()
                .filter_map(|(of, name)| away.get(&(self.definer(of, 0)?, name.as_str())));
            needs[file]
                .extend(by_name.chain(on_self).filter(|&&it| it != file && is_near(it, file)));
        }
        needs
    }

    /// The needs by which files need each other, directly or through others.
    pub(super) fn circles(&self) -> Vec<(&Path, &Path)> {
        let imports = self.needs();
        let from_each = 0..imports.len();
        let reached: Vec<_> = from_each.clone().map(|from| reached(from, &imports)).collect();
        let arrows = from_each.flat_map(|from| imports[from].iter().map(move |&to| (from, to)));
        let path = |file: usize| &*self.modules[file].path;
        let tying = arrows.filter(|&(from, to)| reached[to].contains(&from));
        tying.map(|(from, to)| (path(from), path(to))).collect()
    }

    /// The file that defines what stands at `path`: the one that the path names, or the one to which
    /// the faces on the way hand it on.
    fn definer(&self, path: &[String], handed_on: usize) -> Option<usize> {
        let named = |length: &usize| self.modules.iter().position(|it| it.names == path[..*length]);
        let length = (0..=path.len()).rev().find(|length| named(length).is_some())?;
        let file = named(&length)?;
        let (name, behind) = path[length..].split_first()?;
        // Faces that hand a name to each other for ever are an error that the compiler finds.
        let hands_on = handed_on < 8 && self.modules[file].is_face();
        let onward = if hands_on { self.modules[file].hands_on(name) } else { None };
        let followed = onward.map(|next| [next, behind.to_vec()].concat());
        followed.and_then(|next| self.definer(&next, handed_on + 1)).or(Some(file))
    }
}

impl Module {
    fn read(root: &str, path: &Path, text: &str) -> Module {
        let below = path.strip_prefix(root).unwrap().with_extension("");
        let mut names: Names = below.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
            names.pop();
        }
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        let items = file.items.into_iter().filter(|item| !is_test(item)).collect();
        Module { path: path.to_owned(), names, items }
    }

    /// The room of the crate that the file stands in; none for the root.
    pub(super) fn room(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// Whether the file only hands names on, by its place.
    pub(super) fn is_face(&self) -> bool {
        let name = self.path.file_name().unwrap();
        name == "mod.rs" || name == "lib.rs"
    }

    /// What a face defines, where it should only declare modules and hand names on.
    pub(super) fn defined(&self) -> usize {
        defined(&self.items)
    }

    /// The rooms of the crate whose names the file takes.
    pub(super) fn rooms_imported(&self) -> BTreeSet<String> {
        self.imported().into_iter().filter_map(|path| path.into_iter().next()).collect()
    }

    pub(super) fn declared(&self) -> Names {
        declared(&self.items)
    }

    /// Where a name comes from that the file takes, and hands on: to all, or to the files below it.
    fn hands_on(&self, name: &str) -> Option<Names> {
        let uses = self.items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(self.leaves(item)),
            _ => None,
        });
        uses.flatten().find(|(local, _)| local == name).map(|(_, path)| path)
    }

    /// The paths that the file takes from its own crate.
    fn imported(&self) -> BTreeSet<Names> {
        let mut reader = Reader { module: self, local: BTreeMap::new(), paths: BTreeSet::new() };
        for child in self.declared() {
            reader.local.insert(child.clone(), [self.names.clone(), vec![child]].concat());
        }
        self.items.iter().for_each(|item| reader.visit_item(item));
        // Once more, now that all local names are known.
        self.items.iter().for_each(|item| reader.visit_item(item));
        reader.paths
    }

    /// What a `use` takes from the own crate: the local name and the path of each leaf.
    fn leaves(&self, item: &ItemUse) -> Vec<(String, Names)> {
        let mut leaves = Vec::new();
        walk(&item.tree, Vec::new(), &mut leaves);
        let own = |(local, path): (String, Names)| Some((local, self.absolute(&path)?));
        leaves.into_iter().filter_map(own).collect()
    }

    /// A path that starts with `crate`, `self` or `super`, from the root of the crate.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut base = self.names.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                base.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {}
            child if self.declared().iter().any(|it| it == child) => {}
            _ => return None,
        }
        while let Some((_, below)) = rest.split_first().filter(|(name, _)| *name == "super") {
            base.pop();
            rest = below;
        }
        Some([base, rest.to_vec()].concat())
    }
}

/// The modules that these items declare, in their order. A module with a body holds modules of the same folder.
fn declared(items: &[Item]) -> Names {
    let named = |item: &Item| match item {
        Item::Mod(ItemMod { content: Some((_, inner)), .. }) => declared(inner),
        Item::Mod(module) => vec![module.ident.to_string()],
        _ => Names::new(),
    };
    items.iter().flat_map(named).collect()
}

/// How many of these items neither declare modules nor hand names on.
fn defined(items: &[Item]) -> usize {
    let defines = |item: &Item| match item {
        Item::Use(_) => 0,
        Item::Mod(ItemMod { content: Some((_, inner)), .. }) => defined(inner),
        Item::Mod(_) => 0,
        _ => 1,
    };
    items.iter().map(defines).sum()
}

/// Collects the paths that a file takes from its own crate.
struct Reader<'m> {
    module: &'m Module,
    /// What a name stands for that a `use` or a `mod` brought in.
    local: BTreeMap<String, Names>,
    paths: BTreeSet<Names>,
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        for (local, path) in self.module.leaves(item) {
            self.paths.insert(path.clone());
            self.local.insert(local, path);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Names = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let local = self.local.get(&names[0]).map(|base| [base, &names[1..]].concat());
        if let Some(path) = local.or_else(|| self.module.absolute(&names)) {
            self.paths.insert(path);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        if !module.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, module);
        }
    }
}

/// The methods of a file. A type is named by its path.
#[derive(Default)]
struct Methods {
    taken: BTreeMap<String, Names>,
    own: Names,
    of: Option<Names>,
    given: Vec<String>,
    inherent: Vec<(Names, String)>,
    called: BTreeSet<String>,
    called_on_self: BTreeSet<(Names, String)>,
}

impl Methods {
    fn of(module: &Module) -> Methods {
        let taken = module.items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(module.leaves(item)),
            _ => None,
        });
        let taken = taken.flatten().collect();
        let mut methods = Methods { taken, own: module.names.clone(), ..Methods::default() };
        module.items.iter().for_each(|item| methods.visit_item(item));
        methods
    }
}

impl<'a> Visit<'a> for Methods {
    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if let Type::Path(of) = &*item.self_ty {
            let names: Names = of.path.segments.iter().map(|it| it.ident.to_string()).collect();
            let own = || [&self.own[..], &names[..1]].concat();
            let first = self.taken.get(&names[0]).cloned().unwrap_or_else(own);
            self.of = Some([&first, &names[1..]].concat());
        }
        let of = self.of.clone().filter(|_| item.trait_.is_none());
        let methods = item.items.iter().filter_map(|item| match item {
            ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
            _ => None,
        });
        self.inherent.extend(methods.filter_map(|name| Some((of.clone()?, name))));
        visit::visit_item_impl(self, item);
        self.of = None;
    }

    fn visit_signature(&mut self, signature: &'a Signature) {
        self.given.push(signature.ident.to_string());
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        let is_self = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident("self"));
        match &self.of {
            Some(of) if is_self => {
                self.called_on_self.insert((of.clone(), call.method.to_string()));
            }
            _ => {
                self.called.insert(call.method.to_string());
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'a ExprPath) {
        let names: Vec<String> = path.path.segments.iter().map(|it| it.ident.to_string()).collect();
        // A method is called by its type: `Store::open`, but not `fs::read`.
        if let [.., of, name] = &names[..]
            && of.starts_with(char::is_uppercase)
        {
            self.called.insert(name.clone());
        }
    }
}

/// The leaves of a `use`, each with its local name and its path.
fn walk(tree: &UseTree, mut path: Names, leaves: &mut Vec<(String, Names)>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            walk(&part.tree, path, leaves);
        }
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| walk(tree, path.clone(), leaves));
        }
        // No glob of the project's own names stands outside its tests.
        UseTree::Glob(_) => {}
        UseTree::Rename(leaf) => leave(&leaf.ident, &leaf.rename, path, leaves),
        UseTree::Name(leaf) => leave(&leaf.ident, &leaf.ident, path, leaves),
    }
}

/// One leaf: of `self` its path is the one so far, and so is its name unless it has another.
fn leave(name: &Ident, local: &Ident, mut path: Names, leaves: &mut Vec<(String, Names)>) {
    let is_self = name == "self";
    let own = path.last().filter(|_| is_self && local == name).cloned();
    path.extend((!is_self).then(|| name.to_string()));
    leaves.push((own.unwrap_or_else(|| local.to_string()), path));
}

/// The files that a file imports, directly or through others.
fn reached(from: usize, imports: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        open.extend(imports[file].iter().copied().filter(|&next| reached.insert(next)));
    }
    reached
}

fn is_test(item: &Item) -> bool {
    matches!(item, Item::Mod(module) if module.attrs.iter().any(is_for_tests))
}

fn is_for_tests(attribute: &Attribute) -> bool {
    let is_test = |inner: syn::Path| inner.is_ident("test");
    attribute.path().is_ident("cfg") && attribute.parse_args().is_ok_and(is_test)
}

fn tree<const N: usize>(files: [(&str, &str); N]) -> Tree {
    Tree::of("src", &files.map(|(path, text)| (PathBuf::from(path), text.to_owned())))
}

#[test]
fn imports_are_followed_in_every_form() {
    let tree = tree([
        ("src/lib.rs", "pub mod ground; pub mod roof; pub use ground::Stone;"),
        ("src/ground/mod.rs", "mod stone; mod sand; use sand::Sand; pub use stone::Stone;"),
        ("src/ground/stone.rs", "use super::Sand; pub struct Stone;"),
        ("src/ground/sand.rs", "pub struct Sand; #[cfg(test)] mod tests { use crate::roof; }"),
        ("src/roof.rs", "use crate::{ground::{self as g}}; mod tile; fn f(_: g::Stone) {}"),
        ("src/roof/tile.rs", "fn f() -> crate::Stone { super::f() }"),
    ]);
    let imported: Vec<Vec<usize>> =
        tree.imports().into_iter().map(|files| files.into_iter().collect()).collect();
    assert_eq!(imported, [vec![], vec![], vec![3], vec![], vec![2], vec![2, 4]]);
    assert_eq!(tree.circles(), []);
}

/// Circles of imports, and of calls: a method that stands away from its type is needed by whoever calls it.
#[test]
fn circles_are_found() {
    let circle = [
        ("src/a.rs", "use crate::b::B; fn f() { super::c::g() }"),
        ("src/b.rs", "use super::a; fn f() { a::g() }"),
        ("src/c.rs", "use std::fs;"),
    ];
    let [a, b] = ["src/a.rs", "src/b.rs"].map(Path::new);
    assert_eq!(tree(circle).circles(), [(a, b), (b, a)]);
    let called = [
        ("src/a.rs", "mod b; struct A; impl A { fn f(&self) { self.g(); A::new(); } }"),
        ("src/a/b.rs", "use super::A; impl A { fn g(&self) {} }"),
        ("src/c.rs", "use crate::a::A; impl A { fn new() {} } struct C; impl C { fn new() {} }"),
    ];
    let b = Path::new("src/a/b.rs");
    assert_eq!(tree(called).circles(), [(a, b), (b, a)]);
}
