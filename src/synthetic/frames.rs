//! Random texts as pages of hosts: each host has its own frame, navigation and notices around the text of
//! every page.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::documents::{DocumentGenerator, SyntheticDocument};

pub struct Frames(Vec<Frame>);

struct Frame {
    above: String,
    below: String,
}

impl Frames {
    /// The lines of navigation above a text, of one to four words.
    const ABOVE: usize = 20;
    /// The lines below it, of one to twelve words.
    const BELOW: usize = 10;
    const PARAGRAPH: usize = 40;

    #[must_use]
    pub fn new(generator: &DocumentGenerator, hosts: u32) -> Frames {
        let frame = |host: u32| {
            // The documents of the generator have the streams from 1 on.
            let mut random = ChaCha8Rng::seed_from_u64(generator.seed());
            random.set_stream(u64::MAX - u64::from(host));
            let mut lines = |lines: usize, most_words: usize| -> String {
                let line = |_| {
                    let words = random.random_range(1..=most_words);
                    let words: Vec<&str> =
                        (0..words).map(|_| generator.word(&mut random)).collect();
                    words.join(" ") + "\n"
                };
                (0..lines).map(line).collect()
            };
            Frame { above: lines(Frames::ABOVE, 4), below: lines(Frames::BELOW, 12) }
        };
        Frames((0..hosts).map(frame).collect())
    }

    /// The host of document `number`, of which `original` is the original if it is a copy. Every other copy is
    /// on the host of its original.
    fn host(&self, number: u64, original: Option<u64>) -> u64 {
        let placed = original.filter(|_| number.is_multiple_of(2)).unwrap_or(number);
        placed % self.0.len() as u64
    }

    #[must_use]
    pub fn url(&self, number: u64, original: Option<u64>) -> String {
        let host = self.host(number, original);
        format!("https://host-{host:06}.example/document-{number:012}")
    }

    #[must_use]
    pub fn text(&self, number: u64, document: &SyntheticDocument<'_>) -> String {
        let host = self.host(number, document.copied.map(|(original, _)| original));
        let Frame { above, below } = &self.0[host as usize];
        format!("{above}{}{below}", document.paragraphs(Frames::PARAGRAPH))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::host;

    #[test]
    fn pages_of_a_host_share_its_frame_and_nothing_else() {
        let generator = DocumentGenerator::new(7, 0.0);
        let frames = Frames::new(&generator, 3);
        let page =
            |number| (frames.url(number, None), frames.text(number, &generator.document(number)));
        let pages: Vec<(String, String)> = (0..6).map(page).collect();
        for (one, (url, text)) in pages.iter().enumerate() {
            for (two, (other_url, other)) in pages.iter().enumerate().filter(|(two, _)| *two != one)
            {
                let shared = text.lines().filter(|line| other.lines().any(|other| other == *line));
                let same_host = one % 3 == two % 3;
                assert_eq!(host(url) == host(other_url), same_host);
                assert_eq!(shared.count() >= Frames::ABOVE + Frames::BELOW, same_host);
            }
        }
    }
}
