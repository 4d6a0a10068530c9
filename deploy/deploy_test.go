// Package deploy_test checks the files that operators start from with the programs that
// read them.
package deploy_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"
)

// tool returns the path of a program. It skips the test when that is not installed;
// `make long` installs all of them.
func tool(t *testing.T, name string) string {
	t.Helper()
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Skipf("%s is not installed: scripts/need.sh %s", name, name)
	return ""
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd.Args, err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The alert rules are valid, and fire when and only when they should.
func TestAlerts(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = "prometheus"
		run(t, cmd)
	}
	tested := read(t, "prometheus/alerts_test.yml")
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(read(t, "prometheus/alerts.yml"), -1) {
		if !regexp.MustCompile(`alertname: ` + m[1] + `, exp_alerts|alertname: ` + m[1] + `\n\s+exp_alerts`).MatchString(tested) {
			t.Errorf("no test lets %s fire", m[1])
		}
	}
}

// exported returns the names of the metrics that the source exports.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, pattern := range []string{"../internal/metrics/*.go", "../internal/app/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range regexp.MustCompile(`"(deed_[a-z_]+)"`).FindAllStringSubmatch(read(t, file), -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

// Alerts and the dashboard use only metrics that exist.
func TestMetricsExist(t *testing.T) {
	names := exported(t)
	for _, path := range []string{"prometheus/alerts.yml", "grafana/dashboard.json", "../docs/runbook.md"} {
		for _, name := range regexp.MustCompile(`deed_[a-z_]+[a-z]`).FindAllString(read(t, path), -1) {
			base := regexp.MustCompile(`_(count|sum|bucket)$`).ReplaceAllString(name, "")
			if !names[name] && !names[base] {
				t.Errorf("%s: there is no metric %s", path, name)
			}
		}
	}
	var dashboard struct {
		Panels []struct{ Title string }
	}
	if err := json.Unmarshal([]byte(read(t, "grafana/dashboard.json")), &dashboard, json.MatchCaseInsensitiveNames(true)); err != nil || len(dashboard.Panels) < 15 {
		t.Errorf("the dashboard has %d panels, %v", len(dashboard.Panels), err)
	}
}

// systemd accepts the unit, and finds it exposed at most at 2.0 of 10.
func TestUnit(t *testing.T) {
	analyze := tool(t, "systemd-analyze")
	unit := filepath.Join(t.TempDir(), "deed.service")
	text := strings.ReplaceAll(read(t, "systemd/deed.service"), "/usr/local/bin/deed", "/bin/true") // it need not be installed
	if !strings.Contains(text, "\nLimitCORE=1\n") {
		t.Error("a handler of core dumps gets the memory of a node that crashes")
	}
	if strings.Contains(text, "\nProcSubset=pid") {
		t.Error("the runtime cannot read how many connections may wait, and takes 128")
	}
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command(analyze, "verify", unit))
	out := run(t, exec.Command(analyze, "security", "--offline=true", unit))
	m := regexp.MustCompile(`exposure level for deed.service: ([0-9.]+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("got %s", out)
	}
	if level, err := strconv.ParseFloat(m[1], 64); err != nil || level > 2 {
		t.Errorf("exposure %s, want at most 2.0", m[1])
	}
	t.Logf("exposure %s", m[1])
}

// An image of changes that were not committed has a tag that containers accept.
func TestImageTag(t *testing.T) {
	got := run(t, exec.Command("bash", "-c", `. ../scripts/version.sh; version() { echo v1.2.3-4-g0123abc+dirty; }; image_tag`))
	if !regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}\n$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}

// chartFuncs are the functions of Helm that the chart uses.
var chartFuncs = template.FuncMap{
	"quote":     strconv.Quote,
	"sha256sum": func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) },
	"indent": func(n int, s string) string {
		return strings.Repeat(" ", n) + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+strings.Repeat(" ", n))
	},
}

// render renders the chart and returns its objects by kind.
func render(t *testing.T, change func(values map[string]any)) map[string][]map[string]any {
	t.Helper()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(read(t, "helm/deed/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	change(values)
	files, err := filepath.Glob("helm/deed/templates/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	objects := map[string][]map[string]any{}
	for _, file := range files {
		var out bytes.Buffer
		tmpl := template.Must(template.New(file).Option("missingkey=error").Funcs(chartFuncs).Parse(read(t, file)))
		if err := tmpl.Execute(&out, map[string]any{"Values": values, "Release": map[string]any{"Name": "shop"}}); err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(out.String(), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatalf("%s: %v: %s", file, err, text)
			}
			kind := object["kind"].(string)
			objects[kind] = append(objects[kind], object)
		}
	}
	return objects
}

// The chart renders to objects of Kubernetes whose container cannot write to its root
// and does not run as root; its deed.toml is one that `deed config check` reads.
func TestChart(t *testing.T) {
	objects := render(t, func(map[string]any) {})
	budget := objects["PodDisruptionBudget"][0]["spec"].(map[string]any)
	if budget["maxUnavailable"] != 1 || budget["minAvailable"] != nil {
		t.Errorf("got %v, want a budget with which nodes can be drained one at a time, also a single one", budget)
	}
	if len(objects["Deployment"]) != 1 || len(objects["Service"]) != 2 || len(objects["PodDisruptionBudget"]) != 1 || len(objects["ServiceMonitor"]) != 0 {
		t.Errorf("got %v", objects)
	}
	text, err := yaml.Marshal(objects["Deployment"][0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"readOnlyRootFilesystem: true", "runAsNonRoot: true", "path: /readyz", "allowPrivilegeEscalation: false", "replicas: 2",
		"enableServiceLinks: false", "startupProbe:", "preStop:", "checksum/config: "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the deployment lacks %q", want)
		}
	}
	if config := objects["ConfigMap"][0]["data"].(map[string]any)["deed.toml"].(string); !strings.Contains(config, "[chain]\nid = 84532\n") {
		t.Errorf("got %s", config)
	}
	changed := render(t, func(v map[string]any) { v["config"] = "contact = \"a@yours.example\"" })
	if other, err := yaml.Marshal(changed["Deployment"][0]); err != nil || bytes.Equal(other, text) {
		t.Errorf("another deed.toml changes nothing in the deployment, so no node reads it: %v", err)
	}
}

// The ServiceMonitor selects a service that has the port of the operators, and names the
// job as the alerts do.
func TestChartIsScraped(t *testing.T) {
	var monitor struct {
		Spec struct {
			JobLabel string `yaml:"jobLabel"`
			Selector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			}
			Endpoints []struct{ Port string }
		}
	}
	type service struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct{ Ports []struct{ Name string } }
	}
	objects := render(t, func(v map[string]any) { v["serviceMonitor"] = true })
	if len(objects["ServiceMonitor"]) != 1 {
		t.Fatal("there is no ServiceMonitor")
	}
	decode(t, objects["ServiceMonitor"][0], &monitor)
	scraped := 0
	for _, object := range objects["Service"] {
		var s service
		decode(t, object, &s)
		selected := true
		for name, value := range monitor.Spec.Selector.MatchLabels {
			selected = selected && s.Metadata.Labels[name] == value
		}
		for _, port := range s.Spec.Ports {
			if selected && port.Name == monitor.Spec.Endpoints[0].Port {
				scraped++
				if job := s.Metadata.Labels[monitor.Spec.JobLabel]; job != "deed" {
					t.Errorf("the job is %q", job)
				}
			}
		}
	}
	if scraped != 1 {
		t.Errorf("%d services are scraped, want 1", scraped)
	}
}

// decode stores an object of Kubernetes in a struct.
func decode(t *testing.T, object map[string]any, to any) {
	t.Helper()
	text, err := yaml.Marshal(object)
	if err == nil {
		err = yaml.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compose.yaml has the services that it promises, and its nodes are locked down. They
// trust the address of Caddy, and let the name servers transfer zones, whatever the
// deed.toml of one machine says.
func TestCompose(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Image       string
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			User        string
			Environment map[string]string
			Networks    map[string]struct {
				Address string `yaml:"ipv4_address"`
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, "compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two", "postgres", "valkey", "ns1", "ns2", "caddy"} {
		if c.Services[name].Image == "" {
			t.Errorf("there is no service %s", name)
		}
	}
	proxy := c.Services["caddy"].Networks["default"].Address
	for _, name := range []string{"one", "two"} {
		s := c.Services[name]
		if !s.ReadOnly || len(s.CapDrop) != 1 || s.User != "65532:65532" {
			t.Errorf("%s: got %+v", name, s)
		}
		if proxy == "" || s.Environment["DEED_PROXIES"] != proxy+"/32" || s.Environment["DEED_DNS_PRIMARY_LISTEN"] != "0.0.0.0:5354" || s.Networks["default"].Address == "" {
			t.Errorf("%s: got %+v, and Caddy at %s", name, s, proxy)
		}
	}
}
