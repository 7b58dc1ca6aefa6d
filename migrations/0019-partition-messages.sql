-- Messages, model calls and tool calls hold nearly all bytes of sessions. They are partitioned by month by UUIDv7 ids, so
-- that retention drops months instead of deleting rows.
--
-- Two tables stay as they are:
--   - turns: (org_id, session_id, number) and (org_id, parent_call) are unique over all months, which the indexes of
--     partitions cannot ensure, and a turn is found by session, digest, parent and chain, which would search every month.
--     Its rows are small. Retention deletes them in batches.
--   - turn_events, whose rows live for a day: version 0.1, which runs beside this one during an upgrade, deletes old rows
--     by ctid. A ctid is unique in one partition only, so version 0.1 would delete frames of running turns from others.

-- Foreign keys from partitions: detaching a partition would check every row that refers to it, and dropping one would
-- lock the referenced table against every reader. None of them cascaded, and nothing deletes a session or an org. Rows
-- are inserted by statements that have locked the turn or the session. Retention removes messages and calls first and
-- their turns afterwards. `peer_chains` keeps its foreign key: neither it nor turns are partitioned.
-- At once: a transaction of a running server that has one of them and waits for another would be a deadlock.
lock table sessions, turns, messages, turn_steps, tool_calls in access exclusive mode;

alter table turn_steps drop constraint turn_steps_org_id_turn_id_fkey;
alter table tool_calls drop constraint tool_calls_org_id_turn_id_fkey;
alter table messages drop constraint messages_org_id_session_id_fkey;

insert into partitioned_tables (name, unit, ahead) values
  ('messages', 'month', 2), ('turn_steps', 'month', 2), ('tool_calls', 'month', 2);

-- The primary key becomes (org_id, id), which is unique already. The position in the session is no longer unique by an
-- index, which would have to contain the id; it is assigned under the lock on the session, whose counter it is.
select set_aside('messages');
alter table messages_initial drop constraint messages_initial_pkey;
alter table messages_initial add constraint messages_initial_pkey primary key using index messages_initial_id_key;
create table messages (
  like messages_initial including defaults including constraints including storage,
  constraint messages_pkey primary key (org_id, id)
) partition by range (id);
create index messages_by_position on messages (org_id, session_id, position);
create index messages_by_turn on messages (org_id, session_id, turn_number desc, position desc);
select adopt_initial_partition('messages', 'id');

select set_aside('turn_steps');
create table turn_steps (
  like turn_steps_initial including defaults including constraints including storage,
  constraint turn_steps_pkey primary key (org_id, turn_id, step, attempt)
) partition by range (turn_id);
select adopt_initial_partition('turn_steps', 'turn_id');

select set_aside('tool_calls');
create table tool_calls (
  like tool_calls_initial including defaults including constraints including storage,
  constraint tool_calls_pkey primary key (org_id, turn_id, step, place)
) partition by range (turn_id);
select adopt_initial_partition('tool_calls', 'turn_id');

select ensure_partitions();
-- In this transaction, so that no transaction of a running server finds the new tables without privileges.
select protect_tenant_tables();
