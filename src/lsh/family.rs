//! A family of hashes under which near points agree more often than far ones.

/// Makes the hashes of points of type `P`. It holds buffers, so each worker has its own.
pub trait Family<P: ?Sized> {
    /// Appends the hashes of `point`, as many as the family was made for, each of them by another function.
    /// They depend on the point and the seed alone.
    fn hash(&mut self, point: &P, hashes: &mut Vec<u32>);

    /// The probability that one function gives two points of this similarity the same hash. It grows from
    /// similarity 0 to 1, where it is 1.
    fn collision(&self, similarity: f64) -> f64;

    /// The similarity of two points that agree in this share of their hashes: the inverse of
    /// [`Family::collision`], 0 where that has none.
    fn similarity(&self, agreement: f64) -> f64;
}
