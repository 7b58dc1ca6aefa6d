// Clients of an installation whose processes die: each repeats its requests until they succeed, and remembers what was
// acknowledged.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { streamEventsOf, textOf } from '../support/chat.ts'
import { formBody, formType } from '../support/files.ts'
import { signed } from '../support/webhooks.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests read fields of responses of any shape
type Json = any

export interface ApiResult {
  status: number
  body: Json
}

const retryMs = 50

export const answered = ({ status, body }: ApiResult): Json => {
  assert.ok(status < 300, JSON.stringify(body))
  return body.data
}

/** The work of the first attempt was done, but its response is lost. */
const wasCarriedOut = ({ status, body }: ApiResult): boolean =>
  status === 409 && /was executed/.test(body.error.message as string)

export class Load {
  /** Steps of each client. */
  readonly steps = new Map<string, number>()
  /** Names of uploaded files. */
  readonly uploaded: string[] = []
  readonly turns: string[] = []
  /** The id of each acknowledged event by its number. */
  readonly acknowledged = new Map<string, string>()
  /** Responses that no client of an available service should get. */
  readonly serverErrors: string[] = []
  /** When a process rejected a request because the database was unavailable, by `performance.now()`. */
  readonly unavailableAtMs: number[] = []
  readonly #url: string
  readonly #key: string
  #stopped = false
  readonly #abandoned = new AbortController()

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  /** The clients end after their current step. */
  stop(): void {
    this.#stopped = true
  }

  /** Requests are not repeated any more: their service is gone. */
  abandon(): void {
    this.stop()
    this.#abandoned.abort()
  }

  /** Sends a request, and again when the process dies or is unavailable. `once`: with an Idempotency-Key. */
  async ask(method: string, path: string, body?: object | Buffer, once = false): Promise<ApiResult> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.#key}` }
    if (once) headers['idempotency-key'] = randomUUID()
    if (body) headers['content-type'] = Buffer.isBuffer(body) ? formType : 'application/json'
    const payload = body && (Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body))
    for (;;) {
      const result = await this.#send(path, { method, headers, body: payload ?? null, redirect: 'manual' })
      if (result) return result
      await this.#pause()
    }
  }

  async #pause(ms = retryMs): Promise<void> {
    await delay(ms, undefined, { signal: this.#abandoned.signal })
  }

  /** Undefined when the request must be repeated. */
  async #send(path: string, request: RequestInit): Promise<ApiResult | undefined> {
    const response = await fetch(this.#url + path, request).catch(() => undefined)
    if (!response) return undefined
    if (response.status === 302) return { status: 302, body: response.headers.get('location') }
    const text = await response.text().catch(() => '')
    if (this.#isUnavailable(response, `${request.method} ${path}`, text)) return undefined
    // The process died while it sent the response.
    if (text === '') return undefined
    const result: ApiResult = { status: response.status, body: JSON.parse(text) }
    return result.status === 409 && /still running/.test(result.body.error.message as string) ? undefined : result
  }

  /** nginx responds with 502 or 504 when a process died. Atrium itself may only respond with 503 and Retry-After. */
  #isUnavailable({ status, headers }: Response, what: string, text: string): boolean {
    if (status < 500) return false
    if (headers.get('x-request-id') === null && [502, 504].includes(status)) return true
    if (status !== 503 || headers.get('retry-after') === null) this.serverErrors.push(`${what}: ${status} ${text}`)
    else this.unavailableAtMs.push(performance.now())
    return true
  }

  async #repeat(who: string, step: () => Promise<void>): Promise<void> {
    this.steps.set(who, 0)
    while (!this.#stopped) {
      await step()
      this.steps.set(who, (this.steps.get(who) ?? 0) + 1)
    }
  }

  /** Uploads files and downloads them again. */
  uploads(who: string): Promise<void> {
    return this.#repeat(who, async () => {
      const name = `${who}-${this.uploaded.length}-${randomUUID()}.bin`
      const bytes = randomBytes(1 + Math.floor(Math.random() * 200_000))
      const part = { name: 'file', filename: name, type: 'application/octet-stream', value: bytes }
      const result = await this.ask('POST', '/api/v1/files', formBody([part]), true)
      this.uploaded.push(name)
      if (wasCarriedOut(result)) return
      const { file } = answered(result)
      const { body: location } = await this.ask('GET', `/api/v1/files/${file.id}?download=true`)
      const stored = await fetch(location as string)
      assert.ok(Buffer.from(await stored.arrayBuffer()).equals(bytes), 'the same bytes come back')
    })
  }

  /** Reads the stream of a turn, resuming it on any process when one dies. */
  async #watch(turnId: string): Promise<{ ids: number[]; text: string }> {
    let text = ''
    const ids: number[] = []
    for (;;) {
      const headers = { authorization: `Bearer ${this.#key}`, 'last-event-id': String(ids.at(-1) ?? 0) }
      let read = ''
      const path = `/api/v1/turns/${turnId}/stream`
      const response = await fetch(this.#url + path, { headers }).catch(() => undefined)
      const isOpen = response?.status === 200
      if (response && !isOpen) {
        const body = await response.text().catch(() => '')
        assert.ok(this.#isUnavailable(response, `GET ${path}`, body), `${response.status} ${body}`)
      } else if (response) {
        try {
          for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) read += piece
        } catch {
          // The process died. An event that was cut off is sent again.
        }
      }
      const { events, isDone } = streamEventsOf(read.slice(0, read.lastIndexOf('\n\n') + 2))
      for (const { id, data } of events) {
        ids.push(id)
        if (data.type === 'text-delta') text += data.delta
      }
      if (isDone) return { ids, text }
      await this.#pause()
    }
  }

  /** Creates an agent and a session, before processes are killed: the response to a creation could be lost. */
  async newSession(who: string): Promise<string> {
    const agent = answered(await this.ask('POST', '/api/v1/agents', { name: who, model: 'atrium/demo-paid' }, true))
    return answered(await this.ask('POST', '/api/v1/sessions', { agentId: agent.id }, true)).id
  }

  /** Sends messages to an agent and reads its replies as streams. */
  async talks(who: string, sessionId: string): Promise<void> {
    let sentCount = 0
    await this.#repeat(who, async () => {
      const text =
        sentCount % 3 === 0
          ? `/slow 1500\n${who} ${sentCount} of many words, which take their time`
          : `/tokens ${sentCount + 7} 13 0 0`
      const result = await this.ask('POST', `/api/v1/sessions/${sessionId}/messages`, { text, background: true }, true)
      sentCount += 1
      const path = `/api/v1/sessions/${sessionId}/messages?limit=100`
      const { id } = wasCarriedOut(result)
        ? { id: answered(await this.ask('GET', path)).items.find(({ role }: Json) => role === 'user').turnId }
        : answered(result).turn
      this.turns.push(id)
      const { ids, text: streamed } = await this.#watch(id)
      const unique = [...new Set(ids)].toSorted((a, b) => a - b)
      assert.deepEqual(ids, unique, 'each event arrives once, in order')
      const ended = answered(await this.ask('GET', `/api/v1/turns/${id}`))
      // The kills come so fast that one turn may see two of them.
      const isQuarantined = ended.status === 'failed' && ended.error.code === 'worker_died'
      assert.ok(ended.status === 'completed' || isQuarantined, JSON.stringify(ended.error))
      const { items } = answered(await this.ask('GET', path))
      assert.equal(items.length, Math.min(100, 2 * sentCount), 'each message has one reply')
      const reply = items.find((message: Json) => message.role === 'assistant' && message.turnId === id)
      assert.ok(streamed.endsWith(textOf(reply)), `the stream “${streamed}” must end with the reply “${textOf(reply)}”`)
    })
  }

  /** Sends signed events to a webhook. */
  async sends(who: string, webhook: { id: string; secret: string }): Promise<void> {
    let sent = 0
    await this.#repeat(who, async () => {
      const n = `${who}-${(sent += 1)}`
      const body = JSON.stringify({ type: 'scale', n })
      for (;;) {
        const headers = signed(webhook.secret, body, `msg_${n}`)
        const path = `/api/v1/webhooks/receive/${webhook.id}`
        const result = await this.#send(path, { method: 'POST', headers, body })
        if (result?.status === 200) {
          this.acknowledged.set(n, result.body.data.eventId)
          break
        }
        await this.#pause()
      }
      await this.#pause(20)
    })
  }

  /** Changes a record, and reads it from every process. */
  async changes(who: string, agentId: string): Promise<void> {
    let revision = 0
    await this.#repeat(who, async () => {
      revision += 1
      const description = `${who} ${revision}`
      answered(await this.ask('PATCH', `/api/v1/agents/${agentId}`, { description }))
      for (let n = 0; n < 3; n++) {
        assert.equal(answered(await this.ask('GET', `/api/v1/agents/${agentId}`)).description, description)
      }
      await this.#pause(50)
    })
  }
}
