package web

import (
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"
)

// The diagrams of the docs are written in Mermaid, which GitHub shows as pictures.
// Here they become SVG, without a script, by diagram, sequence.go and states.go. What
// these do not understand is an error, and a test finds it.

var mermaid = regexp.MustCompile(`(?s)<pre><code class="language-mermaid">(.*?)</code></pre>`)

// drawDiagrams replaces the diagrams in a rendered page.
func drawDiagrams(page []byte) ([]byte, error) {
	var failed error
	drawn := mermaid.ReplaceAllFunc(page, func(block []byte) []byte {
		picture, err := diagram(html.UnescapeString(string(mermaid.FindSubmatch(block)[1])))
		if err != nil {
			failed = err
		}
		return []byte(picture)
	})
	return drawn, failed
}

// diagram draws the text of one diagram.
func diagram(text string) (template.HTML, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "", fmt.Errorf("a diagram is empty")
	}
	c := &canvas{}
	var err error
	switch lines[0] {
	case "sequenceDiagram":
		err = drawSequence(c, lines[1:])
	case "stateDiagram-v2":
		err = drawStates(c, lines[1:])
	default:
		err = fmt.Errorf("%q is not a diagram that can be drawn", lines[0])
	}
	return c.svg(), err
}

const (
	letterWidth = 7.4 // of the text, on average; a little more than fonts have
	lineHeight  = 18.0
	boxHeight   = 34.0
	margin      = 8.0
)

// A canvas collects the elements of a picture, and what they say.
type canvas struct {
	body          strings.Builder
	says          []string // for those who do not see it
	width, height float64
}

func (c *canvas) add(format string, args ...any) {
	fmt.Fprintf(&c.body, format+"\n", args...)
}

// reach makes the picture large enough for a point.
func (c *canvas) reach(x, y float64) {
	c.width, c.height = max(c.width, x+margin), max(c.height, y+margin)
}

// box draws a rectangle with centred lines of text.
func (c *canvas) box(class string, x, y, width float64, lines []string) (height float64) {
	height = max(boxHeight, float64(len(lines))*lineHeight+12)
	c.add(`<rect class="%s" x="%.0f" y="%.0f" width="%.0f" height="%.0f" rx="6"/>`, class, x, y, width, height)
	first := y + height/2 - float64(len(lines)-1)*lineHeight/2 + 5
	c.text("middle", x+width/2, first, lines)
	c.reach(x+width, y+height)
	return height
}

// text writes lines, the first at y. The anchor is start or middle.
func (c *canvas) text(anchor string, x, y float64, lines []string) {
	for i, line := range lines {
		at := y + float64(i)*lineHeight
		c.add(`<text x="%.0f" y="%.0f" text-anchor="%s">%s</text>`, x, at, anchor, html.EscapeString(line))
		right := x + widthOf(line)
		if anchor == "middle" {
			right = x + widthOf(line)/2
		}
		c.reach(right, at+4)
	}
}

// arrow draws a path and its head, which points to x, y in the direction of dx, dy.
func (c *canvas) arrow(class, path string, x, y, dx, dy float64) {
	c.add(`<path class="%s" d="%s"/>`, class, path)
	c.add(`<path class="head" d="M%.1f %.1f L%.1f %.1f L%.1f %.1f Z"/>`, x, y, x-9*dx-4.5*dy, y-9*dy-4.5*dx, x-9*dx+4.5*dy, y-9*dy+4.5*dx)
	c.reach(x, y)
}

// svg returns the picture. It may be wider than the page, and then scrolls.
func (c *canvas) svg() template.HTML {
	return template.HTML(fmt.Sprintf(`<div class="diagram scroll" tabindex="0"><svg role="img" aria-label="Diagram: %s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n%s</svg></div>",
		html.EscapeString(strings.Join(c.says, "; ")), c.width, c.height, c.width, c.height, c.body.String()))
}

func widthOf(text string) float64 { return float64(len([]rune(text))) * letterWidth }

func widest(lines []string) (width float64) {
	for _, line := range lines {
		width = max(width, widthOf(line))
	}
	return width
}

// wrap breaks a text into lines of about a width.
func wrap(text string, width float64) (lines []string) {
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && widthOf(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
