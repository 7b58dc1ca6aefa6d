// Calls of Atrium with the API key, which never leaves the server.
import { cookies } from 'next/headers'

const { ATRIUM_URL = 'http://127.0.0.1:3000', ATRIUM_API_KEY = '', ATRIUM_AGENT = 'assistant' } = process.env

export const callAtrium = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${ATRIUM_URL}/api/v1${path}`, {
    ...init,
    cache: 'no-store',
    headers: {
      Authorization: `Bearer ${ATRIUM_API_KEY}`,
      'Content-Type': 'application/json',
      // The stream can then use everything that this version of useChat knows.
      'X-AI-SDK-Version': '7',
    },
  })

const cookie = 'chat-session'
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The visitor's session, which is named by a cookie that scripts cannot read. */
export const findSessionId = async (): Promise<string | undefined> => {
  const value = (await cookies()).get(cookie)?.value
  return value !== undefined && uuid.test(value) ? value : undefined
}

/** Creates a session with the agent. */
export const createSession = async (): Promise<string> => {
  const response = await callAtrium('/sessions', { method: 'POST', body: JSON.stringify({ agentId: ATRIUM_AGENT }) })
  if (!response.ok) throw new Error(`Atrium did not create a session: ${response.status} ${await response.text()}`)
  const { data } = (await response.json()) as { data: { id: string } }
  const jar = await cookies()
  jar.set(cookie, data.id, { httpOnly: true, sameSite: 'strict', secure: process.env.COOKIE_SECURE === '1', path: '/' })
  return data.id
}
