package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// A nonce is 25 bytes, and so 40 letters and digits: when it was issued, nine
// random bytes, and a code that only we can make over both. It says by itself
// that it is ours and how old it is, so nothing is stored until it is used.
const (
	nonceTime   = 4
	nonceRandom = 9
	nonceCode   = 12
	nonceBytes  = nonceTime + nonceRandom + nonceCode
)

func newNonce(key TokenKey, now time.Time) Nonce {
	raw := make([]byte, nonceTime+nonceRandom, nonceBytes)
	binary.BigEndian.PutUint32(raw, uint32(now.Unix()))
	rand.Read(raw[nonceTime:]) // it never fails
	return Nonce(base32.StdEncoding.EncodeToString(append(raw, nonceMAC(key, raw)...)))
}

// checkNonce says whether one of the keys made the nonce and it is not too old,
// and when it ends. Whether it was used before, only the store knows.
func checkNonce(keys []TokenKey, nonce string, now time.Time) (ends time.Time, ok bool) {
	raw, err := base32.StdEncoding.DecodeString(nonce)
	if err != nil || len(raw) != nonceBytes || base32.StdEncoding.EncodeToString(raw) != nonce {
		return time.Time{}, false // the decoder reads past line feeds: one nonce has one spelling
	}
	said, code := raw[:nonceTime+nonceRandom], raw[nonceTime+nonceRandom:]
	for _, key := range keys {
		if hmac.Equal(nonceMAC(key, said), code) {
			issued := time.Unix(int64(binary.BigEndian.Uint32(said)), 0)
			ends = issued.Add(NonceLifetime)
			// Another node's clock may be a little ahead of ours.
			return ends, now.Before(ends) && issued.Before(now.Add(clockSkew))
		}
	}
	return time.Time{}, false
}

func nonceMAC(key TokenKey, said []byte) []byte {
	mac := hmac.New(sha256.New, []byte("nonce "+key.Secret.Reveal())) // a use of its own for the key
	mac.Write(said)
	return mac.Sum(nil)[:nonceCode]
}
