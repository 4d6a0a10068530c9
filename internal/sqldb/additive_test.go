package sqldb_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// released is the last number that the first release may have: no older node can run
// beside it. The rule is for migrations after it.
const released = 99

// breaking matches statements after which a node of the release before would fail.
var breaking = regexp.MustCompile(`(?i)\b(DROP\s+(TABLE|COLUMN)|RENAME\s+(TO|COLUMN)|ALTER\s+COLUMN\s+\S+\s+(TYPE|SET\s+NOT\s+NULL))\b`)

// column matches a new column with its constraints.
var column = regexp.MustCompile(`(?i)ADD\s+COLUMN\s+[^;,]*`)

// compatible reports whether nodes of the release before can run beside the migration.
func compatible(text string) bool {
	up := regexp.MustCompile(`(?s)-- \+goose Down.*`).ReplaceAllString(text, "")
	for _, c := range column.FindAllString(up, -1) {
		required, filled := regexp.MustCompile(`(?i)NOT\s+NULL`).MatchString(c), regexp.MustCompile(`(?i)DEFAULT`).MatchString(c)
		if required && !filled { // an older node does not write it
			return false
		}
	}
	return !breaking.MatchString(up)
}

// Schema changes are compatible with nodes of the release before, which run until they
// are replaced: what is to go is left for a release, and dropped in the one after.
func TestMigrationsAreCompatible(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		number, err := strconv.Atoi(filepath.Base(file)[:5])
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if number > released && !compatible(string(text)) {
			t.Errorf("%s breaks nodes of the release before", file)
		}
	}
	for text, want := range map[string]bool{
		"ALTER TABLE a ADD COLUMN b TEXT;":                        true,
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT '';":    true,
		"ALTER TABLE a ADD COLUMN b TEXT NOT NULL;":               false,
		"ALTER TABLE a DROP COLUMN b;":                            false,
		"DROP TABLE a;":                                           false,
		"ALTER TABLE a RENAME COLUMN b TO c;":                     false,
		"ALTER TABLE a ALTER COLUMN b SET NOT NULL;":              false,
		"CREATE TABLE a (b TEXT);\n-- +goose Down\nDROP TABLE a;": true,
	} {
		if got := compatible(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
