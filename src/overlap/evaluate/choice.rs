//! Which method to use, by the scores of all.

/// How much lower a cheaper method may score and still be recommended. Each preset costs several times as much
/// as the one before, so it should find clearly more. Scores by a few hundred clusters vary by as much.
const CLOSE: f64 = 0.05;

#[must_use]
pub fn cheapest(scores: &[f64]) -> usize {
    let best = scores.iter().copied().fold(0.0, f64::max);
    scores.iter().position(|&score| score >= best - CLOSE).unwrap_or(0)
}
