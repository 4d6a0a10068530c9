package nameserver

import (
	"bufio"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deed.example/deed"
)

// A mappedWriter writes zones to a temporary file, which replaces the last one when
// it is complete.
type mappedWriter struct {
	path    string
	file    *os.File
	out     *bufio.Writer // to the file and the sum
	sum     hash.Hash32
	size    uint64
	entries []entry
}

func newMappedWriter(path string) (*mappedWriter, error) {
	removeUnfinished(path)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return nil, err
	}
	w := &mappedWriter{path: path, file: f, sum: crc32.New(castagnoli)}
	w.out = bufio.NewWriterSize(io.MultiWriter(f, w.sum), 1<<20)
	return w, nil
}

// unfinishedAge is how old a file must be that nobody writes any more.
const unfinishedAge = time.Hour

// removeUnfinished removes the files that processes left when they were killed while they
// wrote: each may be as large as the last one.
func removeUnfinished(path string) {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return // then nothing can be written either
	}
	for _, f := range files {
		suffix, temporary := strings.CutPrefix(f.Name(), filepath.Base(path)+".")
		if info, err := f.Info(); err == nil && temporary && deed.Digits(suffix) && time.Since(info.ModTime()) > unfinishedAge {
			_ = os.Remove(filepath.Join(filepath.Dir(path), f.Name())) // the next writer tries again
		}
	}
}

func (w *mappedWriter) write(b []byte) error {
	n, err := w.out.Write(b)
	w.size += uint64(n)
	return err
}

func (w *mappedWriter) align() error {
	return w.write(make([]byte, (alignment-w.size%alignment)%alignment))
}

// add writes a zone.
func (w *mappedWriter) add(z *zone) error {
	if len(w.entries) == math.MaxInt32 || z.labels > math.MaxUint8 {
		return errors.New("there are too many zones for one file")
	}
	if err := w.align(); err != nil {
		return err
	}
	w.entries = append(w.entries, entry{
		at: w.size, version: z.version, serial: z.serial, negTTL: z.negTTL,
		nodes: uint32(len(z.nodes)), sets: uint32(len(z.sets)), data: uint32(len(z.data)),
		labels: uint8(z.labels), origin: uint8(len(z.origin)), flags: z.flags(),
	})
	for _, part := range [][]byte{native(z.nodes), native(z.sets), z.data} {
		if err := w.write(part); err != nil {
			return err
		}
	}
	return nil
}

// finish completes the file, and maps it.
func (w *mappedWriter) finish() (*mappedZones, error) {
	if err := w.align(); err != nil {
		return nil, err
	}
	t := newTrailer()
	t.saved, t.count, t.index = time.Now().UnixMilli(), uint64(len(w.entries)), w.size
	if err := errors.Join(w.write(native(w.entries)), w.out.Flush()); err != nil {
		return nil, err
	}
	t.sum = t.checksum(w.sum.Sum32())
	if _, err := w.file.Write(t.bytes()); err != nil {
		return nil, err
	}
	if err := w.file.Sync(); err != nil {
		return nil, err
	}
	m, err := mapZones(w.file, t)
	if err != nil {
		return nil, err
	}
	return m, os.Rename(w.file.Name(), w.path)
}

// discard closes the file, and removes it unless it has become the last one.
func (w *mappedWriter) discard() {
	name := w.file.Name()
	w.file.Close()
	os.Remove(name) // it has another name once it is finished
}
