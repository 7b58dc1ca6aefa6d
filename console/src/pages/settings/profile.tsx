import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useState } from 'react'
import { api, queryClient, refresh } from '../../api.ts'
import { formatWord } from '../../words.ts'
import { languageNames, setLanguage } from '../../i18n/language.ts'
import type { Language } from '../../i18n/language.ts'
import { useIdentity } from '../../session.tsx'
import { setTheme, useTheme } from '../../theme.ts'
import type { Theme } from '../../theme.ts'
import { useTitle } from '../../title.ts'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Badge } from '../../ui/data/badge.tsx'
import { Section } from '../../ui/page.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField, TextField } from '../../ui/forms/field.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { FormError } from '../../ui/forms/field-errors.tsx'
import { toast } from '../../ui/toast.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { NameDialog } from './name-dialog.tsx'
import { Sessions } from './sessions.tsx'
import styles from './settings.module.css'
import { TwoFactor } from './two-factor.tsx'

const Password = ({ hasPassword, email }: { hasPassword: boolean; email: string }) => {
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const [totpCode, setTotpCode] = useState('')
  const { busy, error, submit } = useSubmit(async () => {
    await api.call('POST /auth/password', {
      body: {
        newPassword,
        ...(currentPassword !== '' && { currentPassword }),
        ...(totpCode !== '' && { totpCode }),
      },
    })
    setCurrent('')
    setNew('')
    setTotpCode('')
    await queryClient.invalidateQueries({ queryKey: ['session'] })
    toast.done(hasPassword ? t`Password changed. Your other sessions have ended.` : t`Password set`)
  })
  const problem =
    (hasPassword && currentPassword === '' && t`Enter your current password.`) ||
    (newPassword.length < 8 && t`The password must be at least 8 characters.`)
  return (
    <Section
      title={t`Password`}
      description={
        hasPassword
          ? t`Changing the password ends all your other sessions.`
          : t`You signed in with a link. Set a password to sign in again and to confirm sensitive changes.`
      }
    >
      <Form
        className={styles['form']}
        error={error}
        onSubmit={() => {
          if (problem === false) submit()
        }}
      >
        <FormError />
        <input type="text" autoComplete="username" value={email} readOnly hidden />
        <TextField
          label={hasPassword ? t`Current password` : t`Password in another organization`}
          type="password"
          autoComplete="current-password"
          {...(!hasPassword && {
            optional: true,
            hint: t`If you already have a password there, the new password applies to both organizations.`,
          })}
          value={currentPassword}
          onChange={({ target }) => setCurrent(target.value)}
        />
        {!hasPassword && currentPassword !== '' && (
          <TextField
            label={t`Authentication code`}
            field="totpCode"
            optional
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={6}
            hint={t`Required if the other organization uses two-factor authentication.`}
            value={totpCode}
            onChange={({ target }) => setTotpCode(target.value)}
          />
        )}
        <TextField
          label={t`New password`}
          field="newPassword"
          type="password"
          autoComplete="new-password"
          maxLength={128}
          hint={t`At least 8 characters`}
          value={newPassword}
          onChange={({ target }) => setNew(target.value)}
        />
        <div>
          <Button variant="primary" type="submit" busy={busy} disabledReason={problem}>
            {hasPassword ? t`Change password` : t`Set password`}
          </Button>
        </div>
      </Form>
    </Section>
  )
}

const LanguageField = () => {
  const { me } = useIdentity()
  const change = async (value: string): Promise<void> => {
    const language = value === '' ? null : (value as Language)
    await api.call('PATCH /me', { body: { language } })
    await setLanguage(language)
    await refresh('GET /me')
  }
  return (
    <SelectField
      label={t`Language`}
      value={me.user.language ?? ''}
      onChange={({ target }) =>
        void change(target.value).catch((error: unknown) => toast.failed(t`Could not change the language`, error))
      }
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
  )
}

export const Profile = () => {
  useTitle(t`Profile`)
  const { session, me } = useIdentity()
  const theme = useTheme()
  const { email, hasPassword, twoFactorEnabled } = session.user
  const { name } = me.user
  const [isRenaming, setRenaming] = useState(false)
  const rename = async (next: string): Promise<void> => {
    await api.call('PATCH /me', { body: { name: next } })
    await Promise.all([refresh('GET /me', 'GET /members'), queryClient.invalidateQueries({ queryKey: ['session'] })])
    toast.done(t`Name changed`)
  }
  return (
    <div className={styles['narrow']}>
      <Section title={t`Profile`}>
        <div className={styles['person']}>
          <Avatar name={name} size="l" />
          <div>
            <strong>{name}</strong>
            <p className={styles['muted']}>{email}</p>
          </div>
          <Badge tone="info">
            <Trans>
              {formatWord(me.role)} of {me.org.name}
            </Trans>
          </Badge>
          <Button small onClick={() => setRenaming(true)}>
            <Trans>Change name</Trans>
          </Button>
        </div>
        {isRenaming && (
          <NameDialog
            title={t`Change your name`}
            description={t`Members of ${me.org.name} see this name. Other organizations keep the name that they know.`}
            action={t`Save`}
            initial={name}
            work={rename}
            onClose={() => setRenaming(false)}
          />
        )}
      </Section>
      <Section title={t`Appearance`}>
        <SelectField label={t`Theme`} value={theme} onChange={({ target }) => setTheme(target.value as Theme)}>
          <option value="system">
            <Trans>System</Trans>
          </option>
          <option value="light">
            <Trans>Light</Trans>
          </option>
          <option value="dark">
            <Trans>Dark</Trans>
          </option>
        </SelectField>
        <LanguageField />
      </Section>
      <Password hasPassword={hasPassword} email={email} />
      <TwoFactor hasPassword={hasPassword} isOn={twoFactorEnabled} />
      <Sessions />
    </div>
  )
}
