//! The text format of Prometheus, version 0.0.4, which both a server and a node exporter's textfile are read in.

use std::fmt::Write;

#[cfg(feature = "serve")]
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics as text, family by family. All names get the prefix `dupsieve_`.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    text: String,
    family: &'static str,
}

impl Exposition {
    pub(crate) fn gauge(&mut self, name: &'static str, help: &str) -> &mut Exposition {
        self.family(name, "gauge", help)
    }

    /// Begins a family of counters, which only grow; their name ends in `_total`.
    pub(crate) fn counter(&mut self, name: &'static str, help: &str) -> &mut Exposition {
        self.family(name, "counter", help)
    }

    #[cfg(feature = "serve")]
    pub(crate) fn histogram(&mut self, name: &'static str, help: &str) -> &mut Exposition {
        self.family(name, "histogram", help)
    }

    fn family(&mut self, name: &'static str, kind: &str, help: &str) -> &mut Exposition {
        self.family = name;
        self.line(format_args!("# HELP dupsieve_{name} {help}"));
        self.line(format_args!("# TYPE dupsieve_{name} {kind}"));
        self
    }

    pub(crate) fn sample(&mut self, labels: &[(&str, &str)], value: f64) -> &mut Exposition {
        self.part("", labels, value)
    }

    pub(crate) fn part(
        &mut self,
        part: &str,
        labels: &[(&str, &str)],
        value: f64,
    ) -> &mut Exposition {
        let series = series(&format!("{}{part}", self.family), labels);
        self.line(format_args!("{series} {value}"));
        self
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Text takes whatever is written.
        let _ = writeln!(self.text, "{line}");
    }
}

fn series(name: &str, labels: &[(&str, &str)]) -> String {
    let labels: Vec<String> =
        labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
    match labels.is_empty() {
        true => format!("dupsieve_{name}"),
        false => format!("dupsieve_{name}{{{}}}", labels.join(",")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The value of a sample in a text that was written here: of `name` with these labels, in this order.
pub(crate) fn value_of(text: &str, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let series = series(name, labels);
    text.lines().find_map(|line| line.strip_prefix(&series)?.strip_prefix(' ')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_the_text_that_holds_it() {
        let mut metrics = Exposition::default();
        metrics.gauge("records", "Records.").sample(&[("reason", "a \"b\"\n\\")], 3.0);
        metrics.counter("runs_total", "Runs.").sample(&[], 1e9);
        let text = metrics.into_text();
        assert_eq!(
            text,
            "# HELP dupsieve_records Records.\n# TYPE dupsieve_records gauge\n\
             dupsieve_records{reason=\"a \\\"b\\\"\\n\\\\\"} 3\n\
             # HELP dupsieve_runs_total Runs.\n# TYPE dupsieve_runs_total counter\n\
             dupsieve_runs_total 1000000000\n"
        );
        assert_eq!(value_of(&text, "records", &[("reason", "a \"b\"\n\\")]), Some(3.0));
        assert_eq!(value_of(&text, "runs_total", &[]), Some(1e9));
        assert_eq!(value_of(&text, "runs", &[]), None);
    }
}
