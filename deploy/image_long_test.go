//go:build long && linux

package deploy_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The content of the image runs as its numeric user in a root file system of its own,
// sells a name, and stops gently.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change the root folder")
	}
	cmd := exec.Command("scripts/image.sh")
	cmd.Dir = ".."
	t.Log(run(t, cmd))
	root, err := filepath.Abs("../dist/rootfs")
	if err != nil {
		t.Fatal(err)
	}
	if archives, err := filepath.Glob("../dist/*_oci.tar"); err == nil && len(archives) == 1 {
		if info, err := os.Stat(archives[0]); err == nil {
			t.Logf("image: %d bytes", info.Size())
		}
	}
	listen := freeAddr(t)
	node := exec.Command("/deed", "serve")
	node.Env = []string{"DEED_DATA=/data/test", "DEED_LISTEN=" + listen, "DEED_METRICS_LISTEN=127.0.0.1:0", "DEED_CHAIN_LISTEN=127.0.0.1:0", "DEED_DNS_LISTEN=127.0.0.1:0"}
	node.Dir, node.Stderr = "/", os.Stderr
	node.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	t.Cleanup(func() { os.RemoveAll(filepath.Join(root, "data/test")) }) // of this test
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Process.Kill() }) // it has ended already
	for {
		res, err := http.Get("http://" + listen + "/readyz")
		if err == nil {
			_, _ = io.Copy(io.Discard, res.Body) // only the status counts
			res.Body.Close()
			if res.StatusCode == 200 {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Log(run(t, exec.Command(filepath.Join(root, "deed"), "demo", "--server", "http://"+listen)))
	if err := node.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := node.Wait(); err != nil {
		t.Errorf("it did not stop gently: %v", err)
	}
}
