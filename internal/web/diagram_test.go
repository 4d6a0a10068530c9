package web

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// parts returns the texts of a picture, which must be well-formed XML.
func parts(t *testing.T, picture string) (texts []string, arrows int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(picture))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts, arrows
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
			for _, a := range token.Attr {
				if a.Name.Local == "class" && a.Value == "head" {
					arrows++
				}
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

func TestDiagrams(t *testing.T) {
	for _, c := range []struct {
		text   string
		want   string // its texts
		arrows int
	}{
		{"sequenceDiagram\n participant A as wallet\n participant B as <service>\n A->>B: pays\n B-->>A: thanks\n Note over A,B: both & all\n B->>B: works", "wallet|<service>|pays|thanks|both & all|works", 3},
		{"stateDiagram-v2\n state \"new\\nserved\" as new\n state \"old\" as old\n [*] --> new: bought\n new --> old: expiry\n old --> [*]: deleted\n old --> new: renewed", "bought|new|served|expiry|old|deleted|renewed", 4},
	} {
		got, err := diagram(c.text)
		if err != nil {
			t.Fatal(err)
		}
		texts, arrows := parts(t, string(got))
		if strings.Join(texts, "|") != c.want || arrows != c.arrows {
			t.Errorf("got %q and %d arrows, want %q and %d", texts, arrows, c.want, c.arrows)
		}
		if !strings.Contains(string(got), `role="img" aria-label="Diagram: `) {
			t.Errorf("it has no text for those who do not see it:\n%s", got)
		}
	}
}

func TestDiagramsThatCannotBeDrawn(t *testing.T) {
	for _, text := range []string{
		"", "pie", "sequenceDiagram\n A->>B: pays", "sequenceDiagram\n participant A\n participant B\n Note over B,A: back", "sequenceDiagram\n loop forever",
		"stateDiagram-v2\n a --> b: moves", "stateDiagram-v2\n direction LR",
	} {
		if _, err := diagram(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
