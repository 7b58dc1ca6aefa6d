import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Agent, Model, Pricing } from '@atrium/client'
import { read } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { priceText } from '../../model-prices.ts'
import { useIdentity } from '../../session.tsx'
import { Section } from '../../ui/page.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from './agents.module.css'
import { reasoningEfforts } from './draft.ts'
import type { Draft, Problems } from './draft.ts'

export interface FormProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  problems: Problems
  /** The agent that is edited; undefined for a new one. */
  agent?: Agent | undefined
}

const costOf = ({ id, free, pricing }: Model, prices: Pricing | undefined): string => {
  if (free) return 'Free.'
  if (pricing === null) return t`Price unknown.`
  return (prices && priceText(prices, id)) ?? ''
}

const modelHint = (model: Model | undefined, prices: Pricing | undefined): string | undefined => {
  if (!model) return undefined
  if (!model.available) return model.unavailableReason ?? t`Not available.`
  const context = model.contextWindow === null ? '' : t`Context window: ${formatNumber(model.contextWindow)} tokens.`
  return `${costOf(model, prices)} ${context}`.trim()
}

/** The models that agents can use. Undefined until they are loaded. */
const useChatModels = () => {
  const models = useQuery(read('GET /models'))
  return { error: models.error, items: models.data?.items.filter(({ capabilities }) => !capabilities.embeddings) }
}

/** The options of a model list, by provider. `selected` is an option even when the server no longer has this model. */
const ModelOptionList = ({ items, selected }: { items: Model[] | undefined; selected: string }) => {
  const providers = [...new Set((items ?? []).map(({ provider }) => provider))]
  const isKnown = selected === '' || items?.some(({ id }) => id === selected) === true
  return (
    <>
      {!isKnown && <option value={selected}>{selected}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {(items ?? [])
            .filter((model) => model.provider === provider)
            .map(({ id, name, available, free }) => (
              <option key={id} value={id} disabled={!available && id !== selected}>
                {name}
                {available ? (free ? ` (${t`free`})` : '') : ` (${t`unavailable`})`}
              </option>
            ))}
        </optgroup>
      ))}
    </>
  )
}

export const ModelField = ({ draft, change, agent }: FormProps) => {
  const { items, error } = useChatModels()
  const { can } = useIdentity()
  const prices = useQuery({ ...read('GET /billing/pricing'), enabled: can('billing:read') })
  const isLocked = agent?.isDefault === true
  const chosen = items?.find(({ id }) => id === draft.model)
  return (
    <>
      <SelectField
        label={t`Model`}
        value={draft.model}
        // A disabled select gets no focus and no tooltip, so the hint gives the reason.
        disabled={isLocked}
        hint={isLocked ? t`The default agent uses the default model of this server.` : modelHint(chosen, prices.data)}
        onChange={({ target: { value } }) =>
          change({ model: value, fallbackModels: draft.fallbackModels.filter((id) => id !== value) })
        }
      >
        {!agent && (
          <option value="">
            <Trans>Server default</Trans>
          </option>
        )}
        <ModelOptionList items={items} selected={draft.model} />
      </SelectField>
      {error && <Notice error={error} />}
    </>
  )
}

const effortNames: Record<(typeof reasoningEfforts)[number], Text> = {
  none: msg`None`,
  low: msg`Low`,
  medium: msg`Medium`,
  high: msg`High`,
}

const places = [msg`First fallback model`, msg`Second fallback model`, msg`Third fallback model`]

/** What the agent does with its model, and the models that take over when it fails. */
export const ModelOptions = ({ draft, change }: FormProps) => {
  const { items } = useChatModels()
  const { fallbackModels, reasoningEffort, model } = draft
  const reasons = items?.find(({ id }) => id === model)?.capabilities.reasoning === true
  const setFallback = (place: number, id: string): void => {
    const next = [...fallbackModels]
    next[place] = id
    change({ fallbackModels: next.filter((one, at) => one !== '' && next.indexOf(one) === at) })
  }
  return (
    <Section
      title={t`Model options`}
      description={t`Fallback models reply, in this order, when a model is overloaded, fails or is silent.`}
    >
      {(reasons || reasoningEffort !== '') && (
        <SelectField
          label={t`Reasoning effort`}
          value={reasoningEffort}
          hint={
            reasons
              ? t`How much the model reasons before it responds. More takes longer and costs more.`
              : t`The model does not reason: choose “Provider default”.`
          }
          onChange={({ target }) => change({ reasoningEffort: target.value })}
        >
          <option value="">
            <Trans>Provider default</Trans>
          </option>
          {reasoningEfforts.map((effort) => (
            <option key={effort} value={effort}>
              {textOf(effortNames[effort])}
            </option>
          ))}
        </SelectField>
      )}
      <div className={styles['two']}>
        {places.slice(0, fallbackModels.length + 1).map((place, at) => (
          <SelectField
            key={place.id}
            label={textOf(place)}
            value={fallbackModels[at] ?? ''}
            onChange={({ target }) => setFallback(at, target.value)}
          >
            <option value="">
              <Trans>None</Trans>
            </option>
            <ModelOptionList
              items={items?.filter(
                ({ id }) => id !== model && (id === fallbackModels[at] || !fallbackModels.includes(id)),
              )}
              selected={fallbackModels[at] ?? ''}
            />
          </SelectField>
        ))}
      </div>
    </Section>
  )
}
