import { badRequest } from './platform/http/errors.ts'
import { digestOfJson } from './platform/text/digest.ts'
import { cleanText, cutText, isCleanText } from './platform/text/text.ts'

/** One value that a tool asks a person for. Lengths in characters; `min` and `max` limit a number or a length. */
export interface FormField {
  key: string
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices'
  label: string
  description: string | null
  required: boolean
  /** For `text`. */
  format: 'email' | 'uri' | 'date' | 'date-time' | null
  min: number | null
  max: number | null
  /** For `choice` and `choices`. */
  options: { value: string; label: string }[]
  default: string | number | boolean | string[] | null
}

/** What a tool asks a person during a call. The texts come from another server. */
export interface Form {
  /** The server that asks and gets the answer. */
  server: string
  message: string
  fields: FormField[]
}

export type Answer = Record<string, string | number | boolean | string[]>

/** The answer of a person to an earlier form of the same call. */
export interface GivenAnswer {
  key: string
  answer: Answer
}

/** Ends a call until a person has answered. The call then runs again from its beginning, with the answer. */
export class InputRequired extends Error {
  readonly form: Form

  constructor(form: Form) {
    super('The tool asks a person for input.')
    this.name = 'InputRequired'
    this.form = form
  }
}

/** The same for the same question. */
export const keyOfForm = (form: Form): string => digestOfJson(form)

const maxFields = 30
const maxOptions = 200
const maxMessage = 4_000
const maxLabel = 200
const maxDescription = 1_000
const maxText = 10_000

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' ? cutText(value, max) : undefined

const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)

/** The options of a choice; undefined for a schema without options, null for options that no field can show. */
const optionsOf = (schema: Json): FormField['options'] | null | undefined => {
  const named = schema['oneOf'] ?? schema['anyOf']
  const values: unknown = Array.isArray(named)
    ? named.map((one) => (isObject(one) ? one['const'] : undefined))
    : schema['enum']
  if (values === undefined) return undefined
  if (!Array.isArray(values) || values.length === 0 || values.length > maxOptions) return null
  const titles: unknown[] = Array.isArray(named)
    ? named.map((one) => (isObject(one) ? one['title'] : undefined))
    : Array.isArray(schema['enumNames'])
      ? schema['enumNames']
      : []
  const isValue = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= maxLabel && isCleanText(value)
  if (!values.every(isValue)) return null
  return values.map((value, at) => ({ value, label: textOf(titles[at], maxLabel) ?? value }))
}

const formats = ['email', 'uri', 'date', 'date-time'] as const

const kindOf = (type: unknown, hasOptions: boolean): FormField['kind'] | undefined => {
  if (type === 'array') return hasOptions ? 'choices' : undefined
  if (type === 'string') return hasOptions ? 'choice' : 'text'
  return (['number', 'integer', 'boolean'] as const).find((kind) => kind === type)
}

/** Undefined for a schema that no field can show: only flat values of these kinds are allowed (MCP, elicitation). */
const fieldOf = (key: string, schema: Json, required: boolean): FormField | undefined => {
  const { type } = schema
  const isList = type === 'array'
  const options = optionsOf(isList && isObject(schema['items']) ? schema['items'] : schema)
  const kind = kindOf(type, options !== undefined)
  const isChoice = kind === 'choice' || kind === 'choices'
  if (kind === undefined || options === null || (options !== undefined && !isChoice)) return undefined
  const [min, max] = isList
    ? [schema['minItems'], schema['maxItems']]
    : kind === 'text'
      ? [schema['minLength'], schema['maxLength']]
      : [schema['minimum'], schema['maximum']]
  const field: FormField = {
    key,
    kind,
    label: textOf(schema['title'], maxLabel) ?? key,
    description: textOf(schema['description'], maxDescription) ?? null,
    required,
    format: formats.find((format) => kind === 'text' && format === schema['format']) ?? null,
    min: numberOf(min),
    max: numberOf(max),
    options: options ?? [],
    default: null,
  }
  const initial = schema['default']
  return mistakeOf(field, initial) === undefined ? { ...field, default: initial as FormField['default'] } : field
}

/** Reads the question of a server. Undefined when it is not a form of flat fields within the limits. */
export const readForm = (server: string, message: unknown, schema: unknown): Form | undefined => {
  const text = textOf(message, maxMessage)
  const properties = isObject(schema) && schema['type'] === 'object' ? (schema['properties'] ?? {}) : undefined
  if (text === undefined || !isObject(schema) || !isObject(properties)) return undefined
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const entries = Object.entries(properties)
  if (entries.length > maxFields) return undefined
  const fields = entries.map(([key, property]) =>
    isObject(property) && key.length <= maxLabel && isCleanText(key) && key !== '__proto__'
      ? fieldOf(key, property, required.includes(key))
      : undefined,
  )
  return fields.every((field) => field !== undefined) ? { server, message: text, fields } : undefined
}

const isFormatted: Record<NonNullable<FormField['format']>, (text: string) => boolean> = {
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T\S+$/.test(text) && !Number.isNaN(Date.parse(text)),
}

const rangeOf = ({ min, max }: FormField, value: number, unit: string): string | undefined => {
  if (min !== null && value < min) return `must be at least ${min}${unit}`
  return max !== null && value > max ? `must be at most ${max}${unit}` : undefined
}

/** Why a value is not valid for a field. */
const mistakeOf = (field: FormField, value: unknown): string | undefined => {
  const has = (one: unknown): boolean => field.options.some((option) => option.value === one)
  switch (field.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'number':
    case 'integer': {
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number'
      if (field.kind === 'integer' && !Number.isSafeInteger(value)) return 'must be a whole number'
      return rangeOf(field, value, '')
    }
    case 'choice':
      return has(value) ? undefined : 'must be one of the options'
    case 'choices':
      return Array.isArray(value) && value.length <= maxOptions && value.every(has)
        ? rangeOf(field, value.length, ' options')
        : 'must be a list of options'
    default: {
      if (typeof value !== 'string' || value.length > maxText) return `must be a text of at most ${maxText} characters`
      if (cleanText(value) !== value) return 'must not contain NUL and lone surrogates'
      if (field.format !== null && !isFormatted[field.format](value)) return `must be of the format ${field.format}`
      return rangeOf(field, value.length, ' characters')
    }
  }
}

/** Validates an answer, with defaults for fields that it leaves out. BAD_REQUEST names the first field with a mistake. */
export const readAnswer = ({ fields }: Form, given: Readonly<Record<string, unknown>>): Answer => {
  const unknown = Object.keys(given).find((key) => fields.every((field) => field.key !== key))
  if (unknown !== undefined) throw badRequest(`answer must not have the field ${unknown.slice(0, maxLabel)}`)
  const answer: Answer = {}
  for (const field of fields) {
    const value = Object.hasOwn(given, field.key) ? given[field.key] : field.default
    if (value === null || value === undefined) {
      if (field.required) throw badRequest(`answer.${field.key} is required`)
      continue
    }
    const mistake = mistakeOf(field, value)
    if (mistake !== undefined) throw badRequest(`answer.${field.key} ${mistake}`)
    answer[field.key] = value as Answer[string]
  }
  return answer
}
