//! The advice of an error in flags and commands: the library names settings and jobs.

use dupsieve::Error;
use dupsieve::rooms::error::Remedy;

/// Adds to the advice of `error` the flags or the command with which it is followed.
pub(super) fn in_flags(error: Error) -> Error {
    match (error.advice(), named(error.remedy())) {
        (Some(advice), Some(named)) => {
            let advice = match error.remedy().job.is_some() {
                true => format!("{advice}: {named}"),
                false => format!("{advice} ({named})"),
            };
            error.help(advice)
        }
        _ => error,
    }
}

fn named(remedy: &Remedy) -> Option<String> {
    let flags: Vec<String> = remedy.settings.iter().map(|setting| format!("--{setting}")).collect();
    match (&remedy.job, flags.is_empty()) {
        (Some(job), true) => Some(format!("dupsieve {job}")),
        (Some(job), false) => Some(format!("dupsieve {job} {}", flags.join(" "))),
        (None, true) => None,
        (None, false) => Some(flags.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsieve::Kind;

    #[test]
    fn advice_names_flags_and_commands() {
        let error = || Error::new(Kind::Usage, "too small").help("allow more");
        for (error, told) in [
            (error(), "too small; allow more"),
            (error().setting("memory"), "too small; allow more (--memory)"),
            (error().settings(["a", "b exact"]), "too small; allow more (--a, --b exact)"),
            (error().job("weights"), "too small; allow more: dupsieve weights"),
            (
                error().job("store index").setting("filters"),
                "too small; allow more: dupsieve store index --filters",
            ),
            (error().setting("memory").help("wait"), "too small; wait"),
        ] {
            assert_eq!(in_flags(error).to_string(), told);
        }
    }
}
