import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'

/** The path of an installed program, or undefined. Debian installs servers in /usr/sbin, which is not on everyone's path. */
export const findInstalled = (program: string): Promise<string | undefined> =>
  Promise.any(
    [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].map(async (folder) => {
      const path = join(folder, program)
      await access(path)
      return path
    }),
  ).catch(() => undefined)

/** A port of 127.0.0.1 that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** Whether a program listens on the port of 127.0.0.1. */
export const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
