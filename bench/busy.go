package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// maxBusy is the part of the CPU that others may use before results are doubtful.
const maxBusy = 0.05

// warnIfBusy says so when others use the machine. Ratios suffer less from it than
// rates, but they do.
func warnIfBusy(w io.Writer) {
	before, known := cpuTimes()
	if !known {
		return
	}
	time.Sleep(2 * time.Second)
	after, _ := cpuTimes()
	var total float64
	for i := range after {
		total += after[i] - before[i]
	}
	const idle, waiting, stolen = 3, 4, 7 // proc_stat(5)
	if total == 0 {
		return
	}
	part := func(i int) float64 { return (after[i] - before[i]) / total }
	if busy := 1 - part(idle) - part(waiting); busy > maxBusy {
		fmt.Fprintf(w, "The machine is not quiet: others use %.0f %% of its CPU, of which the host takes %.0f %%. Expect a large spread.\n", 100*busy, 100*part(stolen))
	}
}

// cpuTimes returns the first line of /proc/stat, where there is one.
func cpuTimes() (times [8]float64, known bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return times, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return times, false
	}
	for i := range times {
		times[i], err = strconv.ParseFloat(fields[i+1], 64)
		known = err == nil
	}
	return times, known
}
