//! How the batch can be arranged: by masks, or by one of the designs without; and what that is expected to cost.

use std::fmt;
use std::str::FromStr;

use super::masked::{MAX_DISTANCE, Masked};
use super::{conditioned, multi_index};
use crate::error::{Error, Kind, Result};
use crate::fingerprint::Width;

/// How the batch is arranged, written `auto`, `conditioned`, `multi-index`, `4`, `10`, `16`, `20` or
/// `blocks:R,choose:C`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Design {
    /// The one that the cost model finds cheapest.
    Auto,
    /// By the prefix of what is probed, which is sorted.
    Conditioned,
    /// By blocks of which one differs in a few bits, compared by vectors.
    MultiIndex,
    /// By exact-match keys.
    Masked(Masked),
}

impl Design {
    fn named() -> impl Iterator<Item = Design> {
        let unmasked = [Design::Auto, Design::Conditioned, Design::MultiIndex];
        unmasked.into_iter().chain(Masked::PAPER.map(Design::Masked))
    }

    /// The largest distance at which no pair is missed.
    pub(super) fn covers(self) -> u32 {
        match self {
            Design::Auto => MAX_DISTANCE,
            Design::Conditioned => conditioned::COVERS,
            Design::MultiIndex => multi_index::COVERS,
            Design::Masked(masked) => masked.covers(),
        }
    }

    /// The design of masks that this is, if it covers `k`.
    pub(super) fn masked(self, width: Width, k: u32) -> Result<Masked> {
        self.check(width, k)?;
        match self {
            Design::Masked(masked) => Ok(masked),
            _ => Err(Error::new(Kind::Usage, format!("the design {self} has no masks"))),
        }
    }

    pub fn masks(self, width: Width, k: u32) -> Result<Vec<u128>> {
        self.masked(width, k)?.masks(width)
    }

    /// Refuses a design that does not cover `k`, and what is no design at this width.
    pub(super) fn check(self, width: Width, k: u32) -> Result<()> {
        if self == Design::Auto {
            return Err(Error::new(Kind::Usage, "the design auto has no tables of its own"));
        }
        if k > self.covers() {
            let what = format!("design {self} does not cover the distance");
            return Err(Error::new(Kind::Usage, what)
                .expected(format!("a distance of at most {}", self.covers()))
                .found(k)
                .help(covering(k)));
        }
        match self {
            Design::Masked(masked) => masked.check(width),
            _ => Ok(()),
        }
    }
}

fn covering(k: u32) -> String {
    let mut covering = Design::named().filter(|design| k <= design.covers());
    let Some(first) = covering.next() else {
        return format!("no design covers more than {MAX_DISTANCE}");
    };
    let named = covering.fold(first.to_string(), |list, design| format!("{list}, {design}"));
    format!("{named} and blocks:R,choose:C with R - C >= {k} (blocks:{},choose:2) do", k + 2)
}

impl From<Masked> for Design {
    fn from(masked: Masked) -> Design {
        Design::Masked(masked)
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Design::Auto => f.write_str("auto"),
            Design::Conditioned => f.write_str("conditioned"),
            Design::MultiIndex => f.write_str("multi-index"),
            Design::Masked(masked) => masked.fmt(f),
        }
    }
}

impl FromStr for Design {
    type Err = Error;

    fn from_str(text: &str) -> Result<Design> {
        let named = Design::named().find(|design| design.to_string() == text);
        named.or_else(|| Masked::parse(text).map(Design::Masked)).ok_or_else(|| {
            let names: Vec<String> = Design::named().map(|design| design.to_string()).collect();
            Error::new(Kind::Usage, "not a table design")
                .expected(format!(
                    "{} or blocks:R,choose:C with 1 <= C <= R <= 128",
                    names.join(", ")
                ))
                .found(text)
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The design, never [`Design::Auto`].
    pub design: Design,
    /// How many keys or blocks it has.
    pub tables: u64,
    /// Time of one thread for each fingerprint of the store, in nanoseconds.
    pub nanoseconds: f64,
    /// Time of one thread in all: the batch arranged, and joined with the store.
    pub seconds: f64,
    pub memory_bytes: u64,
    /// How many fingerprints of the store are probed at once at most, if the memory or the number of workers limits that.
    pub window: Option<usize>,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { design, tables, nanoseconds, memory_bytes, .. } = self;
        let mebibytes = memory_bytes.div_ceil(1 << 20);
        write!(f, "{design}: {tables} tables, {nanoseconds:.0} ns a fingerprint, {mebibytes} MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_cover_k_is_refused_with_what_does() {
        let error = Design::from(Masked::Ten).masks(Width::W64, 4).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains("blocks:6,choose:2"), "{error}");
        let blocks = |blocks, choose| Design::from(Masked::Blocks { blocks, choose });
        assert!(blocks(6, 2).masks(Width::W64, 4).is_ok());
        assert!(blocks(6, 2).masks(Width::W64, 5).is_err());
        assert!(blocks(64, 1).masks(Width::W64, 15).is_ok());
        assert!(blocks(64, 1).masks(Width::W64, 16).is_err());
        assert!(blocks(65, 65).masks(Width::W64, 0).is_err());
        assert!(blocks(64, 32).masks(Width::W64, 3).is_err());
        assert!(Design::Auto.masks(Width::W64, 3).is_err());
    }

    #[test]
    fn text_that_is_no_design_is_refused() {
        for text in [
            "",
            "5",
            "Auto",
            "blocks:4",
            "blocks:4,choose:0",
            "blocks:4,choose:5",
            "blocks:04,choose:1",
            "blocks:129,choose:129",
            "blocks:4,choose:1 ",
            "blocks:-1,choose:1",
        ] {
            assert_eq!(text.parse::<Design>().unwrap_err().kind(), Kind::Usage, "{text}");
        }
    }
}
