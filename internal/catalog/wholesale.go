package catalog

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
)

// wholesaleFile has one row per TLD: the wholesale price of a year in USD, the minimum
// and maximum years of a registration, the days in which an expired name can be
// renewed and a new one cancelled, and whether the registry supports privacy and
// internationalised labels. A maximum of one year means "renewed yearly".
//
//go:embed tlds.csv
var wholesaleFile string

// wholesaleDate is the day on which the prices were collected from public price
// lists.
var wholesaleDate = time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)

const wholesaleHeader = "tld,registration,renewal,transfer,restore,min_years,max_years,grace_days,delete_days,privacy,idn"

func readWholesale(file string) ([]Listing, error) {
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != wholesaleHeader {
		return nil, fmt.Errorf("the columns are not %s", wholesaleHeader)
	}
	var out []Listing
	for i, row := range rows[1:] {
		l, err := readListing(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		if len(out) > 0 && out[len(out)-1].TLD >= l.TLD {
			return nil, fmt.Errorf("line %d: .%s is out of order: the rows must be sorted", i+2, l.TLD)
		}
		out = append(out, l)
	}
	return out, nil
}

func readListing(row []string) (Listing, error) {
	tld, err := deed.ParseTLD(row[0])
	if err != nil {
		return Listing{}, err
	}
	var prices [4]deed.USDC
	for i := range prices {
		if prices[i], err = deed.ParseUSDC(row[1+i]); err != nil {
			return Listing{}, err
		}
		if prices[i] == 0 {
			return Listing{}, fmt.Errorf(".%s has a price of zero", tld)
		}
	}
	var numbers [4]int
	for i := range numbers {
		if numbers[i], err = strconv.Atoi(row[5+i]); err != nil {
			return Listing{}, err
		}
	}
	return Listing{
		TLD:          tld,
		Registration: prices[0],
		Renewal:      prices[1],
		Transfer:     prices[2],
		Restore:      prices[3],
		MinYears:     numbers[0],
		MaxYears:     numbers[1],
		GraceDays:    numbers[2],
		DeleteDays:   numbers[3],
		Privacy:      row[9] == "yes",
		IDN:          row[10] == "yes",
	}, nil
}
