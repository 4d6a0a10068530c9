package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// errContradiction is the error of a call that the endpoints answer differently. One of them
// may be wrong, or not have the block yet.
var errContradiction = errors.New("the RPC endpoints contradict each other")

// hasOneAnswer reports whether every endpoint that has the blocks must answer a call in the
// same way: it is about blocks by their number, or about a transaction in one.
func hasOneAnswer(method string, params []any) bool {
	switch method {
	case "eth_getLogs", "eth_getTransactionReceipt":
		return true
	case "eth_getBlockByNumber", "eth_call", "eth_getTransactionCount":
		return slices.ContainsFunc(params, func(p any) bool {
			block, ok := p.(string)
			return ok && strings.HasPrefix(block, "0x")
		})
	}
	return false
}

// An answer is what one endpoint has returned for a call.
type answer struct {
	value any // a pointer, like that of the call
	err   error
}

// agree makes a call until as many endpoints as Quorum have returned the same, and decodes
// that into out.
func (c *Client) agree(ctx context.Context, out any, method string, body []byte) error {
	all := c.candidates()
	var answers []answer
	for len(all) > 0 {
		n := min(max(c.Quorum-len(answers), 1), len(all))
		answers = append(answers, c.ask(ctx, all[:n], reflect.TypeOf(out).Elem(), method, body)...)
		all = all[n:]
		if agreed := c.agreed(answers); agreed != nil {
			reflect.ValueOf(out).Elem().Set(reflect.ValueOf(agreed).Elem())
			return nil
		}
	}
	return c.disagreement(method, answers)
}

// ask makes a call of some endpoints at the same time.
func (c *Client) ask(ctx context.Context, some []*endpoint, result reflect.Type, method string, body []byte) []answer {
	answers := make([]answer, len(some))
	var calls errgroup.Group
	for i, e := range some {
		calls.Go(func() error {
			value := reflect.New(result).Interface()
			answers[i] = answer{value, c.requestFrom(ctx, e, value, method, body)}
			return nil
		})
	}
	_ = calls.Wait() // the answers have the errors
	return answers
}

// agreed returns the value that enough endpoints have returned, or nil.
func (c *Client) agreed(answers []answer) any {
	for i, a := range answers {
		same := 0
		for _, b := range answers[i:] {
			if a.err == nil && b.err == nil && reflect.DeepEqual(a.value, b.value) {
				same++
			}
		}
		if same >= c.Quorum {
			return a.value
		}
	}
	return nil
}

// disagreement returns the error of a call without enough equal answers. An error about the
// call itself, such as a range of blocks that is too large for one of the endpoints, goes
// first: the caller can ask for less.
func (c *Client) disagreement(method string, answers []answer) error {
	var errs []error
	missing := false // one of them does not have it
	for _, a := range answers {
		remote, ok := errors.AsType[*RemoteError](a.err)
		if ok && !isBusy(a.err) && remote.isAbout(method) || errors.Is(a.err, errLargeResponse) {
			return a.err
		}
		if a.err != nil {
			errs = append(errs, a.err)
		} else if v := reflect.ValueOf(a.value).Elem(); v.Kind() == reflect.Pointer && v.IsNil() {
			missing = true
		}
	}
	if len(answers)-len(errs) < c.Quorum {
		return fmt.Errorf("%d of %d RPC endpoints must agree: %w", c.Quorum, len(c.endpoints.all), errors.Join(errs...))
	}
	if !missing { // it is new to one of them
		loggerOf(&c.endpoints.log).Error(errContradiction.Error(), "method", method)
	}
	return errContradiction
}

// commonBlock returns the newest block, or the newest that is safe, that as many endpoints as
// Quorum have. The type of the results says how they are checked.
func (c *Client) commonBlock(ctx context.Context, tag string, result reflect.Type) (b *block, err error) {
	const method = "eth_getBlockByNumber"
	body, err := encodeCall(method, []any{tag, false})
	if err != nil {
		return nil, err
	}
	err = c.repeat(ctx, method, func(ctx context.Context) error {
		answers := c.ask(ctx, c.candidates(), result, method, body)
		var blocks []*block
		for i, a := range answers {
			switch found := blockOf(a.value); {
			case a.err == nil && found == nil:
				answers[i].err = errBlockNotFound
			case a.err == nil:
				blocks = append(blocks, found)
			}
		}
		if len(blocks) < c.Quorum {
			return c.disagreement(method, answers)
		}
		slices.SortFunc(blocks, func(a, b *block) int { return cmp.Compare(b.Number, a.Number) })
		b = blocks[c.Quorum-1]
		return nil
	})
	return b, err
}

// blockOf returns the block that an endpoint has returned, or nil.
func blockOf(value any) *block {
	if newest, ok := value.(*newestBlock); ok {
		return (*block)(newest)
	}
	return *value.(**block)
}

// canDecide fails while fewer endpoints than Quorum are used: what decides about money could
// not be read.
func (c *Client) canDecide() error {
	up := 0
	for _, used := range c.EndpointsUp() {
		if used {
			up++
		}
	}
	if up < c.Quorum {
		return fmt.Errorf("%d of %d RPC endpoints must agree, and %d can be used", c.Quorum, len(c.endpoints.all), up)
	}
	return nil
}
