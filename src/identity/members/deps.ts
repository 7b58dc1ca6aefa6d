import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../platform/database/database.ts'
import type { OrgSettings } from '../schemas.ts'
import type { MakeLogo } from './logo.ts'
import type { EndConnections } from './members.ts'
import type { OrgSettingsRow } from './org-queries.ts'

export interface MemberRouteDeps {
  config: Config
  db: Database
  endConnections: EndConnections
}

export interface OrgRouteDeps {
  config: Config
  db: Database
  makeLogo: MakeLogo
  /** Whether agents can have this model. */
  isModel(id: string): boolean
}

/** The org as the API returns it. */
export type OrgRecordOf = (request: FastifyRequest, org: OrgSettingsRow) => Static<typeof OrgSettings>
