import type { Database, Db } from '../../platform/database/database.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Actor } from '../actor.ts'
import { audit } from '../audit/audit.ts'
import { cleanName } from '../names.ts'
import type { Language } from '../../platform/text/languages.ts'
import { recordMember } from './events.ts'
import * as queries from './queries.ts'

/** Sets the language of the console for the caller in the org of the call. Null: that of the browser. */
export const setLanguage = (db: Database, { orgId, userId }: Actor, language: Language | null): Promise<unknown> =>
  queries.setLanguage(db, orgId, userId, language)

/** The language that the caller has chosen in the org of the call. Null: that of the browser. */
export const getLanguage = async (db: Db, { orgId, userId }: Actor): Promise<Language | null> =>
  (await queries.findLanguage(db, orgId, userId))?.language ?? null

/** Changes the name of the caller in the org of the call; in other orgs the person keeps theirs. Returns the name. */
export const renameSelf = (db: Database, actor: Actor, wanted: string): Promise<string> =>
  db.transaction(actor, async (db) => {
    const { orgId, userId } = actor
    const name = cleanName(wanted)
    const member = await queries.lockMemberOfUser(db, orgId, userId)
    if (!member) throw notFound('Member')
    const { id, name: before } = member
    if (name === before) return name
    await queries.renameMember(db, orgId, id, name)
    await queries.bumpAuthority(db, orgId)
    await audit(db, actor, 'member.renamed', { type: 'member', id, details: { from: before, to: name } })
    await recordMember(db, actor, 'member.updated', { memberId: id, userId, name, changed: ['name'] })
    return name
  })
