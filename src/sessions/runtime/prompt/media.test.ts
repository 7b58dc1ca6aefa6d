import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import sharp from 'sharp'
import { callTools, rejectWith, reply, startFakeModel } from '../../../../test/fakes/model.ts'
import {
  claudeSays,
  fieldsNamed,
  geminiSays,
  gptSays,
  startFakeAnthropic,
  startFakeGoogle,
  startFakeOpenAi,
} from '../../../../test/fakes/native-models.ts'
import { startTestApp } from '../../../../test/harness.ts'
import type { TestActor } from '../../../../test/harness.ts'
import { ask, createAgent, openSession } from '../../../../test/support/chat.ts'
import { deposit } from '../../../../test/support/billing.ts'
import { pdf } from '../../../../test/support/documents.ts'
import { sql } from '../../../platform/database/database.ts'
import { create, pathOf, upload } from '../../../../test/support/files.ts'

const [compatible, anthropic, openai, google] = await Promise.all([
  startFakeModel(),
  startFakeAnthropic(),
  startFakeOpenAi(),
  startFakeGoogle(),
])
const sees = { input: 0, output: 0, contextWindow: 1_000_000, maxOutputTokens: 1_000, images: true, pdf: true }
const prices = {
  'claude/claude-sonnet-4-5': sees,
  'gpt/gpt-5.4': sees,
  'gemini/gemini-3-flash-preview': sees,
  'fake/seeing': { input: 0, output: 0, contextWindow: 200_000 },
  'fake/blind': { ...sees, images: false, pdf: false },
  'fake/priced': { ...sees, input: 300_000_000, output: 1_000_000 },
}
const pricesFile = join(await mkdtemp(join(tmpdir(), 'atrium-prices-')), 'prices.json')
await writeFile(pricesFile, JSON.stringify(prices))
after(() => rm(dirname(pricesFile), { recursive: true }))

const app = await startTestApp({
  BILLING_ENFORCED: 'true',
  MODEL_PROVIDERS: 'fake,claude,gpt,gemini',
  MODEL_PRICES_FILE: pricesFile,
  MODEL_FAKE_BASE_URL: compatible.baseUrl,
  MODEL_FAKE_MODELS: 'seeing,pictures,blind,priced',
  MODEL_FAKE_IMAGES: 'seeing,pictures',
  MODEL_FAKE_PDF: 'seeing',
  MODEL_FAKE_FREE: '1',
  MODEL_CLAUDE_PROTOCOL: 'anthropic',
  MODEL_CLAUDE_BASE_URL: anthropic.baseUrl,
  MODEL_CLAUDE_MODELS: 'claude-sonnet-4-5',
  MODEL_GPT_PROTOCOL: 'openai',
  MODEL_GPT_BASE_URL: openai.baseUrl,
  MODEL_GPT_MODELS: 'gpt-5.4',
  MODEL_GEMINI_PROTOCOL: 'google',
  MODEL_GEMINI_BASE_URL: google.baseUrl,
  MODEL_GEMINI_MODELS: 'gemini-3-flash-preview',
})

const openWith = async (as: TestActor, model: string, more: object = {}): Promise<string> => {
  await createAgent(app, as, { name: 'Viewer', model, allowedTools: [], ...more })
  return (await openSession(app, as, { agentId: 'viewer' })).id
}

const paint = (width: number, height: number, background = '#cc3300'): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer()

const picture = await paint(3_000, 1_000)
const document = pdf([['First page'], ['Second page']])

const attach = async (as: TestActor, bytes: Buffer, name: string): Promise<string> => {
  const type = name.endsWith('.pdf') ? 'application/pdf' : 'image/png'
  return (await upload(app, as, bytes, { name, type })).id
}

const askAbout = async (as: TestActor, sessionId: string, fileIds: string[], text = 'What is this?') =>
  ask(app, as, sessionId, { text, fileIds })

/** The type and size in pixels of base64. */
const sizeOf = async (base64: string) => {
  const { format, width, height } = await sharp(Buffer.from(base64, 'base64')).metadata()
  return [format, width, height]
}

const dataOf = (url: string): string => url.slice(url.indexOf(',') + 1)

/** Everything but data URLs and base64 of the last request. */
const textIn = (request: unknown): string =>
  JSON.stringify(request, (_key, value: unknown) =>
    typeof value === 'string' && value.length > 60_000 ? 'long' : value,
  )

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of four protocols
type Body = any

const protocols = [
  {
    name: 'chat completions',
    model: 'fake/seeing',
    play: () => compatible.play(reply(['A red picture.'])),
    fake: compatible,
    parts: (body: Body) => {
      const [text, image, file] = body.messages.at(-1).content
      assert.deepEqual([text.type, image.type, file.type], ['text', 'image_url', 'file'])
      assert.match(image.image_url.url, /^data:image\/jpeg;base64,/)
      assert.match(file.file.file_data, /^data:application\/pdf;base64,/)
      assert.equal(file.file.filename, 'b.pdf')
      return { text: text.text, image: dataOf(image.image_url.url), file: dataOf(file.file.file_data) }
    },
  },
  {
    name: 'Anthropic',
    model: 'claude/claude-sonnet-4-5',
    play: () => anthropic.play(claudeSays('A red picture.')),
    fake: anthropic,
    parts: (body: Body) => {
      const [text, image, file] = body.messages.at(-1).content
      assert.deepEqual([text.type, image.type, file.type], ['text', 'image', 'document'])
      assert.deepEqual([image.source.media_type, file.source.media_type], ['image/jpeg', 'application/pdf'])
      assert.equal(file.title, 'b.pdf')
      return { text: text.text, image: image.source.data, file: file.source.data }
    },
  },
  {
    name: 'OpenAI Responses',
    model: 'gpt/gpt-5.4',
    play: () => openai.play(gptSays('A red picture.')),
    fake: openai,
    parts: (body: Body) => {
      const [text, image, file] = body.input.at(-1).content
      assert.deepEqual([text.type, image.type, file.type], ['input_text', 'input_image', 'input_file'])
      assert.match(image.image_url, /^data:image\/jpeg;base64,/)
      assert.equal(file.filename, 'b.pdf')
      return { text: text.text, image: dataOf(image.image_url), file: dataOf(file.file_data) }
    },
  },
  {
    name: 'Google',
    model: 'gemini/gemini-3-flash-preview',
    play: () => google.play(geminiSays('A red picture.')),
    fake: google,
    parts: (body: Body) => {
      const [text, image, file] = body.contents.at(-1).parts
      assert.deepEqual([image.inlineData.mimeType, file.inlineData.mimeType], ['image/jpeg', 'application/pdf'])
      return { text: text.text, image: image.inlineData.data, file: file.inlineData.data }
    },
  },
]

for (const { name, model, play, fake, parts } of protocols) {
  test(`a model of ${name} is sent an attached picture in a size that it accepts, and an attached PDF as it is`, async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, model)
    const ids = [await attach(owner, picture, 'a.png'), await attach(owner, document, 'b.pdf')]
    play()
    const { turn } = await askAbout(owner, session, ids)
    assert.equal(turn.status, 'completed')
    if ('violations' in fake) assert.deepEqual(fake.violations, [])
    const shown = parts(fake.requests[0])
    assert.deepEqual(await sizeOf(shown.image), ['jpeg', 1_568, 523])
    assert.deepEqual(Buffer.from(shown.file, 'base64'), document)
    assert.match(shown.text, new RegExp(`^What is this\\?\\n\\nAttached files:\\n- a.png \\(file ${ids[0]}`))
  })
}

describe('a model that takes no pictures or PDF files', () => {
  test('is told that it cannot see a picture and gets the text of a PDF, in one text', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/blind')
    const ids = [await attach(owner, picture, 'a.png'), await attach(owner, document, 'b.pdf')]
    compatible.play(reply(['I see.']))
    await askAbout(owner, session, ids)
    const content = compatible.requests[0]?.messages.at(-1)?.content
    assert.equal(typeof content, 'string')
    assert.match(String(content), /\n\nThis model cannot see pictures\. Not shown: 1\.$/)
    assert.match(String(content), /Text of the PDF file "b\.pdf":\n(.*\n)*First page(.*\n)+.*Second page/)
    assert.ok(!textIn(compatible.requests).includes('base64'))
  })

  test('is what a model of an own server is by default, and a model may take pictures only', async () => {
    const owner = await app.createOrg()
    const { body } = await app.call('GET', '/api/v1/models', { as: owner })
    const inputs = Object.fromEntries(
      body.data.items.map((model: { id: string; input: object }) => [model.id, model.input]),
    )
    assert.deepEqual(inputs['fake/priced'], { images: true, pdf: true })
    assert.deepEqual(inputs['fake/pictures'], { images: true, pdf: false })
    assert.deepEqual(inputs['fake/blind'], { images: false, pdf: false })
    assert.deepEqual(inputs['atrium/demo'], { images: false, pdf: false })
  })
})

describe('an attached file that cannot be shown', () => {
  test('a PDF of too many pages or bytes is given as text to a model that takes PDF files', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'claude/claude-sonnet-4-5')
    const long = pdf(Array.from({ length: 81 }, (_, i) => [`Leaf ${i + 1}`]))
    const large = Buffer.concat([document, Buffer.alloc(4_194_304, '% '), Buffer.from('\n%%EOF\n')])
    const ids = [await attach(owner, long, 'long.pdf'), await attach(owner, large, 'large.pdf')]
    anthropic.play(claudeSays('Read.'))
    const { turn } = await askAbout(owner, session, ids)
    assert.equal(turn.status, 'completed')
    assert.deepEqual(anthropic.violations, [])
    const [text, ...others] = anthropic.requests[0].messages.at(-1).content
    assert.deepEqual(others, [])
    assert.match(text.text, /Text of the PDF file "long\.pdf":\n(.*\n)+.*Leaf 81\n/)
    assert.match(text.text, /"large\.pdf"/)
  })

  test('several PDF files have at most 80 pages together, and the older one is given as text', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'claude/claude-sonnet-4-5')
    const pages = (name: string) => pdf(Array.from({ length: 45 }, (_, i) => [`${name} ${i + 1}`]))
    const ids = [await attach(owner, pages('Old'), 'old.pdf'), await attach(owner, pages('New'), 'new.pdf')]
    anthropic.play(claudeSays('Read.'))
    await askAbout(owner, session, ids)
    const [text, file, ...others] = anthropic.requests[0].messages.at(-1).content
    assert.deepEqual([file.title, others], ['new.pdf', []])
    assert.match(text.text, /Text of the PDF file "old\.pdf":\n(.*\n)+.*Old 45/)
  })

  test('a call with files that the provider rejects is made again without them, also in the following steps', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing', { allowedTools: ['files.search'] })
    const ids = [await attach(owner, picture, 'a.png'), await attach(owner, document, 'b.pdf')]
    const search = callTools({ id: 'c1', name: 'files_search', args: '{"query":"x"}' })
    compatible.play(rejectWith(400), search, reply(['Sorry.']))
    const { turn } = await askAbout(owner, session, ids)
    assert.equal(turn.status, 'completed')
    const shown = compatible.requests.map((request) => JSON.stringify(request).includes('base64'))
    assert.deepEqual(shown, [true, false, false])
    assert.match(JSON.stringify(compatible.requests[1]), /First page.*the provider rejects them: 1/)
    // Without files there is nothing to leave out.
    const other = await openSession(app, owner, { agentId: 'viewer' })
    compatible.play(rejectWith(400))
    assert.equal((await ask(app, owner, other.id, { text: 'Hello' })).turn.status, 'failed')
    assert.equal(compatible.requests.length, 1)
  })

  test('a file of another org is gone for the model, even if a stored message names it', async () => {
    const [owner, stranger] = await Promise.all([app.createOrg(), app.createOrg()])
    const session = await openWith(owner, 'fake/seeing')
    const own = await attach(owner, picture, 'a.png')
    const theirs = await attach(stranger, picture, 'b.png')
    compatible.play(reply(['Red.']))
    await askAbout(owner, session, [own])
    await app.db.transaction('all orgs', (db) =>
      db.execute(sql`
        update messages set parts = replace(parts::text, ${own}, ${theirs})::jsonb
        where org_id = ${owner.orgId} and session_id = ${session}`),
    )
    compatible.play(reply(['Gone.']))
    await ask(app, owner, session, { text: 'And now?' })
    const sent = JSON.stringify(compatible.requests[0])
    assert.ok(sent.includes(theirs) && !sent.includes('image_url'))
    assert.match(sent, /is gone: it was deleted/)
  })

  test('a damaged picture and a picture of too many pixels are a text for the model, and the turn goes on', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const damaged = picture.subarray(0, 200)
    const bomb = await paint(9_000, 9_000)
    const ids = [await attach(owner, damaged, 'a.png'), await attach(owner, bomb, 'b.png')]
    compatible.play(reply(['I see nothing.']))
    const { turn } = await askAbout(owner, session, ids)
    assert.equal(turn.status, 'completed')
    const content = String(compatible.requests[0]?.messages.at(-1)?.content)
    assert.match(content, /"a\.png": The picture could not be read: it is damaged/)
    assert.match(content, /"b\.png": The picture could not be read: it has more than 60 million pixels/)
  })

  test('a deleted file is a text that says so, in the same conversation that showed it before', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const id = await attach(owner, picture, 'a.png')
    compatible.play(reply(['Red.']))
    await askAbout(owner, session, [id])
    assert.ok(JSON.stringify(compatible.requests[0]).includes('image_url'))
    await app.call('DELETE', `/api/v1/files/${id}`, { as: owner })
    compatible.play(reply(['Gone.']))
    await ask(app, owner, session, { text: 'And now?' })
    const sent = JSON.stringify(compatible.requests[0])
    assert.ok(!sent.includes('image_url'))
    assert.match(sent, /a\.png\\+" is gone: it was deleted/)
  })

  test('a person who may not read files does not show the files of others to a model', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const id = await attach(owner, picture, 'a.png')
    compatible.play(reply(['Red.']))
    await askAbout(owner, session, [id])
    const limited = await app.createUser(owner, 'admin', { scopes: ['sessions:read', 'sessions:write', 'agents:read'] })
    compatible.play(reply(['No.']))
    await ask(app, limited, session, { text: 'What was it?' })
    const sent = JSON.stringify(compatible.requests[0])
    assert.ok(!sent.includes('image_url'))
    assert.match(sent, /a\.png\\+" is not shown: files must not be read/)
  })
})

describe('the files of a long conversation', () => {
  test('are decoded once, and not again for the next turn, the same bytes under another name, or a broken picture', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const { previewer } = app.deps
    const { picture: decode } = previewer
    let decoded = 0
    previewer.picture = (...given) => {
      decoded += 1
      return decode(...given)
    }
    try {
      const bytes = await paint(77, 33)
      const ids = [await attach(owner, bytes, 'a.png'), await attach(owner, picture.subarray(0, 99), 'broken.png')]
      compatible.play(reply(['Red.']))
      await askAbout(owner, session, ids)
      assert.equal(decoded, 2)
      await askAbout(owner, session, [await attach(owner, bytes, 'b.png')])
      assert.equal(decoded, 2)
      assert.equal(fieldsNamed(compatible.requests.at(-1), 'image_url').length, 2)
    } finally {
      previewer.picture = decode
    }
  })

  test('with a picture whose bytes came by an upload URL in it, the turn has read untrusted content', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'fake/seeing')
    const own = await attach(owner, picture, 'a.png')
    compatible.play(reply(['Red.']))
    assert.equal((await askAbout(owner, session, [own])).turn.untrustedFrom, null)
    const json = { name: 'b.png', mimeType: 'image/png', size: picture.length }
    const { file, uploadUrl } = await create(app, owner, json)
    assert.equal((await app.call('PUT', pathOf(app, uploadUrl), { body: picture })).status, 200)
    assert.equal((await askAbout(owner, session, [file.id])).turn.untrustedFrom, 'file')
  })

  test('are shown once each, the newest 20 of them, and a text says that older ones are not shown', async () => {
    const owner = await app.createOrg()
    const session = await openWith(owner, 'gemini/gemini-3-flash-preview')
    const many = await Promise.all(
      Array.from({ length: 24 }, async (_, i) => attach(owner, await paint(20 + i, 10), `${i}.png`)),
    )
    google.play(geminiSays('Fine.'))
    await askAbout(owner, session, many.slice(0, 12))
    await askAbout(owner, session, many.slice(12))
    assert.deepEqual(google.violations, [])
    const request = google.requests.at(-1)
    assert.equal(fieldsNamed(request, 'inlineData').length, 20)
    assert.match(textIn(request), /because there are too many files or the provider rejects them: 4\./)
    await askAbout(owner, session, [many[23] as string])
    const widths = await Promise.all(
      fieldsNamed(google.requests.at(-1), 'inlineData').map(async ({ data }) => (await sizeOf(data))[1]),
    )
    assert.equal(widths.filter((width) => width === 43).length, 1)
  })
})

describe('the money for pictures', () => {
  test('is reserved before the call, so that a balance for the text alone does not pay for a picture', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 100)
    const session = await openWith(owner, 'fake/priced')
    compatible.play(reply(['Text only.'], { usage: { prompt_tokens: 300, completion_tokens: 10, total_tokens: 310 } }))
    const alone = await ask(app, owner, session, { text: 'Hello' })
    assert.equal(alone.turn.status, 'completed')
    compatible.play(reply(['Never.']))
    const id = await attach(owner, picture, 'a.png')
    const { turn } = await ask(app, owner, session, { text: 'What is this?', fileIds: [id] })
    assert.deepEqual([turn.status, turn.stopReason], ['incomplete', 'max_cost'])
    assert.deepEqual(compatible.requests, [])
  })

  test('is what the provider reports when it is more or less than the estimate', async () => {
    const owner = await app.createOrg()
    await deposit(app, owner, 1_000)
    const session = await openWith(owner, 'fake/priced')
    const id = await attach(owner, picture, 'a.png')
    compatible.play(reply(['Red.'], { usage: { prompt_tokens: 1_234, completion_tokens: 10, total_tokens: 1_244 } }))
    const { turn } = await ask(app, owner, session, { text: 'What is this?', fileIds: [id] })
    assert.deepEqual([turn.usage.inputTokens, turn.costMicrocents], [1_234, 1_234 * 300 + 10])
  })
})
