package discovery

// protocolVersion is the version of A2A that we speak.
const protocolVersion = "1.0"
