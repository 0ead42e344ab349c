//! The ways in which files are packed, each by its library, as one machine: bytes in, bytes out.

use std::io::{self, Error, ErrorKind};

use flate2::{Decompress, FlushDecompress};
use lzma_rust2::{Action, XzStream};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::frames::{ZSTD, needed, too_large};
use crate::output::Packing;

pub(in crate::document) const GZIP: &[u8] = &[0x1f, 0x8b];
const BZIP2: &[u8] = b"BZh";
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];

/// What follows `BZh` and a digit: a block, or the end.
const BZIP2_BLOCK: &[u8] = &[0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
const BZIP2_END: &[u8] = &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90];

pub(super) const HEAD_BYTES: usize = 10;

const WINDOW_LOG_MAX: u32 = 31;

pub(super) fn magic(packing: Packing) -> &'static [u8] {
    match packing {
        Packing::Gzip => GZIP,
        Packing::Zstd => ZSTD,
        Packing::Bzip2 => BZIP2,
        Packing::Xz => XZ,
    }
}

/// Whether a file with these first bytes is packed so. Text may begin with the letters of bzip2.
pub(super) fn shows(packing: Packing, head: &[u8]) -> bool {
    head.starts_with(magic(packing)) && (packing != Packing::Bzip2 || begins(packing, head))
}

/// Whether a member begins with these bytes, so surely that one is looked for among others.
pub(super) fn begins(packing: Packing, head: &[u8]) -> bool {
    match (packing, head) {
        (Packing::Gzip, &[0x1f, 0x8b, 8, flags, _, _, _, _, extra, system, ..]) => {
            flags & 0xe0 == 0 && matches!(extra, 0 | 2 | 4) && matches!(system, 0..=13 | 255)
        }
        (Packing::Zstd, &[_, _, _, _, descriptor, ..]) => {
            head.starts_with(ZSTD) && descriptor & 8 == 0
        }
        (Packing::Bzip2, [_, _, _, b'1'..=b'9', block @ ..]) => {
            head.starts_with(BZIP2)
                && (block.starts_with(BZIP2_BLOCK) || block.starts_with(BZIP2_END))
        }
        (Packing::Xz, _) => head.starts_with(XZ),
        _ => false,
    }
}

pub(super) enum Codec {
    Gzip(Decompress),
    Zstd(Decoder<'static>),
    Bzip2(bzip2::Decompress),
    Xz(Box<XzStream>),
}

pub(super) struct Step {
    pub(super) read: usize,
    pub(super) written: usize,
    pub(super) is_end: bool,
}

impl Codec {
    pub(super) fn new(packing: Packing, dictionary: &[u8], window_bytes: u64) -> io::Result<Codec> {
        Ok(match packing {
            Packing::Gzip => Codec::Gzip(Decompress::new_gzip(15)),
            Packing::Zstd => {
                let mut decoder = Decoder::with_dictionary(dictionary)?;
                decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
                Codec::Zstd(decoder)
            }
            Packing::Bzip2 => Codec::Bzip2(bzip2::Decompress::new(false)),
            Packing::Xz => {
                let kib = u32::try_from(window_bytes >> 10).unwrap_or(u32::MAX);
                Codec::Xz(Box::new(XzStream::new_mem_limit(false, kib)))
            }
        })
    }

    pub(super) fn begin(&mut self, head: &[u8], window_bytes: u64) -> io::Result<()> {
        match self {
            Codec::Gzip(inflate) => *inflate = Decompress::new_gzip(15),
            Codec::Zstd(decoder) => {
                decoder.reinit()?;
                if let Some(needed) = needed(head).filter(|needed| *needed > window_bytes) {
                    return Err(too_large(needed, window_bytes));
                }
            }
            Codec::Bzip2(state) => *state = bzip2::Decompress::new(false),
            Codec::Xz(stream) => **stream = XzStream::new_mem_limit(false, stream.mem_limit()),
        }
        Ok(())
    }

    /// Unpacks what there is room for. No input means that the file ends.
    pub(super) fn step(&mut self, input: &[u8], into: &mut [u8]) -> io::Result<Step> {
        match self {
            Codec::Gzip(inflate) => {
                let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(input, into, FlushDecompress::None)?;
                Ok(Step {
                    read: (inflate.total_in() - before_in) as usize,
                    written: (inflate.total_out() - before_out) as usize,
                    is_end: status == flate2::Status::StreamEnd,
                })
            }
            Codec::Zstd(decoder) => {
                let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(into));
                let hint = decoder.run(&mut from, &mut to)?;
                let (read, written) = (from.pos(), to.pos());
                Ok(Step { read, written, is_end: hint == 0 })
            }
            Codec::Bzip2(state) => {
                let (before_in, before_out) = (state.total_in(), state.total_out());
                let status = state.decompress(input, into)?;
                Ok(Step {
                    read: (state.total_in() - before_in) as usize,
                    written: (state.total_out() - before_out) as usize,
                    is_end: status == bzip2::Status::StreamEnd,
                })
            }
            Codec::Xz(stream) => {
                let limit = u64::from(stream.mem_limit()) << 10;
                let action = if input.is_empty() { Action::Finish } else { Action::Run };
                let step = stream.process(input, into, action).map_err(|cause| {
                    let needed = u64::from(stream.memory_usage().unwrap_or_default()) << 10;
                    match cause.kind() {
                        ErrorKind::OutOfMemory => too_large(needed, limit),
                        kind => Error::new(kind, cause.to_string()),
                    }
                })?;
                Ok(Step {
                    read: step.bytes_consumed,
                    written: step.bytes_produced,
                    is_end: step.status == lzma_rust2::Status::StreamEnd,
                })
            }
        }
    }
}
