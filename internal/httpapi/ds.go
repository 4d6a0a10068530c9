package httpapi

import (
	"fmt"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/registration"
)

func (s *Server) setDS(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	var in api.DSRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	list, err := parseDS(in.DS)
	if err != nil {
		return err
	}
	if err := s.Registrations.SetDS(r.Context(), who, name, registration.DSChange{DS: list, Force: in.Force}); err != nil {
		return err
	}
	return s.replyDomain(w, r, name)
}

// parseDS parses the DS records of a request.
func parseDS(in []api.NewDS) ([]dnssec.DS, error) {
	if in == nil {
		return nil, deed.Invalid("ds", "is required: send DS records, or an empty list for none")
	}
	list := make([]dnssec.DS, len(in))
	for i, ds := range in {
		if ds.KeyTag == nil { // 0 would be the DS of no key, and the name bogus
			return nil, deed.Invalid(fmt.Sprintf("ds[%d].keyTag", i), "is required: send a number from 0 to 65535")
		}
		list[i] = dnssec.DS{KeyTag: *ds.KeyTag, Algorithm: ds.Algorithm, DigestType: ds.DigestType, Digest: ds.Digest}
	}
	return dnssec.ParseDS(list)
}
