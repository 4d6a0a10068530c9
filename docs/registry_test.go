package docs_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// openRegistries starts what stands for the registrars of the page about real names: an
// EPP registry with the files of an account at it, and a wholesaler. The operator of the
// page is at yours.example, which a service with real money refuses, so that the
// operator of the test is elsewhere.
func (s *shell) openRegistries(t *testing.T) {
	t.Helper()
	names := func() *local.Registry {
		return &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(t)}, Now: time.Now}
	}
	registry := epptest.Start(t, epptest.Config{Registry: names(), Contacts: true, AutoRenew: true})
	files := epptest.ClientFiles(t, 90*24*time.Hour)
	for page, path := range map[string]string{"epp.pem": files.Cert, "epp.key": files.Key, "epp-ca.pem": files.CA} {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.writeSecret(t, "etc/deed/"+page, string(raw))
	}
	s.writeSecret(t, "etc/deed/epp-password", epptest.Password)

	checker := &opusdnstest.Checker{Next: opusdnstest.NewServer(names())}
	wholesaler := httptest.NewServer(checker)
	t.Cleanup(func() {
		wholesaler.Close()
		for _, v := range checker.Violations() {
			t.Errorf("the vendor's rules are broken: %s", v)
		}
	})
	s.writeSecret(t, "etc/deed/opusdns-key", opusdnstest.Key)
	s.words = map[string]string{
		"epp.registry.example:700":   registry.Addr(),
		"yours.example":              "acme.net",
		`environment = "production"`: `environment = "custom"` + "\n" + `base_url = "` + wholesaler.URL + `"`,
	}
}

func (s *shell) writeSecret(t *testing.T, path, text string) {
	t.Helper()
	s.write(t, path, text)
	if err := os.Chmod(filepath.Join(s.dir, path), 0o600); err != nil {
		t.Fatal(err)
	}
}
