package catalog_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/order"
)

func TestMarkup(t *testing.T) {
	tests := []struct {
		name      string
		markup    catalog.Markup
		wholesale string
		want      string
	}{
		{"the default on .com", catalog.Markup{BasisPoints: 2000, Fee: 500_000}, "10.46", "13.06"}, // 12.552 + 0.50 = 13.052
		{"no rounding when it is even", catalog.Markup{BasisPoints: 2000, Fee: 500_000}, "10.00", "12.50"},
		{"at cost", catalog.Markup{}, "10.46", "10.46"},
		{"a fee alone", catalog.Markup{Fee: 1}, "1.00", "1.01"},
		{"a share below the smallest unit counts up", catalog.Markup{BasisPoints: 2000}, "0.008334", "0.02"}, // 0.0100008
		{"nothing from nothing", catalog.Markup{BasisPoints: 2000}, "0", "0.00"},
	}
	for _, tt := range tests {
		wholesale, err := deed.ParseUSDC(tt.wholesale)
		if err != nil {
			t.Fatal(err)
		}
		if got := tt.markup.Price(wholesale).String(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestMarkedMarksEveryPrice(t *testing.T) {
	l := catalog.Listing{TLD: "io", Registration: 1e6, Renewal: 2e6, Transfer: 3e6, Restore: 4e6, MinYears: 1, MaxYears: 10}
	want := l
	want.Registration, want.Renewal, want.Transfer, want.Restore = 1.5e6, 2.5e6, 3.5e6, 4.5e6
	if got := l.Marked(catalog.Markup{Fee: 500_000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRegistrationPrice(t *testing.T) {
	ai := catalog.Listing{TLD: "ai", Registration: 96e6, Renewal: 97e6, MinYears: 2, MaxYears: 10}
	for years, want := range map[int]deed.USDC{2: 193e6, 3: 290e6, 10: 969e6} {
		if got, err := ai.RegistrationPrice(years); err != nil || got != want {
			t.Errorf("%d years: got %s, %v, want %s", years, got, err, want)
		}
	}
	for _, years := range []int{-1, 0, 1, 11} {
		if got, err := ai.RegistrationPrice(years); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%d years: got %s, %v, want %s", years, got, err, deed.CodeValidation)
		}
	}
}

func TestCeiling(t *testing.T) {
	q := order.Quote{Amount: 500e6, For: "example.sexy for 1 year"}
	if err := q.Within(500e6); err != nil {
		t.Errorf("at the ceiling: %v", err)
	}
	if err := q.Within(500e6 - 1); deed.CodeOf(err) != deed.CodeTooExpensive {
		t.Errorf("above the ceiling: got %v, want %s", err, deed.CodeTooExpensive)
	}
}
