import type { WebhookWithSecret } from 'atrium-sdk'
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
        Only the provider can sign for this source. “Send a test” records an event without a signature.
      </p>
    )
  return <CodeBlock text={text} label="Copy the lines" />
}

/** The secret, this once, where to send to, and a line that proves that both work. */
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
        I have stored the secret
      </Button>
    }
  >
    <SecretField
      label="Signing secret"
      value={webhook.secret}
      note="Store it now: it is not shown again. If it gets lost, rotate it."
    />
    <div className={styles['stack']}>
      <h3>Address to send to</h3>
      <CodeBlock text={webhook.receiveUrl} label="Copy the address" />
    </div>
    <div className={styles['stack']}>
      <h3>Send a signed test from a shell</h3>
      <TestCommand webhook={webhook} secret={webhook.secret} />
    </div>
  </Dialog>
)
