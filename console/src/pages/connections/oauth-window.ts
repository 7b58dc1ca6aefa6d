import { t } from '@lingui/core/macro'
import { useEffect } from 'react'
import { refresh } from '../../api.ts'

export const refreshConnections = (): Promise<unknown> =>
  refresh('GET /connections', 'GET /connections/:id', 'GET /connections/:id/tools')

/** Calls back when an OAuth flow has completed in any window of this browser. */
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
    super(t`The browser blocked the provider window. Allow pop-ups for this site and try again.`)
  }
}

/**
 * Opens the provider's page in a new window. Browsers allow that only during the click, so the window is opened empty and
 * navigated when the URL is known.
 */
export const openProvider = async (loadUrl: () => Promise<string>): Promise<void> => {
  const left = Math.max(0, window.screenX + (window.outerWidth - size.width) / 2)
  const top = Math.max(0, window.screenY + (window.outerHeight - size.height) / 2)
  const features = `popup,width=${size.width},height=${size.height},left=${left},top=${top}`
  const opened = window.open('', 'atrium-connect', features)
  if (!opened) throw new WindowBlocked()
  try {
    const url = await loadUrl()
    // A `javascript:` URL would run in this origin.
    if (!/^https?:/.test(url)) throw new Error('The provider URL is not an HTTP URL.')
    // The page may be that of any MCP server, and could open another page in place of the console.
    opened.opener = null
    opened.location.href = url
  } catch (error) {
    opened.close()
    throw error
  }
}
