package redis

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"redis://localhost":                                    "tcp [localhost:6379] false '' '' 0 ''",
		"redis://:secret@10.0.0.1:7000/3":                      "tcp [10.0.0.1:7000] false '' 'secret' 3 ''",
		"rediss://deed:secret@[::1]/1":                         "tcp [[::1]:6379] true 'deed' 'secret' 1 ''",
		"unix:///run/redis.sock?db=2":                          "unix [/run/redis.sock] false '' '' 2 ''",
		"redis://s1/2?master_name=m&addr=s2:1&addr=s3":         "tcp [s1:26379 s2:1 s3:26379] false '' '' 2 'm'",
		"redis://su:sp@s1?master_name=m&username=u&password=p": "tcp [s1:26379] false 'u' 'p' 0 'm'",
	} {
		a, err := parse(text)
		if got := fmt.Sprintf("%s %v %v '%s' '%s' %d '%s'", a.network, a.hosts, a.tls, a.user, a.password, a.database, a.master); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"http://localhost":             "redis://",
		"redis://localhost/a":          "is a number",
		"redis://localhost/-1":         "is a number",
		"redis://localhost?read=x":     `no parameter "read"`,
		"redis://:hunter2@local host/": "invalid",
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
