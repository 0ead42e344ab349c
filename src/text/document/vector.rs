//! What a vector may be, in whichever format it comes.

pub(super) const MOST_COMPONENTS: usize = 1 << 16;

/// The largest size of a component. Squares of these, and sums of them, are finite.
const LARGEST: f64 = 1e100;

/// The vector of these components; none stands for one that is not a number.
pub(super) fn checked(components: Vec<Option<f64>>) -> Result<Vec<f64>, &'static str> {
    if components.len() > MOST_COMPONENTS {
        return Err("the vector has more than 65536 components");
    }
    let components: Option<Vec<f64>> = components.into_iter().collect();
    let components = components.ok_or("a component of the vector is not a number")?;
    match components.iter().all(|component| component.abs() <= LARGEST) {
        true => Ok(components),
        false => Err("a component of the vector is beyond 1e100"),
    }
}
