package connlimit

// MaxFiles returns how many files the process may open, sockets included.
func MaxFiles() int { return int(min(fileLimit(), 1<<20)) }
