package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	stateLine = regexp.MustCompile(`^state "([^"]+)" as (\w+)$`)
	moveLine  = regexp.MustCompile(`^(\w+|\[\*\]) --> (\w+|\[\*\]): (.+)$`)
)

// A stateMove leads from one state to another, or begins or ends a diagram.
type stateMove struct {
	from, to int // -1 is the beginning or the end
	text     string
}

// A stateChart is a state diagram: states from top to bottom in the order in which
// they are declared, moves to the next one between them, and all others beside them.
type stateChart struct {
	*canvas
	names, labels []string
	moves         []stateMove
	top, bottom   []float64 // of the boxes
	x, width      float64   // of all boxes
}

func drawStates(c *canvas, lines []string) error {
	s := &stateChart{canvas: c, x: margin}
	for _, line := range lines {
		if err := s.parse(line); err != nil {
			return err
		}
	}
	s.boxes()
	beside := s.x + s.width
	for _, m := range s.moves {
		if !s.between(m) {
			beside = s.beside(m, beside)
		}
	}
	return nil
}

func (s *stateChart) parse(line string) error {
	if m := stateLine.FindStringSubmatch(line); m != nil {
		s.names, s.labels = append(s.names, m[2]), append(s.labels, m[1])
		return nil
	}
	m := moveLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("%q is not a line of a state diagram that can be drawn", line)
	}
	move := stateMove{slices.Index(s.names, m[1]), slices.Index(s.names, m[2]), m[3]}
	if move.from < 0 && m[1] != "[*]" || move.to < 0 && m[2] != "[*]" {
		return fmt.Errorf("%q is between states that are not declared", line)
	}
	s.moves = append(s.moves, move)
	s.says = append(s.says, strings.TrimSpace(s.label(move.from)+" to "+s.label(move.to)+": "+move.text))
	return nil
}

func (s *stateChart) label(i int) string {
	if i < 0 {
		return "outside"
	}
	return s.labels[i]
}

// between reports whether a move is drawn between two boxes, above the first or
// below the last.
func (s *stateChart) between(m stateMove) bool {
	return m.to == m.from+1 || m.to < 0 && m.from == len(s.names)-1
}

// boxes draws the states and the moves between them.
func (s *stateChart) boxes() {
	for _, label := range s.labels {
		s.width = max(s.width, widest(strings.Split(label, `\n`))+40)
	}
	y := margin
	for i := -1; i < len(s.names); i++ {
		if i >= 0 {
			s.top = append(s.top, y)
			y += s.box("box", s.x, y, s.width, strings.Split(s.labels[i], `\n`))
			s.bottom = append(s.bottom, y)
		}
		for _, m := range s.moves {
			if m.from == i && s.between(m) {
				middle := s.x + s.width/2
				s.text("start", middle+12, y+26, []string{m.text})
				s.arrow("line", fmt.Sprintf("M%.0f %.0f V%.0f", middle, y, y+36), middle, y+44, 0, 1)
				y += 44
			}
		}
	}
}

// beside draws a move at the right of the boxes and of all that is at its left, and
// returns how far it reaches.
func (s *stateChart) beside(m stateMove, left float64) float64 {
	from, to := s.bottom[m.from]-12, s.bottom[len(s.bottom)-1]
	if m.to >= 0 {
		to = s.top[m.to] + 12
	}
	for _, other := range s.moves { // not where another one arrives
		if m.to >= 0 && other.to == m.to && other.from > m.from {
			to += 11
		}
	}
	edge := s.x + s.width
	lines := wrap(m.text, 170)
	x := max(left, edge+90) + 16
	s.arrow("line", fmt.Sprintf("M%.0f %.0f H%.0f V%.0f H%.0f", edge, from, x, to, edge+8), edge, to, -1, 0)
	s.text("start", x+8, (from+to)/2, lines)
	return x + 8 + widest(lines)
}
