import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

// People belong to no org, so the tables of this file have no org_id.

export interface PersonRow {
  id: string
  email: string
  name: string
}

export const findPerson = (db: Db, id: string) =>
  db.row<PersonRow>(sql`select id, email, name from users where id = ${id}`)

export const findPersonByEmail = (db: Db, email: string) =>
  db.row<PersonRow>(sql`select id, email, name from users where email = ${email}`)

/** Undefined when a person with the address exists. */
export const insertPerson = (db: Db, person: PersonRow) =>
  db.row<PersonRow>(sql`
    insert into users (id, email, name) values (${person.id}, ${person.email}, ${person.name})
    on conflict (email) do nothing
    returning id, email, name`)

/** Locks people as `lockPerson` does, in order of id to prevent deadlocks. */
export const lockPeople = (db: Db, userIds: readonly string[]) =>
  db.execute(sql`select id from users where id = any(${userIds}::uuid[]) order by id for no key update`)

/** Locks the person: changes of their passwords and second factors wait until the transaction ends. */
export const lockPerson = (db: Db, userId: string) =>
  db.execute(sql`select id from users where id = ${userId} for no key update`)
