import assert from 'node:assert/strict'
import { statusOfCode } from '../../src/platform/http/errors.ts'
import type { ErrorCode } from '../../src/platform/http/errors.ts'

export interface Failure {
  code: ErrorCode
  message: string
}

const codeOf = (status: number): ErrorCode => {
  const found = Object.entries(statusOfCode).find(([, known]) => known === status)
  assert.ok(found, `no code has the status ${status}`)
  return found[0] as ErrorCode
}

const keysOf = (value: object): string[] => Object.keys(value)

/**
 * The error of a response in the terms of Atrium's API. The path determines the expected protocol; an error in another
 * format fails. For protocols with their own codes, the code is derived from the status.
 */
export const failureIn = (url: string, { status, text }: { status: number; text: string }): Failure => {
  if (url.startsWith('/dav')) {
    const message = /^<\?xml[^>]*>\n<D:error xmlns:D="DAV:">.*<message xmlns="urn:atrium:webdav">([^<]+)</.exec(
      text,
    )?.[1]
    assert.ok(message, text)
    return { code: codeOf(status), message }
  }
  const body = JSON.parse(text)
  if (url.startsWith('/api/openai/')) {
    assert.deepEqual(keysOf(body), ['error'], text)
    assert.deepEqual(keysOf(body.error), ['message', 'type', 'param', 'code'], text)
    return { code: codeOf(status), message: body.error.message }
  }
  if (url === '/mcp' || url.startsWith('/a2a/')) {
    assert.deepEqual(keysOf(body), ['jsonrpc', 'id', 'error'], text)
    assert.equal(body.jsonrpc, '2.0')
    assert.ok(Number.isInteger(body.error.code) && body.error.code < 0, text)
    return { code: codeOf(status), message: body.error.message }
  }
  assert.deepEqual(keysOf(body), ['success', 'error'], text)
  assert.equal(body.success, false)
  assert.equal(statusOfCode[body.error.code as ErrorCode], status, text)
  return body.error
}
