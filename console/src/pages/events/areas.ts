import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import type { EventTypeRecord } from '@atrium/client'
import { read } from '../../api.ts'
import { formatWord } from '../../words.ts'

export interface Area {
  name: string
  types: EventTypeRecord[]
  /** Names all types of the area. */
  pattern: string
}

const names: Record<string, Text> = { sessions: msg`Conversations`, audit: msg`API keys`, keys: msg`API keys` }

const areaOf = ({ permission }: EventTypeRecord): string => permission.slice(0, permission.indexOf(':'))

/** Whether the person may read some events of a type: all of its area, or those of what is theirs. */
export const isReadable = (
  { permission, ownerPermission, isOwnerOnly }: EventTypeRecord,
  can: (permission: string) => boolean,
): boolean => (!isOwnerOnly && can(permission)) || (ownerPermission !== null && can(ownerPermission))

export const useEventTypes = () => useQuery({ ...read('GET /event-types'), staleTime: 3_600_000 })

/** The types by area, in the order of the API. */
export const areasOf = (types: readonly EventTypeRecord[]): Area[] =>
  [...Map.groupBy(types, areaOf)].map(([area, own]) => ({
    name: textOf(names[area] ?? formatWord(area)),
    types: own,
    pattern: [...new Set(own.map(({ type }) => `${type.slice(0, type.indexOf('.'))}.*`))].join(','),
  }))
