import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { UsageError, labelled } from './command.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { getOrg } from './org.ts'
import { createModelCatalog } from '../agents/agents.ts'
import type { Config } from '../config/config.ts'
import { systemActor } from '../identity/actor.ts'
import { languages } from '../platform/text/languages.ts'
import type { Language } from '../platform/text/languages.ts'
import { logoPath, removeLogo, setLogo } from '../identity/members/logo.ts'
import type { OrgSettingsRow } from '../identity/members/org-queries.ts'
import { updateOrg } from '../identity/members/orgs.ts'

const actorName = 'atrium command'
const maxPictureBytes = 1_048_576

/** Undefined without the option; null for `none`, which removes what the org has set. */
const given = ({ options }: Arguments, name: string): string | null | undefined =>
  options[name] === 'none' ? null : options[name]

const languageOf = (text: string | null | undefined): Language | null | undefined => {
  if (text === null || text === undefined) return text
  const language = languages.find((one) => one === text)
  if (language === undefined) throw new UsageError(`--language must be ${languages.join(', ')} or none`, 'org defaults')
  return language
}

const record = (org: OrgSettingsRow) => {
  const { id, name, defaultModel, defaultTimeZone, defaultLanguage, createdAt, updatedAt } = org
  return { id, name, defaultModel, defaultTimeZone, defaultLanguage, createdAt, updatedAt }
}

const isModel = (config: Config, id: string): boolean =>
  createModelCatalog(config.modelProviders).find(id)?.capabilities.embeddings === false

const orgDefaults = async ({ config, db }: CommandContext, args: Arguments): Promise<Output> => {
  const { id } = await getOrg(db, args.operand)
  const change = {
    defaultModel: given(args, 'model'),
    defaultTimeZone: given(args, 'time-zone'),
    defaultLanguage: languageOf(given(args, 'language')),
  }
  const fields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const org = await db.transaction({ orgId: id }, (db) =>
    updateOrg(db, systemActor(id, actorName), fields, (model) => isModel(config, model)),
  )
  return {
    json: { org: record(org) },
    lines: labelled([
      ['Model of new agents', org.defaultModel ?? `${config.defaultAgentModel}, by the server`],
      ['Time zone', org.defaultTimeZone ?? 'UTC'],
      ['Language of new members', org.defaultLanguage ?? 'that of their browser'],
    ]),
  }
}

/** The file, unless it is larger than a picture may be. */
const readPicture = async (path: string): Promise<Buffer> => {
  const file = await open(path).catch((error: unknown) => {
    throw new UsageError(`--file cannot be read: ${(error as Error).message}`, 'org logo')
  })
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxPictureBytes + 1), 0, maxPictureBytes + 1, 0)
    if (bytesRead > maxPictureBytes) throw new UsageError('--file must have at most 1 MB', 'org logo')
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

const orgLogo = async ({ db, serverUrl }: CommandContext, args: Arguments): Promise<Output> => {
  const { file, remove } = args.options
  if ((file === undefined) === (remove === undefined))
    throw new UsageError('Give either --file or --remove', 'org logo')
  const { id } = await getOrg(db, args.operand)
  const actor = systemActor(id, actorName)
  if (file === undefined) {
    await removeLogo(db, actor)
    return { json: { org: { id, logoUrl: null } }, lines: ['The logo was removed.'] }
  }
  const picture = await readPicture(file)
  // Other commands do not need what reads pictures.
  const { createPreviewer } = await import('../files/preview/previewer.ts')
  const previewer = createPreviewer({ timeoutMs: 60_000 })
  try {
    const logo = await previewer.logo({ open: async () => Readable.from([picture]) })
    const { logoVersion } = await setLogo(db, actor, logo)
    const logoUrl = `${serverUrl}${logoPath(id, logoVersion) ?? ''}`
    return { json: { org: { id, logoUrl } }, lines: [logoUrl] }
  } finally {
    await previewer.close()
  }
}

const operand = 'ID'
const needs = 'database'
const details = 'ID is the ID of the org.'

/** Commands for the settings of orgs. */
export const orgCommands: Command[] = [
  {
    words: 'org defaults',
    summary: 'Show or set the defaults of an org',
    operand,
    options: {
      model: { value: 'ID', description: 'the model of new agents, or none: that of the server' },
      'time-zone': { value: 'NAME', description: 'a name such as Europe/Berlin, or none: UTC' },
      language: {
        value: 'TAG',
        description: `the language of new members: ${languages.join(', ')}, or none: that of their browser`,
      },
    },
    details: `${details} The time zone decides which date agents have.`,
    needs,
    run: orgDefaults,
  },
  {
    words: 'org logo',
    summary: 'Set or remove the logo of an org',
    operand,
    options: {
      file: { value: 'PATH', description: 'a PNG, JPEG or WebP picture with at most 1 MB' },
      remove: { value: '', description: 'remove the logo' },
    },
    details: `${details} Everybody who knows the URL of the logo can see it.`,
    needs,
    run: orgLogo,
  },
]
