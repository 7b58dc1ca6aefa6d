import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'

export type TypeGroup =
  | 'folder'
  | 'image'
  | 'video'
  | 'audio'
  | 'document'
  | 'spreadsheet'
  | 'text'
  | 'archive'
  | 'other'

export const typeGroupNames: Record<TypeGroup, MessageDescriptor> = {
  folder: msg`Folders`,
  image: msg`Images`,
  video: msg`Videos`,
  audio: msg`Audio`,
  document: msg`Documents`,
  spreadsheet: msg`Spreadsheets`,
  text: msg`Text and code`,
  archive: msg`Archives`,
  other: msg`Other files`,
}

const day = 86_400_000
export const periods = { '1d': day, '7d': 7 * day, '30d': 30 * day } as const
export type PeriodName = keyof typeof periods

export const periodNames: Record<PeriodName, MessageDescriptor> = {
  '1d': msg`Modified in the last 24 hours`,
  '7d': msg`Modified in the last 7 days`,
  '30d': msg`Modified in the last 30 days`,
}

/** The filter of the list of files. */
export interface Filter {
  type: TypeGroup | undefined
  tag: string | undefined
  isOwn: boolean
  changed: PeriodName | undefined
}

const isKey = <Key extends string>(value: string | null, of: Record<Key, unknown>): value is Key =>
  value !== null && Object.hasOwn(of, value)

/** The filter in the parameters of a URL, without unknown values. */
export const readFilter = (params: URLSearchParams): Filter => {
  const [type, changed] = [params.get('type'), params.get('changed')]
  return {
    type: isKey(type, typeGroupNames) ? type : undefined,
    tag: params.get('tag')?.slice(0, 64) || undefined,
    isOwn: params.get('by') === 'me',
    changed: isKey(changed, periods) ? changed : undefined,
  }
}

export const filterParams = ({ type, tag, isOwn, changed }: Filter) => ({
  type,
  tag,
  by: isOwn ? 'me' : undefined,
  changed,
})

export const noFilter: Filter = { type: undefined, tag: undefined, isOwn: false, changed: undefined }

export const isFiltered = ({ type, tag, isOwn, changed }: Filter): boolean =>
  isOwn || [type, tag, changed].some((value) => value !== undefined)

const hour = 3_600_000

/** The parameters of a request. Its period begins at a full hour, so that the list keeps its place in the cache. */
export const filterQuery = ({ type, tag, isOwn, changed }: Filter, userId: string) => {
  const since = changed && Math.floor((Date.now() - periods[changed]) / hour) * hour
  return {
    ...(type !== undefined && { type }),
    ...(tag !== undefined && { tag }),
    ...(isOwn && { createdBy: userId }),
    ...(since !== undefined && { updatedSince: new Date(since).toISOString() }),
  }
}
