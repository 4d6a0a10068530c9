package peer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns the memory of the server and its children in bytes, or 0 where it is not
// known.
func (d *Daemon) Memory() int64 { return resident(d.Pid) }

func resident(pid int) (bytes int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if number, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(number)[0], 10, 64)
			bytes = kb << 10
		}
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return bytes
	}
	for field := range strings.FieldsSeq(string(children)) {
		if child, err := strconv.Atoi(field); err == nil {
			bytes += resident(child)
		}
	}
	return bytes
}
