import { callAtrium, createSession, findSessionId } from '../../atrium'

const maxBytes = 200_000

/** Sends the message of useChat to the visitor's session, and returns the stream of the reply as it is. */
export const POST = async (request: Request): Promise<Response> => {
  // A page of another site can send this request too, but not with this Content-Type.
  if (request.headers.get('content-type')?.split(';')[0] !== 'application/json')
    return new Response(null, { status: 415 })
  const body = await request.text()
  if (body.length > maxBytes) return new Response(null, { status: 413 })
  const send = (id: string) => callAtrium(`/sessions/${id}/messages`, { method: 'POST', body })
  const known = await findSessionId()
  let reply = await send(known ?? (await createSession()))
  // Somebody deleted the session.
  if (reply.status === 404 && known !== undefined) reply = await send(await createSession())
  const headers = new Headers({ 'cache-control': 'no-store' })
  for (const name of ['content-type', 'x-vercel-ai-ui-message-stream', 'retry-after']) {
    const value = reply.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  return new Response(reply.body, { status: reply.status, headers })
}
