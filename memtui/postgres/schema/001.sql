-- What a server keeps of memories: the events of each store, chained, and the versions that they name.
--
-- What stands at a path follows from the events, so it is no table here: each machine has a copy in which it is one.
-- Nobody but the owner reaches a table. Everybody else calls the functions, which run with the owner's rights, and
-- even the owner sees the rows of one tenant only: those of whom the connection was opened by (session_user).

CREATE TABLE memtui.tenants (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$')
);

CREATE TABLE memtui.stores (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant integer NOT NULL REFERENCES memtui.tenants,
    name text NOT NULL CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    head bigint NOT NULL DEFAULT 0,
    hash bytea NOT NULL DEFAULT sha256('memtui journal 1'),
    UNIQUE (tenant, name)
);

-- What a role may do: in one store, or in all of a tenant's where none is named.
CREATE TABLE memtui.grants (
    role name NOT NULL,
    tenant integer NOT NULL REFERENCES memtui.tenants,
    store text,
    may text[] NOT NULL CHECK (may <@ ARRAY['read', 'write', 'redact'] AND 'read' = ANY (may)),
    agent text CHECK (agent ~ '^[A-Za-z0-9 ._@:-]+$'), -- the only name with which it signs; any actor where it is null
    UNIQUE NULLS NOT DISTINCT (role, store)
);

-- No foreign keys from here on: they would be looked up for each event, and `append` alone adds rows, under a store's lock.
CREATE TABLE memtui.events (
    tenant integer NOT NULL,
    store integer NOT NULL,
    seq bigint NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL,
    command bytea,                                 -- the number of the call, with the last event that it added
    PRIMARY KEY (store, seq),
    UNIQUE (store, command)
);

-- Beside the chain, which holds their hashes only: they can be removed.
CREATE TABLE memtui.texts (
    tenant integer NOT NULL,
    store integer NOT NULL,
    seq bigint NOT NULL,
    answer bytea,
    arguments bytea,
    PRIMARY KEY (store, seq)
);

CREATE TABLE memtui.versions (
    tenant integer NOT NULL,
    store integer NOT NULL,
    sha256 bytea NOT NULL,
    seq bigint NOT NULL,                           -- the event with which it came, or came back
    data bytea,                                    -- null where it was removed
    PRIMARY KEY (store, sha256)
);
CREATE INDEX ON memtui.versions (store, seq);

-- What was removed, for the copies of a store on other machines.
CREATE TABLE memtui.removals (
    tenant integer NOT NULL,
    store integer NOT NULL,
    seq bigint NOT NULL,                           -- the last event of the removal
    versions bytea[] NOT NULL,
    texts bigint[] NOT NULL,
    PRIMARY KEY (store, seq)
);

CREATE FUNCTION memtui.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or deleted' USING ERRCODE = 'MT006';
END $$;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON memtui.events
    FOR EACH STATEMENT EXECUTE FUNCTION memtui.refuse_change();

-- A sub-select, which is run once for a statement, and planned with it: a function would be called for each one.
DO $$
DECLARE each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['stores', 'events', 'texts', 'versions', 'removals'] LOOP
        EXECUTE format('ALTER TABLE memtui.%I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE memtui.%I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format('CREATE POLICY tenants ON memtui.%I USING (tenant = ANY (ARRAY('
            'SELECT g.tenant FROM memtui.grants AS g WHERE g.role = session_user)))', each);
    END LOOP;
END $$;

-- The store that a role may use in a way, and the only name that the role signs with there, if any. MT003: it may not, or
-- there is none, which it is not told apart. It runs with the rights and the search path of the function that calls it.
CREATE FUNCTION memtui.enter(wanted text, use text, OUT id integer, OUT tenant integer, OUT head bigint, OUT hash bytea,
        OUT agent text)
    LANGUAGE plpgsql AS $$
DECLARE granted memtui.grants;
BEGIN
    SELECT * INTO granted FROM memtui.grants AS g
        WHERE g.role = session_user AND (g.store = wanted OR g.store IS NULL) ORDER BY g.store NULLS LAST LIMIT 1;
    IF NOT FOUND OR NOT use = ANY (granted.may) THEN
        RAISE EXCEPTION 'no right to %', use USING ERRCODE = 'MT003';
    END IF;
    SELECT s.id, s.head, s.hash INTO id, head, hash FROM memtui.stores AS s
        WHERE s.tenant = granted.tenant AND s.name = wanted;
    IF NOT FOUND THEN
        IF NOT 'write' = ANY (granted.may) THEN
            RAISE EXCEPTION 'no such store' USING ERRCODE = 'MT003';
        END IF;
        INSERT INTO memtui.stores (tenant, name) VALUES (granted.tenant, wanted)
            ON CONFLICT ON CONSTRAINT stores_tenant_name_key DO NOTHING;
        SELECT s.id, s.head, s.hash INTO id, head, hash FROM memtui.stores AS s
            WHERE s.tenant = granted.tenant AND s.name = wanted;
    END IF;
    tenant := granted.tenant;
    agent := granted.agent;
END $$;

-- The events after one number and up to another, their texts, the versions that came with them, and what was removed, in
-- this order. For the functions below.
CREATE FUNCTION memtui.read_between(entered integer, after bigint, until bigint)
    RETURNS TABLE (sort text, number bigint, one bytea, two bytea, three bytea, four bytea)
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT 'event', e.seq, e.body, e.hash, t.answer, t.arguments
        FROM memtui.events AS e LEFT JOIN memtui.texts AS t ON t.store = e.store AND t.seq = e.seq
        WHERE e.store = entered AND e.seq > after AND e.seq <= until ORDER BY e.seq;
    RETURN QUERY SELECT 'version', v.seq, v.sha256, v.data, NULL::bytea, NULL::bytea
        FROM memtui.versions AS v WHERE v.store = entered AND v.seq > after AND v.seq <= until;
    RETURN QUERY SELECT x.* FROM memtui.removals AS r, LATERAL (
            SELECT 'removed version', r.seq, v, NULL::bytea, NULL::bytea, NULL::bytea FROM unnest(r.versions) AS u (v)
            UNION ALL SELECT 'removed text', t, NULL, NULL, NULL, NULL FROM unnest(r.texts) AS u (t)
        ) AS x WHERE r.store = entered AND r.seq > after AND r.seq <= until;
END $$;

-- MT002: a store does not go on from an event of this number and hash. For the functions below.
CREATE FUNCTION memtui.check_base(entered integer, base bigint, expected bytea, head bigint) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF base > 0 AND NOT EXISTS (SELECT FROM memtui.events AS e
            WHERE e.store = entered AND e.seq = base AND e.hash = expected) THEN
        RAISE EXCEPTION 'the record does not go on from event %', base USING ERRCODE = 'MT002', DETAIL = head::text;
    END IF;
END $$;

-- What came after an event: see `read_between`. At most `most` events, with which all that belongs to them comes.
CREATE FUNCTION memtui.get_after(store text, after bigint, expected bytea, most integer)
    RETURNS TABLE (sort text, number bigint, one bytea, two bytea, three bytea, four bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'read');
    IF entered.head = after AND entered.hash = expected THEN
        RETURN;
    END IF;
    PERFORM memtui.check_base(entered.id, after, expected, entered.head);
    RETURN QUERY SELECT * FROM memtui.read_between(entered.id, after, least(entered.head, after + most));
END $$;

-- Add events behind the last one, all or none. Whoever calls has seen the store as it was at `base`, and what came since
-- may be neither more than `most` events nor one that has any of the bytes of `related` in it; where `related` is null,
-- nothing may have come. An event is its canonical bytes before and after its number, which it is given here, with its
-- hash: so a client cannot break the chain. It is signed by an actor that the role may be (MT004), and each text is what
-- its hash says (MT005). `gone` are versions that are removed, and `silenced` the events whose texts are.
--
-- The first row is `added`, with the number and the hash of the last event, and whether anybody listens; or `overtaken`:
-- nothing was added, and the store is locked, as `lock` leaves it. The others are what came since: see `read_between`.
-- A call that was carried out already, by the number of it that is in `command`, gets its row again, and does nothing.
-- With `release` the lock of `lock` ends with this transaction.
CREATE FUNCTION memtui.append(store text, base bigint, expected bytea, command bytea, related bytea[], most integer,
        starts bytea[], ends bytea[], answers bytea[], arguments bytea[], shas bytea[], data bytea[], gone bytea[],
        silenced bigint[], release boolean)
    RETURNS TABLE (sort text, number bigint, one bytea, two bytea, three bytea, four bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entered record; previous bytea; first bigint; last bigint; amount integer := cardinality(starts); signed bytea;
    body bytea; bodies bytea[] := '{}'; hashes bytea[] := '{}'; is_heard bytea;
BEGIN
    entered := memtui.enter(store, CASE WHEN gone <> '{}' OR silenced <> '{}' THEN 'redact' ELSE 'write' END);
    PERFORM pg_advisory_xact_lock(1835363700, entered.id);
    SELECT s.head, s.hash INTO last, previous FROM memtui.stores AS s WHERE s.id = entered.id;
    is_heard := CASE WHEN pg_try_advisory_xact_lock(1835363702, entered.id) THEN '' ELSE 'heard' END::bytea;
    IF last <> base OR previous <> expected THEN
        PERFORM memtui.check_base(entered.id, base, expected, last);
        SELECT e.seq, e.hash INTO number, one FROM memtui.events AS e
            WHERE e.store = entered.id AND e.command = append.command;
        IF FOUND THEN
            IF release THEN
                PERFORM memtui.release(entered.id);
            END IF;
            RETURN QUERY SELECT 'added', number, one, is_heard, NULL::bytea, NULL::bytea;
            RETURN QUERY SELECT * FROM memtui.read_between(entered.id, base, number - amount);
            RETURN;
        END IF;
        IF last - base > most OR related IS NULL OR EXISTS (SELECT FROM memtui.events AS e, unnest(related) AS r (part)
                WHERE e.store = entered.id AND e.seq > base AND position(r.part IN e.body) > 0) THEN
            PERFORM memtui.keep(entered.id);
            RETURN QUERY SELECT 'overtaken', last, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea;
            RETURN QUERY SELECT * FROM memtui.read_between(entered.id, base, least(last, base + 2000));
            RETURN;
        END IF;
    END IF;
    first := last + 1;
    signed := convert_to('{"actor":["agent","' || entered.agent || '",', 'UTF8');
    FOR i IN 1 .. amount LOOP
        last := last + 1;
        -- Canonical JSON: a quotation mark in a string is escaped, so these are keys, and `actor` is the first one.
        IF position('"seq":' IN starts[i]) <> length(starts[i]) - 5 OR position('"seq":' IN ends[i]) > 0
                OR substr(ends[i], 1, 1) NOT IN (',', '}') THEN
            RAISE EXCEPTION 'event % has no place for its number', last USING ERRCODE = 'MT005';
        END IF;
        IF signed IS NOT NULL AND (substr(starts[i], 1, length(signed)) <> signed
                OR position('"actor":' IN substr(starts[i], 3)) > 0 OR position('"actor":' IN ends[i]) > 0
                OR position('"noted":' IN starts[i]) > 0 OR position('"noted":' IN ends[i]) > 0) THEN
            RAISE EXCEPTION 'signed by another than %', entered.agent USING ERRCODE = 'MT004';
        END IF;
        body := starts[i] || last::text::bytea || ends[i];
        previous := sha256(previous || body);
        bodies[i] := body;
        hashes[i] := previous;
    END LOOP;
    INSERT INTO memtui.events
        SELECT entered.tenant, entered.id, first - 1 + n, b, h, CASE WHEN n = amount THEN append.command END
        FROM unnest(bodies, hashes) WITH ORDINALITY AS rows (b, h, n);
    INSERT INTO memtui.texts SELECT entered.tenant, entered.id, first - 1 + n, a, g
        FROM unnest(answers, arguments) WITH ORDINALITY AS rows (a, g, n) WHERE a IS NOT NULL OR g IS NOT NULL;
    FOR i IN 1 .. cardinality(shas) LOOP
        IF sha256(data[i]) <> shas[i] THEN
            RAISE EXCEPTION 'a text is not what its hash says' USING ERRCODE = 'MT005';
        END IF;
    END LOOP;
    IF shas <> '{}' THEN
        INSERT INTO memtui.versions AS v SELECT entered.tenant, entered.id, s, greatest(last, first), d
            FROM unnest(shas, data) AS rows (s, d)
            ON CONFLICT ON CONSTRAINT versions_pkey DO UPDATE SET data = excluded.data, seq = excluded.seq
            WHERE v.data IS NULL AND excluded.data IS NOT NULL;
    END IF;
    IF gone <> '{}' OR silenced <> '{}' THEN
        UPDATE memtui.versions AS v SET data = NULL WHERE v.store = entered.id AND v.sha256 = ANY (gone);
        DELETE FROM memtui.texts AS t WHERE t.store = entered.id AND t.seq = ANY (silenced);
        INSERT INTO memtui.removals VALUES (entered.tenant, entered.id, last, gone, silenced);
    END IF;
    UPDATE memtui.stores AS s SET head = last, hash = previous WHERE s.id = entered.id;
    IF release THEN -- that of this transaction holds until others can see what it added
        PERFORM memtui.release(entered.id);
    END IF;
    sort := 'added'; number := last; one := previous; two := is_heard;
    RETURN NEXT;
    IF first > base + 1 THEN
        RETURN QUERY SELECT * FROM memtui.read_between(entered.id, base, first - 1);
    END IF;
END $$;

-- The lock of a store, of a session: a machine that was put to sleep must not keep the others out. For the functions below.
CREATE FUNCTION memtui.keep(entered integer) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_lock(1835363700, entered), set_config('idle_session_timeout', '30s', false);
END $$;

CREATE FUNCTION memtui.release(entered integer) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_unlock(1835363700, entered), set_config('idle_session_timeout', '0', false);
END $$;

-- Keep others from adding to a store until `unlock`, or the end of the connection, which comes after 30 seconds without
-- a call.
CREATE FUNCTION memtui.lock(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM memtui.keep(entered.id);
END $$;

-- As `lock`, and what came after an event by then.
CREATE FUNCTION memtui.lock_after(store text, after bigint, expected bytea, most integer)
    RETURNS TABLE (sort text, number bigint, one bytea, two bytea, three bytea, four bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM memtui.lock(store);
    RETURN QUERY SELECT * FROM memtui.get_after(store, after, expected, most);
END $$;

CREATE FUNCTION memtui.unlock(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM memtui.release(entered.id);
END $$;

-- Have `append` tell whoever adds something that somebody listens, until the end of the connection.
CREATE FUNCTION memtui.attend(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'read');
    PERFORM pg_advisory_lock_shared(1835363702, entered.id);
END $$;

-- Tell who listens that there is something new: outside the transaction that wrote it, where it would hold up others.
CREATE FUNCTION memtui.ring(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM set_config('synchronous_commit', 'off', true), pg_notify('memtui', entered.id::text);
END $$;

-- The number by which the bell names a store, that of the schema, and the only name that the role signs with, if any.
CREATE FUNCTION memtui.get_number(store text) RETURNS TABLE (number integer, version integer, agent text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered record;
BEGIN
    entered := memtui.enter(store, 'read');
    RETURN QUERY SELECT entered.id, max(m.version), entered.agent FROM memtui.migrations AS m;
END $$;

REVOKE ALL ON ALL TABLES IN SCHEMA memtui FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memtui FROM PUBLIC;
GRANT USAGE ON SCHEMA memtui TO memtui_user;
GRANT EXECUTE ON FUNCTION memtui.get_after, memtui.append, memtui.lock, memtui.lock_after, memtui.unlock,
    memtui.attend, memtui.ring, memtui.get_number TO memtui_user;
