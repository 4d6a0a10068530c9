package web

import (
	"fmt"
	"regexp"
	"strings"

	"deed.example/deed/docs"
)

// A group is a heading of the map of the docs with its pages, such as "How-to".
type group struct {
	Title, About string
	Pages        []*doc
}

var (
	mapHeading = regexp.MustCompile(`^## ([^:]+)(?:: (.+))?$`)
	mapRow     = regexp.MustCompile(`^\| \[[^\]]+\]\(([^)]+)\.md\) \| (.+) \|$`)
)

// arrange groups the pages for the navigation as map.md does. The reference of the
// API is rendered from openapi.yaml, and comes first in its group. The decision
// records are reached from their index.
func (l *library) arrange() error {
	source, err := docs.Files.ReadFile("map.md")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(source)) {
		line = strings.TrimRight(line, "\n")
		if m := mapHeading.FindStringSubmatch(line); m != nil {
			l.groups = append(l.groups, group{Title: m[1], About: m[2]})
			if m[1] == "Reference" {
				l.place("api", "every call with its parameters, and examples that run against this server")
			}
		} else if m := mapRow.FindStringSubmatch(line); m != nil {
			if len(l.groups) == 0 || !l.place(m[1], m[2]) {
				return fmt.Errorf("map.md: there is no page or no heading for %q", line)
			}
		}
	}
	return nil
}

// place adds a page to the last group. It reports whether there is such a page.
func (l *library) place(path, about string) bool {
	d, ok := l.pages[path]
	if ok {
		d.About = strings.ReplaceAll(about, "`", "")
		last := &l.groups[len(l.groups)-1]
		last.Pages = append(last.Pages, d)
		l.order = append(l.order, d)
	}
	return ok
}
