package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func jobCommand() *cobra.Command {
	show := command("show ID", "Show the state of an order", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		job, err := c.Job(s.ctx, args[0])
		if err != nil {
			return err
		}
		return s.show(job, jobList(job))
	})
	var timeout time.Duration
	var watch *cobra.Command
	watch = command("watch ID", "Watch an order until it has ended", cobra.ExactArgs(1), func(s *session, args []string) error {
		if watch.Flags().Changed("timeout") && timeout <= 0 {
			return usagef("--timeout %s: write a time such as 5m, or leave it out", timeout)
		}
		c, err := s.open()
		if err != nil {
			return err
		}
		if _, err := c.Job(s.ctx, args[0]); err != nil {
			return err // a wrong address or id is not waited for
		}
		if timeout > 0 {
			ctx, cancel := context.WithTimeout(s.ctx, timeout)
			defer cancel()
			s.ctx = ctx
		}
		return s.watchJob(c, args[0])
	})
	watch.Flags().DurationVar(&timeout, "timeout", 0, "maximum time to wait, such as 5m")
	return group("job", "Show and watch orders", jobListCommand(), show, watch)
}

func jobListCommand() *cobra.Command {
	return command("ls", "List the orders that the wallet paid for, newest first", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out := []api.Transaction{}
		l := list{heads: []string{"JOB", "AT", "TYPE", "NAME", "USDC", "PAYMENT"}, empty: "no orders yet"}
		for tx, err := range c.Transactions(s.ctx) {
			if err != nil {
				return err
			}
			if tx.JobID == "" || tx.Type == "refund" {
				continue
			}
			out = append(out, tx)
			l.add(tx.JobID, day(tx.CreatedAt), tx.Type, tx.Domain, tx.Price, tx.Status)
		}
		return s.show(map[string]any{"jobs": out}, l)
	})
}

func jobList(j api.Job) list {
	l := list{rows: [][]string{{"job", j.JobID}, {"type", j.Type}, {"name", j.Domain}, {"status", j.Status}, {"paid", j.Payment.Amount + " USDC"}, {"transaction", hashOf(j.Payment.TxHash)}}}
	if j.Message != "" {
		l.add("reason", j.Message)
	}
	if j.Refund != nil {
		l.add("refund", j.Refund.Amount+" USDC, "+j.Refund.Status)
	}
	for _, step := range j.Steps {
		l.add(step.Name, day(step.At))
	}
	return l
}

// watchJob waits until a job has ended, and shows it.
func (s *session) watchJob(c *client.Client, id string) error {
	job, err := s.follow(c, id)
	if err != nil {
		return err
	}
	if err := s.show(job, jobList(job)); err != nil {
		return err
	}
	return client.JobError(job)
}

// follow prints the progress of a job until it has ended.
func (s *session) follow(c *client.Client, id string) (last api.Job, err error) {
	report := s.lines
	if _, tty := terminal(s.errs); tty {
		report, s.redrawing = s.timeline, true
		defer fmt.Fprintln(s.errs) // ends the line that is redrawn
	}
	for job, err := range c.WatchJob(s.ctx, id) {
		if errors.Is(err, context.DeadlineExceeded) {
			return last, fmt.Errorf("%s: %w", id, errRunning)
		}
		if err != nil {
			return last, err
		}
		report(last, job)
		last = job
	}
	return last, nil
}

// lines prints one line for each new step, for logs.
func (s *session) lines(last, job api.Job) {
	for _, step := range job.Steps[min(len(last.Steps), len(job.Steps)):] {
		fmt.Fprintf(s.errs, "%s %s %s\n", day(step.At), clean(job.Domain), clean(step.Name))
	}
}

// A stage is a part of the timeline, and the steps that complete it.
type stage struct {
	name string
	done []string
}

var stages = []stage{
	{"paid", []string{"queued", "submitting", "verifying", "completed", "failed"}},
	{"submitted", []string{"submitting", "verifying", "completed", "failed"}},
	{"registry", []string{"completed"}},
}

// timeline redraws the progress of a job in one line.
func (s *session) timeline(_, job api.Job) {
	var parts []string
	for _, st := range stages {
		mark := "…"
		if slices.ContainsFunc(job.Steps, func(step api.JobStep) bool { return slices.Contains(st.done, step.Name) }) {
			mark = "✓"
		}
		parts = append(parts, st.name+" "+mark)
	}
	switch job.Status {
	case "completed":
		parts = append(parts, "done")
	case "failed":
		parts = append(parts, "failed")
	}
	fmt.Fprintf(s.errs, "\r\x1b[K%s  %s", clean(job.Domain), strings.Join(parts, " → "))
}
