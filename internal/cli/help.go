package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// The groups of the help text, and the commands in each.
var helpGroups = []struct {
	id, title string
	commands  []string
}{
	{"buy", "Find and buy names:", []string{"search", "check", "price", "register", "renew", "transfer", "job", "demo"}},
	{"manage", "Manage names:", []string{"domain", "dns", "mandates", "events", "webhook", "calendar", "email"}},
	{"wallet", "Wallet and account:", []string{"wallet", "login", "logout", "whoami", "account", "tx", "context"}},
	{"automate", "Automate:", []string{"mcp", "completion", "man"}},
	{"operate", "Run a service:", []string{"serve", "config", "keys", "admin", "sandbox"}},
	{"help", "Help:", []string{"doctor", "version", "help"}},
}

// examples are shown in the help text of a command.
var examples = map[string]string{
	"search":                "deed search example\ndeed search example --tlds com,io --max-price 20\ndeed search example --tlds all",
	"check":                 "deed check example.com example.io",
	"price":                 "deed price\ndeed price com io",
	"register":              "deed register example.com --dry-run\ndeed register example.com\ndeed register example.com --years 2 --dns \"A @ 192.0.2.10\" --max-price 30 --yes --wait",
	"mandates":              "deed mandates example.com",
	"renew":                 "deed renew example.com\ndeed renew example.com --years 3 --max-price 45 --yes",
	"transfer":              "deed transfer example.com\ndeed transfer example.com --auth-code-file code.txt --wait",
	"job ls":                "deed job ls",
	"job show":              "deed job show job_4b22",
	"job watch":             "deed job watch job_4b22 --timeout 5m",
	"demo":                  "deed demo\ndeed demo --server http://127.0.0.1:8080 --keep",
	"domain ls":             "deed domain ls\ndeed domain ls --expiring 30",
	"domain show":           "deed domain show example.com",
	"domain ns":             "deed domain ns example.com\ndeed domain ns example.com ns1.example.net ns2.example.net\ndeed domain ns example.com --default",
	"domain ds":             "deed domain ds example.com 2371 13 2 e3b0c442…\ndeed domain ds example.com --none",
	"domain authcode":       "deed domain authcode example.com",
	"domain cancel":         "deed domain cancel example.com --dry-run",
	"domain registrant set": "deed domain registrant set example.com me.json\ndeed domain registrant set example.com --name \"Ada Example\" --street \"1 Any Street\" --city London --postal-code \"N1 1AA\" --country GB --phone +44.2079460000 --email ada@example.com",
	"domain handover":       "deed domain handover example.com 0x71C7656EC7ab88b098defB751B7401B5f6d8976F",
	"dns ls":                "deed dns ls example.com\ndeed dns ls example.com --type MX",
	"dns add":               "deed dns add example.com A www 192.0.2.10\ndeed dns add example.com MX @ 10 mail.example.net\ndeed dns add example.com TXT @ \"v=spf1 -all\" --ttl 300",
	"dns set":               "deed dns set example.com k3v9x2m7q4t8wz --value 192.0.2.11",
	"dns rm":                "deed dns rm example.com k3v9x2m7q4t8wz",
	"dns batch":             "deed dns batch example.com changes.json --dry-run",
	"dns import":            "deed dns import example.com zone.txt --dry-run\ndeed dns import example.com zone.txt --replace",
	"dns export":            "deed dns export example.com > zone.txt",
	"dns diff":              "deed dns diff example.com zone.txt",
	"dns rollback":          "deed dns history example.com\ndeed dns rollback example.com 7 --dry-run",
	"dns propagation":       "deed dns propagation example.com",
	"events":                "deed events\ndeed events --follow --json",
	"webhook add":           "deed webhook add https://example.com/hook",
	"email set":             "deed email set owner@example.com\ndeed email confirm ab3de6gh2j",
	"wallet new":            "deed wallet new\ndeed wallet new savings",
	"wallet import":         "deed wallet import --from key.txt",
	"wallet use":            "deed wallet use savings",
	"wallet faucet":         "deed wallet faucet --amount 50",
	"login":                 "deed login\ndeed login --browser\ndeed login --signer \"ledger-sign --account 0\"",
	"tx ls":                 "deed tx ls --limit 20",
	"context set":           "deed context set sandbox --server http://127.0.0.1:8080 --wallet main\ndeed context set live --server https://deed.example --max-price 30",
	"context use":           "deed context use live",
	"mcp":                   "deed mcp --max-price 15 --budget 40\ndeed mcp --max-price 15 --budget 40 --ask-above 1",
	"doctor":                "deed doctor\ndeed doctor --rpc https://mainnet.base.org",
}

// aliases are other words that people type.
var aliases = map[string][]string{
	"search": {"find"}, "register": {"buy"}, "price": {"prices", "pricing"}, "transfer": {"transfer-in"},
	"job": {"jobs", "order", "orders"}, "job ls": {"list"}, "job show": {"get", "status"}, "job watch": {"wait", "follow"},
	"domain": {"domains", "name", "names"}, "domain ls": {"list"}, "domain show": {"get", "info"}, "domain ns": {"nameservers"}, "domain authcode": {"auth-code"}, "domain handover": {"give", "owner"},
	"dns ls": {"list"}, "dns add": {"create"}, "dns set": {"update", "edit"}, "dns rm": {"delete", "remove", "del"}, "dns history": {"revisions"}, "dns rollback": {"restore"},
	"tx": {"transactions", "payments"}, "tx ls": {"list"},
	"wallet": {"wallets"}, "wallet new": {"create"}, "wallet ls": {"list"},
	"webhook": {"webhooks"}, "webhook ls": {"list"}, "webhook add": {"create"}, "webhook rm": {"delete", "remove"},
	"context": {"contexts"}, "context ls": {"list"}, "context rm": {"delete", "remove"},
	"login": {"signin"}, "logout": {"signout"},
}

// addHelp groups the commands of root and adds examples and aliases.
func addHelp(root *cobra.Command) {
	for _, g := range helpGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, name := range g.commands {
			if cmd := findCommand(root, name); cmd != nil {
				cmd.GroupID = g.id
			}
		}
	}
	root.SetHelpCommandGroupID("help")
	root.SetCompletionCommandGroupID("automate")
	for path, text := range examples {
		if cmd := findCommand(root, path); cmd != nil {
			cmd.Example = "  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
	}
	for path, words := range aliases {
		if cmd := findCommand(root, path); cmd != nil {
			cmd.Aliases = words
		}
	}
}
