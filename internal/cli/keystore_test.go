package cli

import (
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
)

// The test vectors of Web3 Secret Storage: both have the same key.
const (
	vectorKey      = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
	vectorPassword = "testpassword"
	vectorPBKDF2   = `{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},"ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2","kdfparams":{"c":262144,"dklen":32,"prf":"hmac-sha256","salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},"mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}`
	vectorScrypt   = `{"Crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"83dbcc02d8ccb40e466191a123791e0e"},"ciphertext":"d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c","kdf":"scrypt","kdfparams":{"dklen":32,"n":262144,"p":8,"r":1,"salt":"ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19"},"mac":"2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097"},"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}`
)

func TestForeignKeystores(t *testing.T) {
	for name, text := range map[string]string{"pbkdf2": vectorPBKDF2, "scrypt": vectorScrypt} {
		t.Run(name, func(t *testing.T) {
			k, err := parseKeystore([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			key, err := k.unlock(vectorPassword)
			if err != nil || hex.EncodeToString(crypto.FromECDSA(key)) != vectorKey {
				t.Errorf("got another key, %v", err)
			}
			if _, err := k.unlock(vectorPassword + " "); !errors.Is(err, errPassword) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestKeystoreRoundTrip(t *testing.T) {
	key, err := crypto.HexToECDSA(vectorKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := lockKey(key, "correct horse", 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(made)
	if err != nil || strings.Contains(string(raw), vectorKey) {
		t.Fatalf("got %s, %v", raw, err)
	}
	read, err := parseKeystore(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.unlock("correct horse"); err != nil || !got.Equal(key) {
		t.Errorf("got another key, %v", err)
	}
	if _, err := read.unlock("battery staple"); !errors.Is(err, errPassword) {
		t.Errorf("got %v", err)
	}
}

// Damage is found whatever the cost of the derivation, so it is small here.
func TestDamagedKeystores(t *testing.T) {
	key, err := crypto.HexToECDSA(vectorKey)
	if err != nil {
		t.Fatal(err)
	}
	made, err := lockKey(key, vectorPassword, 1<<10)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	for name, swap := range map[string][2]string{
		"address of another":  {`"address":"[0-9a-f]+"`, `"address":"00000000000000000000000000000000000000aa"`},
		"short vector":        {`"iv":"[0-9a-f]+"`, `"iv":"83dbcc02"`},
		"no hex":              {`"mac":"..`, `"mac":"xx`},
		"hunger for memory":   {`"n":1024`, `"n":1073741824`},
		"negative n":          {`"n":1024`, `"n":-1`},
		"r of nothing":        {`"r":8`, `"r":0`},
		"unknown derivation":  {`"kdf":"scrypt"`, `"kdf":"argon2"`},
		"too short a key":     {`"dklen":32`, `"dklen":16`},
		"another cipher":      {`aes-128-ctr`, `aes-128-cbc`},
		"another version":     {`"version":3`, `"version":1`},
		"nothing encrypted":   {`"ciphertext":"[0-9a-f]+"`, `"ciphertext":""`},
		"ciphertext of other": {`"ciphertext":"[0-9a-f]{8}`, `"ciphertext":"d172bf74`},
	} {
		t.Run(name, func(t *testing.T) {
			text := regexp.MustCompile(swap[0]).ReplaceAllString(string(raw), swap[1])
			if text == string(raw) {
				t.Fatal("nothing was changed")
			}
			k, err := parseKeystore([]byte(text))
			if err == nil {
				_, err = k.unlock(vectorPassword)
			}
			if err == nil {
				t.Error("it opened")
			}
		})
	}
	if _, err := parseKeystore([]byte("{}")); err == nil {
		t.Error("an empty file is a keystore")
	}
}
