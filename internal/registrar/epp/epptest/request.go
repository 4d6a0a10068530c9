package epptest

import (
	"encoding/xml"
	"slices"
	"time"
)

// A request is a document of a client.
type request struct {
	XMLName xml.Name  `xml:"urn:ietf:params:xml:ns:epp-1.0 epp"`
	Hello   *struct{} `xml:"urn:ietf:params:xml:ns:epp-1.0 hello"`
	Command *command  `xml:"urn:ietf:params:xml:ns:epp-1.0 command"`
}

type command struct {
	Login    *login    `xml:"urn:ietf:params:xml:ns:epp-1.0 login"`
	Logout   *struct{} `xml:"urn:ietf:params:xml:ns:epp-1.0 logout"`
	Poll     *poll     `xml:"urn:ietf:params:xml:ns:epp-1.0 poll"`
	Check    *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 check"`
	Info     *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 info"`
	Create   *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 create"`
	Renew    *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 renew"`
	Transfer *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 transfer"`
	Update   *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 update"`
	Delete   *objects  `xml:"urn:ietf:params:xml:ns:epp-1.0 delete"`
	Ext      added     `xml:"urn:ietf:params:xml:ns:epp-1.0 extension"`
	ClTRID   string    `xml:"urn:ietf:params:xml:ns:epp-1.0 clTRID"`
}

type login struct {
	ClID       string   `xml:"clID"`
	Password   string   `xml:"pw"`
	Version    string   `xml:"options>version"`
	Language   string   `xml:"options>lang"`
	Objects    []string `xml:"svcs>objURI"`
	Extensions []string `xml:"svcs>svcExtension>extURI"`
}

type poll struct {
	Op    string `xml:"op,attr"`
	MsgID string `xml:"msgID,attr"`
}

// objects is the object of a command: the only element in it.
type objects struct {
	Op             string   `xml:"op,attr"`
	DomainCheck    *names   `xml:"urn:ietf:params:xml:ns:domain-1.0 check"`
	DomainInfo     *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 info"`
	DomainCreate   *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 create"`
	DomainRenew    *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 renew"`
	DomainTransfer *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 transfer"`
	DomainUpdate   *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 update"`
	DomainDelete   *domain  `xml:"urn:ietf:params:xml:ns:domain-1.0 delete"`
	HostCheck      *names   `xml:"urn:ietf:params:xml:ns:host-1.0 check"`
	HostInfo       *host    `xml:"urn:ietf:params:xml:ns:host-1.0 info"`
	HostCreate     *host    `xml:"urn:ietf:params:xml:ns:host-1.0 create"`
	HostUpdate     *host    `xml:"urn:ietf:params:xml:ns:host-1.0 update"`
	HostDelete     *host    `xml:"urn:ietf:params:xml:ns:host-1.0 delete"`
	ContactCreate  *contact `xml:"urn:ietf:params:xml:ns:contact-1.0 create"`
	ContactDelete  *contact `xml:"urn:ietf:params:xml:ns:contact-1.0 delete"`
}

type names struct {
	Names []string `xml:"name"`
}

type domain struct {
	Name       string     `xml:"name"`
	Period     *period    `xml:"period"`
	CurExpDate string     `xml:"curExpDate"`
	HostObj    []string   `xml:"ns>hostObj"`
	HostAttr   []hostAttr `xml:"ns>hostAttr"`
	Registrant string     `xml:"registrant"`
	Contacts   []string   `xml:"contact"`
	AuthInfo   *string    `xml:"authInfo>pw"`
	Add        part       `xml:"add"`
	Rem        part       `xml:"rem"`
	Chg        struct {
		Registrant string  `xml:"registrant"`
		AuthInfo   *string `xml:"authInfo>pw"`
	} `xml:"chg"`
}

type period struct {
	Years int    `xml:",chardata"`
	Unit  string `xml:"unit,attr"`
}

type part struct {
	HostObj  []string   `xml:"ns>hostObj"`
	HostAttr []hostAttr `xml:"ns>hostAttr"`
	Statuses []struct {
		Value string `xml:"s,attr"`
	} `xml:"status"`
}

type hostAttr struct {
	Name  string   `xml:"hostName"`
	Addrs []string `xml:"hostAddr"`
}

// hostNames returns the names of hosts of both kinds.
func hostNames(objects []string, attrs []hostAttr) []string {
	all := slices.Clone(objects)
	for _, a := range attrs {
		all = append(all, a.Name)
	}
	return all
}

type host struct {
	Name  string   `xml:"name"`
	Addrs []string `xml:"addr"`
	Add   []string `xml:"add>addr"`
	Rem   []string `xml:"rem>addr"`
}

type contact struct {
	ID     string `xml:"id"`
	Name   string `xml:"postalInfo>name"`
	Email  string `xml:"email"`
	Street string `xml:"postalInfo>addr>street"`
	City   string `xml:"postalInfo>addr>city"`
	Phone  string `xml:"voice"`
	PW     string `xml:"authInfo>pw"`
}

// added is what extensions add to a command.
type added struct {
	DNSSEC *struct {
		Add    []ds  `xml:"add>dsData"`
		Rem    []ds  `xml:"rem>dsData"`
		RemAll *bool `xml:"rem>all"`
	} `xml:"urn:ietf:params:xml:ns:secDNS-1.1 update"`
	RGP *struct {
		Restore struct {
			Op     string  `xml:"op,attr"`
			Report *report `xml:"report"`
		} `xml:"restore"`
	} `xml:"urn:ietf:params:xml:ns:rgp-1.0 update"`
	FeeCheck *struct {
		Currency string       `xml:"currency"`
		Commands []feeCommand `xml:"command"`
	} `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 check"`
	FeeCreate *agreed `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 create"`
	FeeRenew  *agreed `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 renew"`
	FeeTrans  *agreed `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 transfer"`
	FeeUpdate *agreed `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 update"`
}

// A report says when a name was deleted and restored (RFC 3915, 4.2.5).
type report struct {
	Deleted  time.Time `xml:"delTime"`
	Restored time.Time `xml:"resTime"`
}

// A feeCommand is a command whose price a client asks for.
type feeCommand struct {
	Name   string  `xml:"name,attr"`
	Period *period `xml:"period"`
}

// agreed is the price that a client agrees to.
type agreed struct {
	Currency string `xml:"currency"`
	Fee      string `xml:"fee"`
}

type ds struct {
	KeyTag     uint16 `xml:"keyTag"`
	Algorithm  uint8  `xml:"alg"`
	DigestType uint8  `xml:"digestType"`
	Digest     string `xml:"digest"`
}

// kind returns what the command is, for faults and for the log of commands.
func (c command) kind() string {
	for _, k := range []struct {
		name string
		o    *objects
	}{{"check", c.Check}, {"info", c.Info}, {"create", c.Create}, {"renew", c.Renew}, {"update", c.Update}, {"delete", c.Delete}} {
		if k.o == nil {
			continue
		}
		switch {
		case k.o.HostCheck != nil, k.o.HostInfo != nil, k.o.HostCreate != nil, k.o.HostUpdate != nil, k.o.HostDelete != nil:
			return "host " + k.name
		case k.o.ContactCreate != nil, k.o.ContactDelete != nil:
			return "contact " + k.name
		case c.Ext.RGP != nil:
			return "restore " + c.Ext.RGP.Restore.Op
		}
		return k.name
	}
	switch {
	case c.Transfer != nil:
		return "transfer " + c.Transfer.Op
	case c.Poll != nil:
		return "poll " + c.Poll.Op
	case c.Login != nil:
		return "login"
	}
	return "logout"
}
