import { deflateSync, crc32 } from 'node:zlib'
import { sql } from '../../src/platform/database/database.ts'
import { givePassword } from '../support/console.ts'
import { docx, escapeXml } from '../support/documents.ts'
import { createEndpoint, endpointsPath, patchEndpoint } from '../support/event-endpoints.ts'
import { create, upload } from '../support/files.ts'
import type { TestActor, TestApp } from '../harness.ts'

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data])
  const sizes = Buffer.alloc(8)
  sizes.writeUInt32BE(data.length, 0)
  sizes.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([sizes.subarray(0, 4), body, sizes.subarray(4)])
}

/** A PNG image of colored waves. */
export const picture = (width: number, height: number): Buffer => {
  const rows = Buffer.alloc(height * (width * 3 + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const wave = Math.sin(x / 90 + Math.sin(y / 70) * 1.6) * 0.5 + 0.5
      const at = y * (width * 3 + 1) + 1 + x * 3
      // In steps, because smooth gradients compress badly in screenshots.
      const step = Math.round((wave + y / height) * 9) / 18
      rows[at] = 60 + step * 150
      rows[at + 1] = 80 + step * 70
      rows[at + 2] = 200 - step * 40
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October']
const regions = ['Nordics', 'Benelux', 'DACH', 'Iberia', 'UK & Ireland', 'North America']

const salesTable = (): string => {
  const lines = ['Month,Region,Orders,Revenue,Returns,Growth']
  for (const [m, month] of months.entries()) {
    for (const [r, region] of regions.entries()) {
      const orders = 420 + ((m * 37 + r * 91) % 260)
      lines.push(`${month},${region},${orders},${orders * 84},${(m + r) % 9},${((m * 7 + r * 3) % 23) - 4}%`)
    }
  }
  return lines.join('\n')
}

const paragraph = (text: string, style = ''): string =>
  `<w:p>${style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t>${escapeXml(text)}</w:t></w:r></w:p>`

const brief = (): Buffer =>
  docx({
    styles:
      '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style>',
    body: [
      paragraph('Autumn catalogue: creative brief', 'Heading1'),
      paragraph(
        'Northwind sells furniture that lasts. This season we show how it ages: the same chair, new and after ten years of breakfasts.',
      ),
      paragraph('Audience', 'Heading2'),
      paragraph(
        'People who furnish their second home, not their first. They read, they compare, and they ask what a thing is made of.',
      ),
      paragraph('Tone', 'Heading2'),
      paragraph('Plain and warm. No superlatives; a number wherever there is one.'),
    ].join(''),
  })

export interface Sample {
  owner: TestActor
  folderId: string
  ids: Record<string, string>
}

const people = [
  ['Mara Lindqvist', 'mara@northwind.example', 'admin'],
  ['Jonas Weber', 'jonas@northwind.example', 'member'],
  ['Priya Raman', 'priya@northwind.example', 'billing_manager'],
  ['Tomás Oliveira', 'tomas@northwind.example', 'member'],
] as const

type Post = (path: string, json: unknown) => Promise<Record<string, { id: string } & string>>

const idOf = (created: unknown): string => (created as { id: string }).id

/** Creates two agents and conversations with them, one with a paid model. */
const createConversations = async (post: Post, ids: Record<string, string>): Promise<void> => {
  await post('/billing/deposit', { amountCents: 5_000 })
  const model = { model: 'atrium/demo-paid' }
  ids['editor'] = idOf(
    await post('/agents', {
      ...model,
      name: 'Catalogue editor',
      description: 'Writes and checks the texts of the catalogue.',
      systemPrompt: 'You edit furniture catalogues. Plain and warm; a number wherever there is one.',
      allowedTools: ['files.search', 'files.read'],
    }),
  )
  await post('/agents', { name: 'Price watcher', description: 'Compares our prices every morning.' })
  const session = await post('/sessions', { agentId: ids['editor'], title: 'Texts for the terrace chairs' })
  ids['session'] = idOf(session)
  const send = (text: string) => post(`/sessions/${ids['session']}/messages`, { text })
  await send('/tool files.search {"query": "brief"}')
  await send('Which tone does the brief ask for, and who is the audience?')
  const translations = await post('/sessions', { agentId: ids['editor'], title: 'Translations into Portuguese' })
  await post(`/sessions/${idOf(translations)}/messages`, { text: '/tokens 240000 52000 80000 0' })
  await post('/sessions', { agentId: 'assistant', title: 'Opening hours of the showroom' })
}

/** Creates a webhook with a few events. */
const createWebhookEvents = async (post: Post, ids: Record<string, string>): Promise<void> => {
  ids['webhook'] = idOf(await post('/webhooks', { name: 'Shop orders', description: 'Orders of the web shop' }))
  for (const [type, order] of [
    ['order.created', 1041],
    ['order.paid', 1041],
    ['order.created', 1042],
  ] as const) {
    const payload = { type, order, total: 42_000, currency: 'EUR', customer: { city: 'Lisbon' } }
    await post('/webhooks/test', { webhookId: ids['webhook'], type, payload })
  }
}

/** Creates an event endpoint that keeps its deliveries, so that nothing is sent to other hosts. */
const createEventEndpoint = async (app: TestApp, owner: TestActor, ids: Record<string, string>): Promise<void> => {
  const endpoint = await createEndpoint(app, owner, {
    name: 'Data warehouse',
    types: ['agent.*', 'file.*', 'turn.completed', 'turn.failed', 'balance.low'],
    filter: { not: { path: 'data.name', prefix: 'Test' } },
  })
  await patchEndpoint(app, owner, endpoint, { status: 'paused' })
  await app.call('POST', `${endpointsPath}/${endpoint.id}/test`, { as: owner, json: { type: 'agent.updated' } })
  ids['endpoint'] = endpoint.id
}

/** Creates an org with the data of a small company after a few weeks of use. */
export const makeSample = async (app: TestApp): Promise<Sample> => {
  const owner = await app.createOrg('Northwind Studio')
  await app.db.execute(sql`update users set email = 'ada@northwind.example' where id = ${owner.userId}`)
  // Each org stores the names of its members.
  await app.db.execute(sql`update members set name = 'Ada Holm' where user_id = ${owner.userId}`)
  await givePassword(app, owner)
  const ids: Record<string, string> = {}
  const stepUp = await app.stepUp(owner)
  const post = async (path: string, json: unknown) => {
    const { body, text } = await app.call('POST', `/api/v1${path}`, { as: owner, json, headers: stepUp })
    if (body?.success !== true) throw new Error(text)
    return body.data
  }
  for (const [name, email, role] of people) await post('/members', { name, email, role })
  for (const name of ['Design', 'Sales']) await post('/workspaces', { name })
  for (const name of ['Autumn catalogue', 'Showroom Lisbon']) {
    await post('/projects', { name, description: `Everything about ${name}.` })
  }
  const folder = async (name: string, parentId?: string): Promise<string> =>
    (await create(app, owner, { source: 'folder', name, ...(parentId && { parentId }) })).file.id as string
  const marketing = await folder('Marketing')
  await folder('Finance')
  await folder('Contracts')
  const photos = await folder('Photos', marketing)
  await folder('Press', marketing)
  const add = async (name: string, type: string, bytes: string | Buffer, parentId = marketing) => {
    const file = await upload(app, owner, bytes, { name, type, parentId })
    ids[name] = file.id as string
    return file.id as string
  }
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
  await add('Creative brief.docx', word, brief())
  await add('Sales by region.csv', 'text/csv', salesTable())
  await add('Chair on the terrace.png', 'image/png', picture(1280, 800))
  await add(
    'Launch plan.md',
    'text/markdown',
    '# Launch plan\n\n1. Photos by the 12th\n2. Texts by the 20th\n3. Print\n',
  )
  await add('Price list.json', 'application/json', JSON.stringify({ chair: 420, table: 1180 }, null, 2))
  await add('Interview with the joiner.mp3', 'audio/mpeg', Buffer.alloc(48_000))
  await add('Archive 2025.zip', 'application/zip', Buffer.from('UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', 'base64'))
  for (let index = 1; index <= 24; index += 1) {
    await add(`Terrace ${String(index).padStart(2, '0')}.png`, 'image/png', picture(64 + index, 40), photos)
  }
  const tag = async (name: string, tags: string[]) =>
    app.call('PATCH', `/api/v1/files/${ids[name]}`, { as: owner, json: { tags } })
  await tag('Creative brief.docx', ['autumn', 'approved'])
  await tag('Sales by region.csv', ['q4'])
  for (const id of [photos, ids['Creative brief.docx'], ids['Price list.json']])
    await app.call('PUT', `/api/v1/files/${id}/favorite`, { as: owner })
  for (const name of ['Shop integration', 'Nightly export', 'CI']) {
    await post('/api-keys', { name, scopes: name === 'CI' ? ['files:*', 'agents:read'] : [] })
  }
  await createConversations(post, ids)
  await createWebhookEvents(post, ids)
  await createEventEndpoint(app, owner, ids)
  return { owner, folderId: marketing, ids }
}
