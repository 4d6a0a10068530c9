package order

import "fmt"

// Term returns the years of one order for a message: "2 to 10 years".
func Term(least, most int) string {
	switch {
	case least < most:
		return fmt.Sprintf("%d to %d years", least, most)
	case least == 1:
		return "1 year"
	}
	return fmt.Sprintf("%d years", least)
}
