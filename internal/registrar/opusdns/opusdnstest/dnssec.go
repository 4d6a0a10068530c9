package opusdnstest

import (
	"net/http"
	"strings"

	"deed.example/deed/internal/dnssec"
)

func (s *Server) getDS(c call) reply {
	h, err := s.registry.Holding(c.ctx, c.name)
	if _, ok := s.object(c.ctx, c.name); !ok {
		return notFound()
	}
	all := []any{}
	if key := s.keys[c.name]; key != "" {
		all = append(all, map[string]any{"record_type": "key_data", "flags": 257, "protocol": 3, "algorithm": 13, "public_key": key})
	}
	if err == nil {
		for _, k := range h.DS {
			all = append(all, map[string]any{
				"record_type": "ds_data", "key_tag": k.KeyTag, "algorithm": k.Algorithm, "digest_type": k.DigestType, "digest": strings.ToUpper(k.Digest),
			})
		}
	}
	return reply{status: http.StatusOK, body: all}
}

func (s *Server) putDS(c call) reply {
	var in []struct {
		KeyTag     uint16 `json:"key_tag"`
		Algorithm  uint8  `json:"algorithm"`
		DigestType uint8  `json:"digest_type"`
		Digest     string `json:"digest"`
	}
	if !decode(c, &in) {
		return invalid("not JSON")
	}
	var keys []dnssec.DS
	for _, k := range in {
		keys = append(keys, dnssec.DS{KeyTag: k.KeyTag, Algorithm: k.Algorithm, DigestType: k.DigestType, Digest: k.Digest})
	}
	delete(s.keys, c.name)
	if out := s.changed(c, s.registry.SetDS(c.ctx, c.name, keys)); out.status != http.StatusOK {
		return out
	}
	return s.getDS(c)
}

func (s *Server) deleteDS(c call) reply {
	delete(s.keys, c.name)
	if out := s.changed(c, s.registry.SetDS(c.ctx, c.name, nil)); out.status != http.StatusOK {
		return out
	}
	return reply{status: http.StatusNoContent}
}
