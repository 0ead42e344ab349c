//! The field by whose values pages are put in keep order: a time, a number, or a value of a list.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::order_key::{OrderKey, OrderKind};
use super::reason::Reason;
use super::time;
use crate::error::{Error, Kind, Result};
use crate::small_file;

const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderField {
    pub name: String,
    pub by: OrderBy,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderBy {
    /// They are times, and a value that is none is an error.
    Time,
    Least,
    Greatest,
    /// They are those of a list, in its order; all others come after them.
    Listed(Arc<OrderedValues>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedValues {
    places: HashMap<String, i64>,
    /// The XXH3-128 of the values in order, each with a line feed.
    digest: u128,
}

impl OrderedValues {
    /// Reads the list at `path`: a value on each line, the first first. Blank lines are ignored.
    pub fn read(path: &Path) -> Result<OrderedValues> {
        let text = small_file::read_text(path, MOST_BYTES, Kind::Config)?;
        OrderedValues::parse(&text).map_err(|error| error.at(path))
    }

    fn parse(text: &str) -> Result<OrderedValues> {
        let (mut places, mut values) = (HashMap::new(), String::new());
        for (line, value) in (1..).zip(text.lines()).filter(|(_, value)| !value.is_empty()) {
            if places.insert(value.to_owned(), places.len() as i64).is_some() {
                return Err(Error::new(Kind::Config, "a value is in the list twice")
                    .line(line)
                    .expected("each value once, the most trusted first")
                    .found(value));
            }
            values.push_str(value);
            values.push('\n');
        }
        if places.is_empty() {
            return Err(Error::new(Kind::Config, "the list has no values")
                .expected("a value on each line, the most trusted first"));
        }
        Ok(OrderedValues { places, digest: xxh3_128(values.as_bytes()) })
    }

    fn key(&self, value: &str) -> OrderKey {
        match self.places.get(value) {
            Some(&key) => OrderKey::At { key, kind: OrderKind::Listed },
            None => OrderKey::At { key: self.places.len() as i64, kind: OrderKind::Unlisted },
        }
    }
}

impl OrderField {
    pub fn time(name: impl Into<String>) -> OrderField {
        OrderField { name: name.into(), by: OrderBy::Time }
    }

    pub fn is_time(&self) -> bool {
        self.by == OrderBy::Time
    }

    pub fn key(&self, value: &str) -> Result<OrderKey, Reason> {
        match &self.by {
            OrderBy::Time => time::parse(value),
            _ if value.is_empty() => Ok(OrderKey::Empty),
            OrderBy::Least => Ok(number(value, |key| key)),
            OrderBy::Greatest => Ok(number(value, |key| !key)),
            OrderBy::Listed(values) => Ok(values.key(value)),
        }
    }

    pub(super) fn key_of_other(&self) -> Result<OrderKey, Reason> {
        match self.by {
            OrderBy::Time => Err("the time is neither a string nor a number".into()),
            _ => Ok(OrderKey::Wrong),
        }
    }
}

impl fmt::Display for OrderField {
    /// `score:max`, or `source:` and the digest of the list: equal if the order is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.by {
            OrderBy::Time => write!(f, "{name}:time"),
            OrderBy::Least => write!(f, "{name}:min"),
            OrderBy::Greatest => write!(f, "{name}:max"),
            OrderBy::Listed(values) => write!(f, "{name}:{:032x}", values.digest),
        }
    }
}

/// The key of a finite number, made of a whole number that is less for lesser ones.
fn number(value: &str, key: impl Fn(i64) -> i64) -> OrderKey {
    match value.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => {
            let bits = (number + 0.0).to_bits().cast_signed(); // -0 becomes 0
            let ascending = if bits < 0 { bits ^ i64::MAX } else { bits };
            OrderKey::At { key: key(ascending), kind: OrderKind::Number }
        }
        _ => OrderKey::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(by: OrderBy) -> OrderField {
        OrderField { name: "of".into(), by }
    }

    #[test]
    fn keys_of_numbers_are_in_the_order_of_the_numbers() {
        let ascending = "-1.7976931348623157e308 -7 -0.5 -5e-324 0 5e-324 0.5 7 1e300".split(' ');
        let ascending: Vec<&str> = ascending.collect();
        let key = |order: &OrderField, value| order.key(value).unwrap().key().unwrap();
        let [least, greatest] = [OrderBy::Least, OrderBy::Greatest].map(by);
        for pair in ascending.windows(2) {
            assert!(key(&least, pair[0]) < key(&least, pair[1]), "{pair:?}");
            assert!(key(&greatest, pair[0]) > key(&greatest, pair[1]), "{pair:?}");
        }
        assert_eq!(key(&least, "-0"), key(&least, "0.0"));
        assert!(key(&least, ascending[0]) > i64::MIN && key(&greatest, "1e308") > i64::MIN);
        for wrong in ["good", "NaN", "inf", "-infinity", "1e999", "0x10", "1,5"] {
            assert_eq!(least.key(wrong), Ok(OrderKey::Wrong), "{wrong}");
        }
        assert_eq!(least.key(""), Ok(OrderKey::Empty));
    }

    #[test]
    fn values_of_a_list_come_in_its_order_and_all_others_after_them() {
        let values = OrderedValues::parse("b.example\r\n\na.example\n").unwrap();
        let order = by(OrderBy::Listed(Arc::new(values.clone())));
        let keys =
            ["b.example", "a.example", "B.example", "c"].map(|it| order.key(it).unwrap().key());
        assert_eq!(keys, [Some(0), Some(1), Some(2), Some(2)]);
        assert_eq!(order.key(""), Ok(OrderKey::Empty));
        assert_eq!(values, OrderedValues::parse("b.example\na.example").unwrap());
        assert_ne!(values.digest, OrderedValues::parse("a.example\nb.example").unwrap().digest);
        for wrong in ["", "\n\n", "a\nb\na\n"] {
            assert_eq!(OrderedValues::parse(wrong).unwrap_err().kind(), Kind::Config, "{wrong}");
        }
    }
}
