//! Methods: what decides which texts are near, as `dedup` does.

use crate::error::{Error, Kind, Result};
use crate::fingerprint::{Check, Class, Recipe, Signer, Sketcher};
use crate::matches::{Confirm, Coverage, Coverages};

#[derive(Clone, Debug)]
pub struct NearMethod {
    pub name: String,
    pub recipe: Recipe,
    pub distance: u32,
    pub confirm: Option<Confirm>,
}

/// What some methods keep of some texts. What two methods share is made once.
pub struct MethodTexts<'m> {
    methods: &'m [NearMethod],
    recipes: Vec<RecipeTexts<'m>>,
    checks: Vec<CheckTexts>,
    places: Vec<TextPlace>,
}

#[derive(Clone, Copy)]
struct TextPlace {
    recipe: usize,
    check: Option<usize>,
}

struct RecipeTexts<'m> {
    recipe: &'m Recipe,
    sketcher: Sketcher,
    fingerprints: Vec<Option<(u128, Class)>>,
}

struct CheckTexts {
    check: Check,
    signer: Signer,
    signatures: Vec<Vec<u8>>,
}

impl<'m> MethodTexts<'m> {
    pub fn new(methods: &'m [NearMethod]) -> Result<MethodTexts<'m>> {
        let mut texts = MethodTexts { methods, recipes: vec![], checks: vec![], places: vec![] };
        for NearMethod { recipe, confirm, .. } in methods {
            let recipe = texts.recipe(recipe)?;
            let check = confirm.map(|confirm| texts.check(confirm.check));
            texts.places.push(TextPlace { recipe, check });
        }
        Ok(texts)
    }

    fn recipe(&mut self, recipe: &'m Recipe) -> Result<usize> {
        let same = |held: &RecipeTexts<'_>| {
            held.recipe.features() == recipe.features() && held.recipe.width() == recipe.width()
        };
        if let Some(place) = self.recipes.iter().position(same) {
            return Ok(place);
        }
        if recipe.boilerplate().is_some() {
            return Err(Error::new(Kind::Usage, "a sweep judges whole texts")
                .found("a recipe with boilerplate")
                .help("leave it out, or judge the pairs that a join by this recipe finds")
                .setting("pairs"));
        }
        let sketcher = recipe.sketcher()?;
        self.recipes.push(RecipeTexts { recipe, sketcher, fingerprints: Vec::new() });
        Ok(self.recipes.len() - 1)
    }

    fn check(&mut self, check: Check) -> usize {
        self.checks.iter().position(|held| held.check == check).unwrap_or_else(|| {
            self.checks.push(CheckTexts { check, signer: check.signer(), signatures: Vec::new() });
            self.checks.len() - 1
        })
    }

    pub fn add(&mut self, text: &str) -> Result<()> {
        for held in &mut self.recipes {
            held.fingerprints.push(held.sketcher.page(text)?);
        }
        for held in &mut self.checks {
            let mut signature = Vec::new();
            held.signer.sign(text, &mut signature)?;
            held.signatures.push(signature);
        }
        Ok(())
    }

    pub fn bytes_each(&self) -> u64 {
        let recipes = self.recipes.len() * size_of::<Option<(u128, Class)>>();
        let checks: usize = self.checks.iter().map(|held| held.check.bytes().min(1 << 10)).sum();
        (recipes + checks) as u64
    }

    pub(super) fn append(&mut self, other: MethodTexts<'m>) {
        for (held, more) in self.recipes.iter_mut().zip(other.recipes) {
            held.fingerprints.extend(more.fingerprints);
        }
        for (held, more) in self.checks.iter_mut().zip(other.checks) {
            held.signatures.extend(more.signatures);
        }
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.recipes.iter_mut().for_each(|held| held.fingerprints.truncate(count));
        for held in &mut self.checks {
            held.signatures.truncate(count);
        }
    }

    /// Whether any method has a fingerprint of a text. A text without words has none.
    pub fn has_fingerprint(&self, text: u32) -> bool {
        self.recipes.iter().any(|held| held.fingerprints[text as usize].is_some())
    }

    pub fn is_near(&self, method: usize, one: u32, another: u32) -> bool {
        self.coverages(method, one, another).any()
    }

    /// How well each of two texts can cover the other one by a method, as a join decides: both have a fingerprint,
    /// the fingerprints are of one class and near, and the check confirms them or cannot tell them apart. By a check with a direction all pairs
    /// are candidates: anchors find those that share much.
    pub(super) fn coverages(&self, method: usize, one: u32, another: u32) -> Coverages {
        let TextPlace { recipe, check } = self.places[method];
        let NearMethod { distance: most, confirm, .. } = &self.methods[method];
        let fingerprint = |text: u32| self.recipes[recipe].fingerprints[text as usize];
        let (Some((bits, class)), Some((other_bits, other_class))) =
            (fingerprint(one), fingerprint(another))
        else {
            return Coverages::default();
        };
        let distance = (bits ^ other_bits).count_ones();
        let near = Coverages::mutual(Coverage::near(distance as u8));
        let (is_near, one_class) = (distance <= *most, class == other_class);
        let (Some(confirm), Some(check)) = (confirm, check) else {
            return if is_near && one_class { near } else { Coverages::default() };
        };
        let [one, another] = [one, another].map(|text| self.signature(check, text));
        let is_candidate = is_near || confirm.has_direction();
        match (one_class || !confirm.needs_one_class()) && is_candidate {
            false => Coverages::default(),
            true if distance == 0 && one == another => near,
            true => Coverages::by(confirm, one, another, distance as u8),
        }
    }

    pub(super) fn has_direction(&self, method: usize) -> bool {
        self.methods[method].confirm.is_some_and(|confirm| confirm.has_direction())
    }

    fn signature(&self, check: usize, text: u32) -> &[u8] {
        &self.checks[check].signatures[text as usize]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::evaluate) fn method(
        recipe: &str,
        distance: u32,
        confirm: Option<&str>,
    ) -> NearMethod {
        let recipe = Recipe::named(recipe, None).unwrap();
        let confirm = confirm.map(|text| text.parse().unwrap());
        NearMethod { name: String::new(), recipe, distance, confirm }
    }

    #[test]
    fn near_is_what_recipe_distance_and_check_say() {
        let methods = [
            method("words", 3, None),
            method("words", 64, Some("cosine:0.4")),
            method("wide", 64, Some("cosine:0.4")),
            method("wide", 64, Some("minhash:0.999")),
            method("short-text", 64, None),
        ];
        let letter = |at: usize| char::from(b'a' + (at % 26) as u8);
        let long: String =
            (0..300).map(|at| format!("w{}{} ", letter(at / 26), letter(at))).collect();
        let changed = long.replacen("wa", "other", 3);
        let texts = [&*long, &*changed, "a short one", "", "", &*long];
        let mut all = MethodTexts::new(&methods).unwrap();
        assert_eq!((all.recipes.len(), all.checks.len()), (3, 2));
        texts.iter().for_each(|text| all.add(text).unwrap());
        for (at, method) in methods.iter().enumerate() {
            let mut sketcher = method.recipe.sketcher().unwrap();
            let pages = texts.map(|text| sketcher.page(text).unwrap());
            for one in 0..texts.len() {
                for two in 0..texts.len() {
                    let near = pages[one].zip(pages[two]).is_some_and(|(a, b)| {
                        (a.0 ^ b.0).count_ones() <= method.distance && a.1 == b.1
                    });
                    let alike = method.confirm.is_none_or(|confirm| {
                        let [a, b] = [one, two].map(|text| {
                            let mut signature = Vec::new();
                            confirm.check.signer().sign(texts[text], &mut signature).unwrap();
                            signature
                        });
                        confirm.check.similarity(&a, &b) >= confirm.least
                    });
                    let found = all.is_near(at, one as u32, two as u32);
                    assert_eq!(found, near && alike, "{at}: {one} {two}");
                }
            }
        }
        assert!(all.is_near(0, 0, 5) && !all.is_near(0, 3, 4) && all.is_near(1, 0, 1));
        assert!(!all.is_near(3, 0, 1) && !all.is_near(4, 0, 2));
        let with: Vec<bool> = (0..6).map(|text| all.has_fingerprint(text)).collect();
        assert_eq!(with, [true, true, true, false, false, true]);
    }
}
