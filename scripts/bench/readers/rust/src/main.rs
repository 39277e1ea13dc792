//! What a Rust program pays: the crate maxminddb looks up the addresses of a file and decodes the fields of a
//! LocationRecord into borrowed text. `../../readers.ts` describes the protocol of this program.
//!
//!     geofix-bench-reader rounds DATABASE.mmdb ADDRESSES.txt
//!     geofix-bench-reader networks DATABASE.mmdb
use maxminddb::{Mmap, Reader};
use serde::Deserialize;
use std::error::Error;
use std::hint::black_box;
use std::io::{stdin, stdout, BufWriter, Write};
use std::net::IpAddr;
use std::time::Instant;

const BLOCK: usize = 1000;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    country: Place<'a>,
    #[serde(borrow)]
    subdivisions: Vec<Place<'a>>,
    #[serde(borrow)]
    city: Place<'a>,
    #[serde(borrow)]
    postal: Postal<'a>,
    #[serde(borrow)]
    location: Location<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Place<'a> {
    iso_code: Option<&'a str>,
    #[serde(borrow)]
    names: Names<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Names<'a> {
    en: Option<&'a str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Postal<'a> {
    code: Option<&'a str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Location<'a> {
    latitude: Option<f64>,
    longitude: Option<f64>,
    time_zone: Option<&'a str>,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Looks up one address. Text that is not an address is not found.
fn ask(reader: &Reader<Mmap>, address: &str) -> Outcome<bool> {
    let Ok(ip) = address.parse::<IpAddr>() else { return Ok(false) };
    let record = reader.lookup(ip)?.decode::<Record>()?;
    Ok(black_box(record).is_some())
}

fn rounds(reader: &Reader<Mmap>, list: &str) -> Outcome<()> {
    let text = std::fs::read_to_string(list)?;
    let addresses: Vec<&str> = text.lines().collect();
    println!("{{\"version\":\"maxminddb (Rust) 0.32.0\"}}");
    let mut cursor = 0;
    for line in stdin().lines() {
        let budget = line?.parse::<f64>()? / 1e3;
        let started = Instant::now();
        let (mut items, mut found, mut elapsed) = (0, 0, 0.0);
        while if budget > 0.0 { elapsed < budget } else { items < addresses.len() } {
            for _ in 0..BLOCK {
                found += usize::from(ask(reader, addresses[cursor])?);
                cursor = (cursor + 1) % addresses.len();
            }
            items += BLOCK;
            elapsed = started.elapsed().as_secs_f64();
        }
        println!("{{\"items\":{items},\"seconds\":{elapsed},\"found\":{found}}}");
    }
    Ok(())
}

fn networks(reader: &Reader<Mmap>) -> Outcome<()> {
    let mut out = BufWriter::new(stdout().lock());
    let number = |value: Option<f64>| value.map(|degrees| degrees.to_string()).unwrap_or_default();
    for result in reader.networks(Default::default())? {
        let result = result?;
        let Some(record) = result.decode::<Record>()? else { continue };
        let region = record.subdivisions.first();
        let values = [
            result.network()?.to_string(),
            record.country.iso_code.unwrap_or_default().to_owned(),
            record.country.names.en.unwrap_or_default().to_owned(),
            region.and_then(|place| place.iso_code).unwrap_or_default().to_owned(),
            region.and_then(|place| place.names.en).unwrap_or_default().to_owned(),
            record.city.names.en.unwrap_or_default().to_owned(),
            record.postal.code.unwrap_or_default().to_owned(),
            number(record.location.latitude),
            number(record.location.longitude),
            record.location.time_zone.unwrap_or_default().to_owned(),
        ];
        writeln!(out, "{}", values.join("\t"))?;
    }
    out.flush()?;
    Ok(())
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["rounds", database, list] => rounds(&open(database)?, list),
        ["networks", database] => networks(&open(database)?),
        _ => Err("takes \"rounds\", a database and a file of addresses, or \"networks\" and a database".into()),
    }
}

fn open(database: &str) -> Outcome<Reader<Mmap>> {
    // Nothing changes the file during the run.
    Ok(unsafe { Reader::open_mmap(database)? })
}
