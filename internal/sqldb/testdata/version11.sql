-- Rows of a database at version 11, as the binary of that version wrote them: a
-- name with two records that it began with, a record added, changed and one
-- deleted, and three changes whose money is there and that nobody has made yet.

INSERT INTO payments (id, chain_id, asset, payer, nonce, pay_to, amount, valid_after, valid_before, signature, kind, domain, years, fingerprint, state, tx_hash, refund_tx, alias_of, created_at, changed_at, next_at, purchase) VALUES
('pay_023f4f271d664ca26a478c4fbc79f1b0', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '1', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'registration', 'first.com', 1, '6a5a9010c02e53dcd0d70267ab019c1164a0a9ab4cae7cda29d79bb0038cc9db', 'consumed', '0xfeed1', '', NULL, 1800000000, 1800000000, NULL, '{"Kind":"registration","Name":"first.com","Years":1,"Records":[{"ID":"","Type":"A","Host":"@","Value":"192.0.2.1","TTL":3600},{"ID":"","Type":"TXT","Host":"@","Value":"hello","TTL":3600}]}'),
('pay_fe05d819dd54e9114a1ee1a1d9588fb0', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '2', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_add', 'first.com', 0, '3dbdb7bb03f16fc0731c0870be251268467bb592ed5d5e22b57d8e2e2256d9bc', 'consumed', '0xfeed2', '', NULL, 1800000060, 1800000060, NULL, '{"Kind":"dns_add","Name":"first.com","Change":{"Kind":"add","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"add","ID":"rec_3cte2zmbhaibmpoz5a4j6lz6uu","Record":{"ID":"","Type":"A","Host":"www","Value":"192.0.2.10","TTL":3600}}]}}'),
('pay_fc695e195825a53ead211e3c115983f4', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '3', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_update', 'first.com', 0, 'd6b30a91faa829f0b85e79e68dee0cbb04d9bb5b37116ee5318aaef72b3ba36f', 'consumed', '0xfeed3', '', NULL, 1800000120, 1800000120, NULL, '{"Kind":"dns_update","Name":"first.com","Change":{"Kind":"update","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"update","ID":"rec_3cte2zmbhaibmpoz5a4j6lz6uu","Patch":{"Value":"192.0.2.11"}}]}}'),
('pay_fdb14fb8db15de9b31832da76e09025c', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '4', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_delete', 'first.com', 0, '6eff31657a57a654839af0a4d8790e791f0987f1fb70b48effa4b603e9a67a3d', 'consumed', '0xfeed4', '', NULL, 1800000180, 1800000180, NULL, '{"Kind":"dns_delete","Name":"first.com","Change":{"Kind":"delete","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"delete","ID":"rec_wc4cl4o6sv32ch5vasd7hceypx"}]}}'),
('pay_1ba9811419dc8a4b68b8f8f605ece98f', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '5', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_add', 'first.com', 0, '8919e4728064b8f6af4534f24e7f29e8ecdff95841ab3de8127d15b7786ccb69', 'settled', '0xfeed5', '', NULL, 1800000240, 1800000240, NULL, '{"Kind":"dns_add","Name":"first.com","Change":{"Kind":"add","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"add","ID":"rec_tp4jiopcui4b5ixoxacegokpvd","Record":{"ID":"","Type":"A","Host":"api","Value":"192.0.2.20","TTL":3600}}]}}'),
('pay_93a5f9a0f718667284595992ff242553', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '6', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_update', 'first.com', 0, '30e17c78925533698acba152cbde6c4748a66784f66c9cbb8c1bfd022d12012e', 'settled', '0xfeed6', '', NULL, 1800000300, 1800000300, NULL, '{"Kind":"dns_update","Name":"first.com","Change":{"Kind":"update","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"update","ID":"rec_3cte2zmbhaibmpoz5a4j6lz6uu","Patch":{"TTL":300}}]}}'),
('pay_5b5ac7651c1a5fc70de9e26d63eae1f1', 84532, '0x036cbd53842c5426634e7929541ec2318f3dcf7e', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', '7', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 10000, 0, 0, '', 'dns_delete', 'first.com', 0, 'a3b1d2060424158dfff8ffa3d6dd3df0de72260c5519bb3fa8762ef763800f8a', 'settled', '0xfeed7', '', NULL, 1800000360, 1800000360, NULL, '{"Kind":"dns_delete","Name":"first.com","Change":{"Kind":"delete","Zone":"first.com","By":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","Ops":[{"Op":"delete","ID":"rec_gcqhuvqw52qnhtnuj4li2rxhb7"}]}}');

INSERT INTO jobs (id, payment_id, domain, owner, state, reference, attempts, submitted_at, lease_until, refusal, failure, created_at, updated_at, deadline_at, next_at, kind, from_at, until_at, revision) VALUES
('job_023f4f271d664ca26a478c4fbc79f1b0', 'pay_023f4f271d664ca26a478c4fbc79f1b0', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'completed', 'job_023f4f271d664ca26a478c4fbc79f1b0-1', 1, 1800000000, 1800000000, '', '', 1800000000, 1800000000, 1800000900, NULL, 'registration', 0, 1831536000, 0),
('job_fe05d819dd54e9114a1ee1a1d9588fb0', 'pay_fe05d819dd54e9114a1ee1a1d9588fb0', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'completed', '', 0, 0, 0, '', '', 1800000060, 1800000060, 1800000960, NULL, 'dns_add', 0, 0, 1800000060),
('job_fc695e195825a53ead211e3c115983f4', 'pay_fc695e195825a53ead211e3c115983f4', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'completed', '', 0, 0, 0, '', '', 1800000120, 1800000120, 1800001020, NULL, 'dns_update', 0, 0, 1800000120),
('job_fdb14fb8db15de9b31832da76e09025c', 'pay_fdb14fb8db15de9b31832da76e09025c', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'completed', '', 0, 0, 0, '', '', 1800000180, 1800000180, 1800001080, NULL, 'dns_delete', 0, 0, 1800000180),
('job_1ba9811419dc8a4b68b8f8f605ece98f', 'pay_1ba9811419dc8a4b68b8f8f605ece98f', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'queued', '', 0, 0, 0, '', '', 1800000240, 1800000240, 1800001140, 1800000240, 'dns_add', 0, 0, 0),
('job_93a5f9a0f718667284595992ff242553', 'pay_93a5f9a0f718667284595992ff242553', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'queued', '', 0, 0, 0, '', '', 1800000300, 1800000300, 1800001200, 1800000300, 'dns_update', 0, 0, 0),
('job_5b5ac7651c1a5fc70de9e26d63eae1f1', 'pay_5b5ac7651c1a5fc70de9e26d63eae1f1', 'first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'queued', '', 0, 0, 0, '', '', 1800000360, 1800000360, 1800001260, 1800000360, 'dns_delete', 0, 0, 0);

INSERT INTO job_steps (job_id, n, state, at) VALUES
('job_023f4f271d664ca26a478c4fbc79f1b0', 0, 'awaiting_payment', 1800000000),
('job_023f4f271d664ca26a478c4fbc79f1b0', 1, 'queued', 1800000000),
('job_023f4f271d664ca26a478c4fbc79f1b0', 2, 'submitting', 1800000000),
('job_023f4f271d664ca26a478c4fbc79f1b0', 3, 'verifying', 1800000000),
('job_023f4f271d664ca26a478c4fbc79f1b0', 4, 'completed', 1800000000),
('job_fe05d819dd54e9114a1ee1a1d9588fb0', 0, 'awaiting_payment', 1800000060),
('job_fe05d819dd54e9114a1ee1a1d9588fb0', 1, 'queued', 1800000060),
('job_fe05d819dd54e9114a1ee1a1d9588fb0', 2, 'completed', 1800000060),
('job_fc695e195825a53ead211e3c115983f4', 0, 'awaiting_payment', 1800000120),
('job_fc695e195825a53ead211e3c115983f4', 1, 'queued', 1800000120),
('job_fc695e195825a53ead211e3c115983f4', 2, 'completed', 1800000120),
('job_fdb14fb8db15de9b31832da76e09025c', 0, 'awaiting_payment', 1800000180),
('job_fdb14fb8db15de9b31832da76e09025c', 1, 'queued', 1800000180),
('job_fdb14fb8db15de9b31832da76e09025c', 2, 'completed', 1800000180),
('job_1ba9811419dc8a4b68b8f8f605ece98f', 0, 'awaiting_payment', 1800000240),
('job_1ba9811419dc8a4b68b8f8f605ece98f', 1, 'queued', 1800000240),
('job_93a5f9a0f718667284595992ff242553', 0, 'awaiting_payment', 1800000300),
('job_93a5f9a0f718667284595992ff242553', 1, 'queued', 1800000300),
('job_5b5ac7651c1a5fc70de9e26d63eae1f1', 0, 'awaiting_payment', 1800000360),
('job_5b5ac7651c1a5fc70de9e26d63eae1f1', 1, 'queued', 1800000360);

INSERT INTO registrations (domain, owner, status, reference, payment_id, created_at, expires_at, updated_at, locked_at, nameservers, ds, premium_renewal, next_at) VALUES
('first.com', '0x71c7656ec7ab88b098defb751b7401b5f6d8976f', 'active', 'job_023f4f271d664ca26a478c4fbc79f1b0-1', 'pay_023f4f271d664ca26a478c4fbc79f1b0', 1800000000, 1831536000, 1800000000, NULL, 'ns1.deed.example ns2.deed.example', '', 0, 0);

INSERT INTO ledger (payment_id, entry, account, amount, at) VALUES
('pay_023f4f271d664ca26a478c4fbc79f1b0', 'settled', 'treasury', 10000, 1800000000),
('pay_023f4f271d664ca26a478c4fbc79f1b0', 'settled', 'owed', -10000, 1800000000),
('pay_023f4f271d664ca26a478c4fbc79f1b0', 'consumed', 'owed', 10000, 1800000000),
('pay_023f4f271d664ca26a478c4fbc79f1b0', 'consumed', 'revenue', -10000, 1800000000),
('pay_fe05d819dd54e9114a1ee1a1d9588fb0', 'settled', 'treasury', 10000, 1800000060),
('pay_fe05d819dd54e9114a1ee1a1d9588fb0', 'settled', 'owed', -10000, 1800000060),
('pay_fe05d819dd54e9114a1ee1a1d9588fb0', 'consumed', 'owed', 10000, 1800000060),
('pay_fe05d819dd54e9114a1ee1a1d9588fb0', 'consumed', 'revenue', -10000, 1800000060),
('pay_fc695e195825a53ead211e3c115983f4', 'settled', 'treasury', 10000, 1800000120),
('pay_fc695e195825a53ead211e3c115983f4', 'settled', 'owed', -10000, 1800000120),
('pay_fc695e195825a53ead211e3c115983f4', 'consumed', 'owed', 10000, 1800000120),
('pay_fc695e195825a53ead211e3c115983f4', 'consumed', 'revenue', -10000, 1800000120),
('pay_fdb14fb8db15de9b31832da76e09025c', 'settled', 'treasury', 10000, 1800000180),
('pay_fdb14fb8db15de9b31832da76e09025c', 'settled', 'owed', -10000, 1800000180),
('pay_fdb14fb8db15de9b31832da76e09025c', 'consumed', 'owed', 10000, 1800000180),
('pay_fdb14fb8db15de9b31832da76e09025c', 'consumed', 'revenue', -10000, 1800000180),
('pay_1ba9811419dc8a4b68b8f8f605ece98f', 'settled', 'owed', -10000, 1800000240),
('pay_1ba9811419dc8a4b68b8f8f605ece98f', 'settled', 'treasury', 10000, 1800000240),
('pay_93a5f9a0f718667284595992ff242553', 'settled', 'treasury', 10000, 1800000300),
('pay_93a5f9a0f718667284595992ff242553', 'settled', 'owed', -10000, 1800000300),
('pay_5b5ac7651c1a5fc70de9e26d63eae1f1', 'settled', 'treasury', 10000, 1800000360),
('pay_5b5ac7651c1a5fc70de9e26d63eae1f1', 'settled', 'owed', -10000, 1800000360);

INSERT INTO zones (id, domain, serial, member, generation, renew_at, dark_at, ended_at, changed_at) VALUES
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 1800000180, 'ws4qz3ojpdmreyjkma4rn2yotv', 0, 0, NULL, NULL, 1800000180000);

INSERT INTO records (zone_id, id, type, host, value, ttl, distance, created_at, updated_at, born, died) VALUES
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'rec_gcqhuvqw52qnhtnuj4li2rxhb7', 'A', '@', '192.0.2.1', 3600, NULL, 1800000000, 1800000000, 1800000000, NULL),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'rec_wc4cl4o6sv32ch5vasd7hceypx', 'TXT', '@', 'hello', 3600, NULL, 1800000000, 1800000000, 1800000000, 1800000180),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'rec_3cte2zmbhaibmpoz5a4j6lz6uu', 'A', 'www', '192.0.2.10', 3600, NULL, 1800000060, 1800000060, 1800000060, 1800000120),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'rec_3cte2zmbhaibmpoz5a4j6lz6uu', 'A', 'www', '192.0.2.11', 3600, NULL, 1800000060, 1800000120, 1800000120, NULL);

INSERT INTO served (zone_id, owner, type, ttl, data, born, died) VALUES
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 6, 3600, '036e73310464656564076578616d706c65000a686f73746d61737465720464656564076578616d706c65006b49d20000000e1000000258001275000000012c', 1800000000, 1800000060),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 1, 3600, 'c0000201', 1800000000, NULL),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 2, 3600, '036e73310464656564076578616d706c6500', 1800000000, NULL),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 2, 3600, '036e73320464656564076578616d706c6500', 1800000000, NULL),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 16, 3600, '0568656c6c6f', 1800000000, 1800000180),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 6, 3600, '036e73310464656564076578616d706c65000a686f73746d61737465720464656564076578616d706c65006b49d23c00000e1000000258001275000000012c', 1800000060, 1800000120),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'www.first.com', 1, 3600, 'c000020a', 1800000060, 1800000120),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 6, 3600, '036e73310464656564076578616d706c65000a686f73746d61737465720464656564076578616d706c65006b49d27800000e1000000258001275000000012c', 1800000120, 1800000180),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'www.first.com', 1, 3600, 'c000020b', 1800000120, NULL),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 'first.com', 6, 3600, '036e73310464656564076578616d706c65000a686f73746d61737465720464656564076578616d706c65006b49d2b400000e1000000258001275000000012c', 1800000180, NULL);

INSERT INTO revisions (zone_id, serial, at, added, deleted, records) VALUES
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 1800000000, 1800000000, 2, 0, 2),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 1800000060, 1800000060, 1, 0, 3),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 1800000120, 1800000120, 1, 1, 3),
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 1800000180, 1800000180, 0, 1, 2);

INSERT INTO outbox (zone_id, serial, told, at) VALUES
('zone_eheaq5lppx5ggyl5k3h2ehcxcb', 1800000180, 0, 1800000180);

INSERT INTO catalog (id, serial) VALUES
(1, 1800000000);
