import { msg } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'

export const sortFields = ['name', 'size', 'mimeType', 'updatedAt'] as const
export type SortField = (typeof sortFields)[number]

export interface Sorting {
  field: SortField
  order: 'asc' | 'desc'
}

export const sortNames: Record<SortField, MessageDescriptor> = {
  name: msg`Name`,
  size: msg`Size`,
  mimeType: msg`Type`,
  updatedAt: msg`Modified`,
}

/** Which order comes first: the largest and the latest files are those that a person looks for. */
const firstOrders: Record<SortField, Sorting['order']> = {
  name: 'asc',
  size: 'desc',
  mimeType: 'asc',
  updatedAt: 'desc',
}

export const defaultSorting: Sorting = { field: 'name', order: 'asc' }

/** The sorting in the parameters of a URL; unknown values are those of the default. */
export const readSorting = (params: URLSearchParams): Sorting => {
  const field = sortFields.find((one) => one === params.get('sort')) ?? defaultSorting.field
  const order = params.get('order')
  return { field, order: order === 'asc' || order === 'desc' ? order : firstOrders[field] }
}

const isDefault = ({ field, order }: Sorting): boolean =>
  field === defaultSorting.field && order === defaultSorting.order

/** The parameters of a sorting; the default has none. */
export const sortingParams = (sorting: Sorting): { sort: string | undefined; order: string | undefined } => {
  const { field, order } = sorting
  if (isDefault(sorting)) return { sort: undefined, order: undefined }
  return { sort: field, order: order === firstOrders[field] ? undefined : order }
}

/** The sorting after a click on a field: another field, or the other order. */
export const sortingBy = (field: SortField, now: Sorting): Sorting =>
  now.field === field ? { field, order: now.order === 'asc' ? 'desc' : 'asc' } : { field, order: firstOrders[field] }

/** The path of a folder with this sorting, which stays while a person goes through folders. */
export const folderPath = (id: string | null, sorting: Sorting): string => {
  const { sort, order } = sortingParams(sorting)
  const params = new URLSearchParams({ ...(sort !== undefined && { sort }), ...(order !== undefined && { order }) })
  const path = id === null ? '/files' : `/files/${id}`
  return params.size === 0 ? path : `${path}?${params}`
}
