import { useEffect } from 'react'

/** Sets `document.title` while a page is shown. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · Atrium`
  }, [title])
}
