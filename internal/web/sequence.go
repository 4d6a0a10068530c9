package web

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	participantLine = regexp.MustCompile(`^participant (\w+)(?: as (.+))?$`)
	messageLine     = regexp.MustCompile(`^(\w+)(-{1,2})>>(\w+): (.+)$`)
	noteLine        = regexp.MustCompile(`^Note over (\w+)(?:,(\w+))?: (.+)$`)
)

// A sequence is a sequence diagram that is being drawn, from top to bottom.
type sequence struct {
	*canvas
	names, labels []string // of the participants
	y             float64
}

const laneWidth = 168.0 // between two participants

// drawSequence draws participants, messages between them, and notes.
func drawSequence(c *canvas, lines []string) error {
	s := &sequence{canvas: c, y: margin + boxHeight + 14}
	for _, line := range lines {
		if err := s.draw(line); err != nil {
			return err
		}
	}
	lanes := &canvas{}
	for i, label := range s.labels {
		x := s.lane(i)
		lanes.add(`<path class="lane" d="M%.0f %.0f V%.0f"/>`, x, margin+boxHeight, s.y)
		lanes.box("box", x-laneWidth*0.4, margin, laneWidth*0.8, []string{label})
	}
	drawn := c.body.String()
	c.body.Reset()
	c.body.WriteString(lanes.body.String() + drawn) // the lanes are behind
	c.reach(s.lane(len(s.labels)-1)+laneWidth*0.4, s.y)
	return nil
}

func (s *sequence) draw(line string) error {
	if m := participantLine.FindStringSubmatch(line); m != nil {
		label := m[2]
		if label == "" {
			label = m[1]
		}
		s.names, s.labels = append(s.names, m[1]), append(s.labels, label)
		return nil
	}
	if m := messageLine.FindStringSubmatch(line); m != nil {
		from, to := slices.Index(s.names, m[1]), slices.Index(s.names, m[3])
		if from < 0 || to < 0 {
			return fmt.Errorf("%q is between participants that are not declared", line)
		}
		class := "line"
		if m[2] == "--" {
			class = "line dashed"
		}
		s.message(class, from, to, m[4])
		return nil
	}
	if m := noteLine.FindStringSubmatch(line); m != nil {
		first, last := slices.Index(s.names, m[1]), slices.Index(s.names, m[1])
		if m[2] != "" {
			last = slices.Index(s.names, m[2])
		}
		if first < 0 || last < first {
			return fmt.Errorf("%q is over participants that are not declared in this order", line)
		}
		s.note(first, last, m[3])
		return nil
	}
	return fmt.Errorf("%q is not a line of a sequence diagram that can be drawn", line)
}

// lane returns the position of a participant.
func (s *sequence) lane(i int) float64 { return margin + laneWidth*(float64(i)+0.4) }

func (s *sequence) message(class string, from, to int, text string) {
	s.says = append(s.says, s.labels[from]+" to "+s.labels[to]+": "+text)
	a, b := s.lane(from), s.lane(to)
	if from == to {
		lines := wrap(text, laneWidth*1.6)
		s.text("start", a+34, s.y+lineHeight, lines)
		end := s.y + max(lineHeight*float64(len(lines)), 26)
		s.arrow(class, fmt.Sprintf("M%.0f %.0f h24 V%.0f H%.0f", a, s.y+6, end, a+8), a, end, -1, 0)
		s.y = end + 16
		return
	}
	lines := wrap(text, max(a, b)-min(a, b)-20)
	s.text("middle", (a+b)/2, s.y+lineHeight-4, lines)
	s.y += lineHeight*float64(len(lines)) + 6
	direction := 1.0
	if b < a {
		direction = -1
	}
	s.arrow(class, fmt.Sprintf("M%.0f %.0f H%.0f", a, s.y, b-8*direction), b, s.y, direction, 0)
	s.y += 16
}

func (s *sequence) note(first, last int, text string) {
	s.says = append(s.says, strings.TrimSpace(text))
	x := s.lane(first) - laneWidth*0.4
	width := s.lane(last) + laneWidth*0.4 - x
	lines := wrap(text, width-20)
	s.y += s.box("note", x, s.y, width, lines) + 16
}
