import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import type { WebhookWithSecret } from '@atrium/client'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/forms/code-block.tsx'
import { SecretField } from '../../ui/forms/secret-field.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { signedCurl } from './sources.ts'
import styles from './webhooks.module.css'

export const TestCommand = ({
  webhook,
  secret,
}: {
  webhook: { source: string; receiveUrl: string }
  secret?: string | undefined
}) => {
  const text = signedCurl(webhook, secret)
  if (text === undefined)
    return (
      <p className={styles['faint']}>
        <Trans>Only the provider can sign events of this source. “Send test event” records an unsigned event.</Trans>
      </p>
    )
  return <CodeBlock text={text} label={t`Copy command`} />
}

/** Shows a new signing secret once, with the endpoint URL and a command that sends a signed test event. */
export const SecretDialog = ({
  webhook,
  title,
  onClose,
}: {
  webhook: WebhookWithSecret
  title: string
  onClose: () => void
}) => (
  <Dialog
    open
    wide
    onClose={onClose}
    title={title}
    footer={
      <Button variant="primary" onClick={onClose}>
        <Trans>I have saved the secret</Trans>
      </Button>
    }
  >
    <SecretField
      label={t`Signing secret`}
      value={webhook.secret}
      note={t`Copy the secret now. You will not be able to see it again. If you lose it, rotate it.`}
    />
    <div className={styles['stack']}>
      <h3>
        <Trans>Endpoint URL</Trans>
      </h3>
      <CodeBlock text={webhook.receiveUrl} label={t`Copy endpoint URL`} />
    </div>
    <div className={styles['stack']}>
      <h3>
        <Trans>Send a signed test event</Trans>
      </h3>
      <TestCommand webhook={webhook} secret={webhook.secret} />
    </div>
  </Dialog>
)
