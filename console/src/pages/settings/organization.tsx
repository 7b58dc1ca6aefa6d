import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { api, refresh, queryClient } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { useTitle } from '../../title.ts'
import { Button } from '../../ui/forms/button.tsx'
import { TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

export const Organization = () => {
  useTitle(t`Organization`)
  const { me, can } = useIdentity()
  const [name, setName] = useState(me.org.name)
  const mayWrite = can('org:write')
  const { busy, error, submit } = useSubmit(async () => {
    const org = await api.call('PATCH /org', { body: { name: name.trim() } })
    setName(org.name)
    await Promise.all([refresh('GET /me', 'GET /org'), queryClient.invalidateQueries({ queryKey: ['session'] })])
    toast.done(t`Organization renamed`)
  })
  const problem =
    (!mayWrite && t`Only owners and admins can rename the organization.`) ||
    (name.trim() === '' && t`Enter a name.`) ||
    (name.trim() === me.org.name && t`The name has not changed.`)
  return (
    <div className={styles['narrow']}>
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
    </div>
  )
}
