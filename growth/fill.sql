-- One row for each name: who owns it, and when it was bought in the last year.
CREATE TEMPORARY TABLE names AS
SELECT i, 'n' || lpad(i::text, 7, '0') || '.com' AS domain, md5('deed' || i) AS id,
       CASE WHEN i < :large_names THEN :large
            WHEN i < :large_names + :small_names THEN :small
            ELSE '0x' || lpad(to_hex(i / :small_names), 40, '0') END AS owner,
       :now - 86400 - (i::bigint * 7919) % 31000000 AS at
  FROM generate_series(0, :names - 1) i;

INSERT INTO wallets (address, generation, created_at, last_active_at)
SELECT owner, 1, min(at), :now FROM names GROUP BY owner;

-- Each name was registered and its DNS changed once: two payments.
INSERT INTO payments (id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years, fingerprint,
                      state, tx_hash, refund_tx, created_at, changed_at, purchase, public_id)
SELECT 'pay_' || CASE k WHEN 0 THEN id ELSE md5('change' || i) END, 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', owner,
       '0x' || lpad(to_hex(2 * i + k), 64, '0'), '0x70997970c51812dc3a010c7d01b50e0d17dc79c8', CASE k WHEN 0 THEN 13060000 ELSE 100000 END, 0, at + 300,
       repeat('ab', 65), CASE k WHEN 0 THEN 'registration' ELSE 'dns_add' END, domain, 1 - k, md5('f' || i || k),
       'consumed', '0x' || lpad(to_hex((2 * i + k) / 20), 64, '0'), '', at + 60 * k, at + 60 * k,
       '{"v":1,"kind":"registration","name":"' || domain || '","years":1}', 'p' || md5('public' || i || k)
  FROM names, generate_series(0, 1) k;

INSERT INTO ledger (payment_id, entry, account, amount, at)
SELECT id, entry, account, sign * amount, changed_at
  FROM payments, (VALUES ('settled', 'treasury', 1), ('settled', 'owed', -1), ('consumed', 'owed', 1), ('consumed', 'revenue', -1)) e (entry, account, sign);

INSERT INTO signers (chain, address, next_nonce)
VALUES (84532, '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', :names / 10 + 1);

-- Twenty payments were settled by one transaction.
INSERT INTO transactions (chain, signer, nonce, hash, raw, signed_at)
SELECT 84532, '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', n, '0x' || lpad(to_hex(n), 64, '0'), repeat('ab', 4000), :now - 86400
  FROM generate_series(0, :names / 10 - 1) n;

INSERT INTO attempts (chain, purpose, attempt, signer, nonce)
SELECT 84532, 'settle 0x036cbd53842c5426634e7929541ec2318f3dcf7e ' || payer || ' ' || nonce, 1, '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
       ('x' || right(tx_hash, 8))::bit(32)::bigint
  FROM payments;

INSERT INTO jobs (id, payment_id, domain, owner, state, reference, attempts, submitted_at, lease_until, refusal, failure,
                  created_at, updated_at, deadline_at, kind, from_at, until_at, revision, public_id, steps)
SELECT 'job_' || right(p.id, 32), p.id, p.domain, p.payer, 'completed', CASE p.years WHEN 1 THEN 'job_' || right(p.id, 32) || '-1' ELSE '' END, p.years,
       p.created_at, p.created_at, '', '', p.created_at, p.created_at, p.created_at + 3600,
       p.kind, 0, 0, 2 - p.years, 'j' || md5('public' || p.id),
       (SELECT string_agg(state || ' ' || p.created_at, ',' ORDER BY n)
          FROM unnest(ARRAY['awaiting_payment', 'queued', 'submitting', 'verifying', 'completed']) WITH ORDINALITY AS step (state, n))
  FROM payments p;

INSERT INTO registry_orders (reference, name, years, account, state, refusal, placed_at, due_at, created_at, expires_at)
SELECT 'job_' || id || '-1', domain, 1, 'deed', 'done', '', at, at, at, at + 31536000 FROM names;

INSERT INTO registry_names (name, reference, account, created_at, expires_at, nameservers)
SELECT domain, 'job_' || id || '-1', 'deed', at, at + 31536000, 'ns1.deed.example ns2.deed.example' FROM names;

-- They are compared with the registry once a day.
INSERT INTO registrations (domain, owner, status, reference, payment_id, created_at, expires_at, updated_at, locked_at, nameservers, ds, next_at)
SELECT domain, owner, 'active', 'job_' || id || '-1', 'pay_' || id, at, at + 31536000, at, at, 'ns1.deed.example ns2.deed.example',
       '[{"KeyTag":12345,"Algorithm":13,"DigestType":2,"Digest":"' || repeat('ab', 32) || '"}]', :now + 3600 + i % 82800
  FROM names;

INSERT INTO event_counters (owner, n)
SELECT owner, 3 * count(*) FROM names GROUP BY owner;

INSERT INTO owner_events (owner, n, id, type, data, at)
SELECT owner, row_number() OVER (PARTITION BY owner ORDER BY at, i, k), 'evt_' || md5('event' || i || k),
       (ARRAY['payment.settled', 'domain.registered', 'dns.changed'])[k],
       '{"domain":"' || domain || '","jobId":"' || md5('public' || i) || '"}', at
  FROM names, generate_series(1, 3) k;

INSERT INTO events (reference, type, about_at, domain, at)
SELECT 'job_' || id || '-1', 'registered', at, domain, at FROM names;

INSERT INTO zones (id, domain, serial, member, generation, renew_at, changed_at)
SELECT 'zone_' || id, domain, 2, md5('member' || i), 1, :now + 86400 * 20, at * 1000 FROM names;

INSERT INTO records (zone_id, id, type, host, value, ttl, created_at, updated_at, added_serial, distance)
SELECT 'zone_' || id, substr(md5('record' || i || n), 1, 12), (ARRAY['A', 'AAAA', 'MX', 'TXT', 'CNAME'])[n], (ARRAY['@', '@', '@', '@', 'www'])[n],
       (ARRAY['192.0.2.1', '2001:db8::1', 'mail.' || domain, 'v=spf1 mx -all', domain])[n], 3600, at, at, CASE n WHEN 5 THEN 2 ELSE 1 END,
       CASE n WHEN 3 THEN 10 END
  FROM names, generate_series(1, 5) n;

INSERT INTO revisions (zone_id, serial, at, added, deleted, records)
SELECT 'zone_' || id, s, at + 60 * (s - 1), 5 - s, 0, 3 + s FROM names, generate_series(1, 2) s;

INSERT INTO catalog (id, serial, since) VALUES (1, 2, 2) ON CONFLICT (id) DO UPDATE SET serial = 2, since = 2;
