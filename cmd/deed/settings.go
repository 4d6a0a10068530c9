package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"deed.example/deed"
	"deed.example/deed/internal/tracing"
)

// envPrefix begins the variables of settings.
const envPrefix = "DEED_"

// A setting is one key of the configuration.
type setting struct {
	key, help string
	value     flag.Value
	from      string // source of its value; "" for the default
}

func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}
func (s *setting) flag() string { return flagOfKey.Replace(s.key) }

var flagOfKey = strings.NewReplacer(".", "-", "_", "-")

// addFlags adds a flag for every setting, and --config.
func addFlags(cmd *cobra.Command) {
	for _, f := range settingFlags() {
		cmd.Flags().String(f.name, f.value, f.usage)
	}
	cmd.Flags().String("config", os.Getenv("DEED_CONFIG"), "TOML file to read first (DEED_CONFIG)")
}

// addHiddenFlags is addFlags, but the help of the command does not list the settings: few
// need more than --config, and `deed serve --help` lists them all.
func addHiddenFlags(cmd *cobra.Command) {
	addFlags(cmd)
	for _, f := range settingFlags() {
		cmd.Flags().Lookup(f.name).Hidden = true
	}
	cmd.Long = cmd.Short + ".\n\nIt reads the configuration of the service: --config, DEED_CONFIG, or DEED_… variables. Every setting is a flag as well: see `deed serve --help`."
}

// A settingFlag is what the flag of a setting shows.
type settingFlag struct{ name, value, usage string }

// settingFlags returns the flags of all settings. Some thirty commands have them, so they are
// not computed for each.
var settingFlags = sync.OnceValue(func() (flags []settingFlag) {
	for _, s := range defaultConfig().settings() {
		flags = append(flags, settingFlag{s.flag(), s.value.String(), s.help + " (" + s.env() + ")"})
	}
	return flags
})

// readConfig reads the configuration: defaults, overridden by the file, then by the
// environment, then by the flags. It also returns the settings with the source of
// each value.
//
// Libraries that layer such sources merge them into one untyped map. Here each key is
// a setting with a type: an unknown key is an error, and the source of each value is
// known, which `deed config check` shows.
func readConfig(flags *pflag.FlagSet, environ []string) (*config, []*setting, error) {
	c := defaultConfig()
	settings := c.settings()
	path, err := flags.GetString("config")
	if err != nil {
		return nil, nil, err
	}
	if path == "" && (flags.Changed("config") || slices.Contains(environ, "DEED_CONFIG=")) {
		return nil, nil, errors.New("--config or DEED_CONFIG is empty: name the file, or leave it out")
	}
	var file map[string]string
	if path != "" {
		if file, err = readFile(c, settings, path); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := readEnviron(settings, environ); err != nil {
		return nil, nil, err
	}
	for _, s := range settings {
		if f := flags.Lookup(s.flag()); f.Changed {
			if err := s.set(f.Value.String(), "--"+s.flag()); err != nil {
				return nil, nil, err
			}
		}
	}
	if c.Traces, err = tracing.FromEnvironment(variables(environ)); err != nil {
		return nil, nil, err
	}
	if err := c.setMarkups(file); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, settings, nil
}

// variables returns what looks a variable of the environment up; "" if it is not set.
func variables(environ []string) func(name string) string {
	return func(name string) string {
		for _, v := range environ {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func (s *setting) set(text, from string) error {
	if err := s.value.Set(text); err != nil {
		return fmt.Errorf("%s (from %s): %w", s.key, from, plain(err))
	}
	s.from = from
	return nil
}

// plain returns an error of the API in the words for a setting: without its code and
// the name of a field.
func plain(err error) error {
	e, ok := errors.AsType[*deed.Error](err)
	switch {
	case !ok:
		return err
	case len(e.Details) == 1:
		return errors.New(e.Details[0].Reason)
	}
	return errors.New(e.Message)
}

// readFile reads the keys of a TOML file, and returns their values. Those of markups are
// not set yet. An unknown key is an error.
func readFile(c *config, settings []*setting, path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var tables map[string]any
	if err := toml.Unmarshal(raw, &tables); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			row, column := e.Position()
			return nil, fmt.Errorf("line %d, column %d: %w", row, column, err)
		}
		return nil, err
	}
	values := map[string]string{}
	for _, table := range flatten("", tables, values) {
		if err := c.addEmptyTable(table, settings); err != nil {
			return nil, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s := find(settings, key)
		switch {
		case s != nil:
			err = s.set(values[key], path)
		case isRegistrarKey(key):
			err = c.setRegistrar(key, values[key])
		case !strings.HasPrefix(key, perTLD):
			err = unknown("key", key, settings, func(s *setting) string { return s.key })
		}
		if err != nil {
			return nil, err
		}
	}
	return values, nil
}

// addEmptyTable reads a table without keys. A registrar's is a block without a type, which
// is refused later; one that could have no settings is an error.
func (c *config) addEmptyTable(table string, settings []*setting) error {
	switch {
	case isRegistrarKey(table + "."):
		c.registrar(strings.TrimPrefix(table, "registrar."))
		return nil
	case table == "registrar", strings.HasPrefix(table+".", perTLD):
		return nil
	case slices.ContainsFunc(settings, func(s *setting) bool { return strings.HasPrefix(s.key, table+".") }):
		return nil
	case find(settings, table) != nil:
		return fmt.Errorf("%s is a key and not a table: write %s = and its value", table, table)
	}
	return unknown("table", table, settings, func(s *setting) string { return s.key })
}

// flatten turns nested tables into dotted keys. It returns the tables without keys,
// sorted.
func flatten(prefix string, in map[string]any, out map[string]string) (empty []string) {
	for key, v := range in {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				empty = append(empty, prefix+key)
			}
			empty = append(empty, flatten(prefix+key+".", v, out)...)
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = fmt.Sprint(w)
			}
			out[prefix+key] = strings.Join(words, ",")
		default:
			out[prefix+key] = fmt.Sprint(v)
		}
	}
	slices.Sort(empty)
	return empty
}

// notSettings are variables that are not settings: the path of the file, and those
// of the client commands.
var notSettings = []string{"DEED_CONFIG", "DEED_SERVER", "DEED_PRIVATE_KEY", "DEED_WALLET", "DEED_MAX_PRICE", "DEED_BUDGET", "DEED_ASK_ABOVE", "DEED_PASSWORD_FILE", "DEED_SIGNER", "DEED_CONTEXT"}

// readEnviron reads the variables that start with DEED_.
func readEnviron(settings []*setting, environ []string) error {
	for _, e := range environ {
		name, text, _ := strings.Cut(e, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(notSettings, name) {
			continue
		}
		i := slices.IndexFunc(settings, func(s *setting) bool { return s.env() == name })
		if i < 0 {
			return unknown("variable", name, settings, (*setting).env)
		}
		if err := settings[i].set(text, name); err != nil {
			return err
		}
	}
	return nil
}

func find(settings []*setting, key string) *setting {
	if i := slices.IndexFunc(settings, func(s *setting) bool { return s.key == key }); i >= 0 {
		return settings[i]
	}
	return nil
}

// unknown is the error for a setting that does not exist; it names the few that begin
// alike.
func unknown(what, name string, settings []*setting, spell func(*setting) string) error {
	fold := func(s string) string { return strings.ToLower(strings.TrimPrefix(s, envPrefix)) }
	begin := fold(name)
	begin = begin[:min(len(begin), 3)]
	var similar []string
	for _, s := range settings {
		if known := spell(s); strings.HasPrefix(fold(known), begin) {
			similar = append(similar, known)
		}
	}
	if len(similar) == 0 || len(similar) > 10 {
		return fmt.Errorf("there is no %s %s: `deed config check` lists all settings", what, name)
	}
	return fmt.Errorf("there is no %s %s; similar ones are %s", what, name, strings.Join(similar, ", "))
}
