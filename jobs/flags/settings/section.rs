//! Structs whose fields are flags and keys of a configuration file. clap reads them from the command line and serde from the file.

/// Declares a struct of settings. A key that is read `as` a schema says is read from the file as its flag is read.
macro_rules! settings {
    ($(#[$of_all:meta])* $Settings:ident {
        $($(#[$of_key:meta])* $key:ident: $value:ty $(as $schema:tt)?,)*
    }) => {
        #[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(default)]
        $(#[$of_all])*
        pub(crate) struct $Settings {
            $(
                $(#[$of_key])*
                #[serde(skip_serializing_if = "Option::is_none")]
                $(#[serde(deserialize_with = "typed::deserialize")] #[schemars(schema_with = $schema)])?
                pub(crate) $key: Option<$value>,
            )*
        }

        impl $Settings {
            /// These settings; those that are not set are taken from `file`.
            pub(crate) fn or(self, file: $Settings) -> $Settings {
                $Settings { $($key: self.$key.or(file.$key),)* }
            }
        }
    };
}

/// Declares the structs of a section: serde reads all of them from the section of a file together, and clap reads those
/// that a command has from the command line. An unknown key of the section is refused with its line, which is lost where
/// serde flattens structs.
macro_rules! section {
    (
        $(#[$of_section:meta])* $Section:ident;
        $($(#[$of_part:meta])* $part:ident: $Part:ident {
            $($(#[$of_key:meta])* $key:ident: $value:ty $(as $schema:tt)?,)*
        })*
    ) => {
        $(#[$of_section])*
        #[derive(Args, Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(from = "Keys")]
        pub(crate) struct $Section {
            $(#[command(flatten)] pub(crate) $part: $Part,)*
        }

        $($crate::flags::settings::settings! {
            $(#[$of_part])*
            $Part { $($(#[$of_key])* $key: $value $(as $schema)?,)* }
        })*

        /// The keys of the section.
        #[derive(Args, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        struct Keys {
            $($(
                $(#[$of_key])*
                $(#[serde(deserialize_with = "typed::deserialize")] #[schemars(schema_with = $schema)])?
                $key: Option<$value>,
            )*)*
        }

        impl From<Keys> for $Section {
            fn from(keys: Keys) -> $Section {
                $Section { $($part: $Part { $($key: keys.$key,)* },)* }
            }
        }
    };
}

pub(crate) use {section, settings};
