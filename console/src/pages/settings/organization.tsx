import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useQuery } from '@tanstack/react-query'
import type { OrgSettings } from '@atrium/client'
import { useState } from 'react'
import { api, read, refresh, queryClient } from '../../api.ts'
import { changesOf, isEmpty, useDraft } from '../../draft.ts'
import { languageNames } from '../../i18n/language.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { QueryBoundary } from '../../ui/query-boundary.tsx'
import { toast } from '../../ui/toast.tsx'
import { ModelPicker, useChatModels } from '../agents/model-picker.tsx'
import { Logo } from './logo.tsx'
import styles from './settings.module.css'
import { timeZones } from './time-zones.ts'

const refreshOrg = (): Promise<unknown> =>
  Promise.all([refresh('GET /me', 'GET /org'), queryClient.invalidateQueries({ queryKey: ['session'] })])

const Name = () => {
  const { me, can } = useIdentity()
  const [name, setName] = useState(me.org.name)
  const mayWrite = can('org:write')
  const { busy, error, submit } = useSubmit(async () => {
    const org = await api.call('PATCH /org', { body: { name: name.trim() } })
    setName(org.name)
    await refreshOrg()
    toast.done(t`Organization renamed`)
  })
  const problem =
    (!mayWrite && t`Only owners and admins can rename the organization.`) ||
    (name.trim() === '' && t`Enter a name.`) ||
    (name.trim() === me.org.name && t`The name has not changed.`)
  return (
    <Section title={t`Organization`} description={t`The name is shown to all members, and in invitations.`}>
      <Form
        className={styles['form']}
        onSubmit={() => {
          if (problem === false) submit()
        }}
      >
        <Notice error={error} />
        <TextField
          label={t`Name`}
          maxLength={120}
          autoComplete="organization"
          readOnly={!mayWrite}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            <Trans>Save</Trans>
          </Button>
        </div>
      </Form>
    </Section>
  )
}

type Defaults = Pick<OrgSettings, 'defaultModel' | 'defaultTimeZone' | 'defaultLanguage'>

const orNull = <T extends string>(value: string): T | null => (value === '' ? null : (value as T))

const defaultsOf = ({ defaultModel, defaultTimeZone, defaultLanguage }: Defaults): Defaults => ({
  defaultModel,
  defaultTimeZone,
  defaultLanguage,
})

const DefaultsForm = ({ saved }: { saved: Defaults }) => {
  const { can } = useIdentity()
  const { items } = useChatModels()
  const { draft, change } = useDraft(saved, defaultsOf)
  const body = changesOf(draft, defaultsOf(saved))
  const { busy, error, submit } = useSubmit(async () => {
    await api.call('PATCH /org', { body })
    await refreshOrg()
    toast.done(t`Defaults saved`)
  })
  const mayWrite = can('org:write')
  const problem =
    (!mayWrite && t`Only owners and admins can change the defaults.`) || (isEmpty(body) && t`Nothing has changed.`)
  return (
    <Form
      className={styles['form']}
      error={error}
      onSubmit={() => {
        if (problem === false) submit()
      }}
    >
      <FormError />
      <ModelPicker
        label={t`Model of new agents`}
        items={items}
        value={draft.defaultModel ?? ''}
        emptyName={t`Server default`}
        disabled={!mayWrite}
        hint={t`Agents that exist keep their model.`}
        onChange={(id) => change({ defaultModel: orNull(id) })}
      />
      <SelectField
        label={t`Time zone`}
        field="defaultTimeZone"
        disabled={!mayWrite}
        hint={t`Agents are told the date in this time zone.`}
        value={draft.defaultTimeZone ?? ''}
        onChange={({ target }) => change({ defaultTimeZone: orNull(target.value) })}
      >
        <option value="">{t`UTC`}</option>
        {timeZones(saved.defaultTimeZone).map((name) => (
          <option key={name} value={name}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={t`Language of new members`}
        field="defaultLanguage"
        disabled={!mayWrite}
        hint={t`Everyone can change their own language in their profile.`}
        value={draft.defaultLanguage ?? ''}
        onChange={({ target }) => change({ defaultLanguage: orNull(target.value) })}
      >
        <option value="">
          <Trans>Browser default</Trans>
        </option>
        {Object.entries(languageNames).map(([language, name]) => (
          <option key={language} value={language} lang={language}>
            {name}
          </option>
        ))}
      </SelectField>
      <div>
        <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
          <Trans>Save defaults</Trans>
        </Button>
      </div>
    </Form>
  )
}

export const Organization = () => {
  useTitle(t`Organization`)
  const org = useQuery(read('GET /org'))
  return (
    <div className={styles['narrow']}>
      <Name />
      <Logo onChanged={refreshOrg} />
      <Section title={t`Defaults`} description={t`Applied to what is created from now on.`}>
        <QueryBoundary query={org}>{(saved) => <DefaultsForm saved={saved} />}</QueryBoundary>
      </Section>
    </div>
  )
}
