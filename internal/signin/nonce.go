package signin

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// A nonce is 25 bytes, encoded as 40 letters and digits: the time of issue, nine
// random bytes, and a MAC over both. It is self-authenticating, so nothing is stored
// until it is used.
const (
	nonceTime   = 4
	nonceRandom = 9
	nonceCode   = 12
	nonceBytes  = nonceTime + nonceRandom + nonceCode
)

func newNonce(key TokenKey, now time.Time) Nonce {
	raw := make([]byte, nonceTime+nonceRandom, nonceBytes)
	binary.BigEndian.PutUint32(raw, uint32(now.Unix()))
	rand.Read(raw[nonceTime:]) // never fails
	return Nonce(base32.StdEncoding.EncodeToString(append(raw, nonceMAC(key, raw)...)))
}

// checkNonce reports whether one of the keys made the nonce and it has not expired,
// and returns its expiry. Whether it was used before, only the store knows.
func checkNonce(keys []TokenKey, nonce string, now time.Time) (ends time.Time, ok bool) {
	raw, err := base32.StdEncoding.DecodeString(nonce)
	if err != nil || len(raw) != nonceBytes || base32.StdEncoding.EncodeToString(raw) != nonce {
		return time.Time{}, false // the decoder ignores line feeds, but a nonce must have one encoding only
	}
	signed, code := raw[:nonceTime+nonceRandom], raw[nonceTime+nonceRandom:]
	for _, key := range keys {
		if hmac.Equal(nonceMAC(key, signed), code) {
			issued := time.Unix(int64(binary.BigEndian.Uint32(signed)), 0)
			ends = issued.Add(NonceLifetime)
			// Another node's clock may be slightly ahead.
			return ends, now.Before(ends) && issued.Before(now.Add(clockSkew))
		}
	}
	return time.Time{}, false
}

func nonceMAC(key TokenKey, signed []byte) []byte {
	mac := hmac.New(sha256.New, []byte("nonce "+key.Secret.Reveal())) // domain separation
	mac.Write(signed)
	return mac.Sum(nil)[:nonceCode]
}
