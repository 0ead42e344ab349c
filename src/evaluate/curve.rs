//! Curves over the square from 0 to 1, such as the precision of each recipe over its recall, as an SVG drawing.
//!
//! ```
//! use dupsieve::evaluate::curve::{Axes, Curve, Line};
//!
//! let points = vec![Some((0.5, 1.0)), Some((0.8, 0.9))]; // k = 0 and k = 1
//! let lines = vec![Line { name: "words".to_owned(), points }];
//! let axes = Axes { across: "recall", up: "precision" };
//! let svg = Curve { title: "an example".to_owned(), axes, lines, marked: Some(1) }.to_string();
//! assert!(svg.starts_with("<svg "));
//! ```

use std::fmt::{self, Display, Write};

/// The side of the square that is drawn in, and the room around it, in pixels.
const SIDE: f64 = 480.0;
const MARGIN: f64 = 60.0;
/// The room for the names.
const LEGEND: f64 = 280.0;
const LINE: f64 = 20.0;

/// Colours that the colour-blind can tell apart (Okabe and Ito), and how lines are dashed when they
/// come round again.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const DASHES: [&str; 3] = ["none", "6 3", "2 3"];

/// One line, such as what a recipe reaches.
#[derive(Clone, Debug)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// Points across and up, where both are known: recall and precision for k = 0, 1, 2, ...
    pub points: Vec<Option<(f64, f64)>>,
}

/// What the axes are called.
#[derive(Clone, Copy, Debug)]
pub struct Axes {
    /// From left to right.
    pub across: &'static str,
    /// From bottom to top.
    pub up: &'static str,
}

/// Lines to be drawn in one picture.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The title of the picture.
    pub title: String,
    /// The axes.
    pub axes: Axes,
    /// The lines, in the order of the legend.
    pub lines: Vec<Line>,
    /// The k that is marked on each line, if its points stand for k = 0, 1, 2, ...
    pub marked: Option<u32>,
}

impl Display for Curve {
    /// The drawing, as an SVG document.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let height = (SIDE + 2.0 * MARGIN).max(2.0 * MARGIN + LINE * self.lines.len() as f64);
        let width = SIDE + 2.0 * MARGIN + LEGEND;
        writeln!(
            f,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">"##
        )?;
        writeln!(f, r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##)?;
        let Axes { across, up } = self.axes;
        let title = Escaped(&self.title);
        write!(f, r##"<text x="{MARGIN}" y="30" font-size="15">{title}: {up} over {across}"##)?;
        self.marked.map_or(Ok(()), |k| write!(f, ", k = {k} marked"))?;
        writeln!(f, "</text>")?;
        self.axes.draw(f)?;
        for (number, line) in self.lines.iter().enumerate() {
            line.draw(f, number, self.marked)?;
        }
        writeln!(f, "</svg>")
    }
}

impl Line {
    fn draw(&self, f: &mut fmt::Formatter<'_>, number: usize, marked: Option<u32>) -> fmt::Result {
        let colour = COLOURS[number % COLOURS.len()];
        let dash = DASHES[number / COLOURS.len() % DASHES.len()];
        let stroke = format!(r##"fill="none" stroke="{colour}" stroke-dasharray="{dash}""##);
        f.write_str("<polyline points=\"")?;
        for &(recall, precision) in self.points.iter().flatten() {
            write!(f, "{:.1},{:.1} ", across(recall), up(precision))?;
        }
        writeln!(f, "\" {stroke} stroke-width=\"2\"/>")?;
        for (k, point) in (0..).zip(&self.points) {
            let (Some((recall, precision)), Some(marked)) = (*point, marked) else { continue };
            let radius = if k == marked { 6 } else { 2 };
            let x = across(recall);
            let y = up(precision);
            writeln!(
                f,
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{colour}"><title>{}, k = {k}</title></circle>"##,
                Escaped(&self.name)
            )?;
        }
        let x = SIDE + 2.0 * MARGIN - 30.0;
        let y = MARGIN + LINE * (number as f64 + 0.5);
        writeln!(f, r##"<path d="M{x} {y}h30" {stroke} stroke-width="2"/>"##)?;
        writeln!(f, r##"<text x="{}" y="{}">{}</text>"##, x + 38.0, y + 4.0, Escaped(&self.name))
    }
}

impl Axes {
    /// The square, with a line for each fifth, and the names.
    fn draw(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fifth in 0..=5 {
            let part = f64::from(fifth) / 5.0;
            let x = across(part);
            let y = up(part);
            let left = across(0.0);
            let right = across(1.0);
            let top = up(1.0);
            let bottom = up(0.0);
            writeln!(
                f,
                r##"<path d="M{left} {y}H{right}M{x} {top}V{bottom}" stroke="#dddddd"/>"##
            )?;
            writeln!(
                f,
                r##"<text x="{}" y="{}" text-anchor="end">{part}</text>"##,
                left - 8.0,
                y + 4.0
            )?;
            writeln!(
                f,
                r##"<text x="{x}" y="{}" text-anchor="middle">{part}</text>"##,
                bottom + 18.0
            )?;
        }
        let middle = across(0.5);
        let below = up(0.0) + 40.0;
        let name = self.across;
        writeln!(f, r##"<text x="{middle}" y="{below}" text-anchor="middle">{name}</text>"##)?;
        let x = across(0.0) - 42.0;
        let y = up(0.5);
        writeln!(
            f,
            r##"<text x="{x}" y="{y}" text-anchor="middle" transform="rotate(-90 {x} {y})">{}</text>"##,
            self.up
        )
    }
}

fn across(recall: f64) -> f64 {
    MARGIN + SIDE * recall
}

fn up(precision: f64) -> f64 {
    MARGIN + SIDE * (1.0 - precision)
}

/// Text with the signs that mean something to XML written otherwise.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            _ => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_drawn_and_names_are_text() {
        let line = |name: &str, points: &[Option<(f64, f64)>]| Line {
            name: name.into(),
            points: points.into(),
        };
        let lines =
            vec![line("a<b", &[None, Some((0.0, 1.0)), Some((1.0, 0.5))]), line("c & d", &[])];
        let axes = Axes { across: "recall", up: "precision" };
        let drawn = Curve { title: "<t>".into(), axes, lines, marked: Some(2) }.to_string();
        assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
        assert!(
            drawn.contains("&lt;t&gt;") && drawn.contains("a&lt;b") && drawn.contains("c &amp; d")
        );
        assert!(drawn.contains(r##"points="60.0,60.0 540.0,300.0 ""##), "{drawn}");
        assert_eq!(drawn.matches(r##"r="6""##).count(), 1);
        assert_eq!(drawn.matches("<circle").count(), 2);
        assert_eq!(drawn.matches("<text").count(), drawn.matches("</text>").count());
    }
}
