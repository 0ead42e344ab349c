//! A section of a configuration file whose keys are flags, in several structs: a command has the flags of some of them.

/// Declares the structs of a section: serde reads all of them from the section of a file together, and clap reads those
/// that a command has from the command line. An unknown key of the section is refused with its line, which is lost where
/// serde flattens structs.
macro_rules! section {
    (
        $(#[$of_section:meta])* $Section:ident;
        $($(#[$of_part:meta])* $part:ident: $Part:ident {
            $($(#[$of_key:meta])* $key:ident: $value:ty,)*
        })*
    ) => {
        $(#[$of_section])*
        #[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(from = "Keys")]
        pub(crate) struct $Section {
            $(#[command(flatten)] pub(crate) $part: $Part,)*
        }

        $(
            $(#[$of_part])*
            #[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema)]
            pub(crate) struct $Part {
                $($(#[$of_key])* pub(crate) $key: Option<$value>,)*
            }

            impl $Part {
                /// These settings; those that are not set are taken from `file`.
                pub(crate) fn or(self, file: $Part) -> $Part {
                    $Part { $($key: self.$key.or(file.$key),)* }
                }
            }
        )*

        /// The keys of the section.
        #[derive(Args, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        struct Keys {
            $($($(#[$of_key])* $key: Option<$value>,)*)*
        }

        impl From<Keys> for $Section {
            fn from(keys: Keys) -> $Section {
                $Section { $($part: $Part { $($key: keys.$key,)* },)* }
            }
        }
    };
}

pub(crate) use section;
