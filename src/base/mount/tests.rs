//! Trees in a store in memory, written by attempts that meet, die and lose answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use tempfile::TempDir;

use super::files::States;
use super::head::HEAD;
use super::mount::Mount;
use super::mounts::Mounts;
use super::pull::pull;
use super::push::{push, sweep};
use super::tree::{Listed, Tree};
use crate::error::{Kind, Named, Result};
use crate::object_storage::{Address, FarTree, Note, Objects, bytes_of, far};
use crate::output::{QUARANTINE, REPEATED, beside};

fn tree(store: &Arc<dyn ObjectStore>) -> Tree {
    let address = Address::of(Path::new("s3://b/out/day")).unwrap().unwrap();
    Tree { objects: Objects::over(Arc::clone(store), &address) }
}

fn in_memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, contents) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    home
}

fn write(tree: &Tree, before: Option<&Listed>, folder: &TempDir) -> Result<Option<Listed>> {
    push(tree, (before, None), folder.path(), &mut States::new(), &|| Ok(()))
}

fn read(tree: &Tree) -> Vec<(String, String)> {
    let home = tempfile::tempdir().unwrap();
    let listed = tree.listed().unwrap().unwrap();
    pull(&tree.objects, &listed.head, home.path()).unwrap();
    let names = super::files::below(home.path()).unwrap().files;
    let contents = |name: &String| fs::read_to_string(home.path().join(name)).unwrap();
    names.iter().map(|name| (name.clone(), contents(name))).collect()
}

fn names(tree: &Tree) -> Vec<String> {
    tree.objects.list().unwrap().into_iter().map(|object| object.name).collect()
}

#[test]
fn nothing_is_written_if_nothing_has_changed() {
    let tree = tree(&in_memory());
    assert!(write(&tree, None, &folder(&[])).unwrap().is_none());
    let first = write(&tree, None, &folder(&[("a", "1")])).unwrap();
    let before = names(&tree);
    assert!(write(&tree, first.as_ref(), &folder(&[("a", "1")])).unwrap().is_none());
    assert_eq!(names(&tree), before);
}

#[test]
fn a_file_that_stays_keeps_its_object_and_old_objects_go_one_commit_later() {
    let tree = tree(&in_memory());
    let first = write(&tree, None, &folder(&[("a", "1"), ("b", "1")])).unwrap().unwrap();
    let second = write(&tree, Some(&first), &folder(&[("a", "1"), ("b", "2")])).unwrap().unwrap();
    assert_eq!(first.head.files["a"], second.head.files["a"]);
    let old = &first.head.files["b"].object;
    assert_eq!(second.head.released, std::slice::from_ref(old));
    assert!(names(&tree).contains(old));
    write(&tree, Some(&second), &folder(&[("a", "1"), ("b", "3")])).unwrap().unwrap();
    assert!(!names(&tree).contains(old));
}

#[test]
fn of_two_attempts_one_wins_and_nothing_is_mixed() {
    let tree = tree(&in_memory());
    let before = write(&tree, None, &folder(&[("a", "0")])).unwrap().unwrap();
    let won = write(&tree, Some(&before), &folder(&[("a", "1"), ("b", "1")])).unwrap().unwrap();
    let lost = write(&tree, Some(&before), &folder(&[("a", "2"), ("c", "2")])).unwrap_err();
    assert_eq!(lost.kind(), Kind::Temporary);
    let first = write(&tree, None, &folder(&[("d", "3")])).unwrap_err();
    assert_eq!(first.kind(), Kind::Temporary);
    assert_eq!(read(&tree), [("a".into(), "1".into()), ("b".into(), "1".into())]);
    // What the two have left goes with the next commit.
    write(&tree, Some(&won), &folder(&[("a", "1")])).unwrap().unwrap();
    assert!(!names(&tree).iter().any(|name| name.ends_with("/c") || name.ends_with("/d")));
}

#[test]
fn an_attempt_whose_answer_was_lost_finds_that_it_has_won() {
    let tree = tree(&in_memory());
    let before = write(&tree, None, &folder(&[("a", "0")])).unwrap().unwrap();
    let won = write(&tree, Some(&before), &folder(&[("a", "1")])).unwrap().unwrap();
    assert_eq!(tree.commit(won.head.clone(), Some(&before)).unwrap().head, won.head);
    // Others have won since.
    let since = write(&tree, Some(&won), &folder(&[("a", "2")])).unwrap().unwrap();
    let late = tree.commit(won.head.clone(), Some(&before)).unwrap();
    assert_eq!(late.head, won.head);
    assert_eq!(
        write(&tree, Some(&late), &folder(&[("a", "3")])).unwrap_err().kind(),
        Kind::Temporary
    );
    assert_eq!(tree.listed().unwrap().unwrap().head, since.head);
}

#[test]
fn after_a_sweep_nothing_is_left_that_the_list_does_not_name() {
    let tree = tree(&in_memory());
    let first = write(&tree, None, &folder(&[("a", "1"), ("b", "1")])).unwrap().unwrap();
    let second = write(&tree, Some(&first), &folder(&[("b", "1")])).unwrap().unwrap();
    assert_eq!(names(&tree).len(), 3);
    let swept = sweep(&tree, &second).unwrap();
    assert_eq!(names(&tree), [HEAD.to_owned(), swept.head.files["b"].object.clone()]);
    assert_eq!(read(&tree), [("b".into(), "1".into())]);
    assert!(write(&tree, Some(&second), &folder(&[("b", "2")])).is_err());
}

#[test]
fn folders_that_the_list_does_not_name_go() {
    let tree = tree(&in_memory());
    let written = write(&tree, None, &folder(&[("a/b", "1")])).unwrap().unwrap();
    let home = folder(&[("c/d/e", "2"), ("a/.redo/f", "3"), ("a/.g.resume/h", "4")]);
    pull(&tree.objects, &written.head, home.path()).unwrap();
    let below = |name: &str| home.path().join(name).exists();
    assert!(!below("c") && !below("a/.redo") && below("a/b") && below("a/.g.resume/h"));
}

#[test]
fn a_note_stands_for_its_object_and_is_not_sent_in_its_place() {
    let tree = tree(&in_memory());
    let theirs = folder(&[("segments/x.seg", r#"{"dupsieve object":"a1/x.seg","bytes":3}"#)]);
    assert_eq!(write(&tree, None, &theirs).unwrap_err().kind(), Kind::Temporary);
    assert!(tree.listed().unwrap().is_none());

    let first = write(&tree, None, &folder(&[("segments/x.seg", "rows")])).unwrap().unwrap();
    let home = tempfile::tempdir().unwrap();
    pull(&tree.objects, &first.head, home.path()).unwrap();
    let path = home.path().join("segments/x.seg");
    let held = &first.head.files["segments/x.seg"];
    let note = Note { object: held.object.clone(), bytes: 4 };
    assert_eq!(Note::read(&path), Ok(Some(note)));
    assert!(far(&path).unwrap().is_none(), "the folder is no mount");
    let notes = FarTree::new(home.path().to_path_buf(), tree.objects.clone());
    let mut bytes = [0; 4];
    far(&path).unwrap().unwrap().read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!((&bytes, bytes_of(&path).unwrap()), (b"rows", 4));
    drop(notes);

    fs::rename(&path, home.path().join("segments/y.seg")).unwrap();
    let second = write(&tree, Some(&first), &home).unwrap().unwrap();
    assert_eq!(&second.head.files["segments/y.seg"], held);
}

#[test]
fn what_others_have_below_the_address_stays() {
    let tree = tree(&in_memory());
    for name in ["notes.txt", "part/0.parquet", "0123456789abcdef/x"] {
        tree.objects.put_if(name, b"theirs".to_vec(), None).unwrap().unwrap();
    }
    let first = write(&tree, None, &folder(&[("a", "1")])).unwrap().unwrap();
    write(&tree, Some(&first), &folder(&[("a", "2")])).unwrap().unwrap();
    let names = names(&tree);
    for name in ["notes.txt", "part/0.parquet", "0123456789abcdef/x", HEAD] {
        assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
    }
}

#[test]
fn a_name_that_no_list_may_have_is_refused_before_anything_is_written() {
    let tree = tree(&in_memory());
    for name in
        ["a\\b", &format!("{}/{}", "a".repeat(250), ["b"; 4].map(|it| it.repeat(200)).join("/"))]
    {
        let error = write(&tree, None, &folder(&[(name, "1")])).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{error}");
        assert!(names(&tree).is_empty());
    }
}

#[test]
fn a_list_of_somebody_else_is_not_replaced() {
    let tree = tree(&in_memory());
    tree.objects.put_if(HEAD, Vec::new(), None).unwrap().unwrap();
    assert_eq!(tree.listed().unwrap_err().kind(), Kind::Exists);
    assert!(write(&tree, None, &folder(&[("a", "1")])).is_err());
    assert_eq!(tree.objects.get(HEAD, 9).unwrap().unwrap().0, b"");
}

fn mounts<const N: usize>(store: &Arc<dyn ObjectStore>) -> (TempDir, [Mount; N]) {
    let cache = tempfile::tempdir().unwrap();
    let mounts = [(); N].map(|()| {
        let tree = tree(store);
        let before = tree.listed().unwrap();
        Mount::new(tree.objects.at(""), tree, (before, None), cache.path()).unwrap()
    });
    (cache, mounts)
}

#[test]
fn two_mounts_of_one_address_do_not_disturb_each_other() {
    let store = in_memory();
    write(&tree(&store), None, &folder(&[("segments/x.seg", "rows")])).unwrap();
    let (_cache, mounts) = mounts::<2>(&store);
    let [one, other] = mounts.map(|mut mount| {
        mount.make_known();
        let mounts = Mounts::new(PathBuf::new());
        mounts.all().push(mount);
        mounts
    });
    let place = |mounts: &Mounts| mounts.all()[0].place.clone();
    let [first, second] = [&one, &other].map(place);
    assert!(one.is_own(&first) && !one.is_own(&second) && other.is_own(&second));
    let is_known = |place: &Path| {
        let segment = place.join("segments/x.seg");
        let is_named = segment.named() == "s3://b/out/day/segments/x.seg";
        assert_eq!(is_named, far(&segment).unwrap().is_some());
        is_named
    };
    assert!(is_known(&first) && is_known(&second));
    fs::write(first.join("new"), "1").unwrap();
    other.publish().unwrap();
    assert_eq!(read(&tree(&store)).len(), 1, "each publishes its own");
    drop(other);
    assert!(is_known(&first) && !is_known(&second));
    one.publish().unwrap();
    assert_eq!(read(&tree(&store)).len(), 2);
}

fn object(store: &Arc<dyn ObjectStore>, suffix: &str) -> Option<String> {
    let object = tree(store).objects.beside(suffix).get("", 99).unwrap();
    object.map(|(bytes, _)| String::from_utf8(bytes).unwrap())
}

#[test]
fn of_two_writers_of_one_file_one_wins() {
    let store = in_memory();
    let (_cache, [mut one, mut other]) = mounts(&store);
    for (mount, text) in [(&one, "one"), (&other, "other")] {
        fs::write(&mount.place, text).unwrap();
        fs::write(beside(&mount.place, QUARANTINE), text).unwrap();
    }
    one.publish().unwrap();
    assert_eq!(other.publish().unwrap_err().kind(), Kind::Temporary);
    assert_eq!(
        [object(&store, ""), object(&store, QUARANTINE)],
        [Some("one".into()), Some("one".into())]
    );
}

#[test]
fn a_file_never_stays_beside_the_list_of_another() {
    let store = in_memory();
    let (_cache, [mut one, mut other, mut third]) = mounts(&store);
    fs::write(&one.place, "one").unwrap();
    one.publish().unwrap();
    // Who loses takes its lists back.
    for suffix in ["", QUARANTINE] {
        fs::write(beside(&other.place, suffix), "other").unwrap();
    }
    assert_eq!(other.publish().unwrap_err().kind(), Kind::Temporary);
    assert_eq!([object(&store, ""), object(&store, QUARANTINE)], [Some("one".into()), None]);
    // Who wins finds the lists of a writer that has died in the middle, and has its own.
    tree(&store).objects.delete("").unwrap();
    fs::write(&third.place, "third").unwrap();
    fs::write(beside(&third.place, REPEATED), "third").unwrap();
    let theirs = tree(&store).objects.beside(QUARANTINE);
    theirs.put_if("", b"theirs".to_vec(), None).unwrap().unwrap();
    third.publish().unwrap();
    assert_eq!(
        ["", QUARANTINE, REPEATED].map(|suffix| object(&store, suffix)),
        [Some("third".into()), None, Some("third".into())]
    );
}

#[test]
fn a_list_is_deleted_for_a_file_only_by_who_has_put_the_file() {
    let store = in_memory();
    let (_cache, [mut one]) = mounts(&store);
    fs::write(&one.place, "one").unwrap();
    one.publish().unwrap();
    // Somebody is about to put another file, and has put its list.
    let theirs = tree(&store).objects.beside(QUARANTINE);
    theirs.put_if("", b"theirs".to_vec(), None).unwrap().unwrap();
    let (_cache, [mut same]) = mounts(&store);
    one.publish().unwrap();
    same.publish().unwrap();
    assert_eq!(object(&store, QUARANTINE).unwrap(), "theirs");
}

#[test]
fn a_file_has_its_own_lists_and_no_others() {
    let store = in_memory();
    let (cache, [mut mount]) = mounts(&store);
    fs::write(&mount.place, "one").unwrap();
    for suffix in [QUARANTINE, REPEATED, ".failed.json"] {
        fs::write(beside(&mount.place, suffix), "list").unwrap();
    }
    mount.publish().unwrap();
    assert_eq!(object(&store, ".failed.json"), None);
    fs::remove_file(beside(&mount.place, REPEATED)).unwrap();
    fs::write(&mount.place, "two").unwrap();
    mount.publish().unwrap();
    assert_eq!([object(&store, QUARANTINE), object(&store, REPEATED)], [Some("list".into()), None]);
    // A list that is left in the cache does not come back.
    let place = mount.place.clone();
    fs::write(beside(&place, REPEATED), "stale").unwrap();
    drop(mount);
    let tree = tree(&store);
    let mount = Mount::new(tree.objects.at(""), tree, (None, None), cache.path()).unwrap();
    assert_eq!(mount.place, place);
    assert!(beside(&place, QUARANTINE).exists() && !beside(&place, REPEATED).exists());
}

#[test]
fn a_long_file_is_put_together_only_in_the_place_of_what_was_there() {
    let objects = tree(&in_memory()).objects;
    let home = folder(&[("long", "")]);
    let path = home.path().join("long");
    fs::File::options().write(true).open(&path).unwrap().set_len(65 << 20).unwrap();
    let first = objects.upload_if("", &path, None).unwrap().unwrap();
    assert_eq!(objects.find("").unwrap().unwrap().bytes, 65 << 20);
    assert!(objects.upload_if("", &path, None).unwrap().is_none());
    let second = objects.upload_if("", &path, Some(&first)).unwrap().unwrap();
    assert_eq!(objects.find("").unwrap().unwrap().tag, second);
}

#[test]
fn an_object_that_has_become_a_tree_is_mounted_in_the_same_slot() {
    let store = in_memory();
    let (cache, [mut mount]) = mounts(&store);
    fs::write(&mount.place, "one").unwrap();
    mount.publish().unwrap();
    let place = mount.place.clone();
    drop(mount);
    let tree = tree(&store);
    let before = write(&tree, None, &folder(&[("a", "1")])).unwrap();
    let mount = Mount::new(tree.objects.at(""), tree, (before, None), cache.path()).unwrap();
    assert_eq!(mount.place, place);
    assert_eq!(fs::read_to_string(place.join("a")).unwrap(), "1");
}

#[test]
fn a_cache_that_was_deleted_is_not_an_empty_tree() {
    let store = in_memory();
    write(&tree(&store), None, &folder(&[("a", "1")])).unwrap();
    let (cache, [mut mount]) = mounts(&store);
    fs::remove_dir_all(cache.path()).unwrap();
    assert_eq!(mount.publish().unwrap_err().kind(), Kind::Temporary);
    // Somebody else begins in the same place.
    let before = tree(&store).listed().unwrap();
    let _other =
        Mount::new(tree(&store).objects.at(""), tree(&store), (before, None), cache.path())
            .unwrap();
    fs::write(mount.place.join("a"), "2").unwrap();
    assert_eq!(mount.publish().unwrap_err().kind(), Kind::Temporary);
    assert_eq!(read(&tree(&store)), [("a".into(), "1".into())]);
}

#[test]
fn a_folder_that_is_being_deleted_is_not_a_smaller_tree() {
    let tree = tree(&in_memory());
    let before = write(&tree, None, &folder(&[("a", "1"), ("b/c", "1")])).unwrap().unwrap();
    for gone in ["a", "b", ""] {
        let home = folder(&[("a", "2"), ("b/c", "2")]);
        let delete = || {
            let gone = home.path().join(gone);
            if gone.is_file() { fs::remove_file(gone) } else { fs::remove_dir_all(gone) }.unwrap();
            Ok(())
        };
        let pushed = push(&tree, (Some(&before), None), home.path(), &mut States::new(), &delete);
        assert_eq!(pushed.unwrap_err().kind(), Kind::Temporary, "{gone}");
        assert_eq!(tree.listed().unwrap().unwrap().head, before.head);
    }
}

#[test]
fn an_object_that_was_changed_behind_the_list_is_noticed() {
    let tree = tree(&in_memory());
    let written = write(&tree, None, &folder(&[("a", "12")])).unwrap().unwrap();
    let object = &written.head.files["a"].object;
    tree.objects.delete(object).unwrap();
    tree.objects.put_if(object, b"21".to_vec(), None).unwrap().unwrap();
    let home = tempfile::tempdir().unwrap();
    let error = pull(&tree.objects, &written.head, home.path()).err().unwrap();
    assert_eq!(error.kind(), Kind::BadData, "{error}");
}

/// Counts up in one file from many threads: each commit that succeeds is seen exactly once.
#[test]
fn no_commit_is_lost_and_none_counts_twice() {
    let store = in_memory();
    write(&tree(&store), None, &folder(&[("count", "0")])).unwrap();
    let won: u32 = thread::scope(|scope| {
        let count = |_| {
            scope.spawn(|| {
                let tree = tree(&store);
                (0..25).filter(|_| count_up(&tree)).count() as u32
            })
        };
        let threads: Vec<_> = (0..8).map(count).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(read(&tree(&store)), [("count".to_owned(), won.to_string())]);
    assert!(won >= 25, "{won}");
}

fn count_up(tree: &Tree) -> bool {
    let before = tree.listed().unwrap().unwrap();
    let held = &before.head.files["count"];
    let object = tree.objects.get(&held.object, 99).unwrap();
    // The object goes when two others have won meanwhile.
    let Some((bytes, _)) = object else { return false };
    let count: u32 = String::from_utf8(bytes).unwrap().parse().unwrap();
    match write(tree, Some(&before), &folder(&[("count", &(count + 1).to_string())])) {
        Ok(written) => written.is_some(),
        Err(error) => {
            assert_eq!(error.kind(), Kind::Temporary, "{error}");
            false
        }
    }
}
