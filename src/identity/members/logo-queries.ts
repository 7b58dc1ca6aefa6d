import { sql } from '../../platform/database/database.ts'
import type { Db } from '../../platform/database/database.ts'

/** The sizes of a logo, as WebP. */
export interface Logo {
  /** 64 x 64 pixels. */
  small: Buffer
  /** 256 x 256 pixels. */
  large: Buffer
}

export interface LogoRow extends Logo {
  version: string
}

export const upsertLogo = (db: Db, orgId: string, { version, small, large }: LogoRow) =>
  db.execute(sql`
    insert into org_logos (org_id, version, small, large) values (${orgId}, ${version}, ${small}, ${large})
    on conflict (org_id) do update
    set version = excluded.version, small = excluded.small, large = excluded.large`)

export const deleteLogo = (db: Db, orgId: string) => db.execute(sql`delete from org_logos where org_id = ${orgId}`)

export const findLogo = (db: Db, orgId: string) =>
  db.row<LogoRow>(sql`select version, small, large from org_logos where org_id = ${orgId}`)
