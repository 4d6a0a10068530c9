package cli

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
)

// Every command that a hint names exists.
func TestNextStepsNameCommands(t *testing.T) {
	root := &cobra.Command{Use: "deed"}
	root.AddCommand(Commands(nil, nil)...)
	command := regexp.MustCompile(`\bdeed ((?:dns|domain|sandbox) )?([a-z-]+)`)
	for _, action := range deed.Actions() {
		const service = "in the words of HTTP"
		text := hint(&client.Error{Hint: service, Next: api.Next{Action: string(action), Domain: "example.com", Wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", Within: time.Minute}})
		if text == service {
			t.Errorf("%s: got %s", action, text)
		}
		for _, m := range command.FindAllStringSubmatch(text, -1) {
			if action == deed.ActionPay {
				continue // it names the program only
			}
			found, _, err := root.Find(append(strings.Fields(m[1]), m[2]))
			if err != nil || found.Name() != m[2] {
				t.Errorf("%s: there is no command %s", action, m[0])
			}
		}
	}
}
