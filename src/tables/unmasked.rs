//! The list of the designs without masks.
//!
//! A new design of this sort needs a module of its own and one line here. The module has
//!
//! - a type that implements [`Probe`] and [`Arrange`], and with it its own scratch memory;
//! - `covers`, the largest distance it finds at a width;
//! - `cost`, what it is expected to cost.

use super::conditioned::{self, Conditioned};
use super::halves::{self, Halves};
use super::hit::Hit;
use super::multi_index::{self, MultiIndex};
use super::prices::Prices;
use super::probe::{Arrange, Probe};
use super::problem::{Cost, Problem};
use crate::fingerprint::{Fingerprint, Width};

/// From the list of designs: their names and numbers, the batch arranged by one of them, and its scratch.
macro_rules! unmasked {
    ($($(#[$doc:meta])* $module:ident::$design:ident = $name:literal;)*) => {
        /// A design that is more than exact-match keys.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Unmasked {
            $($(#[$doc])* $design,)*
        }

        impl Unmasked {
            /// All of them.
            pub(super) const ALL: &[Unmasked] = &[$(Unmasked::$design),*];

            /// Its name on the command line.
            pub(super) fn name(self) -> &'static str {
                match self { $(Unmasked::$design => $name,)* }
            }

            /// The largest distance at which no pair is missed, at this width.
            pub(super) fn covers(self, width: Width) -> u32 {
                match self { $(Unmasked::$design => $module::covers(width),)* }
            }

            /// What it is expected to cost, for a distance that it covers.
            pub(super) fn cost(self, problem: &Problem, prices: &Prices) -> Cost {
                match self { $(Unmasked::$design => $module::cost(problem, prices),)* }
            }
        }

        /// The batch arranged by one of these designs.
        #[derive(Debug)]
        pub(super) enum Arranged<F: Fingerprint> {
            $($design($design<F>),)*
        }

        /// The scratch memory of all of them.
        #[derive(Debug, Default)]
        pub(super) struct Scratches<F: Fingerprint> {
            $(pub(super) $module: <$design<F> as Probe<F>>::Scratch,)*
        }

        impl<F: Fingerprint> Arranged<F> {
            /// Arranges `batch`, which is sorted and distinct and has at most `u32::MAX` fingerprints,
            /// for distances up to `k`, which the design covers, on up to `threads` threads.
            pub(super) fn new(
                design: Unmasked,
                batch: &[F],
                k: u32,
                threads: usize,
            ) -> Arranged<F> {
                match design {
                    $(Unmasked::$design => {
                        Arranged::$design(Arrange::arrange(batch, k, threads))
                    })*
                }
            }

            /// How many bytes it holds.
            pub(super) fn memory_bytes(&self) -> u64 {
                match self { $(Arranged::$design(it) => Arrange::memory_bytes(it),)* }
            }
        }

        impl<F: Fingerprint> Probe<F> for Arranged<F> {
            type Scratch = Scratches<F>;

            fn probe(
                &self,
                runs: &[&[F]],
                scratch: &mut Scratches<F>,
                found: &mut dyn FnMut(Hit),
            ) {
                match self {
                    $(Arranged::$design(it) => it.probe(runs, &mut scratch.$module, found),)*
                }
            }

            fn window(&self) -> usize {
                match self { $(Arranged::$design(it) => it.window(),)* }
            }
        }
    };
}

unmasked! {
    /// By the prefix of what is probed, which is sorted.
    conditioned::Conditioned = "conditioned";
    /// By blocks of which one is at most one bit off, in any order.
    halves::Halves = "halves";
    /// By blocks of which one differs in a few bits, compared by vectors.
    multi_index::MultiIndex = "multi-index";
}
