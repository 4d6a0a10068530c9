package lifecycle

import (
	"time"

	"deed.example/deed"
)

// A KeyRoll replaces the DNSSEC key of a zone, in steps that wait until the caches of
// resolvers cannot make the name bogus (RFC 6781, 4.1.2 and 4.1.3):
//
//	requested ──► introducing ──► both keys are published, and both sign the keys; the
//	                   │          old one signs the records
//	                   ▼          waits for: all name servers, then the TTL of the keys
//	              replacing ────► the new key signs the records, and the DS is that of
//	                   │          the new key
//	                   ▼          waits for: all name servers and the registry, then the
//	                 done         TTL of the old DS and of the old signatures
type KeyRoll struct {
	Name        deed.Name
	Step        KeyRollStep
	EffectiveAt time.Time // when the step ends; zero while it waits for name servers or the registry
	Created     time.Time
	StepBegan   time.Time // by the clock of zones
}

// A KeyRollStep is the current step of a KeyRoll.
type KeyRollStep string

// The steps of a KeyRoll.
const (
	KeyRequested   KeyRollStep = "requested"
	KeyIntroducing KeyRollStep = "introducing"
	KeyReplacing   KeyRollStep = "replacing"
)
