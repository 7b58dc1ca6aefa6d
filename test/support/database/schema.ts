import pg from 'pg'

// Daily partitions depend on the date and are copies of their parents, so they are left out.
const queries = {
  columns: `
    select c.relname || '.' || a.attname as name,
      concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
        'collate ' || nullif(a.attcollation, t.typcollation)::regcollation::text, 'storage ' || a.attstorage::text,
        'identity ' || nullif(a.attidentity::text, ''), 'generated ' || nullif(a.attgenerated::text, ''),
        pg_get_expr(d.adbin, d.adrelid)) as definition
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  tables: `
    select c.relname as name, concat_ws(' ', c.relkind::text, array_to_string(c.reloptions, ','), pg_get_partkeydef(c.oid),
      case when c.relrowsecurity then 'row security' end) as definition
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition`,
  constraints: `
    select c.relname || '.' || k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where c.relnamespace = 'public'::regnamespace and not c.relispartition`,
  indexes: `
    select i.relname as name, pg_get_indexdef(i.oid) as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class c on c.oid = x.indrelid
    where i.relnamespace = 'public'::regnamespace and not c.relispartition`,
  triggers: `
    select c.relname || '.' || t.tgname as name, pg_get_triggerdef(t.oid) as definition
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not t.tgisinternal and not c.relispartition`,
  policies: `
    select c.relname || '.' || p.polname as name, pg_get_expr(p.polqual, p.polrelid) as definition
    from pg_policy p join pg_class c on c.oid = p.polrelid`,
  privileges: `
    select c.relname || ' ' || g.privilege_type as name, g.grantee::regrole::text as definition
    from pg_class c, aclexplode(c.relacl) g
    where c.relnamespace = 'public'::regnamespace and not c.relispartition and g.grantee <> c.relowner`,
  functions: `
    select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  extensions: `select extname as name, extversion as definition from pg_extension`,
}

export type Schema = Record<keyof typeof queries, Record<string, string>>

/** The definition of every object in the schema `public`, by its kind and name. The order of columns is not compared. */
export const describeSchema = async (connection: pg.ClientConfig): Promise<Schema> => {
  const client = new pg.Client(connection)
  await client.connect()
  const described: Partial<Schema> = {}
  try {
    for (const kind of Object.keys(queries) as (keyof typeof queries)[]) {
      const { rows } = await client.query<{ name: string; definition: string }>(queries[kind])
      described[kind] = Object.fromEntries(
        rows.map(({ name, definition }) => [name, definition] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      )
    }
  } finally {
    await client.end()
  }
  return described as Schema
}
