package opusdns

import (
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// The rules of a TLD are read as far as they make sense; what is missing or absurd is
// as usual.
func TestRules(t *testing.T) {
	usual := defaultRules()
	for _, c := range []struct {
		text string
		want func(*tldRules)
	}{
		{
			`{}`,
			func(*tldRules) {},
		},
		{
			`{"contacts":null,"domain_lifecycle":null,"idn":null,"dns_configuration":null,"transfer_policies":null,"local_presence":null}`,
			func(*tldRules) {},
		},
		{
			`{"domain_lifecycle":{"add_grace_period":"P3D","grace_period":"30D","redemption_period":"P30D"}}`,
			func(r *tldRules) { r.AddGraceDays, r.GraceDays, r.RedemptionDays = 3, 30, 30 },
		},
		{
			`{"domain_lifecycle":{"add_grace_period":"-7D","grace_period":"soon","redemption_period":"P9999999D"}}`,
			func(*tldRules) {},
		},
		{
			`{"domain_lifecycle":{"registration_periods":[{"unit":"y","value":2},{"unit":"y","value":1},{"unit":"m","value":6},{"unit":"y","value":99}],"renewal_periods":null}}`,
			func(r *tldRules) { r.RegisterYears = []int{1, 2} },
		},
		{
			`{"idn":{"idn_capable":false},"dns_configuration":{"dnssec_allowed":false}}`,
			func(r *tldRules) { r.IDN, r.DNSSEC = false, false },
		},
		{
			`{"contacts":{"supported_roles":[{"type":"registrant","min":1},{"type":"tech","min":0},{"type":"admin","min":1},{"type":"zone","min":1}]}}`,
			func(r *tldRules) { r.roles = []string{"registrant", "admin"}; r.transferRoles = r.roles },
		},
		{
			`{"contacts":{"supported_roles":[{"type":"admin","min":1}],"transfer_supported_roles":[]}}`,
			func(r *tldRules) { r.roles, r.transferRoles = []string{"registrant", "admin"}, nil },
		},
		{
			`{"transfer_policies":{"authinfo_min_length":8,"authinfo_max_length":16,"authinfo_set_by_registrar":false}}`,
			func(r *tldRules) { r.codeMin, r.codeMax, r.codeIsTheirs = 8, 16, true },
		},
		{
			`{"transfer_policies":{"authinfo_min_length":null,"authinfo_max_length":1000,"authinfo_pattern":"(?<!x)["}}`,
			func(*tldRules) {},
		},
		{
			`{"local_presence":{"required":true}}`,
			func(r *tldRules) { r.Unsupported = "the registry demands a local presence" },
		},
		{
			`{"contacts":{"possible_attributes":[{"key":"a"},{"key":"b","required":true}]}}`,
			func(r *tldRules) { r.Unsupported = "the registry demands data about the registrant" },
		},
		{
			`{"legal_requirements":[{"key":"a","type":"notice","operations":["registration"]},{"key":"b","type":"confirmation","operations":["transfer"]}]}`,
			func(*tldRules) {},
		},
		{
			`{"legal_requirements":[{"key":"b","type":"confirmation","operations":["transfer","registration"]}]}`,
			func(r *tldRules) { r.Unsupported = "the registry demands a confirmation of the registrant" },
		},
	} {
		var reply tldReply
		if err := json.Unmarshal([]byte(c.text), &reply); err != nil {
			t.Fatal(err)
		}
		got, expected := parseRules(reply), usual
		expected.roles, expected.transferRoles = slices.Clone(usual.roles), slices.Clone(usual.transferRoles)
		c.want(&expected)
		expected.at = got.at
		if !reflect.DeepEqual(got, expected) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.text, got, expected)
		}
	}
	for years, want := range map[int]bool{0: false, 1: true, 2: false, 3: true, 11: false, -1: false} {
		if sells([]int{1, 3}, years) != want {
			t.Errorf("%d years: got %t", years, !want)
		}
	}
	if !sells(nil, 10) || sells(nil, 11) {
		t.Error("without terms 1 to 10 years are sold")
	}
}
