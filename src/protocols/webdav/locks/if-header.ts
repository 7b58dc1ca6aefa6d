import { badRequest } from '../../../platform/http/errors.ts'

export type Condition = { isNot: boolean } & ({ token: string } | { etag: string })

/** Conditions that are all true or not, of one resource; of that of the request when `resource` is undefined. */
export interface ConditionList {
  resource: string | undefined
  conditions: Condition[]
}

const limits = { lists: 32, conditions: 64, resources: 8 }
const malformed = () => badRequest('The If header is malformed.')
const tooMuch = () =>
  badRequest(
    `The If header must have at most ${limits.lists} lists, ${limits.conditions} conditions and ${limits.resources} resources.`,
  )

/** One part at a time, each without nesting, so that reading takes linear time. */
const part = /\s*(?:<([^<>\s]*)>|\(|\)|\[((?:W\/)?"[^"]*")\]|(Not)\b)\s*/iy

/** Parses the header `If` (RFC 4918, section 10.4). Throws BAD_REQUEST. */
export const readIfHeader = (header: string): ConditionList[] => {
  const lists: ConditionList[] = []
  const resources = new Set<string>()
  let resource: string | undefined
  let open: Condition[] | undefined
  let isNot = false
  let count = 0
  part.lastIndex = 0
  while (part.lastIndex < header.length) {
    const found = part.exec(header)
    if (!found) throw malformed()
    const [text, url, etag, not] = found
    const isList = text.trim()
    if (not !== undefined) {
      if (!open || isNot) throw malformed()
      isNot = true
    } else if (isList === '(') {
      if (open) throw malformed()
      open = []
    } else if (isList === ')') {
      if (!open || open.length === 0 || isNot) throw malformed()
      lists.push({ resource, conditions: open })
      open = undefined
    } else if (open) {
      open.push(etag === undefined ? { isNot, token: url ?? '' } : { isNot, etag })
      isNot = false
      count += 1
    } else if (url !== undefined) {
      // A tag in front of lists. Lists without a tag and lists with one cannot be mixed.
      if (lists.length > 0 && resource === undefined) throw malformed()
      resource = url
      resources.add(url)
    } else throw malformed()
    if (lists.length > limits.lists || count > limits.conditions || resources.size > limits.resources) throw tooMuch()
  }
  if (open || lists.length === 0) throw malformed()
  return lists
}

/** What conditions are compared with: the entity tag of a resource and the tokens of its locks. */
export interface ResourceState {
  etag: string | undefined
  tokens: ReadonlySet<string>
}

const holds = (condition: Condition, { etag, tokens }: ResourceState): boolean =>
  ('token' in condition ? tokens.has(condition.token) : condition.etag === etag) !== condition.isNot

/** Whether any list is true. `states` has one state for each list. */
export const isTrue = (lists: readonly ConditionList[], states: readonly ResourceState[]): boolean =>
  lists.some(({ conditions }, index) =>
    conditions.every((condition) => holds(condition, states[index] ?? { etag: undefined, tokens: new Set() })),
  )

/** Every token that the header has, which submits it (RFC 4918, section 6.5). */
export const tokensIn = (lists: readonly ConditionList[]): ReadonlySet<string> =>
  new Set(lists.flatMap(({ conditions }) => conditions.flatMap((one) => ('token' in one ? [one.token] : []))))
