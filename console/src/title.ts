import { useEffect } from 'react'

/** The title of the tab while a page is shown. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Atrium`
  }, [title])
}
