import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Answer, TestActor, TestApp } from '../harness.ts'
import { boundary, formBody, formType, pathOf } from './files.ts'
import type { Part } from './files.ts'

export interface Shared {
  id: string
  /** The path of the public page. */
  path: string
}

/** Asserts the error code of an answer of the API. */
export const rejects = async (code: string, asked: Promise<Answer>, message?: RegExp): Promise<void> => {
  const { body, text } = await asked
  assert.equal(body?.error?.code, code, text)
  if (message) assert.match(body.error.message, message)
}

/** Calls of owners and visitors of shares. */
export const shareCalls = (app: TestApp) => {
  const call = (as: TestActor, method: string, path: string, json?: object): Promise<Answer> =>
    app.call(method, `/api/v1/files${path}`, { as, ...(json ? { json } : {}) })
  const visit = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    app.call('GET', path, { headers })
  return {
    call,
    visit,
    share: async (as: TestActor, fileId: string, json: object = {}): Promise<Shared> => {
      const { status, body, text } = await call(as, 'POST', `/${fileId}/shares`, json)
      assert.equal(status, 201, text)
      return { id: body.data.id, path: pathOf(app, body.data.url) }
    },
    download: (path: string, fileId: string, query = ''): Promise<Answer> =>
      visit(`${path}/files/${fileId}?download=true${query}`),
    enter: (path: string, password: string, headers: Record<string, string> = {}): Promise<Answer> =>
      app.call('POST', `${path}/password`, {
        body: new URLSearchParams({ password }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    drop: (path: string, part: Partial<Part> = {}, before: Part[] = [], query = ''): Promise<Answer> =>
      app.call('POST', `${path}/uploads${query}`, {
        body: formBody([...before, { name: 'file', filename: 'cv.txt', type: 'text/plain', value: 'hello', ...part }]),
        headers: { 'content-type': formType },
      }),
    isGone: async (path: string): Promise<void> => {
      const { status, text } = await visit(path)
      assert.equal(status, 404)
      assert.match(text, /This link does not work/)
    },
  }
}

export interface OpenConnection {
  socket: Socket
  /** Whether the server has ended the connection. */
  isEnded: () => boolean
}

/** Connections whose end the server decides: a client that does not read would not notice it. */
export const openConnections = ({ app }: TestApp) => {
  const ofServer = new Map<number, Socket>()
  app.server.on('connection', (socket: Socket) => ofServer.set(socket.remotePort ?? 0, socket))

  const open = async (head: string[]): Promise<OpenConnection> => {
    const { port } = app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const local = socket.localPort ?? 0
    socket.write([...head, 'host: 127.0.0.1', '\r\n'].join('\r\n'))
    return { socket, isEnded: () => ofServer.get(local)?.destroyed === true }
  }
  return {
    /** Begins a download and stops reading it. */
    stallDownload: async (path: string): Promise<OpenConnection> => {
      const opened = await open([`GET ${path} HTTP/1.1`])
      const [data] = (await once(opened.socket, 'data')) as [Buffer]
      opened.socket.pause()
      assert.match(data.toString('latin1'), /^HTTP\/1\.1 200 /)
      return opened
    },
    /** Begins an upload. `end` sends the rest and returns the status, or undefined when the connection was closed. */
    beginUpload: async (path: string) => {
      const opened = await open([
        `POST ${path}/uploads HTTP/1.1`,
        `content-type: ${formType}`,
        'transfer-encoding: chunked',
      ])
      const { socket } = opened
      const send = (text: string): void => void socket.write(`${text.length.toString(16)}\r\n${text}\r\n`)
      const disposition = 'content-disposition: form-data; name="file"; filename="slow.txt"'
      send(`--${boundary}\r\n${disposition}\r\ncontent-type: text/plain\r\n\r\nslow`)
      const end = async (): Promise<number | undefined> => {
        const answer = Promise.withResolvers<number | undefined>()
        socket.once('data', (data: Buffer) => answer.resolve(Number(data.toString('latin1').split(' ')[1])))
        socket.once('close', () => answer.resolve(undefined))
        if (socket.destroyed) return undefined
        send(`\r\n--${boundary}--\r\n`)
        socket.write('0\r\n\r\n')
        const status = await answer.promise
        socket.destroy()
        return status
      }
      return { ...opened, end }
    },
  }
}
