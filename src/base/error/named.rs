//! Enums whose values have names: what is typed, and what files and messages say.

use super::error::{Error, Kind, Result};

/// Gives each value of an enum a name: `ALL`, `name` and `Display`; and after `or`, which says what a wrong text is, `FromStr`.
#[macro_export]
macro_rules! named {
    ($visible:vis $type:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All values, in the order in which they are declared.
            $visible const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// The name.
            #[allow(unreachable_pub)] // Some of the types are not public.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    ($visible:vis $type:ident { $($value:ident = $name:literal),+ $(,)? } or $wrong:literal) => {
        $crate::error::named!($visible $type { $($value = $name),+ });

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<$type> {
                $crate::error::by_name(&[$(($name, $type::$value)),+], text, $wrong)
            }
        }
    };
}

pub use named;

/// Lets serde write a type by its `Display` and read it by its `FromStr`.
#[macro_export]
macro_rules! as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(
                &self,
                out: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        impl<'a> serde::Deserialize<'a> for $type {
            fn deserialize<D: serde::Deserializer<'a>>(
                from: D,
            ) -> std::result::Result<$type, D::Error> {
                let text: String = serde::Deserialize::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub use as_text;

/// The value with the name `text`, or an error that says `wrong` and lists the names.
pub fn by_name<T: Copy>(named: &[(&str, T)], text: &str, wrong: &str) -> Result<T> {
    if let Some((_, value)) = named.iter().find(|(name, _)| *name == text) {
        return Ok(*value);
    }
    let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
    let (last, others) = names.split_last().expect("an enum has values");
    Err(Error::new(Kind::Usage, wrong)
        .expected(format_args!("{} or {last}", others.join(", ")))
        .found(format_args!("`{text}`")))
}
