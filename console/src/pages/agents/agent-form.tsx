import { apiText } from '../../i18n/language.ts'
import { textOf } from '../../i18n/text.ts'
import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { read } from '../../api.ts'
import { formatNumber } from '../../format.ts'
import { Section } from '../../ui/page.tsx'
import { CheckField, FieldRow, SwitchField, TextArea, TextField } from '../../ui/forms/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import styles from './agents.module.css'
import { builtInTools } from './draft.ts'
import type { Draft } from './draft.ts'
import { ModelSection } from './model-fields.tsx'
import type { FormProps } from './model-fields.tsx'

const Identity = ({ draft, change, problems, agent }: FormProps) => {
  return (
    <Section title={t`Identity`} description={t`How people and other agents see it.`}>
      <TextField
        label={t`Name`}
        field="name"
        required
        value={draft.name}
        error={problems.name}
        placeholder={t`Research assistant`}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextField
        label={t`Description`}
        field="description"
        optional
        value={draft.description}
        error={problems.description}
        placeholder={t`What this agent does, shown to people and other agents`}
        onChange={({ target }) => change({ description: target.value })}
      />
      {agent && !agent.isDefault && (
        <TextField
          label={t`Slug`}
          field="slug"
          value={draft.slug}
          error={problems.slug}
          hint={t`Identifies the agent in URLs, in the API and to other agents. Their allowed peers are updated when it changes.`}
          onChange={({ target }) => change({ slug: target.value })}
        />
      )}
    </Section>
  )
}

const Instructions = ({ draft, change, problems }: FormProps) => (
  <Section title={t`Instructions`} description={t`The system prompt, which the model receives with every message.`}>
    <TextArea
      label={t`System prompt`}
      field="systemPrompt"
      hideLabel
      className={styles['prompt'] ?? ''}
      value={draft.systemPrompt}
      error={problems.systemPrompt}
      placeholder={t`You help the sales team. Answer in a few sentences and cite the file for every figure.`}
      onChange={({ target }) => change({ systemPrompt: target.value })}
      hint={
        <span className={styles['count']}>
          <span>
            <Trans>Plain text or Markdown.</Trans>
          </span>
          <span>
            <Trans>{formatNumber([...draft.systemPrompt].length)} of 20,000</Trans>
          </span>
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

/** Checkboxes. Selected values without a choice are listed too, because the API keeps them. */
const Choices = ({
  legend,
  choices,
  chosen,
  onChange,
  empty,
}: {
  legend: string
  choices: readonly Choice[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  empty: ReactNode
}) => {
  const unknown = chosen.filter((value) => !choices.some((choice) => choice.value === value))
  const all = [...choices, ...unknown.map((value) => ({ value, label: value, hint: t`Unknown` }))]
  if (all.length === 0) return <p className={styles['empty']}>{empty}</p>
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

const ToolsAndPeers = ({ draft, change, agent }: FormProps) => {
  const agents = useQuery(read('GET /agents'))
  const connectors = useQuery(read('GET /connectors'))
  const peers = (agents.data?.items ?? []).filter(({ id }) => id !== agent?.id)
  return (
    <>
      <Section title={t`Tools`} description={t`A tool can never do more than the person for whom the agent works.`}>
        <Choices
          legend={t`Tools`}
          choices={builtInTools.map(({ name, about }) => ({
            value: name,
            label: <code>{name}</code>,
            hint: textOf(about),
          }))}
          chosen={draft.allowedTools}
          onChange={(allowedTools) => change({ allowedTools })}
          empty={t`No tools available.`}
        />
      </Section>
      <Section title={t`Peers`} description={t`Agents that this agent can send messages to.`}>
        {agents.error && <Notice error={agents.error} />}
        <Choices
          legend={t`Allowed peers`}
          choices={peers.map(({ slug, name, description }) => ({
            value: slug,
            label: name,
            hint: description ?? slug,
          }))}
          chosen={draft.allowedPeers}
          onChange={(allowedPeers) => change({ allowedPeers })}
          empty={t`No other agents yet.`}
        />
      </Section>
      <Section
        title={t`Connectors`}
        description={t`Services that the agent can use through the connections of the person for whom it works.`}
      >
        {connectors.error && <Notice error={connectors.error} />}
        <Choices
          legend={t`Connectors`}
          choices={(connectors.data?.items ?? []).map(({ slug, name, description }) => ({
            value: slug,
            label: name,
            hint: apiText(description),
          }))}
          chosen={draft.allowedConnectors}
          onChange={(allowedConnectors) => change({ allowedConnectors })}
          empty={t`No connectors available on this server.`}
        />
      </Section>
    </>
  )
}

const anyChange = '*'

const ApprovalsAndLimits = ({ draft, change, problems }: FormProps) => (
  <Section
    title={t`Approvals and limits`}
    description={t`When a person must approve a tool call, and how much the agent can spend.`}
  >
    <CheckField
      label={t`Require approval for all changes`}
      hint={t`Applies to writing files and to changes at connected services. Reading needs no approval.`}
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
      legend={t`Tools that require approval`}
      choices={[...draft.allowedTools, ...draft.allowedConnectors.map((slug) => `${slug}__*`)].map((tool) => ({
        value: tool,
        label: (
          <>
            <Trans>
              Require approval for <code>{tool}</code>
            </Trans>
          </>
        ),
      }))}
      chosen={draft.approvals.filter((tool) => tool !== anyChange)}
      onChange={(tools) => change({ approvals: draft.approvals.includes(anyChange) ? [...tools, anyChange] : tools })}
      empty={t`No tools selected.`}
    />
    <TextField
      label={t`Monthly limit in US dollars`}
      optional
      inputMode="decimal"
      value={draft.monthlyCap}
      error={problems.monthlyCap}
      hint={t`When the limit is reached, paid models are unavailable to this agent until the next month.`}
      onChange={({ target }) => change({ monthlyCap: target.value })}
    />
  </Section>
)

const VoiceFields = ({ draft, change }: FormProps) => {
  const { voice } = draft
  const set = (patch: Partial<Draft['voice']>): void => change({ voice: { ...voice, ...patch } })
  return (
    <Section title={t`Voice`} description={t`For clients that read responses aloud.`}>
      <SwitchField
        label={t`Read responses aloud`}
        hint={t`Applies to clients that support speech.`}
        checked={voice.enabled}
        onChange={({ target }) => set({ enabled: target.checked })}
      />
      {voice.enabled && (
        <FieldRow>
          <TextField label={t`Voice`} value={voice.voiceId} onChange={({ target }) => set({ voiceId: target.value })} />
          <TextField
            label={t`Language`}
            value={voice.language}
            placeholder="en-US"
            onChange={({ target }) => set({ language: target.value })}
          />
          <TextField
            label={t`Speed`}
            type="number"
            min={0.25}
            max={4}
            step={0.05}
            hint={t`0.25–4, default 1`}
            value={voice.speed}
            onChange={({ target }) => set({ speed: Number(target.value) })}
          />
          <TextField
            label={t`Pitch`}
            type="number"
            min={-20}
            max={20}
            hint={t`−20 to 20, default 0`}
            value={voice.pitch}
            onChange={({ target }) => set({ pitch: Number(target.value) })}
          />
          <TextField
            label={t`Style`}
            optional
            value={voice.style ?? ''}
            placeholder="calm"
            onChange={({ target }) => set({ style: target.value })}
          />
        </FieldRow>
      )}
    </Section>
  )
}

export const AgentFields = (props: FormProps) => (
  <>
    <Identity {...props} />
    <ModelSection {...props} />
    <Instructions {...props} />
    <ToolsAndPeers {...props} />
    <ApprovalsAndLimits {...props} />
    <VoiceFields {...props} />
  </>
)
