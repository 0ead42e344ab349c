//! An answer: one object, which `--json` prints as it is, and which a template draws for people otherwise.
//!
//! A template stands beside its command. It holds no rules: what it shows is in the object.

use std::io::Write;

use dupsieve::Result;
use dupsieve::error::At;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde_json::Value;

use super::summary::{Summary, counted};
use super::terminal;

pub(crate) fn print(object: &Value, template: &str, as_json: bool) -> Result<Summary> {
    let text = if as_json { format!("{object}\n") } else { drawn(object, template) };
    let mut out = terminal::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).at("stdout")?;
    Ok(Summary::new())
}

pub(crate) fn drawn(object: &Value, template: &str) -> String {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Lenient);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build().expect("only whitespace is set"));
    environment.add_filter("json", |value: minijinja::Value| {
        serde_json::to_string(&value).expect("a value is plain data")
    });
    environment.add_filter("toml", |value: minijinja::Value| {
        toml::Value::try_from(&value).expect("a value is plain data").to_string()
    });
    environment.add_filter("counted", |count: u64, what: &str| counted(count, what));
    environment.add_filter("mebibytes", |bytes: u64| bytes.div_ceil(1 << 20));
    let context = minijinja::Value::from(Serde(object));
    environment.render_str(template, context).expect("the object has what the template asks for")
}
