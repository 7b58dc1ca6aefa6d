import { textOf } from '../../i18n/text.ts'
import type { Text } from '../../i18n/text.ts'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Agent, Model, Pricing } from '@atrium/client'
import { read } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { priceText } from '../../model-prices.ts'
import { Section } from '../../ui/page.tsx'
import { SelectField } from '../../ui/forms/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { reasoningEfforts } from './draft.ts'
import type { Draft, Problems } from './draft.ts'
import { ModelPicker, useChatModels, usePrices } from './model-picker.tsx'

export interface FormProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  problems: Problems
  /** The agent that is edited; undefined for a new one. */
  agent?: Agent | undefined
}

const modelHint = (model: Model | undefined, prices: Pricing | undefined): string | undefined => {
  if (!model) return undefined
  if (!model.available) return model.unavailableReason ?? t`Not available.`
  const cost = model.free
    ? t`Free.`
    : model.pricing === null
      ? t`Price unknown.`
      : prices && priceText(prices, model.id)
  const context = model.contextWindow === null ? '' : t`Context window: ${formatNumber(model.contextWindow)} tokens.`
  return `${cost ?? ''} ${context}`.trim()
}

const MainModel = ({ draft, change, agent }: FormProps) => {
  const { items } = useChatModels()
  const prices = usePrices()
  const isLocked = agent?.isDefault === true
  const org = useQuery(read('GET /org')).data
  const chosen = items?.find(({ id }) => id === draft.model)
  const ofOrg = items?.find(({ id }) => id === org?.defaultModel)
  return (
    <ModelPicker
      label={t`Model`}
      items={items}
      value={draft.model}
      emptyName={agent ? undefined : ofOrg ? t`Organization default: ${ofOrg.name}` : t`Server default`}
      // A disabled button gets no focus and no tooltip, so the hint gives the reason.
      disabled={isLocked}
      hint={isLocked ? t`The default agent uses the default model of this server.` : modelHint(chosen ?? ofOrg, prices)}
      onChange={(id) => change({ model: id, fallbackModels: draft.fallbackModels.filter((one) => one !== id) })}
    />
  )
}

const effortNames: Record<(typeof reasoningEfforts)[number], Text> = {
  none: msg`None`,
  low: msg`Low`,
  medium: msg`Medium`,
  high: msg`High`,
}

const places = [msg`First fallback model`, msg`Second fallback model`, msg`Third fallback model`]

/** The model, how much it reasons, and the models that take over when it fails. */
export const ModelSection = (props: FormProps) => {
  const { draft, change } = props
  const { items, error } = useChatModels()
  const { fallbackModels, reasoningEffort, model } = draft
  const reasons = items?.find(({ id }) => id === model)?.capabilities.reasoning === true
  const setFallback = (place: number, id: string): void => {
    const next = [...fallbackModels]
    next[place] = id
    change({ fallbackModels: next.filter((one, at) => one !== '' && next.indexOf(one) === at) })
  }
  return (
    <Section
      title={t`Model`}
      description={t`Fallback models reply, in this order, when a model is overloaded, fails or is silent.`}
    >
      {error && <Notice error={error} />}
      <MainModel {...props} />
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
      {places.slice(0, fallbackModels.length + 1).map((place, at) => (
        <ModelPicker
          key={place.id}
          label={textOf(place)}
          items={items?.filter(({ id }) => id !== model && (id === fallbackModels[at] || !fallbackModels.includes(id)))}
          value={fallbackModels[at] ?? ''}
          emptyName={t`None`}
          onChange={(id) => setFallback(at, id)}
        />
      ))}
    </Section>
  )
}
