// The fields of the form of an event endpoint, and the requests that they become.
import { t } from '@lingui/core/macro'
import { AtriumError } from '@atrium/client'
import { jsonText } from '../../../ui/text/json-text.ts'
import { errorMessageOf } from '../../../ui/error-message.ts'
import type { EventEndpoint, EventEndpointCreate } from '@atrium/client'

/** A new field of the API becomes part of the form with its default here and its control in `endpoint-fields.tsx`. */
export interface EndpointDraft extends Required<Omit<EventEndpointCreate, 'filter' | 'transform'>> {
  /** JSON, or empty for no filter. */
  filter: string
  /** JSONata, or empty for none. */
  transform: string
}

export const emptyEndpoint: EndpointDraft = {
  name: '',
  url: '',
  types: ['*'],
  workspaceIds: null,
  filter: '',
  ordering: 'none',
  expand: false,
  transform: '',
}

const fields = Object.keys(emptyEndpoint) as (keyof EndpointDraft)[]

export const draftOf = (endpoint: EventEndpoint): EndpointDraft => ({
  ...(Object.fromEntries(fields.map((field) => [field, endpoint[field]])) as unknown as EndpointDraft),
  filter: endpoint.filter === null ? '' : jsonText(endpoint.filter),
  transform: endpoint.transform ?? '',
})

const parseFilter = (text: string): Record<string, unknown> | null =>
  text.trim() === '' ? null : (JSON.parse(text) as Record<string, unknown>)

/** Throws for a filter that is not JSON. */
export const bodyOf = ({ name, url, filter, transform, ...rest }: EndpointDraft): EventEndpointCreate => ({
  ...rest,
  name: name.trim(),
  url: url.trim(),
  filter: parseFilter(filter),
  transform: transform.trim() === '' ? null : transform,
})

/** Only what was changed: who sends more than the name becomes the owner, and may have fewer rights. */
export const patchOf = (draft: EndpointDraft, endpoint: EventEndpoint): Partial<EventEndpointCreate> => {
  const stored = new Map(Object.entries(bodyOf(draftOf(endpoint))))
  return Object.fromEntries(
    Object.entries(bodyOf(draft)).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(stored.get(field)),
    ),
  )
}

/** Why the text is not a filter; the API checks the conditions in it. */
export const filterProblem = (text: string): string | undefined => {
  try {
    parseFilter(text)
    return undefined
  } catch (error) {
    return t`The filter is not valid JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

export const problemOf = ({ name, url, types, workspaceIds, filter, transform }: EndpointDraft): string | false => {
  if (name.trim() === '') return t`Enter a name.`
  if ([...name.trim()].length > 120) return t`The name must be at most 120 characters.`
  if (url.trim() === '') return t`Enter a URL.`
  if (!/^https?:\/\//i.test(url.trim())) return t`The URL must start with https:// or http://.`
  if (types.length === 0) return t`Select at least one event type.`
  if (workspaceIds?.length === 0) return t`Select at least one workspace.`
  if (transform.length > 8_192) return t`The transform must be at most 8,192 characters.`
  return filterProblem(filter) !== undefined && t`The filter is not valid JSON.`
}

/** Messages that do not begin with the name of their field. */
const fieldsByText: readonly [RegExp, keyof EndpointDraft][] = [
  [/\bURL\b/, 'url'],
  [/\bof the type\b/, 'types'],
  [/^Workspace\b/, 'workspaceIds'],
]

export type FieldErrors = Partial<Record<keyof EndpointDraft, string>>

/** The field that the message of a rejected request is about; undefined: none of them. */
const fieldOf = (message: string): keyof EndpointDraft | undefined =>
  fields.find((field) => new RegExp(`^(?:body[./])?${field}\\b`).test(message)) ??
  fieldsByText.find(([text]) => text.test(message))?.[1]

/** The message of the API by field. Empty for errors that are not about a field. */
export const fieldErrorsOf = (error: unknown): FieldErrors => {
  if (!(error instanceof AtriumError) || !['BAD_REQUEST', 'FORBIDDEN', 'NOT_FOUND'].includes(error.code)) return {}
  const field = fieldOf(error.message)
  return field === undefined ? {} : { [field]: errorMessageOf(error) }
}
