// Servers on loopback with the native APIs of Anthropic, OpenAI and Google. They reject paths, headers and fields that
// the APIs do not document, and responses that are returned without their signatures. The responses are written by hand
// after the documentation, as of 2026-11:
// - https://platform.claude.com/docs/en/build-with-claude/streaming, …/extended-thinking and …/prompt-caching
// - https://developers.openai.com/api/reference/resources/responses/streaming-events and …/docs/guides/reasoning
// - https://ai.google.dev/api/generate-content and https://ai.google.dev/gemini-api/docs/thought-signatures
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after } from 'node:test'

// oxlint-disable-next-line typescript/no-explicit-any -- bodies of three protocols
type Body = any

export type NativeScript = (response: ServerResponse) => void

export interface FakeNative {
  baseUrl: string
  /** The bodies of the accepted requests, oldest first. */
  requests: Body[]
  headers: IncomingMessage['headers'][]
  /** Why requests were rejected. */
  violations: string[]
  /** Sets the responses to the next requests, in order. The last one is repeated. */
  play(...scripts: NativeScript[]): void
}

export const sse =
  (events: object[], isNamed = false): NativeScript =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      const name = isNamed ? `event: ${(event as { type: string }).type}\n` : ''
      response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }

export const failWith =
  (status: number, headers: Record<string, string> = {}): NativeScript =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ type: 'error', error: { type: 'error', code: status, message: 'no sk-planted' } }))
  }

const unknownKeys = (value: object, known: string[], where: string): string[] =>
  Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `${where}.${key} is unknown`)

const isBase64 = (data: unknown): boolean => typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data)

const isDataUrl = (url: unknown): boolean => {
  const [, data] = /^data:(?:image\/(?:jpeg|png)|application\/pdf);base64,(.+)$/.exec(String(url)) ?? []
  return isBase64(data)
}

interface Protocol {
  prefix: string
  check(request: IncomingMessage, body: Body): string[]
}

const start = async ({ prefix, check }: Protocol): Promise<FakeNative> => {
  let scripts: NativeScript[] = []
  const [requests, headers, violations]: [Body[], IncomingMessage['headers'][], string[]] = [[], [], []]
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body: Body = JSON.parse(Buffer.concat(chunks).toString())
      headers.push(request.headers)
      const wrong = check(request, body)
      violations.push(...wrong)
      if (wrong.length > 0) return failWith(400)(response)
      requests.push(body)
      const script = scripts.length > 1 ? scripts.shift() : scripts[0]
      return script?.(response)
    })()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the fake provider is not listening')
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${address.port}${prefix}`,
    requests,
    headers,
    violations,
    play: (...next) => {
      scripts = next
      for (const list of [requests, headers, violations]) list.length = 0
    },
  }
}

/** The value of every field of this name, at any depth. */
export const fieldsNamed = (value: Body, name: string): Body[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) => [...(key === name ? [inner] : []), ...fieldsNamed(inner, name)])

export const signature = 'EqQBCgIYAhIkMsignature=='
export const redacted = 'EmwKAhgBredacted=='

const claudeUsage = {
  input_tokens: 21,
  cache_creation_input_tokens: 188,
  cache_read_input_tokens: 3_000,
  cache_creation: { ephemeral_5m_input_tokens: 188, ephemeral_1h_input_tokens: 0 },
  service_tier: 'standard',
}

const block = (index: number, content: object, ...deltas: object[]): object[] => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

const thinking = [
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'The person ' },
    { type: 'thinking_delta', thinking: 'wants a file.' },
    { type: 'signature_delta', signature },
  ),
  ...block(1, { type: 'redacted_thinking', data: redacted }),
]

export const claudeReply = (last: object[], stopReason: string, usage: object = claudeUsage): NativeScript =>
  sse(
    [
      {
        type: 'message_start',
        message: {
          id: 'msg_01',
          type: 'message',
          role: 'assistant',
          content: [],
          model: 'claude-sonnet-4-5',
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      },
      { type: 'ping' },
      ...thinking,
      ...last,
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason, stop_sequence: null },
        usage: { ...usage, output_tokens: 57 },
      },
      { type: 'message_stop' },
    ],
    true,
  )

export const claudeSays = (text: string, usage?: object): NativeScript =>
  claudeReply(block(2, { type: 'text', text: '' }, { type: 'text_delta', text }), 'end_turn', usage)

export const claudeCalls = (name: string, input: object): NativeScript =>
  claudeReply(
    block(
      2,
      { type: 'tool_use', id: 'toolu_01', name, input: {} },
      { type: 'input_json_delta', partial_json: JSON.stringify(input).slice(0, 4) },
      { type: 'input_json_delta', partial_json: JSON.stringify(input).slice(4) },
    ),
    'tool_use',
  )

export const startFakeAnthropic = (): Promise<FakeNative> =>
  start({
    prefix: '/v1',
    check: ({ url, method, headers }, body) => [
      ...(method === 'POST' && url === '/v1/messages' ? [] : [`${method} ${url}`]),
      ...(headers['anthropic-version'] === '2023-06-01' ? [] : ['no version']),
      ...unknownKeys(
        body,
        ['model', 'max_tokens', 'system', 'messages', 'tools', 'tool_choice', 'thinking', 'output_config', 'stream'],
        'body',
      ),
      ...(fieldsNamed(body, 'cache_control').length <= 4 ? [] : ['more than 4 cache_control']),
      ...(body.thinking?.type !== 'enabled' ||
      (body.thinking.budget_tokens >= 1_024 && body.thinking.budget_tokens < body.max_tokens)
        ? []
        : ['budget_tokens is out of range']),
      ...(fieldsNamed(body, 'signature').every((one) => one === signature) ? [] : ['wrong signature']),
      ...(body.messages.flatMap(({ content }: Body) => content) as Body[]).flatMap((part) =>
        unknownKeys(
          part,
          {
            text: ['type', 'text', 'cache_control'],
            thinking: ['type', 'thinking', 'signature'],
            redacted_thinking: ['type', 'data'],
            tool_use: ['type', 'id', 'name', 'input', 'cache_control'],
            tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
            image: ['type', 'source', 'cache_control'],
            document: ['type', 'source', 'title', 'cache_control'],
          }[part.type as string] ?? [],
          String(part.type),
        ),
      ),
      ...fieldsNamed(body, 'source').flatMap((source) => [
        ...unknownKeys(source, ['type', 'media_type', 'data'], 'source'),
        ...(source.type === 'base64' && isBase64(source.data) ? [] : ['the source is not base64']),
        ...(['image/jpeg', 'image/png', 'application/pdf'].includes(source.media_type) ? [] : [source.media_type]),
      ]),
    ],
  })

export const encrypted = 'gAAAAABencrypted=='

const gptUsage = {
  input_tokens: 2_000,
  input_tokens_details: { cached_tokens: 1_536 },
  output_tokens: 120,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 2_120,
}

const response = { id: 'resp_01', object: 'response', created_at: 1_790_000_000, model: 'gpt-5.4' }

const gptReply = (events: object[], usage: object | null): NativeScript => {
  const reasoning = { type: 'reasoning', id: 'rs_01', summary: [] }
  const all = [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, encrypted_content: 'gAAAAAinitial' } },
    { type: 'response.reasoning_summary_part.added', item_id: 'rs_01', output_index: 0, summary_index: 0, part: {} },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_01',
      output_index: 0,
      summary_index: 0,
      delta: 'Looking for it.',
    },
    { type: 'response.reasoning_summary_part.done', item_id: 'rs_01', output_index: 0, summary_index: 0, part: {} },
    { type: 'response.output_item.done', output_index: 0, item: { ...reasoning, encrypted_content: encrypted } },
    ...events,
    { type: 'response.completed', response: { ...response, status: 'completed', usage } },
  ]
  return sse(
    all.map((event, at) => ({ ...event, sequence_number: at })),
    true,
  )
}

export const gptSays = (text: string, usage: object | null = gptUsage): NativeScript => {
  const item = { type: 'message', id: 'msg_01', role: 'assistant', status: 'completed' }
  const place = { item_id: 'msg_01', output_index: 1, content_index: 0 }
  return gptReply(
    [
      { type: 'response.output_item.added', output_index: 1, item: { ...item, content: [] } },
      { type: 'response.output_text.delta', ...place, delta: text, logprobs: [] },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { ...item, content: [{ type: 'output_text', text, annotations: [] }] },
      },
    ],
    usage,
  )
}

export const gptCalls = (name: string, input: object): NativeScript => {
  const item = { type: 'function_call', id: 'fc_01', call_id: 'call_01', name, status: 'completed' }
  const args = JSON.stringify(input)
  return gptReply(
    [
      { type: 'response.output_item.added', output_index: 1, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_01', output_index: 1, delta: args },
      { type: 'response.function_call_arguments.done', item_id: 'fc_01', output_index: 1, arguments: args },
      { type: 'response.output_item.done', output_index: 1, item: { ...item, arguments: args } },
    ],
    gptUsage,
  )
}

export const startFakeOpenAi = (): Promise<FakeNative> =>
  start({
    prefix: '/v1',
    check: ({ url, method }, body) => [
      ...(method === 'POST' && url === '/v1/responses' ? [] : [`${method} ${url}`]),
      ...unknownKeys(
        body,
        [
          'model',
          'input',
          'max_output_tokens',
          'store',
          'include',
          'tools',
          'tool_choice',
          'stream',
          'reasoning',
          'text',
        ],
        'body',
      ),
      ...(body.store === false ? [] : ['the response would be stored']),
      ...(body.input as Body[]).flatMap((item) =>
        item.type === 'reasoning' && item.encrypted_content !== encrypted ? ['wrong encrypted_content'] : [],
      ),
      // https://developers.openai.com/api/docs/guides/images-vision and …/guides/pdf-files
      ...(body.input as Body[])
        .flatMap(({ role, content, output }) => (role === 'user' ? content : Array.isArray(output) ? output : []))
        .flatMap((part: Body) => {
          const known = {
            input_text: ['text'],
            input_image: ['image_url', 'detail'],
            input_file: ['filename', 'file_data'],
          }
          const fields = known[part.type as keyof typeof known] ?? []
          const url = part.image_url ?? part.file_data
          return [
            ...unknownKeys(part, ['type', ...fields], String(part.type)),
            ...(part.type === 'input_text' || isDataUrl(url) ? [] : ['not a data URL']),
          ]
        }),
    ],
  })

export const thought = 'CiQBthoughtSignature=='

const geminiUsage = {
  promptTokenCount: 1_000,
  cachedContentTokenCount: 700,
  candidatesTokenCount: 40,
  thoughtsTokenCount: 60,
  totalTokenCount: 1_100,
}

const geminiReply = (part: object, usage: object | undefined): NativeScript => {
  const chunk = (parts: object[], more: object = {}) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    modelVersion: 'gemini-3-flash-preview',
    responseId: 'r1',
  })
  return sse([
    chunk([{ text: 'I should look.', thought: true }]),
    { ...chunk([part], { finishReason: 'STOP' }), ...(usage ? { usageMetadata: usage } : {}) },
  ])
}

export const geminiSays = (text: string, usage: object | undefined = geminiUsage): NativeScript =>
  geminiReply({ text }, usage)

export const geminiSaysUncounted = (text: string): NativeScript => geminiReply({ text }, undefined)

export const geminiCalls = (name: string, args: object): NativeScript =>
  geminiReply({ functionCall: { id: 'f1', name, args }, thoughtSignature: thought }, geminiUsage)

export const startFakeGoogle = (): Promise<FakeNative> =>
  start({
    prefix: '/v1beta',
    check: ({ url, method }, body) => [
      ...(method === 'POST' && /^\/v1beta\/models\/[\w.-]+:streamGenerateContent\?alt=sse$/.test(url ?? '')
        ? []
        : [`${method} ${url}`]),
      ...unknownKeys(body, ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'], 'body'),
      ...(body.contents.flatMap(({ parts }: Body) => parts) as Body[]).flatMap((part) =>
        'functionCall' in part && part.thoughtSignature !== thought ? ['wrong thoughtSignature'] : [],
      ),
      ...fieldsNamed(body, 'inlineData').flatMap((inline) => [
        ...unknownKeys(inline, ['mimeType', 'data', 'displayName'], 'inlineData'),
        ...(isBase64(inline.data) ? [] : ['the data is not base64']),
      ]),
    ],
  })
