package deploy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The proxies accept their configurations.
func TestProxies(t *testing.T) {
	t.Run("caddy", func(t *testing.T) {
		cmd := exec.Command(tool(t, "caddy"), "validate", "--adapter", "caddyfile", "--config", "caddy/Caddyfile")
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		run(t, cmd)
	})
	t.Run("haproxy", func(t *testing.T) {
		cmd := exec.Command(tool(t, "haproxy"), "-c", "-f", "haproxy/haproxy.cfg")
		cmd.Env = append(os.Environ(), "PROXY_FRONTEND=127.0.0.1:8080", "PROXY_NODE_ONE=127.0.0.1:8000", "PROXY_NODE_TWO=127.0.0.1:8010")
		run(t, cmd)
	})
	t.Run("nginx", func(t *testing.T) {
		run(t, exec.Command(tool(t, "nginx"), "-t", "-q", "-c", nginxConfig(t, nil)))
	})
}

// nginxConfig writes a configuration with our site, in which some texts are replaced, and
// returns its path.
func nginxConfig(t *testing.T, replace map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, exec.Command(tool(t, "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=deed.example", "-keyout", dir+"/privkey.pem", "-out", dir+"/fullchain.pem"))
	site := strings.ReplaceAll(read(t, "nginx/deed.conf"), "/etc/deed/tls", dir)
	for from, to := range replace {
		site = strings.ReplaceAll(site, from, to)
	}
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += kind + "_temp_path " + dir + "/" + kind + "; "
	}
	conf := "pid " + dir + "/pid;\nerror_log stderr;\nevents {}\nhttp { access_log off; " + temporary + "\n" + site + "}\n"
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A 503 of the service reaches the caller as it is, however often it is given, and takes
// no node out of service; a node that does not answer is replaced by the other one.
func TestNginxPassesErrors(t *testing.T) {
	nginx := tool(t, "nginx")
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/domains/search" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = io.WriteString(w, "{}") // the caller looks at it
	})
	one, two := httptest.NewServer(answer), httptest.NewServer(answer)
	defer one.Close()
	defer two.Close()
	listen := freeAddr(t)
	conf := nginxConfig(t, map[string]string{"127.0.0.1:8000": one.Listener.Addr().String(), "127.0.0.1:8010": two.Listener.Addr().String(), "listen 443 ssl": "listen " + listen})
	proxy := exec.Command(nginx, "-g", "daemon off; master_process off;", "-c", conf)
	proxy.Stderr = os.Stderr
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Process.Kill(); proxy.Wait() }) // it has no state
	get := func(path string) string {
		for {
			res, err := http.Get("http://" + listen + path)
			if err != nil { // it is not listening yet
				time.Sleep(20 * time.Millisecond)
				continue
			}
			defer res.Body.Close() // it is read here
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(res.StatusCode, " ", string(body))
		}
	}
	for range 6 {
		if got := get("/domains/search"); got != "503 {}" {
			t.Errorf("got %s", got)
		}
		if got := get("/domains/pricing/com"); got != "200 {}" {
			t.Errorf("got %s", got)
		}
	}
	one.Close()
	for range 4 {
		if got := get("/domains/pricing/com"); got != "200 {}" {
			t.Errorf("with one node: got %s", got)
		}
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the process under test binds it
	return l.Addr().String()
}
