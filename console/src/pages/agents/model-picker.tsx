import { Combobox } from '@base-ui/react/combobox'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { Model, Pricing } from '@atrium/client'
import { Check, ChevronDown, Search } from 'lucide-react'
import { useId, useState } from 'react'
import type { ReactNode } from 'react'
import { apiText } from '../../i18n/language.ts'
import { read } from '../../api.ts'
import { formatMicrocents, formatNumber } from '../../format.ts'
import { priceNote } from '../../model-prices.ts'
import { useIdentity } from '../../session.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import styles from './model-picker.module.css'

/** The models that agents can use. Undefined until they are loaded. */
export const useChatModels = () => {
  const models = useQuery(read('GET /models'))
  return { error: models.error, items: models.data?.items.filter(({ capabilities }) => !capabilities.embeddings) }
}

/** What the org pays for models now. Undefined until it is loaded, and for people who may not read it. */
export const usePrices = (): Pricing | undefined => {
  const { can } = useIdentity()
  return useQuery({ ...read('GET /billing/pricing'), enabled: can('billing:read') }).data
}

/** A model, one that the server does not have, or the choice of no model, whose id is empty. */
interface Option {
  id: string
  name: string
  model: Model | undefined
}

interface OptionGroup {
  value: string
  items: Option[]
}

const capabilitiesOf = ({ input, capabilities }: Model): string[] => [
  ...(input.images || capabilities.vision ? [t`Vision`] : []),
  ...(input.pdf ? [t`PDF`] : []),
  ...(capabilities.tools ? [t`Tools`] : []),
  ...(capabilities.reasoning ? [t`Reasoning`] : []),
]

const toGroups = (items: readonly Model[], chosen: string, emptyName: string | undefined): OptionGroup[] => {
  const isKnown = chosen === '' || items.some(({ id }) => id === chosen)
  const others = [
    ...(emptyName === undefined ? [] : [{ id: '', name: emptyName, model: undefined }]),
    ...(isKnown ? [] : [{ id: chosen, name: chosen, model: undefined }]),
  ]
  const providers = [...new Set(items.map(({ provider }) => provider))]
  const groups = providers.map((provider) => ({
    value: provider,
    items: items
      .filter((model) => model.provider === provider)
      .map((model) => ({ id: model.id, name: model.name, model })),
  }))
  return others.length > 0 ? [{ value: '', items: others }, ...groups] : groups
}

/** Every word must be in the name, the ID or a capability: `openai vision`. */
const matches = ({ id, name, model }: Option, query: string): boolean => {
  const text = [name, id, ...(model ? capabilitiesOf(model) : [])].join(' ').toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

const ratesOf = (model: Model, prices: Pricing | undefined): ReactNode => {
  if (model.free) return t`Free`
  const rates = prices?.models.find(({ id }) => id === model.id)?.withFee
  if (rates === undefined) return model.pricing === null ? t`Price unknown` : undefined
  const [input, output] = [formatMicrocents(rates.inputMicrocents), formatMicrocents(rates.outputMicrocents)]
  return t`${input} in, ${output} out`
}

const ModelText = ({ option, prices }: { option: Option; prices: Pricing | undefined }) => {
  const { id, name, model } = option
  if (!model) return <span className={styles['name']}>{name}</span>
  const rates = ratesOf(model, prices)
  return (
    <>
      <span className={styles['line']}>
        <span className={styles['name']}>{name}</span>
        <span className={styles['rates']}>{rates}</span>
      </span>
      <span className={styles['line']}>
        <span className={styles['facts']}>
          <code>{id}</code>
          {model.contextWindow !== null && <span>{t`${formatNumber(model.contextWindow)} tokens of context`}</span>}
        </span>
        <span className={styles['badges']}>
          {capabilitiesOf(model).map((capability) => (
            <Badge key={capability}>{capability}</Badge>
          ))}
        </span>
      </span>
      {!model.available && (
        <span className={styles['reason']}>
          {model.unavailableReason === null ? t`Not available.` : apiText(model.unavailableReason)}
        </span>
      )}
    </>
  )
}

const Options = ({ chosen, prices }: { chosen: string; prices: Pricing | undefined }) => (
  <Combobox.List className={styles['list']}>
    {({ value, items }: OptionGroup) => (
      <Combobox.Group key={value} items={items}>
        {value !== '' && <Combobox.GroupLabel className={styles['group']}>{value}</Combobox.GroupLabel>}
        <Combobox.Collection>
          {(option: Option) => (
            <Combobox.Item
              key={option.id}
              value={option}
              className={styles['item']}
              disabled={option.model?.available === false && option.id !== chosen}
            >
              <span className={styles['mark']}>
                <Combobox.ItemIndicator>
                  <Check aria-hidden="true" />
                </Combobox.ItemIndicator>
              </span>
              <span className={styles['text']}>
                <ModelText option={option} prices={prices} />
              </span>
            </Combobox.Item>
          )}
        </Combobox.Collection>
      </Combobox.Group>
    )}
  </Combobox.List>
)

const Popup = ({ chosen, prices }: { chosen: string; prices: Pricing | undefined }) => (
  <Combobox.Portal>
    <Combobox.Positioner className={styles['positioner']} align="start" sideOffset={4}>
      <Combobox.Popup className={styles['popup']} aria-label={t`Models`}>
        <span className={styles['search']}>
          <Search aria-hidden="true" />
          <Combobox.Input className={styles['input']} placeholder={t`Search models`} aria-label={t`Search models`} />
        </span>
        <Options chosen={chosen} prices={prices} />
        <Combobox.Empty>
          <p className={styles['none']}>
            <Trans>No models found. Try a provider or a capability, such as “vision”.</Trans>
          </p>
        </Combobox.Empty>
        {prices && <p className={styles['note']}>{t`Prices per million tokens, ${priceNote(prices.platformFee)}.`}</p>}
      </Combobox.Popup>
    </Combobox.Positioner>
  </Combobox.Portal>
)

/** Chooses a model by its name, price, context window and capabilities. */
export const ModelPicker = ({
  label,
  hint,
  items,
  value,
  emptyName,
  disabled,
  onChange,
}: {
  label: string
  hint?: ReactNode
  /** Undefined while they load. */
  items: readonly Model[] | undefined
  /** The ID of the model; empty for none. */
  value: string
  /** The name of the choice of no model; without it, a model must be chosen. */
  emptyName?: string | undefined
  disabled?: boolean | undefined
  onChange: (id: string) => void
}) => {
  const id = useId()
  const prices = usePrices()
  const [query, setQuery] = useState('')
  const groups = toGroups(items ?? [], value, emptyName)
  const chosen = groups.flatMap((group) => group.items).find((option) => option.id === value) ?? null
  const rates = chosen?.model && ratesOf(chosen.model, prices)
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={styles['label']}>
        {label}
      </label>
      <Combobox.Root
        items={groups}
        value={chosen}
        disabled={disabled ?? false}
        filter={matches}
        itemToStringLabel={({ name }: Option) => name}
        isItemEqualToValue={(a: Option, b: Option) => a.id === b.id}
        onValueChange={(option: Option | null) => option && onChange(option.id)}
        onInputValueChange={setQuery}
        // Enter selects the first match of a search; without one it keeps the model that was chosen.
        autoHighlight={query !== ''}
      >
        <Combobox.Trigger
          id={id}
          className={styles['trigger']}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        >
          <span className={styles['name']}>{chosen?.name}</span>
          {hint === undefined && <span className={styles['rates']}>{rates}</span>}
          <ChevronDown aria-hidden="true" />
        </Combobox.Trigger>
        <Popup chosen={value} prices={prices} />
      </Combobox.Root>
      {hint !== undefined && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )}
    </div>
  )
}
