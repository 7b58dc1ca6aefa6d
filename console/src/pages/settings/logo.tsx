import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ImageUp, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import type { ChangeEvent } from 'react'
import { api } from '../../api.ts'
import { useIdentity } from '../../session.tsx'
import { Avatar } from '../../ui/data/avatar.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { useSubmit } from '../../ui/forms/use-submit.ts'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import styles from './settings.module.css'

/** The logo of the org, and buttons to replace and remove it. */
export const Logo = ({ onChanged }: { onChanged: () => Promise<unknown> }) => {
  const { me, can } = useIdentity()
  const input = useRef<HTMLInputElement>(null)
  const chosen = useRef<File>(undefined)
  const setting = useSubmit(async () => {
    if (chosen.current === undefined) return
    await api.call('PUT /org/logo', { body: chosen.current })
    await onChanged()
    toast.done(t`Logo saved`)
  })
  const removing = useSubmit(async () => {
    await api.call('DELETE /org/logo')
    await onChanged()
    toast.done(t`Logo removed`)
  })
  const reason = !can('org:write') && t`Only owners and admins can change the logo.`
  const hasLogo = me.org.logoUrl !== null
  const onChange = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    chosen.current = target.files?.[0]
    // The same file can be chosen again after an error.
    target.value = ''
    setting.submit()
  }
  return (
    <Section title={t`Logo`} description={t`Shown in the console, and on the pages of share links and sign-in links.`}>
      <Notice error={setting.error ?? removing.error} />
      <div className={styles['person']}>
        <Avatar name={me.org.name} logoUrl={me.org.logoUrl} size="l" square />
        <p className={styles['muted']}>
          <Trans>PNG, JPEG or WebP, at most 1 MB. A square picture fits best.</Trans>
        </p>
        <input
          ref={input}
          type="file"
          accept="image/png,image/jpeg,image/webp"
          hidden
          aria-label={t`Logo`}
          onChange={onChange}
        />
        <div className={styles['actions']}>
          <Button icon={<ImageUp />} busy={setting.busy} disabledReason={reason} onClick={() => input.current?.click()}>
            {hasLogo ? t`Replace logo` : t`Upload logo`}
          </Button>
          {hasLogo && (
            <Button
              variant="quiet"
              icon={<Trash2 />}
              busy={removing.busy}
              disabledReason={reason}
              onClick={removing.submit}
            >
              <Trans>Remove</Trans>
            </Button>
          )}
        </div>
      </div>
    </Section>
  )
}
