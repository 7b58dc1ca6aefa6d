import { AtriumError } from '@atrium/client'
import { createContext, use, useCallback, useLayoutEffect, useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { apiText } from '../../i18n/language.ts'
import { Notice } from '../notice.tsx'

interface FormErrors {
  error: unknown
  /** The API fields that have a control in the form. */
  fields: ReadonlySet<string>
  /** Adds a field; the result removes it. */
  add: (field: string) => () => void
}

const Context = createContext<FormErrors>({ error: undefined, fields: new Set(), add: () => () => undefined })

/** `settings.name must not be empty` → the field and the rest. Undefined when the API names no field. */
const splitMessage = (error: unknown): { field: string; rest: string } | undefined => {
  if (!(error instanceof AtriumError) || error.status < 400 || error.status >= 500) return undefined
  const [, field, rest] = /^([a-z][\w.[\]]{0,100}) ((?:must|is|are|has|have)\b.*)$/s.exec(error.message) ?? []
  return field === undefined || rest === undefined ? undefined : { field, rest }
}

/** Shows the error of a failed call at the control of the field that the API names. */
export const FieldErrors = ({ error, children }: { error: unknown; children: ReactNode }) => {
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set())
  const add = useCallback((field: string) => {
    setFields((now) => new Set([...now, field]))
    return () => setFields((now) => new Set([...now].filter((one) => one !== field)))
  }, [])
  const value = useMemo(() => ({ error, fields, add }), [error, fields, add])
  return <Context value={value}>{children}</Context>
}

/** The error of the API for the control of `field`, with its label in place of the field's name. */
export const useFieldError = (field: string | undefined, label: string): string | undefined => {
  const { error, add } = use(Context)
  useLayoutEffect(() => (field === undefined ? undefined : add(field)), [field, add])
  const message = splitMessage(error)
  if (message === undefined || message.field !== field) return undefined
  const text = `${label} ${message.rest}`
  const shown = apiText(text)
  return `${shown}${shown.endsWith('.') ? '' : '.'}`
}

/** The error of the form, unless a control shows it. */
export const FormError = () => {
  const { error, fields } = use(Context)
  const message = splitMessage(error)
  return message !== undefined && fields.has(message.field) ? null : <Notice error={error} />
}
