package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// callersArg is the argument that makes this program the callers of a service. They are a
// process of their own, so that what they use of the processors is not counted for the
// service.
const callersArg = "change-zones"

// callers change the zones of their names.
type callers struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// startCallers starts the callers of the service at the URL, and waits until each has a
// name.
func startCallers(url string) (*callers, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &callers{cmd: exec.Command(self, callersArg, url)}
	c.cmd.Stderr = os.Stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewScanner(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.wait(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// wait waits until the callers have done what they were told.
func (c *callers) wait() error {
	if c.out.Scan() {
		return nil
	}
	return errors.Join(errors.New("the callers have ended"), c.out.Err())
}

// change has every caller add records with names that begin with host.
func (c *callers) change(host string) error {
	if _, err := fmt.Fprintln(c.in, host); err != nil {
		return err
	}
	return c.wait()
}

func (c *callers) close() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// changeZones is what startCallers starts: it buys names, and changes their zones for
// each line of its input.
func changeZones(url string) error {
	all, err := owners(url)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := changeAll(all, lines.Text()); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return lines.Err()
}
