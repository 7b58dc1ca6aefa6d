import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that adds an API key to each request, for programs that cannot send one. Everything else is passed on as it is. */
export const startAuthorizingProxy = async (target: string, key: string) => {
  const { hostname, port } = new URL(target)
  const server = createServer((from, to) => {
    const headers = { ...from.headers, authorization: `Bearer ${key}` }
    const { method = 'GET', url: path = '/' } = from
    const onward = httpRequest({ hostname, port, method, path, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(to)
    })
    onward.on('error', () => to.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
