import { useQuery } from '@tanstack/react-query'
import type { Agent, Model } from 'atrium-sdk'
import type { ReactNode } from 'react'
import { read } from '../../api.ts'
import { formatMicrocents, formatNumber } from '../../format.ts'
import { Section } from '../../ui/page.tsx'
import { CheckField, SelectField, SwitchField, TextArea, TextField } from '../../ui/forms/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from './agents.module.css'
import { builtInTools } from './draft.ts'
import type { Draft, Problems } from './draft.ts'

interface FormProps {
  draft: Draft
  change: (patch: Partial<Draft>) => void
  problems: Problems
  /** The agent that is edited; a new one has none. */
  agent?: Agent | undefined
}

const costOf = ({ free, pricing }: Model): string => {
  if (free) return 'It is free.'
  if (pricing === null) return 'Its price is not known.'
  return `A million tokens cost ${formatMicrocents(pricing.input)} in and ${formatMicrocents(pricing.output)} out.`
}

const aboutModel = (model: Model | undefined): string | undefined => {
  if (!model) return undefined
  if (!model.available) return model.unavailableReason ?? 'It is not available now.'
  const context = model.contextWindow === null ? '' : ` It reads up to ${formatNumber(model.contextWindow)} tokens.`
  return costOf(model) + context
}

const ModelField = ({ draft, change, agent }: FormProps) => {
  const models = useQuery(read('GET /models'))
  const items = models.data?.items ?? []
  const providers = [...new Set(items.map(({ provider }) => provider))]
  const isLocked = agent?.isDefault === true
  const chosen = items.find(({ id }) => id === draft.model)
  const isKnown = draft.model === '' || chosen !== undefined || !models.data
  return (
    <>
      <SelectField
        label="Model"
        value={draft.model}
        // A select that is off takes no focus, so the reason stands below it.
        disabled={isLocked}
        hint={isLocked ? 'The default agent runs on the model that this server is set to.' : aboutModel(chosen)}
        onChange={({ target }) => change({ model: target.value })}
      >
        {!agent && <option value="">Default of this server</option>}
        {(!isKnown || !models.data) && draft.model !== '' && <option value={draft.model}>{draft.model}</option>}
        {providers.map((provider) => (
          <optgroup key={provider} label={provider}>
            {items
              .filter((model) => model.provider === provider)
              .map(({ id, name, available, free }) => (
                <option key={id} value={id} disabled={!available && id !== draft.model}>
                  {name}
                  {available ? (free ? ' (free)' : '') : ' (not available)'}
                </option>
              ))}
          </optgroup>
        ))}
      </SelectField>
      {models.error && <Notice error={models.error} />}
    </>
  )
}

const Basics = (props: FormProps) => {
  const { draft, change, problems, agent } = props
  return (
    <Section title="Who it is">
      <div className={styles['two']}>
        <TextField
          label="Name"
          required
          value={draft.name}
          error={problems.name}
          placeholder="Research assistant"
          onChange={({ target }) => change({ name: target.value })}
        />
        <ModelField {...props} />
      </div>
      <TextField
        label="Description"
        optional
        value={draft.description}
        error={problems.description}
        placeholder="What it is good at, for those who choose whom to ask"
        onChange={({ target }) => change({ description: target.value })}
      />
      {agent && !agent.isDefault && (
        <TextField
          label="Slug"
          value={draft.slug}
          error={problems.slug}
          hint="Its name in addresses, in the API and toward other agents. Those that may write to it follow a change."
          onChange={({ target }) => change({ slug: target.value })}
        />
      )}
    </Section>
  )
}

const Instructions = ({ draft, change, problems }: FormProps) => (
  <Section title="What it is told" description="It reads this before every conversation.">
    <TextArea
      label="Instructions"
      hideLabel
      className={styles['prompt'] ?? ''}
      value={draft.systemPrompt}
      error={problems.systemPrompt}
      placeholder="You help the sales team. Answer in a few sentences, and name the file that you took a figure from."
      onChange={({ target }) => change({ systemPrompt: target.value })}
      hint={
        <span className={styles['count']}>
          <span>Plain text or Markdown.</span>
          <span>{formatNumber([...draft.systemPrompt].length)} of 20,000</span>
        </span>
      }
    />
  </Section>
)

interface Choice {
  value: string
  label: ReactNode
  hint?: ReactNode
}

/** Any of some things; what is chosen and not among them stays, as the API keeps it. */
const Choices = ({
  legend,
  choices,
  chosen,
  onChange,
  none,
}: {
  legend: string
  choices: readonly Choice[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  none: ReactNode
}) => {
  const unknown = chosen.filter((value) => !choices.some((choice) => choice.value === value))
  const all = [...choices, ...unknown.map((value) => ({ value, label: value, hint: 'Not known here.' }))]
  if (all.length === 0) return <p className={styles['empty']}>{none}</p>
  return (
    <fieldset className={styles['choices']}>
      <legend className="visually-hidden">{legend}</legend>
      {all.map(({ value, label, hint }) => (
        <CheckField
          key={value}
          label={label}
          hint={hint}
          checked={chosen.includes(value)}
          onChange={({ target }) =>
            onChange(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
          }
        />
      ))}
    </fieldset>
  )
}

const Abilities = ({ draft, change, agent }: FormProps) => {
  const agents = useQuery(read('GET /agents'))
  const connectors = useQuery(read('GET /connectors'))
  const peers = (agents.data?.items ?? []).filter(({ id }) => id !== agent?.id)
  return (
    <>
      <Section title="What it may use" description="Never more than the person who talks to it may do.">
        <Choices
          legend="Tools"
          choices={builtInTools.map(({ name, about }) => ({ value: name, label: <code>{name}</code>, hint: about }))}
          chosen={draft.allowedTools}
          onChange={(allowedTools) => change({ allowedTools })}
          none="There are no tools."
        />
      </Section>
      <Section title="Whom it may ask" description="It writes to these agents by itself when that helps.">
        {agents.error && <Notice error={agents.error} />}
        <Choices
          legend="Peers"
          choices={peers.map(({ slug, name, description }) => ({
            value: slug,
            label: name,
            hint: description ?? slug,
          }))}
          chosen={draft.allowedPeers}
          onChange={(allowedPeers) => change({ allowedPeers })}
          none="There is no other agent yet."
        />
      </Section>
      <Section
        title="Connectors"
        description="It uses the connections of whoever talks to it, and only to what is ticked here."
      >
        {connectors.error && <Notice error={connectors.error} />}
        <Choices
          legend="Connectors"
          choices={(connectors.data?.items ?? []).map(({ slug, name, description }) => ({
            value: slug,
            label: name,
            hint: description,
          }))}
          chosen={draft.allowedConnectors}
          onChange={(allowedConnectors) => change({ allowedConnectors })}
          none="No connector is known on this server."
        />
      </Section>
    </>
  )
}

const anyChange = '*'

const Limits = ({ draft, change, problems }: FormProps) => (
  <Section title="Limits" description="What it may not do by itself.">
    <CheckField
      label="Ask a person before it changes anything"
      hint="Writing files, and whatever changes something at a connected service. Reading goes on without asking."
      checked={draft.approvals.includes(anyChange)}
      onChange={({ target }) =>
        change({
          approvals: target.checked
            ? [...draft.approvals, anyChange]
            : draft.approvals.filter((tool) => tool !== anyChange),
        })
      }
    />
    <Choices
      legend="Ask before these tools"
      choices={[...draft.allowedTools, ...draft.allowedConnectors.map((slug) => `${slug}__*`)].map((tool) => ({
        value: tool,
        label: (
          <>
            Ask before each <code>{tool}</code>
          </>
        ),
      }))}
      chosen={draft.approvals.filter((tool) => tool !== anyChange)}
      onChange={(tools) => change({ approvals: draft.approvals.includes(anyChange) ? [...tools, anyChange] : tools })}
      none="It uses no tools of its own."
    />
    <TextField
      label="At most in a month, in US dollars"
      optional
      inputMode="decimal"
      value={draft.monthlyCap}
      error={problems.monthlyCap}
      hint="Beyond it, it is refused models that cost something until the month ends."
      onChange={({ target }) => change({ monthlyCap: target.value })}
    />
  </Section>
)

const VoiceFields = ({ draft, change }: FormProps) => {
  const { voice } = draft
  const set = (patch: Partial<Draft['voice']>): void => change({ voice: { ...voice, ...patch } })
  return (
    <Section title="Voice" description="For clients that speak its answers.">
      <SwitchField
        label="Speak"
        hint="Clients that can read answers aloud do so."
        checked={voice.enabled}
        onChange={({ target }) => set({ enabled: target.checked })}
      />
      {voice.enabled && (
        <div className={styles['two']}>
          <TextField label="Voice" value={voice.voiceId} onChange={({ target }) => set({ voiceId: target.value })} />
          <TextField
            label="Language"
            value={voice.language}
            placeholder="en-US"
            onChange={({ target }) => set({ language: target.value })}
          />
          <TextField
            label="Speed"
            type="number"
            min={0.25}
            max={4}
            step={0.05}
            hint="From 0.25 to 4; 1 is as usual."
            value={voice.speed}
            onChange={({ target }) => set({ speed: Number(target.value) })}
          />
          <TextField
            label="Pitch"
            type="number"
            min={-20}
            max={20}
            hint="From −20 to 20; 0 is as usual."
            value={voice.pitch}
            onChange={({ target }) => set({ pitch: Number(target.value) })}
          />
          <TextField
            label="Style"
            optional
            value={voice.style ?? ''}
            placeholder="calm"
            onChange={({ target }) => set({ style: target.value })}
          />
        </div>
      )}
    </Section>
  )
}

export const AgentFields = (props: FormProps) => (
  <>
    <Basics {...props} />
    <Instructions {...props} />
    <Abilities {...props} />
    <Limits {...props} />
    <VoiceFields {...props} />
  </>
)
