import { useSearchParams } from 'react-router'
import { withParams } from './search-params.ts'

/** The open item, kept in a URL parameter. */
export const useOpenItem = (name: string) => {
  const [params, setParams] = useSearchParams()
  const changed = (value: string | undefined): URLSearchParams => withParams(params, { [name]: value })
  return {
    value: params.get(name) ?? undefined,
    hrefOf: (value: string): string => `?${changed(value)}`,
    open: (value: string | undefined): void => setParams(changed(value), { replace: value === undefined }),
  }
}
