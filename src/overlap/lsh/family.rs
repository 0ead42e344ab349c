//! A family of hashes under which near points agree more often than far ones.

/// Makes the hashes of points of type `P`. It holds buffers, so each worker has its own.
pub trait Family<P: ?Sized> {
    /// Appends the hashes of `point`, as many as the family was made for, each of them by another function.
    /// They depend on the point and the seed alone.
    fn hash(&mut self, point: &P, hashes: &mut Vec<u32>);

    /// The probability that one function gives two points of this similarity the same hash. It grows from
    /// similarity 0 to 1, where it is 1.
    fn collision(&self, similarity: f64) -> f64;
}
