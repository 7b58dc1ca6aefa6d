import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { ConnectorEntry } from '@atrium/client'
import { Plus, SearchX } from 'lucide-react'
import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { Section } from '../../ui/page.tsx'
import { ConnectorLogo } from './connector-logo.tsx'
import styles from './connections.module.css'
import { writeReason } from './reconnect.tsx'

const authTypes = { oauth: 'OAuth', api_key: msg`Credentials`, none: msg`No account required` }

const categories = [
  ['communication', msg`Communication`],
  ['development', msg`Development`],
  ['documents', msg`Documents and data`],
  ['business', msg`Sales and payments`],
  ['general', msg`Any service`],
] as const

interface Actions {
  onConnect: (slug: string) => void
  onSetup: (slug: string) => void
}

/** Why a connector cannot be used. */
export const unavailableText = ({ availabilityReason }: ConnectorEntry): string =>
  apiText(availabilityReason ?? t`Not available on this server.`)

const Action = ({ connector, onConnect, onSetup }: Actions & { connector: ConnectorEntry }) => {
  const { can } = useIdentity()
  const { slug, name, availability, setup } = connector
  if (setup)
    return (
      <Button small aria-label={t`Set up ${name}`} onClick={() => onSetup(slug)}>
        <Trans>Set up</Trans>
      </Button>
    )
  const reason = availability === 'available' ? writeReason(can('connections:write')) : unavailableText(connector)
  return (
    <Button
      small
      icon={<Plus />}
      disabledReason={reason}
      aria-label={t`Connect ${name}`}
      onClick={() => onConnect(slug)}
    >
      <Trans>Connect</Trans>
    </Button>
  )
}

const Card = ({ connector, ...actions }: Actions & { connector: ConnectorEntry }) => {
  const { slug, name, description, authType, availability, tools } = connector
  return (
    <li className={styles['card']}>
      <ConnectorLogo slug={slug} name={name} />
      <h4>
        {name}
        {availability === 'coming_soon' && (
          <Badge>
            <Trans>Coming soon</Trans>
          </Badge>
        )}
      </h4>
      <p>{apiText(description)}</p>
      <div className={styles['cardFoot']}>
        <span>
          {textOf(authTypes[authType])}
          {tools.length > 0 && `, ${plural(tools.length, { one: '# tool', other: '# tools' })}`}
        </span>
        <Action connector={connector} {...actions} />
      </div>
    </li>
  )
}

const matches = ({ name, slug, description, tools }: ConnectorEntry, search: string): boolean =>
  [name, slug, apiText(description), ...tools.map((tool) => tool.name)].join(' ').toLowerCase().includes(search)

/** Connectors by category. Categories that this version of the console does not know are with `general`. */
const Groups = ({ connectors, ...actions }: Actions & { connectors: readonly ConnectorEntry[] }) => {
  const categoryOf = ({ category }: ConnectorEntry): string =>
    categories.some(([known]) => known === category) ? category : 'general'
  return categories.map(([category, name]) => {
    const items = connectors.filter((connector) => categoryOf(connector) === category)
    return (
      items.length > 0 && (
        <div key={category} className={styles['group']}>
          <h3>{textOf(name)}</h3>
          <ul className={styles['cards']} aria-label={textOf(name)}>
            {items.map((connector) => (
              <Card key={connector.slug} connector={connector} {...actions} />
            ))}
          </ul>
        </div>
      )
    )
  })
}

/** The connectors that can be connected now, then those that are missing something on this server. */
export const Catalog = ({
  connectors,
  search,
  onSearch,
  ...actions
}: Actions & {
  connectors: readonly ConnectorEntry[]
  search: string
  onSearch: (search: string) => void
}) => {
  const found = connectors.filter((connector) => matches(connector, search.trim().toLowerCase()))
  const usable = found.filter(({ availability }) => availability === 'available')
  const others = found.filter(({ availability }) => availability !== 'available')
  const field = (
    <div className={styles['search']}>
      <SearchField label={t`Search catalog`} value={search} onSearch={onSearch} />
    </div>
  )
  return (
    <>
      <Section plain title={t`Ready to connect`} actions={field}>
        {found.length === 0 ? (
          <EmptyState compact icon={<SearchX />} title={t`No connectors match “${search}”`}>
            <Trans>Use “HTTP” to connect any JSON API and “MCP” to connect any MCP server.</Trans>
          </EmptyState>
        ) : usable.length === 0 ? (
          <p className={styles['faint']}>
            <Trans>No connector that is ready matches “{search}”.</Trans>
          </p>
        ) : (
          <Groups connectors={usable} {...actions} />
        )}
      </Section>
      {others.length > 0 && (
        <Section
          plain
          title={t`Needs setup on this server`}
          description={t`The operator of this server registers an OAuth client for each of these providers once.`}
        >
          <Groups connectors={others} {...actions} />
        </Section>
      )}
    </>
  )
}
