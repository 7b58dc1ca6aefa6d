import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import type { Agent, Session } from '@atrium/client'
import type { RefObject } from 'react'
import { textOf } from '../../../i18n/text.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { SearchField } from '../../../ui/forms/search-field.tsx'
import styles from '../chat.module.css'

export type Source = NonNullable<Session['source']>

export const sourceNames: Record<Source, MessageDescriptor> = {
  console: msg`Console`,
  api: msg`API`,
  test: msg`Test`,
  openai: msg`OpenAI API`,
  mcp: msg`MCP`,
  a2a: msg`A2A`,
  chat: msg`Connected chat`,
  agent: msg`Other agent`,
}

/** What the list of conversations shows: the parameters of the URL. */
export interface SessionFilter {
  agent?: string | undefined
  source?: Source | undefined
  q?: string | undefined
}

export const filterOf = (params: URLSearchParams): SessionFilter => {
  const source = params.get('source')
  return {
    agent: params.get('agent') ?? undefined,
    source: source !== null && source in sourceNames ? (source as Source) : undefined,
    q: params.get('q')?.slice(0, 200) ?? undefined,
  }
}

/** As the query of a URL, with its question mark; empty without a filter. `message`: the one to show. */
export const queryOf = (filter: SessionFilter & { message?: string | undefined }): string => {
  const set = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`
}

export interface SessionFiltersProps {
  agents: readonly Agent[]
  filter: SessionFilter
  /** Changes the given parts of the filter. */
  onFilter: (change: SessionFilter) => void
  /** Moves the focus to the first conversation. */
  onDown: () => void
  field: RefObject<HTMLInputElement | null>
}

/** Search, agent and source of the listed conversations. */
export const SessionFilters = ({ agents, filter, onFilter, onDown, field }: SessionFiltersProps) => (
  <>
    <SearchField
      ref={field}
      label={t`Search conversations`}
      placeholder={t`Search`}
      maxLength={200}
      value={filter.q ?? ''}
      onSearch={(q) => onFilter({ q })}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown') return
        onDown()
        event.preventDefault()
      }}
    />
    <div className={styles['filters']}>
      <SelectField
        label={t`Agent`}
        hideLabel
        value={filter.agent ?? ''}
        onChange={({ target }) => onFilter({ agent: target.value })}
      >
        <option value="">{t`All agents`}</option>
        {agents.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t`Source`}
        hideLabel
        value={filter.source ?? ''}
        onChange={({ target }) => onFilter({ source: target.value === '' ? undefined : (target.value as Source) })}
      >
        <option value="">{t`All sources`}</option>
        {Object.entries(sourceNames).map(([source, name]) => (
          <option key={source} value={source}>
            {textOf(name)}
          </option>
        ))}
      </SelectField>
    </div>
  </>
)

const separators = /[^\p{L}\p{N}]+/u

/** The text with the words that begin with a word of the search marked. */
export const Marked = ({ text, search }: { text: string; search: string }) => {
  const words = search.split(separators).filter((word) => word !== '')
  if (words.length === 0) return text
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${words.join('|')})`, 'giu'))
  // Every second part is a word.
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))
}
