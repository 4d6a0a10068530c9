package sqldb

// zoneInvariants are the invariants of zones.
var zoneInvariants = []invariant{
	{"every registered name has one zone, and every active zone a registered name", `
		SELECT (SELECT count(*) FROM {registrations} r
		         WHERE (SELECT count(*) FROM zones z WHERE z.domain = r.domain AND z.ended_at IS NULL) <> 1)
		     + (SELECT count(*) FROM {zones} z
		         WHERE z.ended_at IS NULL AND NOT EXISTS (SELECT 1 FROM registrations r WHERE r.domain = z.domain))`},
	{"a zone has exactly one SOA, with its serial, until it ends", `
		SELECT count(*) FROM {zones} z LEFT JOIN served s ON s.zone_id = z.id AND s.type = 6 AND s.removed_serial IS NULL
		 WHERE (z.ended_at IS NULL) <> (s.zone_id IS NOT NULL) OR s.added_serial <> z.serial
		    OR (SELECT count(*) FROM served t WHERE t.zone_id = z.id AND t.type = 6 AND t.removed_serial IS NULL) > 1`},
	{"a zone has as many records as its last revision, until it ends", `
		SELECT count(*) FROM {zones} z
		 WHERE (SELECT count(*) FROM records r WHERE r.zone_id = z.id AND r.removed_serial IS NULL) <>
		       CASE WHEN z.ended_at IS NULL
		            THEN coalesce((SELECT v.records FROM revisions v WHERE v.zone_id = z.id ORDER BY v.serial DESC LIMIT 1), -1)
		            ELSE 0 END`},
	{"record ids are never reused within a zone", `
		SELECT count(*) FROM (SELECT 1 FROM {zones} z JOIN records r ON r.zone_id = z.id GROUP BY r.zone_id, r.id HAVING count(DISTINCT r.created_at) > 1) used_again`},
	{"nothing in a zone is newer than its serial", `
		SELECT (SELECT count(*) FROM records r JOIN {zones} z ON z.id = r.zone_id WHERE r.added_serial > z.serial OR r.removed_serial > z.serial)
		     + (SELECT count(*) FROM {zones} z JOIN served s ON s.zone_id = z.id AND s.removed_serial IS NULL WHERE s.added_serial > z.serial)
		     + (SELECT count(*) FROM {zones} z JOIN served s ON s.zone_id = z.id AND s.removed_serial IS NOT NULL WHERE s.added_serial > z.serial OR s.removed_serial > z.serial)
		     + (SELECT count(*) FROM revisions v JOIN {zones} z ON z.id = v.zone_id WHERE v.serial > z.serial)`},
	{"the serials of a name never decrease, even across owners", `
		SELECT count(*) FROM zones a JOIN {zones} b ON b.domain = a.domain AND b.id <> a.id
		 WHERE a.ended_at IS NOT NULL AND (b.ended_at IS NULL OR b.ended_at > a.ended_at)
		   AND (SELECT min(v.serial) FROM revisions v WHERE v.zone_id = b.id) <= a.serial`},
	{"the outbox is never ahead of the zone", `
		SELECT count(*) FROM outbox o JOIN {zones} z ON z.id = o.zone_id
		 WHERE o.propagated_serial > o.serial OR o.serial > z.serial OR z.ended_at IS NOT NULL`},
	{"only a signed zone that has not ended has its key replaced", `
		SELECT count(*) FROM key_rolls k JOIN zones z ON z.id = k.zone_id WHERE z.ended_at IS NOT NULL OR z.generation = 0`},
	{"every paid change is one revision", `
		SELECT count(*) FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		  LEFT JOIN (SELECT z.domain, v.serial, count(*) AS n FROM revisions v JOIN {zones} z ON z.id = v.zone_id GROUP BY z.domain, v.serial) r
		    ON r.domain = p.domain AND r.serial = j.revision
		 WHERE p.kind LIKE 'dns%' AND j.state = 'completed' AND coalesce(r.n, 0) <> 1`},
	{"every revision but the first of its zone was paid for once", `
		SELECT count(*) FROM {revisions} v JOIN zones z ON z.id = v.zone_id
		  JOIN (SELECT r.zone_id, min(r.serial) AS serial FROM {zones} z JOIN revisions r ON r.zone_id = z.id GROUP BY r.zone_id) f ON f.zone_id = v.zone_id
		  LEFT JOIN (SELECT p.domain, j.revision, count(*) AS n FROM {jobs} j JOIN payments p ON p.id = j.payment_id
		              WHERE p.kind LIKE 'dns%' AND j.state = 'completed' GROUP BY p.domain, j.revision) c
		    ON c.domain = z.domain AND c.revision = v.serial
		 WHERE v.serial > f.serial AND coalesce(c.n, 0) <> 1`},
}
