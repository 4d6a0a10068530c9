package cli

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"golang.org/x/crypto/scrypt"
)

// A keystore is a private key that is encrypted with a password: Web3 Secret
// Storage, version 3. The KDF turns the password into 32 bytes; the first half
// encrypts the key with AES-128-CTR, the second half authenticates it.
type keystore struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Address string `json:"address,omitzero"` // without 0x; optional
	Crypto  struct {
		Cipher       string `json:"cipher"`
		CipherText   string `json:"ciphertext"`
		CipherParams struct {
			IV string `json:"iv"`
		} `json:"cipherparams"`
		KDF       string    `json:"kdf"`
		KDFParams kdfParams `json:"kdfparams"`
		MAC       string    `json:"mac"`
	} `json:"crypto"`
}

// kdfParams are the parameters of scrypt and PBKDF2.
type kdfParams struct {
	DKLen int    `json:"dklen"`
	Salt  string `json:"salt"`
	N     int    `json:"n,omitzero"`
	R     int    `json:"r,omitzero"`
	P     int    `json:"p,omitzero"`
	C     int    `json:"c,omitzero"`
	PRF   string `json:"prf,omitzero"`
}

// The scrypt parameters: each guess of a password takes 128 MiB and a good part
// of a second.
const scryptN, scryptR, scryptP = 1 << 17, 8, 1

var errPassword = errors.New("this is not the password of the wallet")

// lockKey encrypts a private key with a password and the scrypt cost n.
func lockKey(key *ecdsa.PrivateKey, password string, n int) (*keystore, error) {
	random := make([]byte, 64)
	rand.Read(random) // it never fails
	salt, iv, id := random[:32], random[32:48], random[48:]
	k := &keystore{Version: 3, Address: hex.EncodeToString(crypto.PubkeyToAddress(key.PublicKey).Bytes())}
	k.ID = fmt.Sprintf("%x-%x-4%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])[:36]
	k.Crypto.KDF = "scrypt"
	k.Crypto.KDFParams = kdfParams{DKLen: 32, Salt: hex.EncodeToString(salt), N: n, R: scryptR, P: scryptP}
	derived, err := k.derive(password)
	if err != nil {
		return nil, err
	}
	text, err := crypt(derived[:16], iv, crypto.FromECDSA(key))
	if err != nil {
		return nil, err
	}
	k.Crypto.Cipher, k.Crypto.CipherText, k.Crypto.CipherParams.IV = "aes-128-ctr", hex.EncodeToString(text), hex.EncodeToString(iv)
	k.Crypto.MAC = hex.EncodeToString(crypto.Keccak256(derived[16:32], text))
	return k, nil
}

func parseKeystore(raw []byte) (*keystore, error) {
	var k keystore
	if err := json.Unmarshal(raw, &k, json.MatchCaseInsensitiveNames(true)); err != nil || k.Crypto.CipherText == "" {
		return nil, errors.New("this is no keystore file")
	}
	if k.Version != 3 || k.Crypto.Cipher != "aes-128-ctr" {
		return nil, errors.New("this keystore is of a kind that is not known here: version 3 with aes-128-ctr is")
	}
	return &k, nil
}

// address returns the address of the key, if the file has it.
func (k *keystore) address() (common.Address, bool) {
	return common.HexToAddress(k.Address), common.IsHexAddress(k.Address)
}

// unlock returns the private key.
func (k *keystore) unlock(password string) (*ecdsa.PrivateKey, error) {
	derived, err := k.derive(password)
	if err != nil {
		return nil, err
	}
	text, err1 := hex.DecodeString(k.Crypto.CipherText)
	iv, err2 := hex.DecodeString(k.Crypto.CipherParams.IV)
	mac, err3 := hex.DecodeString(k.Crypto.MAC)
	if errors.Join(err1, err2, err3) != nil || len(iv) != aes.BlockSize {
		return nil, errors.New("the keystore is damaged")
	}
	if subtle.ConstantTimeCompare(crypto.Keccak256(derived[16:32], text), mac) != 1 {
		return nil, errPassword
	}
	plain, err := crypt(derived[:16], iv, text)
	if err != nil {
		return nil, err
	}
	key, err := crypto.ToECDSA(common.LeftPadBytes(plain, 32))
	if err != nil {
		return nil, errors.New("the keystore holds no private key")
	}
	if want, ok := k.address(); ok && want != crypto.PubkeyToAddress(key.PublicKey) {
		return nil, errors.New("the keystore holds another key than it says")
	}
	return key, nil
}

// maxScryptMemory limits the memory that a keystore file can demand.
const maxScryptMemory = 1 << 30

func (k *keystore) derive(password string) ([]byte, error) {
	p := k.Crypto.KDFParams
	salt, err := hex.DecodeString(p.Salt)
	if err != nil || p.DKLen != 32 {
		return nil, errors.New("the keystore is damaged")
	}
	switch strings.ToLower(k.Crypto.KDF) {
	case "scrypt":
		if p.N <= 0 || p.R <= 0 || p.P <= 0 || p.P > 64 || p.N > maxScryptMemory/128/p.R {
			return nil, errors.New("the keystore asks for more memory than is given here")
		}
		return scrypt.Key([]byte(password), salt, p.N, p.R, p.P, p.DKLen)
	case "pbkdf2":
		if p.PRF != "hmac-sha256" || p.C <= 0 || p.C > 1<<24 {
			break
		}
		return pbkdf2.Key(sha256.New, password, salt, p.C, p.DKLen)
	}
	return nil, errors.New("the keystore uses an unsupported key derivation function")
}

// crypt encrypts or decrypts: in CTR mode both are the same operation.
func crypt(key, iv, text []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(text))
	cipher.NewCTR(block, iv).XORKeyStream(out, text)
	return out, nil
}
