//! The rows of a table as documents, each with its fingerprint.

use std::borrow::Cow;

use dupsieve::document::{
    Content, Declared, Document, OrderBy, OrderField, OrderKey, Position, Reason, check_id,
};
use dupsieve::fingerprint::PageTime;
use dupsieve::flow::Fingerprinting;
use dupsieve::store::FingerprintedDocument;
use dupsieve::{Error, Kind, Recipe, Result};

use crate::columns::{Keys, Texts, column, expect_texts, find};
use crate::pieces::Piece;
use crate::source::Source;

/// The digits of the number of a row that stands for an id, so that the ids sort as the numbers do.
const DIGITS: usize = 12;

#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// Without it the numbers of the rows are the ids.
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) order: Option<OrderField>,
    /// The column that the keys of pages are made of, if it is not that of the ids.
    pub(crate) key: Option<String>,
}

impl Fields {
    /// Those of these names. `keep` may name another column that puts documents in keep order: `COLUMN:max` or `COLUMN:min`.
    pub(crate) fn new(
        id: Option<String>,
        text: String,
        time: Option<String>,
        keep: Option<&str>,
    ) -> Result<Fields> {
        let by = keep.and_then(|keep| keep.rsplit_once(':')).and_then(|(name, by)| match by {
            "max" => Some((name, OrderBy::Greatest)),
            "min" => Some((name, OrderBy::Least)),
            _ => None,
        });
        let order = match (time, by) {
            (Some(_), Some(_)) => {
                return Err(Error::new(Kind::Usage, "keep names a column, and time another one")
                    .expected("one column that decides which document stays"));
            }
            (Some(time), None) => Some(OrderField::time(time)),
            (None, by) => by.map(|(name, by)| OrderField { name: name.to_owned(), by }),
        };
        Ok(Fields { id, text, order, key: None })
    }

    pub(crate) fn of(&self, table: Source) -> Result<Source> {
        let schema = &table.schema;
        expect_texts(schema, &self.text, false)?;
        self.id.iter().try_for_each(|id| expect_texts(schema, id, true))?;
        self.key.iter().try_for_each(|key| expect_texts(schema, key, true))?;
        let order = self.order.as_ref().map(|field| &field.name);
        let names = [Some(&self.text), self.id.as_ref(), order, self.key.as_ref()];
        let names = names.into_iter().flatten();
        let mut places = names.map(|name| find(schema, name)).collect::<Result<Vec<usize>>>()?;
        places.sort_unstable();
        places.dedup();
        Ok(table.columns(places))
    }
}

/// Makes fingerprints of documents. Each thread has its own.
pub(crate) struct Reader<'a> {
    fields: &'a Fields,
    fingerprinting: Fingerprinting,
}

pub(crate) type Read = Result<FingerprintedDocument, Reason>;

impl Reader<'_> {
    pub(crate) fn new<'a>(fields: &'a Fields, recipe: &Recipe) -> Result<Reader<'a>> {
        let fingerprinting = Fingerprinting::new(recipe, PageTime::default())?;
        Ok(Reader { fields, fingerprinting })
    }

    pub(crate) fn each(
        &mut self,
        piece: &Piece,
        mut take: impl FnMut(u64, Read) -> Result<()>,
    ) -> Result<()> {
        let Fields { id, text, order, key: page_key } = self.fields;
        let texts_of = |name: &String| Texts::of(column(&piece.rows, name)?);
        let texts = texts_of(text)?;
        let ids = id.as_ref().map(texts_of).transpose()?;
        let page_keys = page_key.as_ref().map(texts_of).transpose()?;
        let keys = match order {
            Some(field) => Some((Keys::of(column(&piece.rows, &field.name)?)?, field)),
            None => None,
        };
        for (at, row) in (0..texts.len()).zip(piece.first..) {
            let id = match &ids {
                None => Cow::Owned(format!("{row:0DIGITS$}")),
                Some(ids) => ids.get(at)?.map_or(Cow::Owned(row.to_string()), Cow::Borrowed),
            };
            let key = match &keys {
                Some((keys, field)) => keys.get(at, field)?,
                None => Ok(OrderKey::NoField),
            };
            let text = texts.get(at)?.unwrap_or_default();
            let page_key = page_keys.as_ref().map(|keys| keys.get(at)).transpose()?.flatten();
            let page_key = page_key.filter(|value| !value.is_empty()).map(Cow::Borrowed);
            let read = match check_id(&id).and(key) {
                Ok(order) => self.document(row, id, text, (order, page_key))?,
                Err(reason) => Err(reason),
            };
            take(row, read)?;
        }
        Ok(())
    }

    fn document(
        &mut self,
        row: u64,
        id: Cow<'_, str>,
        text: &str,
        (order, key): (OrderKey, Option<Cow<'_, str>>),
    ) -> Result<Read> {
        let content = Content::Text(Cow::Borrowed(text));
        let declared = Declared::default();
        let document = Document { id, lacks_id: false, order, key, content, declared, record: &[] };
        match self.fingerprinting.page(Position { file: 0, line: row + 1 }, document) {
            Ok(made) => Ok(Ok(made)),
            Err(error) if error.kind() == Kind::BadData => Ok(Err(Reason::from(&error))),
            Err(error) => Err(error),
        }
    }
}
