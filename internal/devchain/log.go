package devchain

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// A blockLog is the file of the chain: one record for each block, in order, each
// with its length and checksum. A record is on disk before its block is visible.
//
//	"deedlog1" | length crc payload | length crc payload | …
//
// Only the last record can be torn by a crash, before its block was visible: it is
// dropped. A corrupt record with others behind it is damage of another kind, and
// the chain refuses to open rather than lose payments.
type blockLog struct {
	file *os.File
	end  int64 // of the last valid record
}

// A span is the position of a record's payload.
type span struct{ start, end int64 }

const (
	logMagic   = "deedlog1"
	recordHead = 8 // length and checksum, four bytes each
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openLog opens the log at path, creates it if there is none, and calls read for
// every record from the offset from; zero is the first.
func openLog(path string, from int64, read func(payload []byte, at span) error) (*blockLog, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the block log: %w", err)
	}
	l := &blockLog{file: file}
	if err := l.load(from, read); err != nil {
		file.Close() // nothing was written to it
		return nil, fmt.Errorf("read the block log: %w", err)
	}
	return l, nil
}

func (l *blockLog) load(from int64, read func([]byte, span) error) error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if from > info.Size() {
		return fmt.Errorf("it has %d bytes, fewer than its snapshot covers", info.Size())
	}
	if info.Size() < int64(len(logMagic)) { // new, or torn during creation
		return l.create()
	}
	magic := make([]byte, len(logMagic))
	if _, err := l.file.ReadAt(magic, 0); err != nil || string(magic) != logMagic {
		return errors.New("it is not a block log of this program")
	}
	from = max(from, int64(len(logMagic)))
	section := io.NewSectionReader(l.file, from, info.Size()-from)
	if l.end, err = readRecords(section, from, info.Size(), read); err != nil {
		return err
	}
	if l.end == info.Size() {
		return nil
	}
	return l.truncate(l.end)
}

func (l *blockLog) create() error {
	if _, err := l.file.WriteAt([]byte(logMagic), 0); err != nil {
		return err
	}
	if err := l.truncate(int64(len(logMagic))); err != nil {
		return err
	}
	return syncDir(filepath.Dir(l.file.Name()))
}

// readRecords reads the records between two offsets of a log and returns the end of
// the last valid one. The payloads that are passed to read share one buffer.
func readRecords(r io.Reader, end, size int64, read func([]byte, span) error) (int64, error) {
	in := bufio.NewReaderSize(r, 1<<20)
	var head [recordHead]byte
	var payload []byte
	for size-end >= recordHead {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return end, err
		}
		length := int64(binary.BigEndian.Uint32(head[:4]))
		left := size - end - recordHead - length
		if left < 0 || length == 0 {
			break // torn, or allocated but never written
		}
		payload = slices.Grow(payload[:0], int(length))[:length]
		if _, err := io.ReadFull(in, payload); err != nil {
			return end, err
		}
		if crc32.Checksum(payload, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
			if left > 0 {
				return end, fmt.Errorf("the record at byte %d is damaged", end)
			}
			break
		}
		at := span{end + recordHead, end + recordHead + length}
		if err := read(payload, at); err != nil {
			return end, fmt.Errorf("the record at byte %d: %w", end, err)
		}
		end = at.end
	}
	return end, nil
}

// append writes one record and, once it is on disk, returns its position. After a
// failure the next append overwrites the partial record.
func (l *blockLog) append(payload []byte) (span, error) {
	var b bytes.Buffer
	b.Grow(recordHead + len(payload))
	b.Write(binary.BigEndian.AppendUint32(nil, uint32(len(payload))))
	b.Write(binary.BigEndian.AppendUint32(nil, crc32.Checksum(payload, castagnoli)))
	b.Write(payload)
	if _, err := l.file.WriteAt(b.Bytes(), l.end); err != nil {
		return span{}, errors.Join(err, l.file.Truncate(l.end))
	}
	if err := l.file.Sync(); err != nil {
		return span{}, errors.Join(err, l.file.Truncate(l.end))
	}
	at := span{l.end + recordHead, l.end + int64(b.Len())}
	l.end = at.end
	return at, nil
}

// read returns the payload at a position returned by append or openLog.
func (l *blockLog) read(at span) ([]byte, error) {
	payload := make([]byte, at.end-at.start)
	_, err := l.file.ReadAt(payload, at.start)
	return payload, err
}

// truncate removes everything after end permanently.
func (l *blockLog) truncate(end int64) error {
	if err := l.file.Truncate(end); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.end = end
	return nil
}

func (l *blockLog) close() error { return l.file.Close() }

// syncDir syncs a directory to disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close() // opened for reading only
	return dir.Sync()
}
