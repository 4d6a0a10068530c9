package deed

// Diff returns the least ops that turn the records of z into want, whose
// records are canonical. A record of the same data with another TTL is updated;
// so is one that gives way to another of its host and type. The IDs of added
// records are left to the caller.
func (z Zone) Diff(want []Record) []RecordOp { return nil }

// Merge returns the ops that add what want has and z lacks. A record of the
// same data stays as it is, whatever its TTL.
func (z Zone) Merge(want []Record) []RecordOp { return nil }
