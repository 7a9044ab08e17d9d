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

CREATE TABLE memtui.events (
    tenant integer NOT NULL,
    store integer NOT NULL REFERENCES memtui.stores,
    seq bigint NOT NULL,
    body bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (store, seq)
);

-- Beside the chain, which holds their hashes only: they can be removed.
CREATE TABLE memtui.texts (
    tenant integer NOT NULL,
    store integer NOT NULL,
    seq bigint NOT NULL,
    answer bytea,
    arguments bytea,
    PRIMARY KEY (store, seq),
    FOREIGN KEY (store, seq) REFERENCES memtui.events
);

CREATE TABLE memtui.versions (
    tenant integer NOT NULL,
    store integer NOT NULL REFERENCES memtui.stores,
    sha256 bytea NOT NULL,
    seq bigint NOT NULL,                           -- the event with which it came, or came back
    data bytea,                                    -- null where it was removed
    PRIMARY KEY (store, sha256)
);
CREATE INDEX ON memtui.versions (store, seq);

-- What was removed, for the copies of a store on other machines.
CREATE TABLE memtui.removals (
    tenant integer NOT NULL,
    store integer NOT NULL REFERENCES memtui.stores,
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

-- In PL/pgSQL, which keeps its plan: each statement below asks it, and SQL would be planned each time.
CREATE FUNCTION memtui.my_tenants() RETURNS integer[] LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(DISTINCT tenant), '{}') FROM memtui.grants WHERE role = session_user);
END $$;

DO $$
DECLARE each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['stores', 'events', 'texts', 'versions', 'removals'] LOOP
        EXECUTE format('ALTER TABLE memtui.%I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format('ALTER TABLE memtui.%I FORCE ROW LEVEL SECURITY', each);
        EXECUTE format('CREATE POLICY tenants ON memtui.%I USING (tenant = ANY ((SELECT memtui.my_tenants())::integer[]))',
            each);
    END LOOP;
END $$;

-- The store that a role may use in a way. MT003: it may not, or there is none, which it is not told apart.
CREATE FUNCTION memtui.enter(wanted text, use text) RETURNS memtui.stores LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE granted memtui.grants; there memtui.stores;
BEGIN
    SELECT * INTO granted FROM memtui.grants
        WHERE role = session_user AND (store = wanted OR store IS NULL) ORDER BY store NULLS LAST LIMIT 1;
    IF NOT FOUND OR NOT use = ANY (granted.may) THEN
        RAISE EXCEPTION 'no right to %', use USING ERRCODE = 'MT003';
    END IF;
    SELECT * INTO there FROM memtui.stores WHERE tenant = granted.tenant AND name = wanted;
    IF NOT FOUND THEN
        IF NOT 'write' = ANY (granted.may) THEN
            RAISE EXCEPTION 'no such store' USING ERRCODE = 'MT003';
        END IF;
        INSERT INTO memtui.stores (tenant, name) VALUES (granted.tenant, wanted)
            ON CONFLICT (tenant, name) DO NOTHING;
        SELECT * INTO there FROM memtui.stores WHERE tenant = granted.tenant AND name = wanted;
    END IF;
    RETURN there;
END $$;

-- What came after an event: its events, their texts, the versions that came with them, and what was removed, in this
-- order. MT002: the store does not go on from there. At most `most` events, with which all that belongs to them comes.
CREATE FUNCTION memtui.get_after(store text, after bigint, expected bytea, most integer)
    RETURNS TABLE (sort text, number bigint, one bytea, two bytea, three bytea, four bytea)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered memtui.stores; until bigint;
BEGIN
    entered := memtui.enter(store, 'read');
    IF entered.head = after AND entered.hash = expected THEN
        RETURN;
    END IF;
    IF after > 0 AND NOT EXISTS (SELECT FROM memtui.events AS e
            WHERE e.store = entered.id AND e.seq = after AND e.hash = expected) THEN
        RAISE EXCEPTION 'the record does not go on from event %', after
            USING ERRCODE = 'MT002', DETAIL = entered.head::text;
    END IF;
    until := least(entered.head, after + most);
    RETURN QUERY SELECT 'event', e.seq, e.body, e.hash, t.answer, t.arguments
        FROM memtui.events AS e LEFT JOIN memtui.texts AS t ON t.store = e.store AND t.seq = e.seq
        WHERE e.store = entered.id AND e.seq > after AND e.seq <= until ORDER BY e.seq;
    RETURN QUERY SELECT 'version', v.seq, v.sha256, v.data, NULL::bytea, NULL::bytea
        FROM memtui.versions AS v WHERE v.store = entered.id AND v.seq > after AND v.seq <= until;
    RETURN QUERY SELECT 'removed version', r.seq, unnest(r.versions), NULL::bytea, NULL::bytea, NULL::bytea
        FROM memtui.removals AS r WHERE r.store = entered.id AND r.seq > after AND r.seq <= until;
    RETURN QUERY SELECT 'removed text', unnest(r.texts), NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea
        FROM memtui.removals AS r WHERE r.store = entered.id AND r.seq > after AND r.seq <= until;
END $$;

-- Add events behind `base`, which must be the last one: MT001 otherwise. All or none, checked here: each is chained to
-- the one before it, bears its number, and is signed by an actor that the role may be (MT004); each text is what its
-- hash says. `gone` are versions that are removed, and `silenced` the events whose texts are. With `release` the lock of
-- `lock` ends with this transaction.
CREATE FUNCTION memtui.append(store text, base bigint, bodies bytea[], hashes bytea[], answers bytea[],
        arguments bytea[], shas bytea[], data bytea[], gone bytea[], silenced bigint[], release boolean)
    RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    entered memtui.stores; previous bytea; body text; bound text; last bigint := base;
BEGIN
    entered := memtui.enter(store, CASE WHEN gone <> '{}' OR silenced <> '{}' THEN 'redact' ELSE 'write' END);
    PERFORM pg_advisory_xact_lock(1835363700, entered.id);
    SELECT head, hash INTO entered.head, previous FROM memtui.stores WHERE id = entered.id;
    IF entered.head <> base THEN
        RAISE EXCEPTION 'event % came before', entered.head USING ERRCODE = 'MT001';
    END IF;
    SELECT g.agent INTO bound FROM memtui.grants AS g WHERE g.role = session_user
        AND (g.store = entered.name OR g.store IS NULL) ORDER BY g.store NULLS LAST LIMIT 1;
    FOR i IN 1 .. cardinality(bodies) LOOP
        last := last + 1;
        previous := sha256(previous || bodies[i]);
        -- Canonical JSON: a quotation mark in a string is escaped, so these are keys, and `actor` is the first one.
        body := convert_from(bodies[i], 'LATIN1');
        IF previous <> hashes[i] OR body !~ ('"seq":' || last || '[,}]') OR body ~ '"seq":.*"seq":' THEN
            RAISE EXCEPTION 'event % is not chained', last USING ERRCODE = 'MT005';
        END IF;
        IF bound IS NOT NULL AND (NOT starts_with(body, '{"actor":["agent","' || bound || '",')
                OR body ~ '"actor":.*"actor":' OR body ~ '"noted":') THEN
            RAISE EXCEPTION 'signed by another than %', bound USING ERRCODE = 'MT004';
        END IF;
    END LOOP;
    INSERT INTO memtui.events SELECT entered.tenant, entered.id, base + n, b, h
        FROM unnest(bodies, hashes) WITH ORDINALITY AS rows (b, h, n);
    INSERT INTO memtui.texts SELECT entered.tenant, entered.id, base + n, a, g
        FROM unnest(answers, arguments) WITH ORDINALITY AS rows (a, g, n) WHERE a IS NOT NULL OR g IS NOT NULL;
    IF EXISTS (SELECT FROM unnest(shas, data) AS rows (s, d) WHERE d IS NOT NULL AND sha256(d) <> s) THEN
        RAISE EXCEPTION 'a text is not what its hash says' USING ERRCODE = 'MT005';
    END IF;
    INSERT INTO memtui.versions AS v SELECT entered.tenant, entered.id, s, greatest(last, base + 1), d
        FROM unnest(shas, data) AS rows (s, d)
        ON CONFLICT ON CONSTRAINT versions_pkey DO UPDATE SET data = excluded.data, seq = excluded.seq
        WHERE v.data IS NULL AND excluded.data IS NOT NULL;
    IF gone <> '{}' OR silenced <> '{}' THEN
        UPDATE memtui.versions AS v SET data = NULL WHERE v.store = entered.id AND v.sha256 = ANY (gone);
        DELETE FROM memtui.texts AS t WHERE t.store = entered.id AND t.seq = ANY (silenced);
        INSERT INTO memtui.removals VALUES (entered.tenant, entered.id, last, gone, silenced);
    END IF;
    UPDATE memtui.stores SET head = last, hash = previous WHERE id = entered.id;
    IF release THEN -- that of this transaction holds until others can see what it added
        PERFORM pg_advisory_unlock(1835363700, entered.id), set_config('idle_session_timeout', '0', false);
    END IF;
    RETURN last;
END $$;

-- Keep others from adding to a store until `unlock`, or the end of the connection, which comes after 30 seconds without
-- a call: a machine that was put to sleep must not keep the others out.
CREATE FUNCTION memtui.lock(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered memtui.stores;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM pg_advisory_lock(1835363700, entered.id), set_config('idle_session_timeout', '30s', false);
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
DECLARE entered memtui.stores;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM pg_advisory_unlock(1835363700, entered.id), set_config('idle_session_timeout', '0', false);
END $$;

-- Whether the events behind `base` end with that of a hash: true; others were added: false; none were: null.
CREATE FUNCTION memtui.find(store text, base bigint, expected bytea) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered memtui.stores;
BEGIN
    entered := memtui.enter(store, 'read');
    IF entered.head <= base THEN
        RETURN NULL;
    END IF;
    RETURN EXISTS (SELECT FROM memtui.events AS e WHERE e.store = entered.id AND e.seq > base AND e.hash = expected);
END $$;

-- Tell who listens that there is something new: outside the transaction that wrote it, where it would hold up others.
CREATE FUNCTION memtui.ring(store text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered memtui.stores;
BEGIN
    entered := memtui.enter(store, 'write');
    PERFORM pg_notify('memtui', entered.id::text);
END $$;

-- The number by which the bell names a store, that of the schema, and the only name that the role signs with, if any.
CREATE FUNCTION memtui.get_number(store text) RETURNS TABLE (number integer, version integer, agent text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE entered memtui.stores;
BEGIN
    entered := memtui.enter(store, 'read');
    RETURN QUERY SELECT entered.id, max(m.version), (SELECT g.agent FROM memtui.grants AS g WHERE g.role = session_user
        AND (g.store = entered.name OR g.store IS NULL) ORDER BY g.store NULLS LAST LIMIT 1) FROM memtui.migrations AS m;
END $$;

REVOKE ALL ON ALL TABLES IN SCHEMA memtui FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA memtui FROM PUBLIC;
GRANT USAGE ON SCHEMA memtui TO memtui_user;
GRANT EXECUTE ON FUNCTION memtui.get_after, memtui.append, memtui.find, memtui.lock, memtui.lock_after, memtui.unlock, memtui.ring, memtui.get_number
    TO memtui_user;
