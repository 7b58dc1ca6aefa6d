-- One mechanism for all tables that are partitioned by time, so that retention drops a whole day or month instead of
-- deleting its rows. The partition key is a time, or a UUIDv7, whose first 48 bits are a time.

create table partitioned_tables (
  name text primary key,
  unit text not null check (unit in ('day', 'month')),
  -- How many units ahead partitions exist, so that inserts continue while nothing creates partitions.
  ahead smallint not null,
  -- Storage parameters of each partition.
  storage text
);
insert into partitioned_tables (name, unit, ahead, storage) values
  -- Rows up to 8 KB stay in one piece: compressing each event of 2 KB would cost more than it saves.
  ('webhook_events', 'day', 7, 'toast_tuple_target = 8160'),
  ('webhook_deliveries', 'day', 7, 'toast_tuple_target = 8160');

-- Partitions that retention has begun to remove. A partition is detached in one transaction and dropped in another, so a
-- process that dies in between leaves a table that no longer belongs to its parent; the next run drops it.
create table expired_partitions (
  name text primary key,
  parent text not null,
  expired_at timestamptz not null default now()
);

-- The time of a UUIDv7.
create function uuid_time(id uuid) returns timestamptz language sql immutable parallel safe as $$
  select to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)
$$;

-- The partitions of a table with their bounds as times; null for `minvalue`. `is_pending`: its detachment was interrupted.
create function partition_bounds(parent text)
returns table (part text, starts_at timestamptz, ends_at timestamptz, is_pending boolean) language plpgsql stable as $$
declare
  is_uuid boolean := (
    select a.atttypid = 'uuid'::regtype
    from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
    where p.partrelid = parent::regclass
  );
begin
  return query
    select b.relname::text,
      case when is_uuid then uuid_time(b.low::uuid) else b.low::timestamptz end,
      case when is_uuid then uuid_time(b.high::uuid) else b.high::timestamptz end,
      b.inhdetachpending
    from (
      select c.relname, i.inhdetachpending, substring(e.bound from $re$FROM \('([^']+)'\)$re$) as low,
        substring(e.bound from $re$TO \('([^']+)'\)$re$) as high
      from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) as e
      where i.inhparent = parent::regclass
    ) as b;
end
$$;

-- Creates the partition [first, next) of a table; `first` is null for `minvalue`. It is attached after it is complete, so
-- that inserts do not wait for it.
create function create_partition(parent text, part text, first timestamptz, next timestamptz) returns void
language plpgsql as $$
declare
  is_uuid boolean := (
    select a.atttypid = 'uuid'::regtype
    from pg_partitioned_table p join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
    where p.partrelid = parent::regclass
  );
  storage text := (select t.storage from partitioned_tables t where t.name = parent);
begin
  execute format('create table %I (like %I including all)%s', part, parent, coalesce(' with (' || storage || ')', ''));
  execute format('alter table %I attach partition %I for values from (%s) to (%L)', parent, part,
    case when first is null then 'minvalue' when is_uuid then quote_literal(uuid_at(first)) else quote_literal(first) end,
    case when is_uuid then uuid_at(next)::text else next::text end);
end
$$;

-- Creates the missing partitions of all tables, from one unit before `moment` to those ahead, and returns how many.
create function ensure_partitions(moment timestamptz default now()) returns integer language plpgsql as $$
declare
  settings partitioned_tables;
  utc timestamp := moment at time zone 'UTC';
  step interval;
  first timestamptz;
  next timestamptz;
  made integer := 0;
begin
  -- The key of ensure_webhook_partitions, which servers of the previous version call.
  perform pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
  for settings in select * from partitioned_tables order by name loop
    step := ('1 ' || settings.unit)::interval;
    for unit in -1 .. settings.ahead loop
      first := (date_trunc(settings.unit, utc) + unit * step) at time zone 'UTC';
      next := (date_trunc(settings.unit, utc) + (unit + 1) * step) at time zone 'UTC';
      continue when exists (
        select from partition_bounds(settings.name) b
        where coalesce(b.starts_at, '-infinity') < next and b.ends_at > first);
      perform create_partition(settings.name, settings.name ||
        to_char(first at time zone 'UTC', case settings.unit when 'day' then '_YYYYMMDD' else '_YYYYMM' end), first, next);
      made := made + 1;
    end loop;
  end loop;
  return made;
end
$$;

-- Covers everything before the first partition of a table with a partition of its own, after retention has dropped months.
-- A table that is partitioned by the ids of turns needs it: a turn that began before the retention can still end.
create function cover_past(parent text) returns void language plpgsql as $$
declare
  lowest timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhook partitions', 0));
  if exists (select from partition_bounds(parent) b where b.starts_at is null) then return; end if;
  select min(b.starts_at) into lowest from partition_bounds(parent) b;
  perform create_partition(parent, parent || to_char(lowest at time zone 'UTC', '"_before_"YYYYMMDD'), null, lowest);
end
$$;

-- Renames a table, its constraints and its indexes, so that a partitioned table can take their names.
create function set_aside(name text) returns void language plpgsql as $$
declare
  part text;
begin
  for part in
    select c.relname from pg_index x join pg_class c on c.oid = x.indexrelid where x.indrelid = name::regclass
  loop
    execute format('alter index %I rename to %I', part, replace(part, name, name || '_initial'));
  end loop;
  execute format('alter table %I rename to %I', name, name || '_initial');
end
$$;

-- Makes the table that was set aside the first partition of the new partitioned table of its name, in place: rows are not
-- copied. Indexes that it lacks are built. The role of tenants loses its access to the old table: it reads partitions
-- through their parent, whose policy applies then.
create function adopt_initial_partition(parent text, key text) returns void language plpgsql as $$
declare
  initial text := parent || '_initial';
  is_uuid boolean := (
    select a.atttypid = 'uuid'::regtype from pg_attribute a where a.attrelid = initial::regclass and a.attname = key
  );
  unit text := (select t.unit from partitioned_tables t where t.name = parent);
  last timestamptz;
  next timestamptz;
begin
  -- Rows of a server whose clock was ahead belong to it too.
  execute format(case when is_uuid then 'select max(uuid_time(%I)) from %I' else 'select max(%I) from %I' end, key, initial)
    into last;
  execute format('drop policy if exists tenant on %I', initial);
  execute format('alter table %I disable row level security', initial);
  if exists (select from pg_roles where rolname = 'atrium_tenant') then
    execute format('revoke all on %I from atrium_tenant', initial);
  end if;
  next := (date_trunc(unit, greatest(now(), last) at time zone 'UTC') + ('1 ' || unit)::interval) at time zone 'UTC';
  execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, initial,
    case when is_uuid then uuid_at(next)::text else next::text end);
end
$$;
