// What a Go program pays: maxminddb-golang looks up the addresses of a file and decodes the fields of a LocationRecord.
// ../readers.ts describes the protocol of this program.
//
//	geofix-bench-reader rounds DATABASE.mmdb ADDRESSES.txt
//	geofix-bench-reader networks DATABASE.mmdb
package main

import (
	"bufio"
	"errors"
	"fmt"
	"log"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"
)

const block = 1000

type names struct {
	English string `maxminddb:"en"`
}

type place struct {
	Code  string `maxminddb:"iso_code"`
	Names names  `maxminddb:"names"`
}

type record struct {
	Country      place   `maxminddb:"country"`
	Subdivisions []place `maxminddb:"subdivisions"`
	City         place   `maxminddb:"city"`
	Postal       struct {
		Code string `maxminddb:"code"`
	} `maxminddb:"postal"`
	Location struct {
		Latitude  *float64 `maxminddb:"latitude"`
		Longitude *float64 `maxminddb:"longitude"`
		TimeZone  string   `maxminddb:"time_zone"`
	} `maxminddb:"location"`
}

// Where answers go, so that the compiler cannot leave out the work.
var kept record

// Looks up one address. Text that is not an address is not found.
func ask(db *maxminddb.Reader, address string) (bool, error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return false, nil
	}
	result := db.Lookup(ip)
	if !result.Found() {
		return false, result.Err()
	}
	var found record
	err = result.Decode(&found)
	kept = found
	return true, err
}

func rounds(db *maxminddb.Reader, list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	addresses := strings.Fields(string(text))
	fmt.Println(`{"version":"maxminddb-golang 2.9.0"}`)
	cursor := 0
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		budget, err := strconv.ParseFloat(lines.Text(), 64)
		if err != nil {
			return err
		}
		items, found := 0, 0
		started, elapsed := time.Now(), 0.0
		for (budget > 0 && elapsed < budget/1e3) || (budget == 0 && items < len(addresses)) {
			for range block {
				isFound, err := ask(db, addresses[cursor])
				if err != nil {
					return err
				}
				if isFound {
					found++
				}
				cursor = (cursor + 1) % len(addresses)
			}
			items += block
			elapsed = time.Since(started).Seconds()
		}
		fmt.Printf("{\"items\":%d,\"seconds\":%f,\"found\":%d}\n", items, elapsed, found)
	}
	return lines.Err()
}

func networks(db *maxminddb.Reader) error {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	number := func(value *float64) string {
		if value == nil {
			return ""
		}
		return strconv.FormatFloat(*value, 'f', -1, 64)
	}
	for result := range db.Networks() {
		var found record
		if err := result.Decode(&found); err != nil {
			return err
		}
		var region place
		if len(found.Subdivisions) > 0 {
			region = found.Subdivisions[0]
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", result.Prefix(),
			found.Country.Code, found.Country.Names.English, region.Code, region.Names.English,
			found.City.Names.English, found.Postal.Code,
			number(found.Location.Latitude), number(found.Location.Longitude), found.Location.TimeZone)
	}
	return out.Flush()
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return errors.New("takes \"rounds\", a database and a file of addresses, or \"networks\" and a database")
	}
	db, err := maxminddb.Open(arguments[1])
	if err != nil {
		return err
	}
	defer db.Close()
	if arguments[0] == "networks" {
		return networks(db)
	}
	return rounds(db, arguments[len(arguments)-1])
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
