import { useEffect } from 'react'
import { refresh } from '../../api.ts'

export const refreshConnections = (): Promise<unknown> =>
  refresh('GET /connections', 'GET /connections/:id', 'GET /connections/:id/tools')

/** Tells when a provider's page has sent somebody back here, in whichever window that was. */
export const useConnected = (onConnected: (connectionId: string) => void): void => {
  useEffect(() => {
    const channel = new BroadcastChannel('atrium.connections')
    const listen = ({ data }: MessageEvent<{ type?: string; connectionId?: string }>): void => {
      if (data.type !== 'atrium.connection') return
      void refreshConnections()
      if (data.connectionId !== undefined) onConnected(data.connectionId)
    }
    channel.addEventListener('message', listen)
    return () => channel.close()
  }, [onConnected])
}

const size = { width: 640, height: 760 }

export class WindowBlocked extends Error {
  constructor() {
    super('The browser did not open the window of the provider. Allow windows for this page and try again.')
  }
}

/**
 * Opens the provider's page in a window of its own. The window has to open within the click, so it comes first and is
 * sent on when the address is known.
 */
export const openProvider = async (addressOf: () => Promise<string>): Promise<void> => {
  const left = Math.max(0, window.screenX + (window.outerWidth - size.width) / 2)
  const top = Math.max(0, window.screenY + (window.outerHeight - size.height) / 2)
  const features = `popup,width=${size.width},height=${size.height},left=${left},top=${top}`
  const opened = window.open('', 'atrium-connect', features)
  if (!opened) throw new WindowBlocked()
  try {
    const address = await addressOf()
    // Nothing but a page to look at: an address that runs something here would be a fault of the server.
    if (!/^https?:/.test(address)) throw new Error('The address of the provider is not one of the web.')
    opened.location.href = address
  } catch (error) {
    opened.close()
    throw error
  }
}
